"""``flou survey``: plan a randomised survey, randomise answers, estimate from reports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from flou.cli.command import app
from flou.cli.files import checked_out, write
from flou.errors import InvalidParameter, instead
from flou.local import Collection, Survey, batch_of, plan_for_error, plan_for_people, reports_in
from flou.release.entries import entries

__all__ = ["estimate", "plan", "randomise", "survey_app"]

ABOUT = """
Ask sensitive questions without ever learning an answer.

A survey file says what is asked and what a respondent pays in total. Respondents randomise their answers on their own \
side; anyone may collect the reports and estimate from them. [bold]flou collect[/bold] takes reports over the network.
"""

START = """
[bold]A survey file[/bold]

\\[survey]

name = "habits"

epsilon = 1                 # for all answers of one respondent

ask = "one"                 # one question each, picked at random; or "all"

\\[questions.smokes]

type = "boolean"

\\[questions.drinks]

type = "integers"

bounds = \\[0, 60]

statistic = "mean"          # or "distribution"; categories have "shares"
"""

survey_app = typer.Typer(name="survey", help=ABOUT, epilog=START, no_args_is_help=True, rich_markup_mode="rich")
app.add_typer(survey_app)

SurveyFile = Annotated[Path, typer.Argument(help="The survey, a TOML file.")]


@survey_app.command("plan", help="How far off will the estimates be, or how many people does it take?")
def plan(
    survey: SurveyFile,
    people: Annotated[int | None, typer.Option(help="How many take part.")] = None,
    error: Annotated[float | None, typer.Option(help="The 95 % error that is wanted, such as 0.02.")] = None,
) -> None:
    asked = Survey.from_toml(survey)
    if (people is None) == (error is None):
        raise InvalidParameter(
            "Pass either --people or --error.",
            "One of them follows from the other.",
            "For example --people 10000, or --error 0.02.",
        )
    planned = plan_for_people(asked, people or 0) if error is None else plan_for_error(asked, error)
    table = Table(box=box.SIMPLE_HEAD, title=f"{asked.name}: what to expect", title_justify="left")
    for heading in ("question", "statistic", "method", "people", "95 % error", "without privacy"):
        table.add_column(heading, justify="left" if heading in ("question", "statistic", "method") else "right")
    for line in planned:
        numbers = (
            "" if line.people is None else f"{line.people:,}",
            "not known" if line.error is None else f"± {line.error:.3g}",
            "" if line.without_privacy is None else f"± {line.without_privacy:.3g}",
        )
        table.add_row(line.question, line.statistic, line.method, *numbers)
    console = Console(highlight=False)
    console.print(table)
    console.print(f"A respondent pays epsilon = {float(asked.epsilon):g} in total. {asked.guarantee.in_words()}")
    console.print("The error is for the population, at the answers for which it is largest.")


@survey_app.command("randomise", help="Turn answers into reports. Run it where the answers may be seen: on their side.")
def randomise(
    survey: SurveyFile,
    answers: Annotated[Path, typer.Argument(help="A .csv or .parquet file with a column for each question.")],
    out: Annotated[Path, typer.Option(help="Where the reports go, a .json file.")],
) -> None:
    asked = Survey.from_toml(survey)
    checked_out("--out", out, ".json", (survey, answers))
    reports = asked.randomise(answers)
    write("--out", out, json.dumps(batch_of(asked, reports)))
    count = sum(len(part) for part in reports.values())
    Console(highlight=False).print(f"{count:,} reports in {out}. Keep or delete the answers; the reports may be sent.")


@survey_app.command("estimate", help="What reports say, with intervals.")
def estimate(
    survey: SurveyFile,
    reports: Annotated[list[Path], typer.Argument(help="Files that flou survey randomise has written.")],
    json_out: Annotated[
        Path | None, typer.Option("--json", help="Also write the estimates here, a .json file.")
    ] = None,
) -> None:
    asked = Survey.from_toml(survey)
    if json_out is not None:
        checked_out("--json", json_out, ".json", (survey, *reports))
    collection = Collection(asked)
    for path in reports:
        collection.add(reports_in(asked, _text(path)))
    found = collection.estimates()
    console = Console(highlight=False)
    for name, release in found.items():
        people = collection.aggregates[name].people
        table = Table(
            box=box.SIMPLE_HEAD, title=f"{name}: {release.statistic}, {people:,} reports", title_justify="left"
        )
        for heading in ("", "estimate", "95 %, respondents", "95 %, population"):
            table.add_column(heading, justify="left" if heading == "" else "right")
        for line in entries(release):
            table.add_row(line.label, line.text, line.between(line.data), line.between(line.population))
        console.print(table)
    console.print(f"Each respondent paid epsilon = {float(asked.epsilon):g} in total. {asked.guarantee.in_words()}")
    if json_out is not None:
        told: dict[str, Any] = {name: release.to_dict() for name, release in found.items()}
        write("--json", json_out, json.dumps(told, indent=2, ensure_ascii=False))


def _text(path: Path) -> str:
    unreadable = InvalidParameter(
        f"The file {str(path)!r} cannot be read.",
        "Reports are read from files that flou survey randomise has written.",
        "Check the path.",
    )
    with instead(unreadable, OSError, ValueError):
        return path.read_text(encoding="utf-8")
