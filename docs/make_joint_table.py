"""The tables of "What does it cost?" in docs/explanation/joint-statistics.md, from the committed benchmark.

python docs/make_joint_table.py             print them
python docs/make_joint_table.py --write     put them into the page
python docs/make_joint_table.py --check     fail if the page has others
"""

from __future__ import annotations

import json
import statistics
import sys
from typing import Any

from marked_page import ROOT, fill

RESULTS = ROOT / "benchmarks" / "results" / "joint.json"
PAGE = ROOT / "docs" / "explanation" / "joint-statistics.md"
MARKS = {True: "✓", False: "✗", None: "?"}
TOGETHER = 2  # the first sections: processes that wait for each other
HEADINGS = (
    "parties", "neighbours", "each party, ms", "sent by a party, kB", "received by a party, kB", "coordinator, s",
    "everyone together, s", "m² masks, s",
)  # fmt: skip


def table(heading: list[str], lines: list[list[str]]) -> str:
    rule = "|---" + "|---:" * (len(heading) - 1) + "|"
    return "\n".join(["| " + " | ".join(heading) + " |", rule, *("| " + " | ".join(line) + " |" for line in lines)])


def number(value: float) -> str:
    """Two digits below ten, else three, never in powers of ten."""
    return f"{value:.2g}" if value < 9.95 else f"{float(f'{value:.3g}'):,.10g}"


def spread(row: dict[str, Any], factor: float) -> str:
    """The median, and between which two numbers half of the sessions were."""
    if row["value"] is None:
        return "–"
    low, middle, high = statistics.quantiles([factor * value for value in row["values"]], n=4)
    return f"{number(middle)} ({number(low)} to {number(high)})"


def together(report: dict[str, Any]) -> str:
    """One line for each statistic and number of parties, one column for each way to count."""
    parts = report["sections"][:TOGETHER]
    labels = list(dict.fromkeys(row["label"] for row in parts[0]["measures"][0]["rows"]))
    lines = []
    for part in parts:
        for measure in part["measures"]:
            rows = {row["label"]: row for row in measure["rows"]}
            shown = (spread(rows[label], 1e3) for label in labels)
            lines.append([f"{part['title']}, {measure['name']}", *shown])
    return table(["milliseconds: median (middle half of the sessions)", *labels], lines)


def others(report: dict[str, Any]) -> str:
    """What is left: one line an entry."""
    lines = [
        [f"{part['title']}: {measure['name']}", row["label"], f"{number(row['value'])} {part['unit']}"]
        for part in report["sections"][TOGETHER:]
        for measure in part["measures"]
        for row in measure["rows"]
        if row["value"] is not None
    ]
    return "| what | who | |\n|---|---|---:|\n" + "\n".join("| " + " | ".join(line) + " |" for line in lines)


def many(report: dict[str, Any]) -> str:
    """One line for each number of parties."""
    lines = []
    for one in report["growth"]:
        first = one["party"][0]
        values = (
            one["parties"],
            one["neighbours"],
            1e3 * one["party_seconds"],
            first["sent_bytes"] / 1e3,
            first["received_bytes"] / 1e3,
            one["coordinator"]["cpu_seconds"],
            one["everyone_seconds"],
            one["quadratic_seconds"],
        )
        lines.append([number(value) for value in values])
    return table(list(HEADINGS), lines)


def claims(report: dict[str, Any]) -> str:
    lines = [f"- {MARKS[c['holds']]} {c['text']}: {c['measured']} ({c['limit']})" for c in report["claims"]]
    machine = report["machine"]
    where = f"{machine['cpu']}, {machine['cores']} cores, {report['date'][:10]}, commit {report['commit']}"
    return "\n".join([*lines, "", f"Measured on {where}."])


def main() -> int:
    report = json.loads(RESULTS.read_text())
    tables = {
        "joint times": together(report),
        "joint growth": many(report),
        "joint parts": others(report),
        "joint claims": claims(report),
    }
    return fill("make_joint_table.py", PAGE, tables, "benchmarks/results/joint.json")


if __name__ == "__main__":
    sys.exit(main())
