"""``flou demo``: the main job in small, on made-up salaries."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from flou import demo
from flou.cli.command import app
from flou.cli.files import is_writable
from flou.errors import InvalidParameter, MissingExtra
from flou.parameters import shown
from flou.reproduce.salaries import made_salaries

__all__ = ["show_demo"]

NEXT = """\
[bold]Run it again[/bold]: fresh noise, other answers. On real data, that costs again.

[bold]What to read next[/bold]
  flou demo --epsilon 0.1               less privacy loss, more error
  flou demo --rows 2000 --epsilon 0.1   what that means for a small table
  python -m pydoc flou.demo             how these answers and intervals are made
  python -m pydoc flou                  the parts, for programs of your own"""


@app.command("demo")
def show_demo(
    rows: Annotated[int, typer.Option(help="How many salaries to make up.")] = 400_000,
    epsilon: Annotated[float, typer.Option(help="What all the answers together cost.")] = 1,
    out: Annotated[Path, typer.Option(help="Where to draw the plot, a PNG file.")] = Path("flou-demo.png"),
    no_plot: Annotated[bool, typer.Option("--no-plot", help="Draw nothing.")] = False,
) -> None:
    """Ask a made-up table of salaries for a count, a mean and a histogram."""
    if not no_plot:
        _check_out(out)
    demo.Questions(epsilon)  # refused before the table is made
    console = Console(highlight=False)
    with Console(stderr=True).status("Making salaries and asking about them"):
        answers = demo.ask(made_salaries(rows), epsilon=epsilon)
    _print_answers(console, answers)
    _print_histogram(console, answers.histogram)
    cost = answers.cost
    console.print(f"[bold]What it cost[/bold]: epsilon = {cost.epsilon:g} in total, proved. {cost.in_words()}\n")
    if not no_plot:
        _draw(console, answers, out)
    console.print(NEXT)


def _check_out(out: Path) -> None:
    """Refuse a file that could not be written, before anything is asked."""
    if out.suffix.lower() != ".png":
        raise _refused(out, "end in .png")
    if not is_writable(out):
        raise _refused(out, "be a file that can be written")


def _refused(out: Path, must: str) -> InvalidParameter:
    return InvalidParameter(
        f"--out must {must}, got {shown(str(out))}.",
        "The plot is one picture in the PNG format, and no folder is made for it.",
        "Pass a file in a folder of yours, for example --out flou-demo.png, or --no-plot.",
    )


def _print_answers(console: Console, answers: demo.Answers) -> None:
    count, mean, histogram = answers.count, answers.mean, answers.histogram
    lower, upper = histogram.edges[0], histogram.edges[-1]
    console.print(
        f"\n{count.truth:,} made-up salaries, clamped to the public bounds {lower:,.0f} and {upper:,.0f} euros, and "
        f"three questions that share epsilon = {answers.cost.epsilon:g}. A neighbouring table has one person more or "
        f"less ({answers.cost.relation}). It is made-up data, so we may look at the truth.\n"
    )
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for name in ("question", "answer", "95 % interval", "truth", "inside", "epsilon"):
        table.add_column(name, justify="left" if name == "question" else "right", no_wrap=True)
    for name, answer in (("count", count), ("mean, euros", mean)):
        value, truth = (f"{number:,.{answer.digits}f}" for number in (answer.value, answer.truth))
        numbers = (value, " to ".join(answer.between), truth)
        table.add_row(name, *numbers, _inside(answer.holds), f"{answer.cost.epsilon:g}")
    held, bars = sum(histogram.holds), len(histogram.holds)
    numbers = (f"{bars} bars", f"each +- {histogram.error:,}", "")
    table.add_row("histogram", *numbers, f"{held} of {bars}", f"{histogram.cost.epsilon:g}", end_section=True)
    table.add_row("[bold]together", "", "", "", "", f"[bold]{answers.cost.epsilon:g}")
    console.print(table)
    console.print(
        "\nThe mean is the noisy sum divided by the noisy count, so it pays for the sum only, and its interval inverts "
        "the exact law of the two noises. The intervals of the bars hold all at once.\n"
    )


def _print_histogram(console: Console, histogram: demo.Histogram) -> None:
    """One bar a line: solid up to the lower end of the interval, shaded up to the upper end."""
    solid, shaded = ("#", "-") if console.options.ascii_only else ("█", "░")
    longest = max(1, *(high for _, high in histogram.intervals))
    width = min(max(console.width - 31 - 4 * max(len(f"{longest:,}"), 6), 8), 40)  # what the other columns leave
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("1000 euros", "", "people", "95 % interval", "truth", "inside"):
        table.add_column(name, justify="right" if name else "left", no_wrap=True)
    bins = zip(histogram.values, histogram.intervals, histogram.truths, histogram.holds, strict=True)
    for (start, stop), (value, (low, high), truth, inside) in zip(pairwise(histogram.edges), bins, strict=True):
        sure, perhaps = round(low * width / longest), round(high * width / longest)
        bar = Text(solid * sure, style="cyan").append(shaded * (perhaps - sure), style="dim")
        numbers = (f"{value:,}", f"{low:,} to {high:,}", f"{truth:,}", _inside(inside))
        table.add_row(f"{start / 1000:g} to {stop / 1000:g}", bar, *numbers)
    console.print(table)
    console.print()


def _inside(holds: bool) -> str:
    return "[green]yes[/green]" if holds else "[yellow]no[/yellow]"


def _draw(console: Console, answers: demo.Answers, out: Path) -> None:
    try:
        with Console(stderr=True).status("Drawing"):
            demo.draw(answers, out)
    except OSError:  # a full disk, say
        raise _refused(out, "be a file that can be written") from None
    except MissingExtra as error:
        console.print(Panel(Text(str(error)), title="no plot", title_align="left", border_style="yellow"))
    else:
        console.print(f"[bold]The plot[/bold]: {escape(str(out))}", soft_wrap=True)
    console.print()
