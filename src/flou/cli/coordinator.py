"""``flou coordinator``: relay messages between parties, add up their masked sums, and write a transcript."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.status import Status

from flou.cli.command import app, epilogue
from flou.cli.files import JsonOut, checked_out, write
from flou.cli.fits import as_json, show_facts, show_fit
from flou.cli.statistic import Models, run_models

if TYPE_CHECKING:
    from flou.joint.session.coordinator import CoordinatorSession

__all__ = ["coordinate"]

ABOUT = """
Coordinate a session of [bold]flou joint[/bold]: wait for the parties of a plan, relay their messages, add up.

The coordinator sees masked numbers and the sums over all parties. It sees no row and no key of a party. If it is \
stopped, run the same command again: it goes on where it was, and the parties wait meanwhile.
"""

EXAMPLES = epilogue("""\
[bold]Example[/bold]
flou coordinator plan.toml --certificate coordinator.pem --key coordinator-key.pem --host 0.0.0.0 --port 8443
""")


@app.command("coordinator", help=ABOUT, epilog=EXAMPLES)
def coordinate(
    plan: Annotated[Path, typer.Argument(help="The plan: a TOML file from flou joint plan.")],
    certificate: Annotated[Path, typer.Option(help="For HTTPS: the certificate, a PEM file.")],
    key: Annotated[Path, typer.Option(help="For HTTPS: the key of the certificate, a PEM file.")],
    client_ca: Annotated[Path | None, typer.Option(help="Admit only parties certified by this PEM file.")] = None,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port to listen on.")] = 8443,
    state: Annotated[Path, typer.Option(help="The folder that keeps messages for a restart.")] = Path("flou-state"),
    transcript: Annotated[Path, typer.Option(help="The transcript to write, a .flou file.")] = Path("transcript.flou"),
    patience: Annotated[float, typer.Option(min=0.1, help="Seconds for each step. Late parties are left out.")] = 60.0,
    wait: Annotated[float, typer.Option(min=0.1, help="Seconds to wait for parties to join.")] = 3600.0,
    models: Models = None,
    json_out: JsonOut = None,
) -> None:
    import asyncio

    from flou.joint.agreement.plan import Plan
    from flou.joint.agreement.plan_words import plan_facts
    from flou.joint.session.coordinator import CoordinatorSession
    from flou.joint.session.memory import FileMemory
    from flou.joint.transport.server import Patience, serve
    from flou.joint.transport.tls import server_context

    inputs = (plan, certificate, key)
    checked_out("--transcript", transcript, ".flou", inputs)
    checked_out("--json", json_out, ".json", (*inputs, transcript))
    run_models(models)
    agreed = Plan.from_toml(plan)
    context = server_context(certificate, key, client_ca)
    memory = FileMemory(state / f"coordinator-{agreed.hash.hex()[:16]}.memory")
    console = Console(stderr=True, highlight=False)

    def ready(listening: int) -> None:
        console.print(f"Listening on https://{escape(host)}:{listening}", soft_wrap=True)

    try:
        session = CoordinatorSession(agreed, memory)
        show_facts(console, plan_facts(agreed))
        with console.status("starting") as status:
            watch, limits = _Watch(session, console, status), Patience(join=wait, step=patience)
            asyncio.run(serve(session, host, port, context, limits, ready=ready, watch=watch))
    except KeyboardInterrupt:
        console.print("Stopped. Run the same command again to go on from here.")
        raise typer.Exit(130) from None
    finally:
        memory.close()
    if session.failure is not None:
        raise session.failure
    assert session.fit is not None
    show_fit(session.fit)  # first: if a disk fails now, the same command writes the files
    session.transcript.write(transcript)
    if json_out is not None:
        write("--json", json_out, as_json(session.fit, agreed))
    console.print(f"Transcript: {escape(str(transcript))} (check it with flou joint verify)", soft_wrap=True)


class _Watch:
    """Prints who is lost and which sums were opened; on a terminal also which parties the session waits for."""

    def __init__(self, session: CoordinatorSession, console: Console, status: Status) -> None:
        self.session, self.console, self.status = session, console, status
        self.expected, self.opened = session.step.expected, len(session.opened)

    def __call__(self) -> None:
        session, (number, step) = self.session, self.session.step.address
        lost = self.expected - session.step.expected
        if lost:
            self.console.print(f"Lost: {self._named(lost)}")
        if len(session.opened) > self.opened:
            for opened in session.opened[self.opened :]:
                self.console.print(f"Opened: {len(opened.sums):,} sums over {len(opened.parties)} parties")
        self.expected, self.opened = session.step.expected, len(session.opened)
        if self.console.is_terminal:
            place = f"round {number}: {step}" if number else step
            there = len(self.expected) - len(session.missing)
            self.status.update(
                "waiting until everyone has the result"
                if session.done
                else f"{place}, {there} of {len(self.expected)}, waiting for {self._named(session.missing)}"
            )

    def _named(self, parties: frozenset[int]) -> str:
        names = [self.session.names[party] for party in sorted(parties)]
        more = f" and {len(names) - 5} more" if len(names) > 5 else ""
        return escape(", ".join(names[:5])) + more
