"""The command line of every benchmark: set up, measure, print, write."""

from __future__ import annotations

import argparse
import json
import math
import re
import statistics
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from harness import machine
from harness.connection import Connection
from harness.declare import Benchmark, Entry, Participant
from harness.environments import BENCHMARKS, Unavailable
from harness.outcome import MeasureOutcome, SectionOutcome, Verdict, judge, judge_fact
from harness.report import print_missing, print_section, print_verdicts
from harness.rounds import ask_fact, measure_in_rounds

__all__ = ["Measured", "command", "main", "run", "write"]

WIDTH = 118  # when the output is not a terminal


Verdicts: TypeAlias = list[Verdict]
Fields: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Measured:
    """What a benchmark has measured so far, for those that have more to measure, to say or to write."""

    outcomes: list[SectionOutcome]
    running: dict[str, Connection]
    console: Console


More: TypeAlias = Callable[[Measured], tuple[Verdicts, Fields]]  # prints on its way


def nothing_more(_: Measured) -> tuple[Verdicts, Fields]:
    return [], {}


def command(
    description: str,
    name: str,
    measured: Callable[[bool, Console, Collection[str]], Fields],
    save: Callable[[Path, Fields], None] | None = None,
    width: int = WIDTH,
) -> None:
    """The command line of a benchmark: what ``measured`` finds when it is asked quick or not, of whom, is written."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="few rounds and small sizes")
    parser.add_argument("--only", nargs="*", default=(), help="these participants, by name")
    parser.add_argument("--out", type=Path, help=f"where the JSON goes (default: benchmarks/results/{name}.json)")
    options, console = parser.parse_args(), Console()
    if not console.is_terminal:
        console = Console(width=width)
    # Neither a quick nor a partial run replaces the committed numbers unless told to.
    default = BENCHMARKS / "results" / f"{name}{'-quick' if options.quick or options.only else ''}.json"
    path = options.out or default
    (save or write)(path, measured(options.quick, console, options.only) | {"quick": options.quick})
    console.print(f"written to {path}")


def main(declare: Callable[[bool], Benchmark], description: str) -> None:
    """Run the benchmark that ``declare(quick)`` describes; a claim that fails is printed, never raised."""
    command(description, declare(True).name, lambda quick, console, only: run(declare(quick), console, only))


def run(benchmark: Benchmark, console: Console, only: Collection[str] = (), more: More = nothing_more) -> Fields:
    """Everything that was measured, printed on the way and ready for JSON; ``only`` some participants, or all.

    What ``more`` finds comes after the rest, and replaces fields of the same name.
    """
    date, commit, load = machine.now(), machine.commit(), machine.load()
    with ExitStack() as stack:
        wanted = tuple(one for one in benchmark.participants if not only or one.name in only)
        running, missing = connect(wanted, stack, console)
        missing |= {one.name: "not asked for" for one in benchmark.participants if one not in wanted}
        print_missing(console, missing)
        began = time.perf_counter()
        outcomes = measure(benchmark, running, missing, console)
        verdicts = [judge(claim, outcomes) for claim in benchmark.claims]
        verdicts += [judge_fact(fact, ask_fact(fact, running)) for fact in benchmark.facts]
        for outcome in outcomes:
            print_section(console, outcome)
        further, fields = more(Measured(outcomes, running, console))
        took = time.perf_counter() - began
        described = {p.name: participant_json(p, running, missing) for p in benchmark.participants}
    print_verdicts(console, verdicts + further)
    waited = waiting(outcomes)
    console.print(f"{machine.cpu_model()}, {took:.0f} s; wall time was {waited:.2f} times processor time (median).")
    return {
        "benchmark": benchmark.name,
        "date": date,
        "commit": commit,
        "machine": machine.describe() | {"load_before": load, "load_after": machine.load()},
        "seconds": round(took, 1),
        "wall_over_cpu": round(waited, 3) if math.isfinite(waited) else None,
        "participants": described,
        "claims": [verdict.to_json() for verdict in verdicts + further],
        "sections": [outcome.to_json() for outcome in outcomes],
    } | fields


def connect(
    participants: tuple[Participant, ...], stack: ExitStack, console: Console
) -> tuple[dict[str, Connection], dict[str, str]]:
    """The workers that run, and why the others do not."""
    running, missing = {}, {}
    for participant in participants:
        with console.status(f"setting up {participant.name}"):
            try:
                running[participant.name] = stack.enter_context(closing(Connection(participant)))
            except Unavailable as reason:
                missing[participant.name] = str(reason)
    return running, missing


def measure(
    benchmark: Benchmark, running: dict[str, Connection], missing: dict[str, str], console: Console
) -> list[SectionOutcome]:
    sections = [replace(s, rounds=s.rounds or benchmark.rounds) for s in benchmark.sections]
    steps = sum(len(m.entries) * (section.rounds + 1) for section in sections for m in section.measures)
    outcomes = []
    with progress(console, steps) as step:
        for section in sections:
            timed = section.clock is not None
            found = [
                MeasureOutcome(m, measure_in_rounds(m, running, missing, section.rounds, step, timed=timed))
                for m in section.measures
            ]
            outcomes.append(SectionOutcome(section, found))
    return outcomes


@contextmanager
def progress(console: Console, total: int) -> Iterator[Callable[[Entry], None]]:
    """A bar that moves by one whenever an entry is about to run."""
    columns = (TextColumn("{task.description:40.40}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn(), console=console, transient=True) as bar:
        job = bar.add_task("", total=total)
        yield lambda entry: bar.update(job, advance=1, description=entry.label)


def waiting(outcomes: list[SectionOutcome]) -> float:
    """How many times longer than computing things took: 1 on an idle machine."""
    rows = [row for outcome in outcomes for found in outcome.measures for row in found.rows]
    ratios = [wall / cpu for row in rows for wall, cpu in zip(row.wall, row.cpu, strict=True) if cpu > 0]
    return statistics.median(ratios) if ratios else float("nan")


def participant_json(
    participant: Participant, running: dict[str, Connection], missing: dict[str, str]
) -> dict[str, Any]:
    if participant.name in missing:
        return {"missing": missing[participant.name]}
    connection = running[participant.name]
    return {"python": connection.python, "packages": dict(sorted(connection.packages.items()))}


def write(path: Path, report: Fields) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(report, indent=1)
    flat = re.sub(r"\[[\s\d.,e+-]+\]", lambda numbers: " ".join(numbers[0].split()), text)  # a list of numbers, a line
    path.write_text(flat + "\n")
