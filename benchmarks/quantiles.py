"""How accurate and how fast private quantiles are: flou's methods side by side with peers, a sort and a histogram.

python benchmarks/quantiles.py [--quick] [--out FILE]
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

import harness.run
from harness.connection import Connection
from harness.declare import Benchmark, Participant
from harness.outcome import Verdict, judge
from harness.report import number
from harness.run import WIDTH, Measured, command
from quantiles_cells import CALL, PLAIN_CALL, Effort, Found, Setting, settings
from quantiles_claims import error_verdicts, groups
from quantiles_errors import chains, measured
from quantiles_times import PARTICIPANTS, claims, paired, sections, sizes
from workers import central_data
from workers.quantiles_make import make

HEADINGS = ("n", "m", "ε", CALL, PLAIN_CALL, "best method", "", "best peer", "")


def declare(quick: bool) -> Benchmark:
    """What is timed; errors have settings of their own."""
    return Benchmark("quantiles", PARTICIPANTS, sections(quick), claims(quick))


def made(quick: bool, asked: list[Setting]) -> None:
    """Everything that is asked about."""
    rows = sizes(quick)
    for data, count in {(one.data, one.rows) for one in asked} | {("uniform", rows["peers"])}:
        make(data, count)
    for count in {rows["histogram"], rows["file"]}:
        central_data.make(count)


def run(quick: bool, console: Console, only: Collection[str] = ()) -> dict[str, Any]:
    """Times first, on a machine that does nothing else of ours; then errors. ``only`` some participants, or all."""
    benchmark, asked = declare(quick), settings(quick)
    made(quick, asked)

    def accuracy(timed: Measured) -> tuple[list[Verdict], dict[str, Any]]:
        found = errors(asked, timed.running, Effort(quick), timed.console)
        show(found, timed.console)
        judged = [paired(one, timed.outcomes) if one.theirs else judge(one, timed.outcomes) for one in benchmark.claims]
        return judged + error_verdicts(found), {"quick": quick, "errors": [one.to_json() for one in found]}

    return harness.run.run(replace(benchmark, claims=()), console, only, accuracy)  # claims of time are of pairs


def errors(asked: list[Setting], running: dict[str, Connection], effort: Effort, console: Console) -> list[Found]:
    """Rank errors of whoever runs."""
    participants: dict[str, Participant] = {name: one.participant for name, one in running.items()}
    steps = sum(map(len, chains(asked, participants).values()))
    columns = (TextColumn("{task.description:60.60}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn(), console=console, transient=True) as bar:
        job = bar.add_task("", total=steps)

        def step(what: tuple[Setting, Any]) -> None:
            bar.update(job, advance=1, description=f"{what[0]}: {what[1].name}")

        return measured(asked, participants, effort, step)


def show(found: list[Found], console: Console) -> None:
    """A table for each kind of data and relation: flou's calls, its best method, the best peer; what was skipped."""
    together = groups(found)
    for data, relation in dict.fromkeys((setting.data, relation) for setting, relation in together):
        title = f"Mean rank error, {data}, {relation}"
        table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
        for heading in HEADINGS:
            table.add_column(heading, justify="left" if heading == "" else "right")
        for (setting, _), cells in ((k, v) for k, v in together.items() if (k[0].data, k[1]) == (data, relation)):
            calls = [next((one for one in cells if one.column.name == name), None) for name in (CALL, PLAIN_CALL)]
            best = [best_of(cells, kind) for kind in ("method", "peer")]
            texts = [text for one in best for text in (shown(one), one.column.name if one else "")]
            sizes_of = (f"{setting.rows:,}", str(setting.many), f"{setting.epsilon:g}")
            table.add_row(*sizes_of, *map(shown, calls), *texts)
        console.print(table)
    for problem, count in problems(found).items():
        console.print(f"  [yellow]{problem}[/]" + (f" ({count} cells)" if count > 1 else ""))


def best_of(cells: list[Found], kind: str) -> Found | None:
    return min(
        (one for one in cells if one.column.kind == kind and one.errors), key=lambda one: one.error, default=None
    )


def shown(one: Found | None) -> str:
    """The error with its standard error."""
    return "–" if one is None or not one.errors else f"{number(one.error)} ± {number(one.standard_error)}"


def problems(found: list[Found]) -> dict[str, int]:
    """Why cells are empty, and how many."""
    counts: dict[str, int] = {}
    for one in (one for one in found if one.problem):
        text = f"{one.column.name}, {one.setting.data}, n = {one.setting.rows:,}, m = {one.setting.many}: {one.problem}"
        counts[text] = counts.get(text, 0) + 1
    return counts


def written(path: Path, report: dict[str, Any]) -> None:
    """JSON with one error a line, so that two runs can be compared."""
    rest = {key: value for key, value in report.items() if key != "errors"}
    head = json.dumps(rest, indent=1, ensure_ascii=False)[:-2]
    flat = re.sub(r"\[[\s\d.,e+-]+\]", lambda numbers: " ".join(numbers[0].split()), head)
    lines = ",\n".join("  " + json.dumps(one, ensure_ascii=False) for one in report["errors"])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'{flat},\n "errors": [\n{lines}\n ]\n}}\n')


if __name__ == "__main__":
    command(__doc__.splitlines()[0], "quantiles", run, written, WIDTH + 40)
