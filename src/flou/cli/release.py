"""``flou release``: private statistics of a file, on the screen, as JSON and as a page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from flou.ask import Answers, ask_file, form
from flou.central.registry import STATISTICS
from flou.cli.command import app, epilogue, screen
from flou.cli.files import DataFile, SchemaFile, checked_out, write
from flou.cli.template import filled_in
from flou.errors import FlouError
from flou.release.digits import cost_column, priced
from flou.release.entries import entries
from flou.report import page

__all__ = ["show_release"]

MOST = 40  # lines of one answer on the screen

ABOUT = """
Ask a CSV or Parquet file for private statistics.

Random noise in every answer hides each person. [bold]--epsilon[/bold] limits how much all answers together reveal \
about any one person: a smaller epsilon means more noise and more privacy. The questions share it, equally or by \
[bold]--split[/bold].

All questions are answered in one pass over the file. Each column of keys takes a pass before that, and quantiles may \
take a second one. Nothing is printed without noise.
"""

EXAMPLES = epilogue(f"""\
[bold]Examples[/bold]
flou schema salaries.csv --out salaries.toml                        first: state what is public
flou release salaries.csv --schema salaries.toml --ask count --epsilon 0.1
flou release salaries.csv --schema salaries.toml --ask "mean salary by department" --ask "histogram age 12" \
--epsilon 1 --split 2,1 --html report.html
flou release salaries.csv --schema salaries.toml --ask "sum salary" --epsilon 0.5 \
--where "age >= 18 and department == 'care'"
flou release salaries.csv --schema salaries.toml --ask "keys city" --ask "mean salary by city" --epsilon 1 --delta 1e-8
[bold]Questions[/bold]
{escape("  |  ".join(map(form, STATISTICS)))}
C and G are columns of the schema. P is a share of the rows, such as 0.9. Brackets mark what may be left out. \
"quantiles salary 20" cuts the rows into 20 equal parts (default: 100). "ecdf salary 50" shows 50 points (default: \
100). "histogram age 12" has 12 bins. A name with spaces needs quotes: --ask "mean 'net salary'".
Groups come from the schema. If the names of the groups are not public, also ask for the keys of that column, with \
[bold]--delta[/bold], as in the last example.
""")


@app.command("release", help=ABOUT, epilog=EXAMPLES)
def show_release(
    data: DataFile,
    schema: SchemaFile,
    epsilon: Annotated[
        str, typer.Option(help="Privacy loss of all answers together: 1, 0.5, 1/3. Smaller: more privacy, more noise.")
    ],
    ask: Annotated[list[str], typer.Option(help="A question, such as 'mean salary'. Repeatable.")],
    split: Annotated[str | None, typer.Option(help="Weights of questions: 2,1,1. Default: equal shares.")] = None,
    where: Annotated[str | None, typer.Option(help="Use only rows where, say, \"age >= 18 and not x == 'y'\".")] = None,
    budget: Annotated[str | None, typer.Option(help="Answer nothing if epsilon is larger than this.")] = None,
    delta: Annotated[
        str | None,
        typer.Option(help="Probability of revealing a key held by one person. Needed for keys only, such as 1e-8."),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(help="For quantiles. focused: narrower intervals; joint: more accurate; default: auto."),
    ] = None,
    json: Annotated[Path | None, typer.Option(help="Also write answers and certificates to this .json file.")] = None,
    html: Annotated[Path | None, typer.Option(help="Also write a page with plots to this .html file.")] = None,
) -> None:
    known = filled_in(schema)
    for option, out, ending in (("--json", json, ".json"), ("--html", html, ".html")):
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
    # The privacy loss is spent, so no answer may get lost: the files come first, in case printing is interrupted, and
    # a disk that fails does not keep the answers from the screen.
    failures = []
    for option, out, make in (("--json", json, lambda found: found.to_json() + "\n"), ("--html", html, page)):
        try:
            if out is not None:
                write(option, out, make(answers))
        except FlouError as error:
            failures.append(error)
    console = screen()
    _print(console, answers)
    if failures:
        raise failures[0]
    for name, out in (("Answers and certificates", json), ("The page", html)):
        if out is not None:
            console.print(f"[bold]{name}[/bold]: {escape(str(out))}", soft_wrap=True)


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
            table.add_row(Text(answer.question), *map(Text, lines[0].texts), cost, end_section=True)
            continue
        table.add_row(Text(answer.question), "", "", "", cost)
        for line in lines[:MOST]:
            table.add_row(Text(f"  {line.label}", style="cyan"), *map(Text, line.texts), "")
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
