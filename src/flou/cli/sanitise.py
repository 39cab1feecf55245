"""``flou sanitise``: a table in which every cell is randomised, for software that needs rows."""

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
from flou.cli.command import app, epilogue
from flou.cli.files import DataFile, SchemaFile, checked_out, write
from flou.cli.template import filled_in
from flou.local import Sanitised, sanitise
from flou.parameters import choice

__all__ = ["show_sanitise"]

START = 1 << 16  # bytes from which the progress bar estimates the number of lines

ABOUT = """
Randomise every cell of a table, within its public bounds and categories.

Numbers stay within their bounds, whole numbers stay whole, and categories stay categories. The rows keep their order \
and their number. Anyone may read the new table, with any software.

[bold]--epsilon[/bold] limits how much a person's row reveals about that person: a smaller epsilon means more noise. \
The columns share it. With [bold]--per-column[/bold] each column gets the whole epsilon, and the privacy loss of a \
person is epsilon times the number of columns.
"""

EXAMPLES = epilogue("""\
[bold]Examples[/bold]
flou schema survey.csv --out survey.toml                            first: state what is public
flou sanitise survey.csv --schema survey.toml --epsilon 8 --out sanitised.csv
flou sanitise survey.parquet --schema survey.toml --epsilon 1 --per-column --method laplace --out sanitised.parquet
[bold]What to expect[/bold]
Unless epsilon is large, single values are far from the truth. Use sanitised rows only for software that needs rows. \
For shares, means and distributions [bold]flou survey[/bold] is more accurate at the same epsilon. A classifier can \
also learn from reports: see [bold]flou.local.NaiveBayes[/bold].
Categories and yes-or-no columns are randomised by generalised randomised response. The schema says what happens to \
missing values. Every run draws fresh noise and adds to the privacy loss.
""")


@app.command("sanitise", help=ABOUT, epilog=EXAMPLES)
def show_sanitise(
    data: DataFile,
    schema: SchemaFile,
    epsilon: Annotated[
        str, typer.Option(help="Privacy loss of a person, all columns together: 8, 0.5, 1/3. Smaller: more noise.")
    ],
    out: Annotated[Path, typer.Option(help="The table to write, a .csv or .parquet file.")],
    per_column: Annotated[
        bool, typer.Option("--per-column", help="Spend epsilon on each column. Default: the columns share epsilon.")
    ] = False,
    method: Annotated[
        str, typer.Option(help="The noise of numbers: window (the smallest error), laplace or staircase.")
    ] = "window",
    drop: Annotated[
        bool, typer.Option("--drop", help="Leave out columns that are not in the schema. Default: refuse the table.")
    ] = False,
    certificate: Annotated[Path | None, typer.Option(help="Also write the certificate to this .json file.")] = None,
) -> None:
    known = filled_in(schema)
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
    rows = sanitiser.schema.max_rows_per_unit
    size = f"{len(sanitiser.schema)} columns" + (f" x {rows} rows" if rows > 1 else "")
    table.add_row("[bold]together", size, f"[bold]{float(found.cost.epsilon):.4g}")
    console.print()
    console.print(table)
    if found.dropped:
        console.print(f"\nLeft out: {escape(', '.join(found.dropped))}.", soft_wrap=True)
    words = sanitiser.in_words()
    console.print(f"\n{words[0].upper()}{words[1:]}. {found.cost.in_words()}", soft_wrap=True)
    console.print(f"\n[bold]{found.rows:,} sanitised rows[/bold]: {escape(str(found.path))}", soft_wrap=True)


@contextmanager
def _randomising(console: Console, data: Path) -> Iterator[Callable[[int], None]]:
    """A progress bar on a terminal; in a pipe nothing is shown."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[rows]:,} rows"))
    times = (TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, *times, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("Randomising", total=_about(data) if console.is_terminal else None, rows=0)
        yield lambda rows: bar.update(task, completed=rows, rows=rows)


def _about(data: Path) -> int | None:
    """About how many rows a file has: stated in a Parquet file, estimated from the first lines of a text file."""
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
    except Exception:  # then the bar has no end; the reader of the file reports what is wrong with it
        return None
