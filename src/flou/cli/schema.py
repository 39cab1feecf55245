"""``flou schema``: a draft of a schema, made without reading any row."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from flou.cli.command import app, epilogue
from flou.cli.files import DataFile, checked_out, write
from flou.cli.template import parsed_types, template
from flou.errors import InvalidParameter
from flou.parameters import shown

__all__ = ["show_schema"]

ABOUT = """
Draft a schema: a file in which you state the public bounds and categories of every column.

Nothing is read from the rows: no bound, no category, not even their number, because that would be a release without \
noise. Column types come from the Parquet file or from [bold]--types[/bold]. A CSV file declares no types, so the \
draft offers all four for each column. [bold]flou release[/bold] refuses the file until you have filled it in.
"""

EXAMPLES = epilogue("""\
[bold]Examples[/bold]
flou schema salaries.parquet                               print the draft
flou schema salaries.csv --out salaries.toml               write the draft to a file, then fill it in
flou schema salaries.csv --types salary=interval,age=integers,department=categories --out salaries.toml
[bold]The four types[/bold]
interval: a number between bounds  |  integers: a whole number  |  categories: one of a list  |  boolean: yes or no
""")


@app.command("schema", help=ABOUT, epilog=EXAMPLES)
def show_schema(
    data: DataFile,
    out: Annotated[Path | None, typer.Option(help="The new .toml file to write. Default: print the draft.")] = None,
    types: Annotated[list[str] | None, typer.Option(help="Types that you know: pay=interval,age=integers.")] = None,
) -> None:
    text = template(data, parsed_types(types or []))
    if out is None:
        typer.echo(text)
        return
    if out.exists():
        raise InvalidParameter(
            f"--out must be a new file, got {shown(str(out))}.",
            "Writing would erase a schema that somebody may have filled in.",
            "Pass another name, for example --out new.toml, or remove the file first.",
        )
    checked_out("--out", out, ".toml", (data,))
    write("--out", out, text)
    console = Console(highlight=False)
    console.print(f"[bold]To fill in[/bold]: {escape(str(out))}", soft_wrap=True)
    if data.suffix.lower() != ".parquet":
        console.print("The column names are the first line of the data. If that is a person's row, delete the draft.")
