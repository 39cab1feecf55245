"""The speed table of the front page, from the committed benchmark.

python docs/make_speed_table.py             print it
python docs/make_speed_table.py --write     put it into README.md
python docs/make_speed_table.py --check     fail if README.md has another one
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "noise.json"
START, STOP = "<!-- speed: docs/make_speed_table.py -->", "<!-- end of speed -->"

PEERS = ("flou", "NumPy (not private)", "OpenDP", "diffprivlib", "PyDP")
# what, unit, seconds in a unit, units of work in one thing, section, measure, and the label of each peer
ROWS: tuple[tuple[str, str, float, int, str, str, tuple[str | None, ...]], ...] = (
    (
        "Laplace noise of scale 1000, each of many draws", "ns", 1e-9, 1, "Discrete Laplace noise", "scale 1e3",
        ("flou DiscreteLaplace", "numpy Generator.laplace (not private)", "OpenDP make_laplace, int64 vector",
         "diffprivlib Laplace", "PyDP LaplaceMechanism"),
    ),
    (
        "Gaussian noise of scale 1000, each of many draws", "ns", 1e-9, 1, "Gaussian noise", "scale 1e3",
        ("flou DiscreteGaussian", "numpy Generator.normal (not private)", "OpenDP make_gaussian, int64 vector",
         "diffprivlib Gaussian", "PyDP GaussianMechanism"),
    ),
    (
        "Choosing one of a million, exponential mechanism", "ms", 1e-3, 10**6, "Choosing one candidate",
        "1,000,000 candidates",
        ("flou Exponential", "numpy choice, p given (not private)", "OpenDP make_noisy_max, Gumbel noise",
         "diffprivlib Exponential", None),
    ),
    (
        "Laplace noise of scale 1000, a single draw", "µs", 1e-6, 1, "One draw of Laplace noise of scale 1000", "draw",
        ("flou Laplace", "numpy Generator.laplace (not private)", "OpenDP make_laplace, int64",
         "diffprivlib Laplace", "PyDP LaplaceMechanism"),
    ),
)  # fmt: skip


def seconds(results: dict[str, Any], section: str, measure: str, label: str | None) -> float | None:
    """Processor seconds for one unit of work, the least of the rounds; None where there is no timing."""
    rows = [
        row
        for part in results["sections"]
        if part["title"] == section
        for found in part["measures"]
        if found["name"] == measure
        for row in found["rows"]
        if row["label"] == label
    ]
    if label is None or "cpu_seconds" not in rows[0]:
        return None
    return min(rows[0]["cpu_seconds"]) / rows[0]["units"]


def shown(value: float | None, unit: str) -> str:
    """Three digits and the unit, or a dash."""
    if value is None:
        return "–"
    digits = 0 if value >= 99.95 else 1 if value >= 9.995 else 2
    rounded = round(value, digits) if value < 999.5 else round(value, 2 - len(str(int(value))) + 1)
    return f"{rounded:,.{digits}f} {unit}"


def table(results: dict[str, Any]) -> str:
    """The table and the line that says where it was measured."""
    lines = ["| | " + " | ".join(PEERS) + " |", "|---" + "|---:" * len(PEERS) + "|"]
    for what, unit, size, units, section, measure, labels in ROWS:
        times = [seconds(results, section, measure, label) for label in labels]
        cells = [shown(None if time is None else time * units / size, unit) for time in times]
        lines.append(f"| {what} | {' | '.join(cells)} |")
    machine = results["machine"]
    where = f"{machine['cpu']}, {machine['cores']} cores, {results['date'][:10]}, commit {results['commit']}"
    return "\n".join([*lines, "", f"Processor time, the least of several rounds: {where}."])


def written(page: str, content: str) -> str:
    """The page with the table between its two marks."""
    before, _, rest = page.partition(START)
    _, mark, after = rest.partition(STOP)
    if not mark:
        raise SystemExit(f"The page has no {START} ... {STOP}.")
    return f"{before}{START}\n{content}\n{STOP}{after}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--page", type=Path, default=ROOT / "README.md")
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--write", action="store_true")
    action.add_argument("--check", action="store_true")
    chosen = parser.parse_args()
    content = table(json.loads(RESULTS.read_text()))
    if not (chosen.write or chosen.check):
        print(content)
        return 0
    page = chosen.page.read_text()
    new = written(page, content)
    if chosen.write:
        chosen.page.write_text(new)
    elif new != page:
        print("The speed table is from another run than benchmarks/results/noise.json.")
        print("Run: python docs/make_speed_table.py --write")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
