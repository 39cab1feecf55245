"""``flou release``: private statistics of a file, printed, and written as JSON and as a page."""

from __future__ import annotations

import sys
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from flou.ask import Answers, ask_file, form
from flou.central.statistics import STATISTICS
from flou.cli.command import app
from flou.cli.files import checked_out, write
from flou.cli.template import filled_in
from flou.errors import FlouError
from flou.release.entries import Entry, entries
from flou.release.price import cost_column, priced
from flou.report import page

__all__ = ["show_release"]

MOST = 40  # lines of one answer on the screen

ABOUT = """
Ask a CSV or Parquet file for private statistics.

[bold]--epsilon[/bold] is what all answers together cost. It is shared out evenly, or by [bold]--split[/bold]; the \
parts add up exactly. The file is read once (before that, once for every column whose keys are selected; quantiles \
take another look around what they found), and nothing is printed that was not made private.
"""

# Rich keeps the paragraphs of an epilogue and joins their lines.
EXAMPLES = f"""
[bold]Examples[/bold]

flou schema salaries.csv --out salaries.toml                        first: say what is public

flou release salaries.csv --schema salaries.toml --ask count --epsilon 0.1

flou release salaries.csv --schema salaries.toml --ask "mean salary by department" --ask "histogram age 12" \
--epsilon 1 --split 2,1 --html report.html

flou release salaries.csv --schema salaries.toml --ask "sum salary" --epsilon 0.5 \
--where "age >= 18 and department == 'care'"

flou release salaries.csv --schema salaries.toml --ask "keys city" --ask "mean salary by city" --epsilon 1 --delta 1e-8

[bold]Questions[/bold]

{escape("  |  ".join(map(form, STATISTICS)))}

C and G are columns of the schema, P is a share such as 0.9; quantiles cut the rows into so many equal parts (100 \
without a number), an ecdf is shown at so many points (100), histograms and modes have so many bins; names with \
spaces are quoted: --ask "mean 'net salary'". \
The groups of other columns are not public: ask for their keys, with [bold]--delta[/bold], and then by them.
"""


@app.command("release", help=ABOUT, epilog=EXAMPLES)
def show_release(
    data: Annotated[Path, typer.Argument(help="The table: a .csv, .tsv or .parquet file.")],
    schema: Annotated[
        Path, typer.Option(help="What is public about it, a TOML file; flou schema writes one to fill in.")
    ],
    epsilon: Annotated[str, typer.Option(help="What all answers together cost, for example 1, 0.5 or 1/3.")],
    ask: Annotated[list[str], typer.Option(help="A question, such as 'mean salary'. Repeat it for more.")],
    split: Annotated[str | None, typer.Option(help="Weights of the questions, such as 2,1,1; equal without.")] = None,
    where: Annotated[
        str | None, typer.Option(help="Count only rows like these: \"age >= 18 and not x == 'y'\".")
    ] = None,
    budget: Annotated[
        str | None, typer.Option(help="Refuse if epsilon exceeds this; nothing is answered then.")
    ] = None,
    delta: Annotated[
        str | None, typer.Option(help="For keys: how likely one may show that only one person has, such as 1e-8.")
    ] = None,
    method: Annotated[
        str | None, typer.Option(help="For quantiles: focused has narrow intervals, joint near answers; auto without.")
    ] = None,
    json: Annotated[Path | None, typer.Option(help="Also write answers and certificates here, a .json file.")] = None,
    html: Annotated[Path | None, typer.Option(help="Also write a page with plots here, an .html file.")] = None,
) -> None:
    known = filled_in(schema)
    for option, out, ending in (("--json", json, ".json"), ("--html", html, ".html")):
        if out is not None:
            checked_out(option, out, ending, (data, schema))
    answers = ask_file(
        data,
        schema=known,
        asks=ask,
        epsilon=epsilon,
        split=split,
        where=where,
        budget=budget,
        delta=delta,
        method=method,
    )
    # Paid for is paid for: the files come first, in case nobody reads the screen to its end, and a disk that fails
    # does not keep the answers from the screen.
    failures = []
    for option, out, make in (("--json", json, _json), ("--html", html, page)):
        try:
            if out is not None:
                write(option, out, make(answers))
        except FlouError as error:
            failures.append(error)
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal without some letter must not lose answers either
    console = Console(highlight=False)
    _print(console, answers)
    if failures:
        raise failures[0]
    for name, out in (("Answers and certificates", json), ("The page", html)):
        if out is not None:
            console.print(f"[bold]{name}[/bold]: {escape(str(out))}", soft_wrap=True)


def _json(answers: Answers) -> str:
    return answers.to_json() + "\n"


def _print(console: Console, answers: Answers) -> None:
    kept = "" if answers.where is None else f", rows where {answers.where}"
    console.print(Text(f"\n{answers.dataset}{kept}\n", style="bold"))
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("question", overflow="fold")
    head, costs = cost_column([*(answer.release.cost for answer in answers), answers.cost])
    for name in ("value", "95 %, these rows", "95 %, population", head):
        table.add_column(name, justify="right", no_wrap=name in {"value", head})
    notes: dict[str, list[str]] = {}
    for answer, cost in zip(answers, costs, strict=False):
        lines = entries(answer.release)
        notes.setdefault(answer.release.note, []).append(answer.question)
        if answer.release.labels is None:
            table.add_row(Text(answer.question), *_texts(lines[0]), cost, end_section=True)
            continue
        table.add_row(Text(answer.question), "", "", "", cost)
        for line in lines[:MOST]:
            table.add_row(Text(f"  {line.label}", style="cyan"), *_texts(line), "")
        if len(lines) > MOST:
            table.add_row(f"  and {len(lines) - MOST} more: --json", "", "", "", "")
        table.add_section()
    table.add_row("[bold]together", "", "", "", f"[bold]{costs[-1]}")
    console.print(table)
    for note, questions in notes.items():
        if note:
            console.print(Text(f"\n{', '.join(questions)}: {note}", style="yellow"))
    unit = "row" if answers.cost.unit == "row" else answers.cost.unit
    whom = f"for each {unit} ({answers.cost.relation})"
    console.print(Text(f"\nWhat it cost: {priced(answers.cost)} in total {whom}, proved. {answers.cost.in_words()}"))
    console.print("Asking again draws fresh noise, and costs again.\n", style="dim")


def _texts(line: Entry) -> tuple[Text, ...]:
    return tuple(Text(text) for text in (line.text, line.between(line.data), line.between(line.population)))
