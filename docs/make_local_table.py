"""The table of local randomisers in benchmarks/README.md, from the committed benchmark.

python docs/make_local_table.py             print it
python docs/make_local_table.py --write     put it into the page
python docs/make_local_table.py --check     fail if the page has another
"""

from __future__ import annotations

import json
import sys
from typing import Any

from marked_page import ROOT, fill

RESULTS = ROOT / "benchmarks" / "results" / "local.json"
PAGE = ROOT / "benchmarks" / "README.md"
PEOPLE = ("flou", "multi-freq-ldpy", "pure-ldp", "diffprivlib")
MARKS = {True: "✓", False: "✗", None: "?"}


def rows(report: dict[str, Any], title: str, method: str) -> dict[str, dict[str, Any]]:
    """What a section has for a method, by participant."""
    section = next(part for part in report["sections"] if part["title"] == title)
    measure = next((part for part in section["measures"] if part["name"] == method), {"rows": []})
    return {row["participant"]: row for row in measure["rows"]}


def seconds(row: dict[str, Any] | None) -> str:
    """Two digits; a star where fewer people were asked."""
    if row is None or row["value"] is None:
        return "–"
    value = row["value"]
    shown = f"{value:.0f}" if value >= 9.95 else f"{value:.1f}" if value >= 0.995 else f"{value:.2g}"
    return shown + ("\\*" if "note" in row else "")


def published(report: dict[str, Any]) -> str:
    """The errors of what comes out by default."""
    title = "Error, as published"
    section = next(part for part in report["sections"] if part["title"] == title)
    lines = []
    for method in [measure["name"] for measure in section["measures"]]:
        found = rows(report, title, method)
        lines.append([method, *(f"{found[name]['value']:.3g}" if name in found else "–" for name in PEOPLE[:-1])])
    return table(["n times the squared error, as published", *PEOPLE[:-1]], lines)


def table(heading: list[str], lines: list[list[str]]) -> str:
    rule = "|---" + "|---:" * (len(heading) - 1) + "|"
    return "\n".join(["| " + " | ".join(heading) + " |", rule, *("| " + " | ".join(line) + " |" for line in lines)])


def drawn(report: dict[str, Any]) -> str:
    methods = list(dict.fromkeys(one["method"] for one in report["over_theory"]))
    times, errors = [], []
    for method in methods:
        client, aggregator = (rows(report, side, method) for side in ("Client", "Aggregator"))
        pairs = [(seconds(client.get(name)), seconds(aggregator.get(name))) for name in PEOPLE]
        times.append([method, *("–" if pair == ("–", "–") else " / ".join(pair) for pair in pairs)])
        found = {one["participant"]: one for one in report["over_theory"] if one["method"] == method}
        shown = (found.get(name) for name in PEOPLE)
        errors.append([method, *(f"{c['over_theory']:.3f} ± {c['standard_error']:.3f}" if c else "–" for c in shown)])
    claims = [
        f"- {MARKS[claim['holds']]} {claim['text']}: {claim['measured']} ({claim['limit']})"
        for claim in report["claims"]
    ]
    machine = report["machine"]
    where = f"{machine['cpu']}, {machine['cores']} cores, {report['date'][:10]}, commit {report['commit']}"
    return "\n".join(
        [
            table(["seconds, client / aggregator", *PEOPLE], times),
            "",
            table(["squared error over theory", *PEOPLE], errors),
            "",
            published(report),
            "",
            *claims,
            "",
            f"A million people, 128 categories, ε = 1. Processor time, median of the rounds: {where}.",
            "\\* scaled up from fewer people. ± is the standard error.",
        ]
    )


def main() -> int:
    text = drawn(json.loads(RESULTS.read_text()))
    return fill("make_local_table.py", PAGE, {"local": text}, "benchmarks/results/local.json")


if __name__ == "__main__":
    sys.exit(main())
