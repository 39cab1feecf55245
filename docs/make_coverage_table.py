"""The table of docs/explanation/coverage.md, from the committed simulation.

python docs/make_coverage_table.py             print it
python docs/make_coverage_table.py --write     put it into the page
python docs/make_coverage_table.py --check     fail if the page has another one
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from flou.reproduce.coverage import EPSILONS, ROWS, Cell
from flou.reproduce.coverage_summary import Result, Summary, exceptions, shortfalls, summaries

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "coverage.json"
START, STOP = "<!-- coverage: docs/make_coverage_table.py -->", "<!-- end of coverage -->"
SETTINGS = [(rows, epsilon) for rows in ROWS for epsilon in EPSILONS]


def shown(one: Summary) -> str:
    """The average, the range of the cells, and a cross where a claim does not hold."""
    cells = f"{100 * one.lowest:.1f} to {100 * one.highest:.1f}"
    return f"{100 * one.coverage:.1f} ({cells})" + ("" if one.holds else " ✗")


def listed(found: list[tuple[Cell, str, float]]) -> str:
    """Cells that break a claim, or that there are none."""
    lines = [
        f"- {cell.statistic}, {of}: {cell.shape}, {cell.relation}, n = {cell.rows:,}, ε = {cell.epsilon:g}: "
        f"{100 * coverage:.1f} %"
        for cell, of, coverage in found
    ]
    return "\n".join(lines) or "None."


def content(report: dict[str, Any]) -> str:
    """The table, the cells that break a claim, and where it was measured."""
    results = [Result.from_dict(entry) for entry in report["cells"]]
    lines = ["| | | " + " | ".join(f"n = {rows:,}, ε = {epsilon:g}" for rows, epsilon in SETTINGS) + " |"]
    lines.append("|---|---" + "|---:" * len(SETTINGS) + "|")
    found = list(summaries(results))
    for start in range(0, len(found), len(SETTINGS)):
        row = found[start : start + len(SETTINGS)]
        lines.append(f"| {row[0].statistic} | {row[0].of} | " + " | ".join(map(shown, row)) + " |")
    runs = [result.found["data"].runs for result in results]
    capped = 2 * sum(result.cell.capped for result in results)
    where = f"{report['date'][:10]}, commit {report['commit']}"
    return "\n\n".join(
        [
            "\n".join(lines),
            f"{len(results)} cells of {min(runs):,} to {max(runs):,} runs, {sum(runs):,} tables in all: {where}.",
            f"**Below 94.5 % by more than three standard errors, of {2 * len(results)} intervals:**",
            listed(shortfalls(results)),
            f"**Above 98 % by more than three standard errors, of {capped} intervals with n ≥ 1,000 and ε = 1:**",
            listed(exceptions(results)),
        ]
    )


def written(page: str, text: str) -> str:
    """The page with the table between its two marks."""
    before, _, rest = page.partition(START)
    _, mark, after = rest.partition(STOP)
    if not mark:
        raise SystemExit(f"The page has no {START} ... {STOP}.")
    return f"{before}{START}\n{text}\n{STOP}{after}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--page", type=Path, default=ROOT / "docs" / "explanation" / "coverage.md")
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--write", action="store_true")
    action.add_argument("--check", action="store_true")
    chosen = parser.parse_args()
    text = content(json.loads(RESULTS.read_text()))
    if not (chosen.write or chosen.check):
        print(text)
        return 0
    page = chosen.page.read_text()
    new = written(page, text)
    if chosen.write:
        chosen.page.write_text(new)
    elif new != page:
        print("The coverage table is from another run than benchmarks/results/coverage.json.")
        print("Run: python docs/make_coverage_table.py --write")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
