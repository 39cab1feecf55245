"""``flou survey``: plan a randomised survey, randomise answers, estimate from reports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from flou.cli.command import app, epilogue
from flou.cli.files import JsonOut, checked_out, write
from flou.errors import InvalidParameter, instead
from flou.local import Collection, Survey, batch_of, plan_for_error, plan_for_people, reports_in
from flou.release.entries import entries

__all__ = ["estimate", "plan", "randomise", "survey_app"]

ABOUT = """
Ask sensitive questions without ever learning an answer.

A survey file contains the questions and epsilon, which limits how much the reports of one respondent reveal: a \
smaller epsilon means more noise. Respondents randomise their answers on their own machines. Anyone may collect the \
reports and estimate from them. [bold]flou collect[/bold] receives reports over the network.
"""

START = epilogue("""\
[bold]A survey file[/bold]
\\[survey]
name = "habits"
epsilon = 1                 # privacy loss of one respondent, all answers together
ask = "one"                 # each respondent answers one question, picked at random; or "all"
\\[questions.smokes]
type = "boolean"
\\[questions.drinks]
type = "integers"
bounds = \\[0, 60]
statistic = "mean"          # or "distribution"; for categories "shares"
[bold]From a survey file to estimates[/bold]
flou survey plan survey.toml --people 10000
flou survey randomise survey.toml answers.csv --out reports.json
flou survey estimate survey.toml reports.json
""")

survey_app = typer.Typer(name="survey", help=ABOUT, epilog=START, no_args_is_help=True, rich_markup_mode="rich")
app.add_typer(survey_app)

SurveyFile = Annotated[Path, typer.Argument(help="The survey file (TOML); flou survey --help shows one.")]


@survey_app.command("plan")
def plan(
    survey: SurveyFile,
    people: Annotated[int | None, typer.Option(help="The number of respondents.")] = None,
    error: Annotated[float | None, typer.Option(help="The 95 % error that you want, such as 0.02.")] = None,
) -> None:
    """Say how accurate the estimates will be, or how many respondents are needed.

    Example: flou survey plan survey.toml --error 0.02
    """
    asked = Survey.from_toml(survey)
    if (people is None) == (error is None):
        raise InvalidParameter(
            "Pass either --people or --error.",
            "The command computes one from the other.",
            "For example --people 10000, or --error 0.02.",
        )
    planned = plan_for_people(asked, people or 0) if error is None else plan_for_error(asked, error)
    table = Table(box=box.SIMPLE_HEAD, title=f"{asked.name}: what to expect", title_justify="left")
    for heading in ("question", "statistic", "method", "people", "95 % error", "without privacy"):
        table.add_column(heading, justify="left" if heading in ("question", "statistic", "method") else "right")
    for line in planned:
        numbers = (
            "" if line.people is None else f"{line.people:,}",
            "unknown" if line.error is None else f"± {line.error:.3g}",
            "" if line.without_privacy is None else f"± {line.without_privacy:.3g}",
        )
        table.add_row(line.question, line.statistic, line.method, *numbers)
    console = Console(highlight=False)
    console.print(table)
    console.print(f"Privacy loss of a respondent: epsilon = {float(asked.epsilon):g}. {asked.guarantee.in_words()}")
    console.print("The error is that of estimates for the population, in the worst case over all possible answers.")


@survey_app.command("randomise")
def randomise(
    survey: SurveyFile,
    answers: Annotated[Path, typer.Argument(help="A .csv or .parquet file with a column for each question.")],
    out: Annotated[Path, typer.Option(help="The reports to write, a .json file.")],
) -> None:
    """Turn answers into randomised reports.

    Run it on the respondents' side, where the true answers may be seen. Only the reports leave.

    Example: flou survey randomise survey.toml answers.csv --out reports.json
    """
    asked = Survey.from_toml(survey)
    checked_out("--out", out, ".json", (survey, answers))
    reports = asked.randomise(answers)
    write("--out", out, json.dumps(batch_of(asked, reports)))
    count = sum(len(part) for part in reports.values())
    Console(highlight=False).print(f"{count:,} reports in {out}. You may send them. Do not send the answers.")


@survey_app.command("estimate")
def estimate(
    survey: SurveyFile,
    reports: Annotated[list[Path], typer.Argument(help="One or more files from flou survey randomise.")],
    json_out: JsonOut = None,
) -> None:
    """Estimate shares, means and distributions from reports, with intervals.

    Example: flou survey estimate survey.toml reports.json
    """
    asked = Survey.from_toml(survey)
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
            table.add_row(line.label, *line.texts)
        console.print(table)
    console.print(f"Privacy loss of a respondent: epsilon = {float(asked.epsilon):g}. {asked.guarantee.in_words()}")
    if json_out is not None:
        values = {name: release.to_dict() for name, release in found.items()}
        write("--json", json_out, json.dumps(values, indent=2, ensure_ascii=False))


def _text(path: Path) -> str:
    unreadable = InvalidParameter(
        f"The file {str(path)!r} cannot be read.",
        "It must be a JSON file from flou survey randomise.",
        "Check the path.",
    )
    with instead(unreadable, OSError, ValueError):
        return path.read_text(encoding="utf-8")
