"""The command itself: what it is about, and how it refuses."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.console import Console
from rich.panel import Panel
from rich.text import Text
from typer.core import TyperGroup

from flou.errors import FlouError
from flou.version import __version__

__all__ = ["app"]

ABOUT = """
[bold]flou[/bold]: statistics on confidential data (differential privacy).

Exact noise hides each person and keeps the picture.
[bold]Every answer comes with its privacy cost, proved, and its error, known.[/bold]
"""

# Rich keeps the paragraphs of an epilogue and joins their lines.
START = """
[bold]Where to start[/bold]

flou demo                 counts, means and deciles of a made-up table, with the truth beside them

flou demo --epsilon 0.1   a tenth of the privacy loss, ten times the error

flou schema data.csv      a schema to fill in: what is public about your table

flou release --help       private statistics of your own table

flou survey --help        sensitive questions, answered without trusting anyone

flou sanitise --help      a whole table, randomised row by row

flou joint --help         regressions over several organisations, none of which shows its rows
"""


class Refusing(TyperGroup):
    """Shows an error of flou as what it is, three sentences for the user, and everything else as a bug."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except FlouError as error:
            console = Console(stderr=True, highlight=False)
            told = "".join(
                letter if letter.isprintable() else " " for letter in str(error)
            )  # others may have written it
            console.print(Panel(Text(told), title="refused", title_align="left", border_style="red"))
            raise typer.Exit(2) from None


app = typer.Typer(
    name="flou",
    cls=Refusing,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_show_locals=False,  # a local variable may hold rows
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"flou {__version__}")
        raise typer.Exit


@app.callback(help=ABOUT, epilog=START)
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None: ...
