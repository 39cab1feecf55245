"""``flou party``: take part in a session with rows that stay on this machine."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape

from flou.cli.command import app, epilogue
from flou.cli.files import JsonOut, checked_out, write
from flou.cli.fits import as_json, show_facts, show_fit
from flou.cli.statistic import Models, run_models
from flou.errors import InvalidParameter, ProtocolError

if TYPE_CHECKING:
    import ssl

    from flou.joint.agreement.plan import Plan
    from flou.joint.estimators.fit import Fit
    from flou.joint.session.party import PartySession

__all__ = ["take_part"]

ABOUT = """
Take part in a session of [bold]flou joint[/bold], with rows that never leave this machine.

Before it signs anything, the command shows the whole plan and checks it against your policy. Everything it sends is \
masked: nobody, not even the coordinator, learns more than the sums over all parties. If the command is stopped, run \
it again: it goes on where it was.
"""

EXAMPLES = epilogue("""\
[bold]Example[/bold]
flou party --plan plan.toml --coordinator https://sums.example.org:8443 --ca coordinator.pem --key north.key \
--data rows.csv --policy policy.toml
[bold]A policy file[/bold]
columns = \\["y", "x1", "x2"]     # the columns that may be read, also by a condition; default: all columns
minimum_parties = 3             # refuse plans that open sums over fewer parties
colluders = 1                   # this number of parties may conspire with the coordinator and still learn only sums
rows_per_scalar = 10            # at least this number of your rows for every number that is opened
most_epsilon = 1                # noise up to this epsilon counts instead of rows; more counts as no noise
epsilon = 1                     # refuse plans without noise, or with a larger epsilon; default: no noise needed
""")


@app.command("party", help=ABOUT, epilog=EXAMPLES)
def take_part(
    coordinator: Annotated[
        str, typer.Option(help="The address of the coordinator, such as https://sums.example.org:8443.")
    ],
    key: Annotated[Path, typer.Option(help="The key file of this party, from flou joint keygen.")],
    data: Annotated[Path, typer.Option(help="Your rows: a .csv, .tsv or .parquet file.")],
    plan: Annotated[Path | None, typer.Option(help="The agreed plan (TOML). Default: the coordinator's.")] = None,
    plan_hash: Annotated[str | None, typer.Option("--hash", help="Refuse plans with another hash.")] = None,
    policy: Annotated[
        Path | None,
        typer.Option(help="What you allow (TOML). Default: 10 rows or more for each number, and 3 parties."),
    ] = None,
    ca: Annotated[
        Path | None, typer.Option(help="The certificate of the coordinator or its authority. Default: the system's.")
    ] = None,
    certificate: Annotated[Path | None, typer.Option(help="For mutual TLS: the certificate of this party.")] = None,
    certificate_key: Annotated[Path | None, typer.Option(help="For mutual TLS: the key of this certificate.")] = None,
    state: Annotated[
        Path, typer.Option(help="The folder that keeps keys and signatures for a restart. Do not delete it.")
    ] = Path("flou-state"),
    give_up: Annotated[
        float, typer.Option(min=0.1, help="Stop when the coordinator has been silent for this number of seconds.")
    ] = 600.0,
    models: Models = None,
    yes: Annotated[bool, typer.Option("--yes", help="Agree to the plan without being asked.")] = False,
    json_out: JsonOut = None,
) -> None:
    from flou.joint.agreement.identity import Identity
    from flou.joint.agreement.plan_words import plan_facts, rows_fact
    from flou.joint.agreement.policy import Policy
    from flou.joint.session.memory import FileMemory
    from flou.joint.session.party import PartySession
    from flou.joint.transport.tls import client_context

    checked_out("--json", json_out, ".json", (data, key))
    run_models(models)
    identity = Identity.load(key)
    limits = Policy() if policy is None else Policy.from_toml(policy)
    context = client_context(ca, certificate, certificate_key)
    console = Console(stderr=True, highlight=False)
    try:
        agreed = _plan(plan, plan_hash, coordinator, context, give_up, console)
        show_facts(console, plan_facts(agreed))
        agreed.roster.index(identity)
        memory = FileMemory(state / f"{agreed.hash.hex()[:16]}-{identity.public.hex()[:16]}.memory")
        try:
            session = PartySession(identity, agreed, agreed.rows(data), limits, memory)
            show_facts(console, [rows_fact(agreed, session.count)])
            if memory.recall("0/join") is None:
                _confirm(yes, known=plan is not None or plan_hash is not None)
            fit = _attended(session, coordinator, context, give_up, console)
        finally:
            memory.close()
    except KeyboardInterrupt:
        console.print("Stopped. The same command goes on from here, unless the others have finished without you.")
        raise typer.Exit(130) from None
    if json_out is not None:
        write("--json", json_out, as_json(fit, agreed))
    show_fit(fit)


def _plan(
    path: Path | None, wanted: str | None, url: str, context: ssl.SSLContext, give_up: float, console: Console
) -> Plan:
    """The plan from its file, or from the coordinator; refused if its hash is not the wanted one."""
    import asyncio

    from flou.joint.agreement.plan import Plan
    from flou.joint.transport.client import fetched_plan

    if path is not None:
        found = Plan.from_toml(path)
    else:
        with console.status("asking the coordinator for its plan"):
            found = asyncio.run(fetched_plan(url, context, give_up=give_up))
    if wanted is not None and wanted.strip().lower() != found.hash.hex():
        raise ProtocolError(
            f"The plan has the hash {found.hash.hex()}.",
            "This is not the hash that you passed with --hash.",
            "Ask for the right file, or compare the two plans.",
        )
    return found


def is_terminal() -> bool:
    """Whether a person can be asked."""
    return sys.stdin.isatty()


def _confirm(yes: bool, known: bool) -> None:
    """Ask the user to agree. Without a terminal, only a plan passed as a file or by its hash is agreed to."""
    if not known and (yes or not is_terminal()):
        raise InvalidParameter(
            "Nobody here has seen this plan before.",
            "It came from the coordinator, who may have invented all the other parties in it.",
            "Compare the plan with the other parties, and pass its file with --plan or its hash with --hash.",
        )
    if not yes and is_terminal() and not typer.confirm("Do you agree to this plan?", err=True):
        raise typer.Exit(1)


def _attended(session: PartySession, url: str, context: ssl.SSLContext, give_up: float, console: Console) -> Fit:
    import asyncio

    from flou.joint.transport.client import attend

    found: list[Fit] = []
    silent = False

    with console.status("joining") as status:

        def watch(address: tuple[int, str], reached: bool) -> None:
            nonlocal silent
            number, step = address
            place = f"round {number}: {step}" if number else step
            if not reached and not silent:
                console.print(f"The coordinator at {escape(url)} does not answer; trying again.", soft_wrap=True)
            silent = not reached
            status.update(place)

        async def main() -> None:  # returns nothing: asyncio would turn a returned fit into text, and discard it
            found.append(await attend(session, url, context, give_up=give_up, watch=watch))

        asyncio.run(main())
    return found[0]
