"""The table of docs/explanation/coverage.md, from the committed simulation.

python docs/make_coverage_table.py             print it
python docs/make_coverage_table.py --write     put it into the page
python docs/make_coverage_table.py --check     fail if the page has another one
"""

from __future__ import annotations

import json
import sys
from typing import Any

from marked_page import ROOT, fill

from flou.reproduce.coverage import EPSILONS, ROWS, Cell
from flou.reproduce.coverage_summary import Result, Summary, exceptions, shortfalls, summaries

RESULTS = ROOT / "benchmarks" / "results" / "coverage.json"
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


def main() -> int:
    text = content(json.loads(RESULTS.read_text()))
    page = ROOT / "docs" / "explanation" / "coverage.md"
    return fill("make_coverage_table.py", page, {"coverage": text}, "benchmarks/results/coverage.json")


if __name__ == "__main__":
    sys.exit(main())
