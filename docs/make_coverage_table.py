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

sys.path.insert(0, str(ROOT / "studies"))

from central_coverage import ROWS, Cell
from coverage_summary import OF, Result, Summary, by_line, exceptions, shortfalls

RESULTS = ROOT / "benchmarks" / "results" / "coverage.json"


def shown(one: Summary | None) -> str:
    """The average, the range of the cells, and a cross where a claim does not hold; nothing where nothing was tried."""
    if one is None:
        return ""
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
    lines = ["| | | ε | " + " | ".join(f"n = {rows:,}" for rows in ROWS) + " |"]
    lines.append("|---|---|---:" + "|---:" * len(ROWS) + "|")
    for (statistic, of, epsilon), line in by_line(results).items():
        lines.append(f"| {statistic} | {of} | {epsilon:g} | " + " | ".join(map(shown, line)) + " |")
    runs = [result.found["data"].runs for result in results]
    capped = sum(result.cell.capped(of) for result in results for of in OF)
    where = f"{report['date'][:10]}, commit {report['commit']}"
    return "\n\n".join(
        [
            "\n".join(lines),
            f"{len(results)} cells with {min(runs):,} to {max(runs):,} runs each, {sum(runs):,} tables: {where}.",
            f"**Cells below 94.5 % by more than three standard errors, among {2 * len(results)} intervals:**",
            listed(shortfalls(results)),
            f"**Cells above 98 % by more than three standard errors, among the {capped} intervals with this claim:**",
            listed(exceptions(results)),
        ]
    )


def main() -> int:
    text = content(json.loads(RESULTS.read_text()))
    page = ROOT / "docs" / "explanation" / "coverage.md"
    return fill("make_coverage_table.py", page, {"coverage": text}, "benchmarks/results/coverage.json")


if __name__ == "__main__":
    sys.exit(main())
