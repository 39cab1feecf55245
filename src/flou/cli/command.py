"""The command ``flou`` itself: its help, its version, and how errors are shown."""

from __future__ import annotations

import sys
from io import TextIOWrapper
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.panel import Panel
from rich.text import Text
from typer.core import TyperGroup

from flou.errors import FlouError
from flou.version import __version__

__all__ = ["app", "epilogue", "printable", "screen"]


def epilogue(lines: str) -> str:
    """The end of a help page, line by line: Rich would join lines, and keeps paragraphs."""
    return lines.replace("\n", "\n\n")


def printable(text: str) -> str:
    """A text that other people may have written, without anything that could control a terminal."""
    return "".join(letter if letter.isprintable() or letter == "\n" else " " for letter in text)


def screen() -> Console:
    """Where results are printed; a terminal that lacks a letter still shows them."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    return Console(highlight=False)


ABOUT = """
[bold]flou[/bold]: statistics on confidential data (differential privacy).

flou adds random noise to every answer, so that nobody can tell from the answers whether any one person is in the data.
[bold]Every answer comes with its proved privacy cost and with an interval for its error.[/bold]
"""

START = epilogue("""\
[bold]Where to start[/bold]
flou demo                 see counts, means and deciles of a made-up table beside the true values
flou demo --epsilon 0.1   the same with a tenth of the privacy loss and ten times the error
flou schema data.csv      draft a schema, in which you state what is public about your table
flou release --help       private statistics of your own table
flou survey --help        sensitive questions whose true answers nobody sees
flou sanitise --help      a table in which every cell is randomised
flou joint --help         statistics over several organisations that do not show each other their rows
""")


class Refusing(TyperGroup):
    """Shows an error of flou as three sentences for the user. Any other exception is a bug and stays visible."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except FlouError as error:
            console = Console(stderr=True, highlight=False)
            message = printable(str(error).replace("\n", " "))
            console.print(Panel(Text(message), title="refused", title_align="left", border_style="red"))
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
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None: ...
