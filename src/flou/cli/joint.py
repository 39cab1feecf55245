"""``flou joint``: keys, plans, trials and transcripts of statistics over several organisations."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from flou.cli import statistic as options
from flou.cli.command import app, epilogue
from flou.cli.files import JsonOut, checked_out, write
from flou.cli.fits import as_json, show_facts, show_fit
from flou.cli.statistic import Models, run_models, statistic
from flou.errors import InvalidParameter

if TYPE_CHECKING:
    from flou.joint.estimators.program import Program

__all__ = ["certificate", "joint_app", "keygen", "plan", "simulate", "verify"]

ABOUT = """
Statistics over the rows of several organisations, none of which shows its rows to anyone.

Each party masks its own sums with random numbers. The masks cancel when the coordinator adds all parties up, so that \
everyone learns the sums over all parties and nothing else. All parties sign a plan, which states what is computed. \
[bold]flou coordinator[/bold] and [bold]flou party[/bold] carry it out.
"""

START = epilogue("""\
[bold]From nothing to a result[/bold]
flou joint simulate --parties 3 --data a.csv b.csv c.csv --formula "y ~ x1 + x2"      first: try it on this machine
flou joint keygen north --out north.key                    every party: a key. Send the printed line to the others
flou joint plan --roster roster.toml --formula "y ~ x1 + x2" --out plan.toml     one party: write the plan for everyone
flou joint certificate --host sums.example.org --out coordinator           the coordinator: make a certificate for HTTPS
flou coordinator plan.toml --certificate coordinator.pem --key coordinator-key.pem --host 0.0.0.0
flou party --plan plan.toml --coordinator https://sums.example.org:8443 --ca coordinator.pem --key north.key \
--data rows.csv
flou joint verify transcript.flou --plan plan.toml                   anyone, at any time: check the result
""")

joint_app = typer.Typer(name="joint", help=ABOUT, epilog=START, no_args_is_help=True, rich_markup_mode="rich")
app.add_typer(joint_app)

Dropouts = Annotated[int | None, typer.Option(help="How many parties may be lost in a round. Default: a quarter.")]


@joint_app.command("keygen")
def keygen(
    name: Annotated[str, typer.Argument(help="The name of this party, such as north.")],
    out: Annotated[Path, typer.Option(help="The new file for the key. Never share it.")],
) -> None:
    """Make the key of a party, and print its line for the roster of all parties.

    Example: flou joint keygen north --out north.key
    """
    from flou.domain import toml
    from flou.joint.agreement.identity import Identity

    identity = Identity.generate(name)
    identity.save(out)
    _, _, line = toml.written({"parties": {identity.name: identity.public.hex()}}).partition("\n")
    typer.echo(line.rstrip())
    note = f"The key is in {out}. Never share it. Everyone adds the line above to the roster, under [parties]."
    Console(stderr=True, highlight=False).print(Text(note), soft_wrap=True)


@joint_app.command("certificate")
def certificate(
    host: Annotated[list[str], typer.Option(help="The name or address of the machine. Repeatable.")],
    out: Annotated[str, typer.Option(help="OUT.pem is the new certificate, OUT-key.pem its key.")],
    days: Annotated[int, typer.Option(min=1, max=3650, help="How many days the certificate is valid.")] = 365,
) -> None:
    """Make a certificate for HTTPS: for the coordinator, or for a party that identifies itself by one (mutual TLS).

    Example: flou joint certificate --host sums.example.org --out coordinator
    """
    from flou.joint.transport.tls import self_signed

    public, secret = self_signed(*host, days=days)
    paths = Path(f"{out}.pem"), Path(f"{out}-key.pem")
    for path, data, mode in zip(paths, (public, secret), (0o644, 0o600), strict=True):
        _write_new(path, data, mode)
    note = f"The certificate is in {paths[0]}: give it to everyone who connects. Never share its key, {paths[1]}."
    Console(highlight=False).print(Text(note), soft_wrap=True)


@joint_app.command("plan")
def plan(
    roster: Annotated[Path, typer.Option(help=r"The parties: a TOML file, \[parties] and the lines of keygen.")],
    out: Annotated[Path, typer.Option(help="The plan to write, a .toml file for everyone.")],
    estimator: options.Estimator = "ols",
    formula: options.Formula = None,
    columns: options.Columns = None,
    covariance: options.Covariance = None,
    schema: options.PublicSchema = None,
    settings: options.Settings = None,
    where: options.Where = "",
    models: Models = None,
    name: Annotated[str, typer.Option(help="The name of the plan.")] = "joint statistics",
    minimum: Annotated[int | None, typer.Option(help="Open no sum over fewer. Default: all but the dropouts.")] = None,
    dropouts: Dropouts = None,
    differences: Annotated[
        bool,
        typer.Option(
            "--accept-differences",
            help="Go on without a party that is lost between two rounds. Two sums may then reveal that party's own "
            "numbers. Default: the session ends.",
        ),
    ] = False,
    max_rows: Annotated[int, typer.Option(help="The largest number of rows that a party may have.")] = 2**40,
    expires: Annotated[str, typer.Option(help="Such as 2027-01-31T00:00:00Z. Default: in 30 days.")] = "",
) -> None:
    """Write a plan, which all parties sign: what is computed, by which parties, and how many of them may be lost.

    Example: flou joint plan --roster roster.toml --formula "y ~ x1 + x2" --out plan.toml
    """
    from flou.joint.agreement.identity import Roster
    from flou.joint.agreement.plan import Plan
    from flou.joint.agreement.plan_words import plan_facts

    run_models(models)
    inputs = (roster,) if schema is None else (roster, schema)
    checked_out("--out", out, ".toml", inputs)
    program = statistic(
        estimator, formula=formula, columns=columns, covariance=covariance, schema=schema, settings=settings
    )
    made = Plan(
        Roster.from_toml(roster),
        program,
        name=name,
        minimum=minimum,
        dropouts=dropouts,
        differences="accept" if differences else "refuse",
        max_rows=max_rows,
        where=where,
        expires=expires,
    )
    write("--out", out, made.to_toml())
    console = Console(highlight=False)
    show_facts(console, plan_facts(made))
    console.print("Compare the hash with the other parties: it is what all of you sign.")


@joint_app.command("simulate")
def simulate(
    data: Annotated[list[Path], typer.Option(help="The rows, one file a party: a.csv b.csv. One file is divided.")],
    more: Annotated[list[Path] | None, typer.Argument(help="Further files of rows.", show_default=False)] = None,
    parties: Annotated[int | None, typer.Option(help="How many parties. Default: one a file, or 3.")] = None,
    estimator: options.Estimator = "ols",
    formula: options.Formula = None,
    columns: options.Columns = None,
    covariance: options.Covariance = None,
    schema: options.PublicSchema = None,
    settings: options.Settings = None,
    where: options.Where = "",
    models: Models = None,
    dropouts: Dropouts = None,
    json_out: JsonOut = None,
) -> None:
    """Try a statistic on this machine, with all parties and the coordinator in one process.

    Example: flou joint simulate --parties 3 --data a.csv b.csv c.csv --formula "y ~ x1 + x2"
    """
    from flou.joint.simulation import simulated

    run_models(models)
    paths = [*data, *(more or ())]
    checked_out("--json", json_out, ".json", tuple(paths))
    program = statistic(
        estimator, formula=formula, columns=columns, covariance=covariance, schema=schema, settings=settings
    )
    tables: dict[str, Any]
    if len(paths) == 1:
        tables, where = _split(paths[0], program, parties or 3, schema, where), ""
    else:
        tables = _named(paths, parties)
    outcome = simulated(tables, program, where=where, dropouts=dropouts)
    fit = outcome.fit
    if json_out is not None:
        write("--json", json_out, as_json(fit, outcome.coordinator.plan))
    show_fit(fit)


@joint_app.command("verify")
def verify(
    transcript: Annotated[Path, typer.Argument(help="The transcript: a .flou file from flou coordinator.")],
    plan: Annotated[Path | None, typer.Option(help="The plan that you expect. Default: its own.")] = None,
    models: Models = None,
    json_out: JsonOut = None,
) -> None:
    """Check a transcript from the first signature to the last sum, and print its result.

    Example: flou joint verify transcript.flou --plan plan.toml
    """
    from flou.joint.agreement.canonical import decode
    from flou.joint.agreement.plan import Plan
    from flou.joint.session.transcript import verified

    checked_out("--json", json_out, ".json", (transcript,))
    run_models(models)
    fit = verified(transcript, None if plan is None else Plan.from_toml(plan))
    assert fit.provenance is not None
    if json_out is not None:
        write("--json", json_out, as_json(fit, Plan.from_dict(decode(transcript.read_bytes())["plan"])))
    show_fit(fit)
    whose = "its own plan (pass --plan to compare it with yours)" if plan is None else "your plan"
    Console(highlight=False).print(
        Text(f"Verified: the sums follow from what {len(fit.provenance.parties)} parties have signed, under {whose}.")
    )


def _write_new(path: Path, data: bytes, mode: int) -> None:
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            file.write(data)
    except OSError:
        raise InvalidParameter(
            f"The file {str(path)!r} cannot be made.",
            "It exists already, or its folder cannot be written to; files are never overwritten.",
            "Choose another name with --out.",
        ) from None


def _named(paths: list[Path], parties: int | None) -> dict[str, Any]:
    """One file for each party, which is named after its file if all names differ."""
    if parties is not None and parties != len(paths):
        raise InvalidParameter(
            f"There are {len(paths)} files for {parties} parties.",
            "Each party has a file of its own.",
            "Pass one file for each party, or a single file to divide among them.",
        )
    names = [path.stem[:64] for path in paths]
    if len(set(names)) < len(names):
        names = [f"party {place}" for place in range(1, len(paths) + 1)]
    return dict(zip(names, paths, strict=True))


def _split(path: Path, program: Program, parties: int, schema: Path | None, where: str) -> dict[str, Any]:
    """The rows of one file, divided among the parties."""
    import numpy as np

    from flou.domain import Schema
    from flou.joint.estimators.party_rows import PartyRows, Reading
    from flou.parameters import integer

    integer("parties", parties, 3, 1000)
    known = None if schema is None else Schema.from_toml(schema)
    reading = Reading.of(program.columns, where=where, schema=known)
    batches = list(PartyRows(path, reading).batches(program.columns))
    whole = {name: np.concatenate([batch[name] for batch in batches] or [np.zeros(0)]) for name in program.columns}
    parts = {name: np.array_split(values, parties) for name, values in whole.items()}
    return {f"party {place + 1}": {name: parts[name][place] for name in parts} for place in range(parties)}
