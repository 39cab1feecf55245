"""``flou joint``: keys, plans, trials and transcripts of statistics between organisations."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from flou.cli import statistic as options
from flou.cli.command import app
from flou.cli.files import checked_out, write
from flou.cli.fits import as_json, show_fit
from flou.cli.models import Models, run_models
from flou.cli.plans import show_facts
from flou.cli.statistic import statistic
from flou.errors import InvalidParameter

if TYPE_CHECKING:
    from flou.joint.estimators.program import Program

__all__ = ["certificate", "joint_app", "keygen", "plan", "simulate", "verify"]

ABOUT = """
Statistics over the rows of several organisations, none of which shows its rows to anyone.

Each party masks its sums, and the masks cancel when a coordinator adds them up: the sums over all parties are the \
only thing that anyone learns. A plan, which all parties sign, says what is computed. [bold]flou coordinator[/bold] \
and [bold]flou party[/bold] carry it out.
"""

# Rich keeps the paragraphs of an epilogue and joins their lines.
START = """
[bold]From nothing to a result[/bold]

flou joint simulate --parties 3 --data a.csv b.csv c.csv --formula "y ~ x1 + x2"      first: try it on this machine

flou joint keygen north --out north.key                    every party: a key; send the printed line to the others

flou joint plan --roster roster.toml --formula "y ~ x1 + x2" --out plan.toml       one of them: the plan, for everyone

flou joint certificate --host sums.example.org --out coordinator              the coordinator: a certificate for HTTPS

flou coordinator plan.toml --certificate coordinator.pem --key coordinator-key.pem --host 0.0.0.0

flou party --plan plan.toml --coordinator https://sums.example.org:8443 --ca coordinator.pem --key north.key \
--data rows.csv

flou joint verify transcript.flou --plan plan.toml                   anyone, at any time: check that the result is true
"""

joint_app = typer.Typer(name="joint", help=ABOUT, epilog=START, no_args_is_help=True, rich_markup_mode="rich")
app.add_typer(joint_app)

Json = Annotated[Path | None, typer.Option("--json", help="Also write the result here, a .json file.")]
Minimum = Annotated[
    int | None, typer.Option(help="No sum is opened over fewer parties; by default all but the dropouts.")
]
Dropouts = Annotated[
    int | None, typer.Option(help="So many parties may be lost in a round; by default a quarter of them.")
]


@joint_app.command("keygen", help="Make the key of a party, and print the line that the others put into their roster.")
def keygen(
    name: Annotated[str, typer.Argument(help="What the others call this party, such as north.")],
    out: Annotated[Path, typer.Option(help="Where the key goes, a new file. It stays with the party.")],
) -> None:
    from flou.domain import toml
    from flou.joint.agreement.identity import Identity

    identity = Identity.generate(name)
    identity.save(out)
    _, _, line = toml.written({"parties": {identity.name: identity.public.hex()}}).partition("\n")
    typer.echo(line.rstrip())
    note = f"The key is in {out}; show it to nobody. The line above belongs under [parties] in everyone's roster."
    Console(stderr=True, highlight=False).print(Text(note), soft_wrap=True)


@joint_app.command(
    "certificate", help="Make a certificate for HTTPS: of the coordinator, or of a party for mutual TLS."
)
def certificate(
    host: Annotated[list[str], typer.Option(help="A name or address of the machine. Repeat it for more.")],
    out: Annotated[str, typer.Option(help="The certificate goes to OUT.pem, its key to OUT-key.pem.")],
    days: Annotated[int, typer.Option(min=1, max=3650, help="How long it is valid.")] = 365,
) -> None:
    from flou.joint.transport.tls import self_signed

    public, secret = self_signed(*host, days=days)
    paths = Path(f"{out}.pem"), Path(f"{out}-key.pem")
    for path, data, mode in zip(paths, (public, secret), (0o644, 0o600), strict=True):
        _write_new(path, data, mode)
    note = f"The certificate is in {paths[0]}: give it to everyone who connects. Its key is in {paths[1]}: keep it."
    Console(highlight=False).print(Text(note), soft_wrap=True)


@joint_app.command("plan", help="Write a plan: what is computed, between whom, and how many may be lost on the way.")
def plan(
    roster: Annotated[Path, typer.Option(help="The parties, a TOML file: [parties], then the lines of keygen.")],
    out: Annotated[Path, typer.Option(help="Where the plan goes, a .toml file for everyone.")],
    estimator: options.Estimator = "ols",
    formula: options.Formula = None,
    columns: options.Columns = None,
    covariance: options.Covariance = None,
    schema: options.SchemaFile = None,
    settings: options.Settings = None,
    where: options.Where = "",
    models: Models = None,
    name: Annotated[str, typer.Option(help="What the plan is called.")] = "joint statistics",
    minimum: Minimum = None,
    dropouts: Dropouts = None,
    differences: Annotated[
        bool,
        typer.Option("--accept-differences", help="Open sums again without a party that was lost between two rounds."),
    ] = False,
    max_rows: Annotated[int, typer.Option(help="No party has more rows.")] = 2**40,
    expires: Annotated[
        str, typer.Option(help="Until when it may be used, such as 2027-01-31T00:00:00Z; by default 30 days.")
    ] = "",
) -> None:
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
    console.print("Compare the hash with the others: it is what all of them sign.")


@joint_app.command("simulate", help="Try it on this machine: all parties and the coordinator in one process.")
def simulate(
    data: Annotated[
        list[Path], typer.Option(help="The rows of each party: --data a.csv b.csv c.csv, or one to split.")
    ],
    more: Annotated[list[Path] | None, typer.Argument(help="More files.", show_default=False)] = None,
    parties: Annotated[int | None, typer.Option(help="How many parties; one file is split between them.")] = None,
    estimator: options.Estimator = "ols",
    formula: options.Formula = None,
    columns: options.Columns = None,
    covariance: options.Covariance = None,
    schema: options.SchemaFile = None,
    settings: options.Settings = None,
    where: options.Where = "",
    models: Models = None,
    dropouts: Dropouts = None,
    json_out: Json = None,
) -> None:
    from flou.joint.simulation import simulated

    run_models(models)
    paths = [*data, *(more or ())]
    if json_out is not None:
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


@joint_app.command("verify", help="Check a transcript from the first signature to the last sum, and print its result.")
def verify(
    transcript: Annotated[Path, typer.Argument(help="What flou coordinator has written.")],
    plan: Annotated[Path | None, typer.Option(help="The plan that you expect; otherwise any.")] = None,
    models: Models = None,
    json_out: Json = None,
) -> None:
    from flou.joint.agreement.canonical import decode
    from flou.joint.agreement.plan import Plan
    from flou.joint.session.transcript import verified

    if json_out is not None:
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
            "It exists already, or its folder cannot be written to; nothing is written over.",
            "Choose another name with --out.",
        ) from None


def _named(paths: list[Path], parties: int | None) -> dict[str, Any]:
    """One file a party, called like the file where that tells them apart."""
    if parties is not None and parties != len(paths):
        raise InvalidParameter(
            f"There are {len(paths)} files for {parties} parties.",
            "Each party has a file of its own.",
            "Pass as many files as parties, or a single one to be split.",
        )
    names = [path.stem[:64] for path in paths]
    if len(set(names)) < len(names):
        names = [f"party {place}" for place in range(1, len(paths) + 1)]
    return dict(zip(names, paths, strict=True))


def _split(path: Path, program: Program, parties: int, schema: Path | None, where: str) -> dict[str, Any]:
    """The rows of one file, in so many parts."""
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
