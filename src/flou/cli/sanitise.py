"""``flou sanitise``: a table with every cell randomised, for software that wants rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from flou.ask import epsilon_of
from flou.cli.command import app
from flou.cli.files import checked_out, write
from flou.cli.template import filled_in
from flou.local import Sanitised, Sanitiser, sanitise
from flou.parameters import choice

__all__ = ["show_sanitise"]

START = 1 << 16  # bytes from which the number of lines is guessed, for the bar

ABOUT = """
Randomise every cell of a table, within its public bounds and categories.

Numbers stay numbers within their bounds, whole numbers stay whole, categories stay categories; the rows keep their \
order and their number. What comes out may be read by anyone, with any software. [bold]--epsilon[/bold] is what a \
person pays for the whole row, shared by the columns; with [bold]--per-column[/bold] every column costs that much, and \
a person pays it times the number of columns.
"""

# Rich keeps the paragraphs of an epilogue and joins their lines.
EXAMPLES = """
[bold]Examples[/bold]

flou schema survey.csv --out survey.toml                            first: say what is public

flou sanitise survey.csv --schema survey.toml --epsilon 8 --out sanitised.csv

flou sanitise survey.parquet --schema survey.toml --epsilon 1 --per-column --method laplace --out sanitised.parquet

[bold]What to expect[/bold]

Single values are far off unless epsilon is large: sanitised rows are for software that takes nothing else. Shares, \
means and distributions cost as much and err less when reports are made for them: [bold]flou survey --help[/bold]. A \
classifier can be learned from reports as well: [bold]flou.local.NaiveBayes[/bold].

Methods for numbers: [bold]window[/bold] (the least error), [bold]laplace[/bold], [bold]staircase[/bold]. Categories \
and yes-or-no columns are answered by generalised randomised response. Missing values count as the schema says. \
Running it again draws fresh noise, and costs again.
"""


@app.command("sanitise", help=ABOUT, epilog=EXAMPLES)
def show_sanitise(
    data: Annotated[Path, typer.Argument(help="The table: a .csv, .tsv or .parquet file. It is never changed.")],
    schema: Annotated[
        Path, typer.Option(help="What is public about it, a TOML file; flou schema writes one to fill in.")
    ],
    epsilon: Annotated[str, typer.Option(help="What a person pays for all columns, for example 8, 0.5 or 1/3.")],
    out: Annotated[Path, typer.Option(help="Where the rows go, a .csv or .parquet file.")],
    per_column: Annotated[
        bool, typer.Option("--per-column", help="Every column costs epsilon: a person pays it times the columns.")
    ] = False,
    method: Annotated[str, typer.Option(help="For numbers: window, laplace or staircase.")] = "window",
    drop: Annotated[
        bool, typer.Option("--drop", help="Leave out columns that the schema does not have, instead of refusing.")
    ] = False,
    certificate: Annotated[Path | None, typer.Option(help="Also write the certificate here, a .json file.")] = None,
) -> None:
    known = filled_in(schema)
    if certificate is not None:
        checked_out("--certificate", certificate, ".json", (data, schema, out))
    console = Console(highlight=False)
    with _randomising(Console(stderr=True), data) as progress:
        found = sanitise(
            str(data),
            known,
            epsilon=epsilon_of("--epsilon", epsilon),
            budget="per-column" if per_column else "total",
            method=choice("method", method, ("window", "laplace", "staircase")),
            others="drop" if drop else "refuse",
            out=out,
            progress=progress,
        )
    if certificate is not None:
        write("--certificate", certificate, found.certificate.to_json() + "\n")
    _print(console, found)
    if certificate is not None:
        console.print(f"[bold]The certificate[/bold]: {escape(str(certificate))}", soft_wrap=True)


def _print(console: Console, found: Sanitised) -> None:
    sanitiser = found.sanitiser
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("column", "randomised by", "epsilon"):
        table.add_column(heading, justify="right" if heading == "epsilon" else "left")
    for name, randomiser in sanitiser.randomisers.items():
        table.add_row(escape(name), randomiser.name, f"{float(sanitiser.share):.4g}")
    table.add_section()
    table.add_row("[bold]together", _together(sanitiser), f"[bold]{float(found.cost.epsilon):.4g}")
    console.print()
    console.print(table)
    if found.dropped:
        console.print(f"\nLeft out: {escape(', '.join(found.dropped))}.", soft_wrap=True)
    words = sanitiser.in_words()
    console.print(f"\n{words[0].upper()}{words[1:]}. {found.cost.in_words()}", soft_wrap=True)
    console.print(f"\n[bold]{found.rows:,} sanitised rows[/bold]: {escape(str(found.path))}", soft_wrap=True)


def _together(sanitiser: Sanitiser) -> str:
    rows = sanitiser.schema.max_rows_per_unit
    return f"{len(sanitiser.schema)} columns" + (f" x {rows} rows" if rows > 1 else "")


@contextmanager
def _randomising(console: Console, data: Path) -> Iterator[Callable[[int], None]]:
    """A bar that knows about how many rows there will be; nothing in a pipe."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[rows]:,} rows"))
    times = (TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, *times, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("Randomising", total=_about(data) if console.is_terminal else None, rows=0)
        yield lambda rows: bar.update(task, completed=rows, rows=rows)


def _about(data: Path) -> int | None:
    """About how many rows a file has: known for Parquet, guessed from the first lines of a text."""
    try:
        if data.suffix.lower() == ".parquet":
            import duckdb

            with duckdb.connect() as connection:
                found = connection.execute("SELECT count(*) FROM read_parquet(?)", [str(data)]).fetchone()
            return None if found is None else int(found[0])
        if data.suffix.lower() == ".gz":
            return None
        with data.open("rb") as file:
            start = file.read(START)
        return max(1, data.stat().st_size * start.count(b"\n") // max(len(start), 1))
    except Exception:  # a bar without an end, then; what is wrong with the file is told when it is read
        return None
