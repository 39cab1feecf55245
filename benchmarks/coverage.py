"""Do 95 % intervals hold the truth in 95 % of cases? A simulation; what it shows is in docs/explanation/coverage.md.

python benchmarks/coverage.py             all cells, 150 to 800 runs each: about ten minutes on two cores
python benchmarks/coverage.py --quick     100 runs each: three minutes
python benchmarks/coverage.py --times 5   five times as many runs
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from harness import machine
from harness.environments import BENCHMARKS

sys.path.insert(0, str(BENCHMARKS.parent / "studies"))

from central_coverage import ROWS, Cell, cells, simulate
from coverage_summary import Result, by_line, exceptions, shortfalls

RUNS, QUICK = 600, 100
OTHERS = {  # runs where they are cheap, and where they are not
    "count": 800,
    "share": 800,
    "variance": 300,
    "group means": 400,
    "quantiles": 150,
    "regression": 300,
}
MARKS = {True: "[green]✓[/]", False: "[red]✗[/]"}


def measured(cell: Cell, runs: int) -> Result:
    return Result(cell, simulate(cell, runs))


def run(settings: list[tuple[Cell, int]], workers: int, console: Console) -> list[Result]:
    """All cells, in order; the slow ones are begun first, so that no worker waits at the end."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    found: dict[Cell, Result] = {}
    with ProcessPoolExecutor(workers) as pool, Progress(*columns, console=console, transient=True) as progress:
        bar = progress.add_task("cells", total=len(settings))
        for done in as_completed([pool.submit(measured, *setting) for setting in reversed(settings)]):
            found[done.result().cell] = done.result()
            progress.advance(bar)
    return [found[cell] for cell, _ in settings]


def show(results: list[Result], console: Console) -> None:
    """The averages with their marks, and the cells that break a claim."""
    table = Table(title="Coverage of 95 % intervals, in percent", title_justify="left", box=box.SIMPLE_HEAD)
    for heading in ("", "interval for", "ε", *(f"{rows:,} rows" for rows in ROWS)):
        table.add_column(heading, justify="left" if heading in {"", "interval for"} else "right")
    for (statistic, of, epsilon), line in by_line(results).items():
        texts = [
            ""
            if one is None
            else f"{100 * one.coverage:.1f} ({100 * one.lowest:.1f}–{100 * one.highest:.1f}) {MARKS[one.holds]}"
            for one in line
        ]
        table.add_row(statistic, of, f"{epsilon:g}", *texts)
    table.caption = "The average over shapes and relations, and in brackets the lowest and the highest cell."
    console.print(table)
    for claim, broken in claims(results).items():
        console.print(MARKS[not broken], claim)
        for text in broken:
            console.print("   ", text)


def claims(results: list[Result]) -> dict[str, list[str]]:
    """What is claimed, and the cells in which it is not so."""

    def named(found: list[tuple[Cell, str, float]]) -> list[str]:
        return [
            f"{cell.statistic}, {of}: {cell.shape}, {cell.relation}, {cell.rows:,} rows, epsilon {cell.epsilon:g}: "
            f"{100 * coverage:.1f} %"
            for cell, of, coverage in found
        ]

    return {
        "At least 94.5 % in every cell, for every entry": named(shortfalls(results)),
        "At most 98 % in every cell with 1,000 rows or more and epsilon 1 of which that is claimed": named(
            exceptions(results)
        ),
    }


def written(path: Path, report: dict[str, Any], results: list[Result]) -> None:
    """JSON with one cell a line, so that two runs can be compared."""
    head = json.dumps(report, indent=1, ensure_ascii=False)[:-2]
    lines = ",\n".join("  " + json.dumps(result.to_dict(), ensure_ascii=False) for result in results)
    path.write_text(f'{head},\n "cells": [\n{lines}\n ]\n}}\n')


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} runs a cell")
    parser.add_argument("--times", type=int, default=1, help="so many times as many runs")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes (default: one a core)")
    parser.add_argument("--only", nargs="*", help="these statistics")
    parser.add_argument("--update", action="store_true", help="with --only: put these into the committed results")
    parser.add_argument("--out", type=Path, help="where the JSON goes (default: benchmarks/results/coverage.json)")
    options = parser.parse_args()
    console = Console()
    if not console.is_terminal:
        console = Console(width=200)
    chosen = [cell for cell in cells() if not options.only or cell.statistic in options.only]
    settings = [
        (cell, options.times * (QUICK if options.quick else OTHERS.get(cell.statistic, RUNS))) for cell in chosen
    ]
    report: dict[str, Any] = {"date": machine.now(), "commit": machine.commit(), "machine": machine.describe()}
    began = time.perf_counter()
    results = run(settings, options.workers, console)
    default = BENCHMARKS / "results" / f"coverage{'-quick' if options.quick or options.only else ''}.json"
    if options.update:
        default = BENCHMARKS / "results" / "coverage.json"
        committed = map(Result.from_dict, json.loads(default.read_text())["cells"])
        kept = {result.cell: result for result in (*committed, *results)}
        results = [kept[cell] for cell in cells() if cell in kept]
    report |= {"seconds": round(time.perf_counter() - began, 1), "level": 0.95, "broken": claims(results)}
    show(results, console)
    written(options.out or default, report, results)
    console.print(f"Written to {options.out or default}.")


if __name__ == "__main__":
    main()
