"""``flou schema``: a schema to fill in, with nothing from the rows in it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from flou.cli.command import app
from flou.cli.files import checked_out, write
from flou.cli.template import parsed_types, template
from flou.errors import InvalidParameter
from flou.parameters import shown

__all__ = ["show_schema"]

ABOUT = """
Write a schema to fill in: the names of the columns, and what each type needs.

Nothing is read from the rows: no bound, no category, not even their number, because that would be a release without \
noise. Types come from a Parquet file's own declaration or from [bold]--types[/bold]; a CSV file declares none, and \
each column gets all four to choose from. [bold]flou release[/bold] refuses the file until it is filled in.
"""

EXAMPLES = """
[bold]Examples[/bold]

flou schema salaries.parquet                               print it

flou schema salaries.csv --out salaries.toml               write it, then fill it in

flou schema salaries.csv --types salary=interval,age=integers,department=categories --out salaries.toml

[bold]The four types[/bold]

interval: a number between bounds  |  integers: a whole number  |  categories: one of a list  |  boolean: yes or no
"""


@app.command("schema", help=ABOUT, epilog=EXAMPLES)
def show_schema(
    data: Annotated[Path, typer.Argument(help="The table: a .csv, .tsv or .parquet file.")],
    out: Annotated[Path | None, typer.Option(help="Where to write it, a new .toml file; printed without.")] = None,
    types: Annotated[list[str] | None, typer.Option(help="Types that you know: name=interval,name=boolean.")] = None,
) -> None:
    text = template(data, parsed_types(types or []))
    if out is None:
        typer.echo(text)
        return
    if out.exists():
        raise InvalidParameter(
            f"--out must be a new file, got {shown(str(out))}.",
            "A schema that somebody has filled in would be lost.",
            "Pass another name, for example --out new.toml, or remove the file first.",
        )
    checked_out("--out", out, ".toml", (data,))
    write("--out", out, text)
    console = Console(highlight=False)
    console.print(f"[bold]To fill in[/bold]: {escape(str(out))}", soft_wrap=True)
    if data.suffix.lower() != ".parquet":
        console.print("The names are the first line of the file. If that is somebody's row, delete what was written.")
