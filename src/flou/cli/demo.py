"""``flou demo``: common statistics of a made-up table of staff.

The demo runs exactly the lines of Python that it prints. It may show the true value beside every answer because the
table is made up.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

import flou
from flou.cli.command import app, epilogue
from flou.cli.files import checked_out, unwritable
from flou.errors import BudgetExceeded, InvalidParameter, MissingExtra
from flou.parameters import number, shown
from flou.release.entries import Entry, entries

__all__ = ["show_demo"]

ABOUT = """
Ask a made-up table of staff for private statistics: counts, means, deciles and a cross-tabulation.

Every answer is printed with the line of Python that asks for it, its interval and the true value, which may be shown \
because nobody in the table is real.
"""

EXAMPLES = epilogue("""\
[bold]Examples[/bold]
flou demo
flou demo --rows 2000 --epsilon 0.1
flou demo --plot salaries.png
""")

INTRODUCTION = """\
[bold]A made-up table of {rows:,} employees.[/bold] Every answer below contains random noise, so that nobody can tell \
from the answers whether any one person is in the table. [bold]Epsilon[/bold] is the privacy cost of an answer: a \
small epsilon means much noise and little risk. The [bold]budget[/bold] is the most that all answers together may cost.

First state what is public: the bounds and the categories of the columns. flou never reads them from the rows."""

OPENING = """\
import flou
from flou.reproduce.salaries import made_staff

schema = {{
    "salary": flou.Interval(0, 300_000),
    "department": flou.Categories(["care", "research", "administration"]),
    "age": flou.Integers(18, 70),
    "full_time": flou.Boolean(),
}}
staff = made_staff({rows:_})
table = flou.open(staff, schema=schema, budget={budget})"""

ASKING = """
Then ask. The [bold]95 % interval[/bold] says how far the noise may have moved an answer. The demo shows the true \
values because the table is made up. With real people nobody would see them."""

NEXT = """\
[bold]Run it again[/bold]: the noise is fresh, and the answers differ. With real people a second run would cost \
epsilon again.

[bold]What to try next[/bold]
  flou demo --epsilon 0.1         a tenth of the risk, ten times the noise
  flou demo --rows 1000           the same noise for a small table
  flou demo --plot salaries.png   draw the mean salaries of the departments
  flou schema yours.csv           start with a table of your own"""

Staff = dict[str, Any]
DEPARTMENTS = ("care", "research", "administration")


@dataclass(frozen=True)
class DemoQuestion:
    """One question in words and in Python, its part of the budget in tenths, and the true answer."""

    asked: str
    code: str
    tenths: int
    truth: Callable[[Staff], Sequence[float]]

    def line(self, budget: Decimal) -> str:
        """The Python that asks for it."""
        return self.code.format(epsilon=_written(budget * self.tenths / 10))


QUESTIONS = (
    DemoQuestion("How many people are there?", "table.count(epsilon={epsilon})", 1, lambda staff: [len(staff["age"])]),
    DemoQuestion(
        "How many of them are 60 or older?",
        'table.where(flou.column("age") >= 60).count(epsilon={epsilon})',
        1,
        lambda staff: [np.sum(staff["age"] >= 60)],
    ),
    DemoQuestion(
        "What do they earn on average?",
        'table.mean("salary", epsilon={epsilon})',
        2,
        lambda staff: [_mean(staff["salary"])],
    ),
    DemoQuestion(
        "What do the lowest 10 %, 20 %, ... earn at most? The 50 % line is the median.",
        'table.quantiles("salary", flou.deciles, epsilon={epsilon})',
        3,
        lambda staff: [np.sort(staff["salary"])[math.ceil(p * len(staff["salary"])) - 1] for p in flou.deciles],
    ),
    DemoQuestion(
        "What do they earn on average in each department?",
        'table.group_by("department").mean("salary", epsilon={epsilon})',
        2,
        lambda staff: [_mean(staff["salary"][works]) for works in _departments(staff)],
    ),
    DemoQuestion(
        "How many work full time in each department, and how many do not?",
        'table.group_by("department").histogram("full_time", epsilon={epsilon})',
        1,
        lambda staff: [
            np.sum(works & (staff["full_time"] == full)) for works in _departments(staff) for full in (False, True)
        ],
    ),
)
SMALLEST = Fraction(1, 10**5)
HEADS = ("  ", "answer", "95 % interval", "truth")
HELD = {True: "[green]held[/green]", False: "[yellow]missed[/yellow]", None: ""}
GAPS = 5 * 2 + len("missed")  # between the columns of an answer, and the mark in the last but one
DRAWN = 4  # the question whose answer --plot draws


@app.command("demo", help=ABOUT, epilog=EXAMPLES)
def show_demo(
    rows: Annotated[int, typer.Option(help="The number of employees in the made-up table.")] = 20_000,
    epsilon: Annotated[float, typer.Option(help="Privacy cost of all answers. Smaller: more noise.")] = 1,
    plot: Annotated[Path | None, typer.Option(help="Also draw one of the answers, to this .png file.")] = None,
) -> None:
    if plot is not None:
        checked_out("--plot", plot, ".png")
    if number("epsilon", epsilon) < SMALLEST:  # refused before the table is made
        raise InvalidParameter(
            f"epsilon must be at least {float(SMALLEST):g} here, got {shown(epsilon)}.",
            "With a smaller epsilon the noise is larger than any answer of the demo.",
            "Pass a larger number, for example --epsilon 0.1.",
        )
    console = Console(highlight=False)
    budget = Decimal(f"{epsilon:.12g}")
    opening = OPENING.format(rows=rows, budget=_written(budget))
    known: dict[str, Any] = {}
    with Console(stderr=True).status("Making up a table and asking about it"):
        exec(opening, known)
        releases = [eval(question.line(budget), known) for question in QUESTIONS]

    console.print("\n" + INTRODUCTION.format(rows=rows) + "\n")
    _print_code(console, opening)
    console.print(ASKING)
    held: list[bool] = []
    for question, release in zip(QUESTIONS, releases, strict=True):
        console.print(f"\n[bold]{question.asked}[/bold]")
        _print_code(console, question.line(budget))
        held += _print_answer(console, release, question.truth(known["staff"]))
    spent = known["table"].budget.spent
    console.print(f"\n[bold]What it cost[/bold]: epsilon {_written(budget)}, the whole budget. {spent.in_words()}")
    console.print(
        f"[bold]How good it is[/bold]: {sum(held)} of {len(held)} intervals contain the true value. "
        "About one in twenty 95 % intervals may miss it."
    )
    console.print("\n[bold]May I ask once more?[/bold]")
    _print_refusal(console, QUESTIONS[0].line(budget), known)
    if plot is not None:
        _draw(console, releases[DRAWN], plot)
    console.print(NEXT)


def _print_code(console: Console, code: str) -> None:
    """As an interactive session shows it."""
    for line in code.splitlines():
        prompt = "..." if line.startswith((" ", "}")) else ">>>"
        console.print(Text(f"  {prompt} {line}" if line else "", style="cyan"), soft_wrap=True)


def _print_answer(console: Console, release: flou.Release, truth: Sequence[float]) -> list[bool]:
    """Every number with its interval and the truth, where there is one; which of the intervals hold it."""
    lines = entries(release)
    held = [_holds(entry, true) for entry, true in zip(lines, truth, strict=True)]
    labels = ("",) if release.labels is None else release.labels
    texts = [
        (f"  {label}", entry.text, entry.between(entry.data), _true_text(true, entry))
        for label, entry, true in zip(labels, lines, truth, strict=True)
    ]
    taken = sum(max(map(len, column)) for column in zip(HEADS, *texts, strict=True))
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for place, head in enumerate((*HEADS, "", "")):
        table.add_column(head, justify="left" if place in (0, 5) else "right", no_wrap=True)
    for (label, answer, *rest), holds, strip in zip(texts, held, _strips(lines, console, taken + GAPS), strict=True):
        table.add_row(label, f"[bold]{answer}", *rest, HELD[holds], strip)
    console.print(table)
    if release.note:
        console.print(Padding(Text(release.note, style="dim"), (0, 0, 0, 2)))
    return [holds for holds in held if holds is not None]


def _holds(entry: Entry, true: float) -> bool | None:
    """Whether the interval holds the truth, if there is any: nobody has no mean."""
    return None if math.isnan(true) else entry.data[0] <= true <= entry.data[1]


def _true_text(true: float, entry: Entry) -> str:
    decimals = len(entry.text.partition(".")[2])
    return "nobody" if math.isnan(true) else f"{true:,.{decimals}f}"


def _strips(lines: Sequence[Entry], console: Console, taken: int) -> list[Text]:
    """Every interval on one scale, with the answer as a dot; nothing for a single number or a narrow terminal."""
    width = min(console.width - taken, 40)
    if len(lines) == 1 or width < 10:
        return [Text() for _ in lines]
    bar, dot = ("-", "o") if console.options.ascii_only else ("─", "●")
    ends = [end for entry in lines for end in entry.data]
    start, scale = min(ends), (width - 1) / ((max(ends) - min(ends)) or 1)

    def drawn(entry: Entry) -> Text:
        low, value, high = (round((x - start) * scale) for x in (entry.data[0], entry.value, entry.data[1]))
        strip = " " * low + bar * (value - low) + dot + bar * (high - value)
        return Text(strip.ljust(width), style="cyan")

    return [drawn(entry) for entry in lines]


def _print_refusal(console: Console, line: str, known: dict[str, Any]) -> None:
    """The budget is spent, and the next question is refused."""
    _print_code(console, line)
    try:
        eval(line, known)
    except BudgetExceeded as error:
        console.print(Padding(Text(f"BudgetExceeded: {error}", style="yellow"), (0, 0, 1, 2)))


def _draw(console: Console, release: flou.Release, out: Path) -> None:
    try:
        with Console(stderr=True).status("Drawing"):
            release.plot(out)
    except OSError:  # a full disk, say
        raise unwritable("--plot", out) from None
    except MissingExtra as error:
        console.print(Panel(Text(str(error)), title="no plot", title_align="left", border_style="yellow"))
    else:
        console.print(f"[bold]The picture[/bold], drawn by release.plot: {escape(str(out))}\n", soft_wrap=True)


def _written(amount: Decimal) -> str:
    """A number as people write it, for example 0.2."""
    return f"{amount.normalize():f}"


def _departments(staff: Staff) -> list[Any]:
    """Who works in each department of the schema, and who in another one."""
    listed = [staff["department"] == name for name in DEPARTMENTS]
    return [*listed, ~np.any(listed, axis=0)]


def _mean(values: Any) -> float:
    return float(np.mean(values)) if len(values) else math.nan
