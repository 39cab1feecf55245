"""The speed tables of the front page, from the committed benchmarks.

python docs/make_speed_table.py             print them
python docs/make_speed_table.py --write     put them into README.md
python docs/make_speed_table.py --check     fail if README.md has others
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from marked_page import ROOT, fill


@dataclass(frozen=True)
class Row:
    """One line: cells of a section and a measure, one label per column (None: nothing to compare)."""

    what: str
    unit: str
    section: str
    measure: str
    labels: tuple[str | None, ...]
    factor: float = 1  # from the unit of the benchmark to the one that is shown


@dataclass(frozen=True)
class Table:
    """The table of one benchmark, between its two marks on the page."""

    benchmark: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    statistic: str

    @property
    def results(self) -> Path:
        return ROOT / "benchmarks" / "results" / f"{self.benchmark}.json"


ANSWERS = ("flou", "DuckDB, the plain query (not private)", "OpenDP", "OpenDP, streamed by Polars", "diffprivlib")
MEMORY = "Memory at its peak"

TABLES = (
    Table(
        "noise", ("flou", "NumPy (not private)", "OpenDP", "diffprivlib", "PyDP"),
        (
            Row(
                "Laplace noise of scale 1000, time per draw of a vector", "ns", "Discrete Laplace noise", "scale 1e3",
                ("flou DiscreteLaplace", "numpy Generator.laplace (not private)", "OpenDP make_laplace, int64 vector",
                 "diffprivlib Laplace", "PyDP LaplaceMechanism"),
            ),
            Row(
                "Gaussian noise of scale 1000, time per draw of a vector", "ns", "Gaussian noise", "scale 1e3",
                ("flou DiscreteGaussian", "numpy Generator.normal (not private)", "OpenDP make_gaussian, int64 vector",
                 "diffprivlib Gaussian", "PyDP GaussianMechanism"),
            ),
            Row(
                "Choice of one candidate among a million, exponential mechanism", "ms", "Choosing one candidate",
                "1,000,000 candidates",  # as many ns a candidate as ms in all
                ("flou Exponential", "numpy choice, p given (not private)", "OpenDP make_noisy_max, Gumbel noise",
                 "diffprivlib Exponential", None),
            ),
            Row(
                "Laplace noise of scale 1000, a single draw", "µs", "One draw of Laplace noise of scale 1000", "draw",
                ("flou Laplace", "numpy Generator.laplace (not private)", "OpenDP make_laplace, int64",
                 "diffprivlib Laplace", "PyDP LaplaceMechanism"),
            ),
        ),
        "Processor time, the fastest of several rounds",
    ),
    Table(
        "central", ("flou", "DuckDB (not private)", "OpenDP", "OpenDP, streamed", "diffprivlib", "PyDP"),
        (
            Row("Mean of 10⁸ rows", "s", "Mean", "1e8 rows", (*ANSWERS, "PyDP, scaled up"), 1e-3),
            Row("Histogram of 20 bins", "s", "Histogram of 20 bins", "1e8 rows", (*ANSWERS, "PyDP, scaled up"), 1e-3),
            Row("Mean of 16 groups", "s", "Mean of 16 groups", "1e8 rows", (*ANSWERS, "PyDP, scaled up"), 1e-3),
            Row("Memory for a mean", "GB", MEMORY, "mean", (*ANSWERS, None)),
            Row("Memory for the means of 16 groups", "GB", MEMORY, "mean of 16 groups", (*ANSWERS, None)),
            Row("Error of a mean, add-remove", "%", "Error of a mean", "add-remove, ε = 0.1",
                ("flou", None, "OpenDP", None, None, "PyDP")),
            Row("Error of a mean, substitute", "%", "Error of a mean", "substitute, ε = 0.1",
                ("flou", None, "OpenDP", None, "diffprivlib", None)),
        ),
        "Elapsed time, the fastest of the rounds; resident memory of a fresh process; root mean squared error",
    ),
)  # fmt: skip


def value(results: dict[str, Any], row: Row, label: str | None) -> float | None:
    """What the benchmark shows in a cell; None where it has nothing."""
    if label is None:
        return None
    section = next(part for part in results["sections"] if part["title"] == row.section)
    measure = next(part for part in section["measures"] if part["name"] == row.measure)
    found = next(part for part in measure["rows"] if part["label"] == label)["value"]
    return None if found is None else found * row.factor


def shown(value: float | None, unit: str) -> str:
    """Three digits and the unit, or a dash."""
    if value is None:
        return "–"
    digits = 0 if value >= 99.95 else 1 if value >= 9.995 else 2
    rounded = round(value, digits) if value < 999.5 else round(value, 2 - len(str(int(value))) + 1)
    return f"{rounded:,.{digits}f} {unit}"


def drawn(table: Table) -> str:
    """The table and the line that says where it was measured."""
    results = json.loads(table.results.read_text())
    lines = ["| | " + " | ".join(table.columns) + " |", "|---" + "|---:" * len(table.columns) + "|"]
    for row in table.rows:
        cells = [shown(value(results, row, label), row.unit) for label in row.labels]
        lines.append(f"| {row.what} | {' | '.join(cells)} |")
    machine = results["machine"]
    where = f"{machine['cpu']}, {machine['cores']} cores, {results['date'][:10]}, commit {results['commit']}"
    return "\n".join([*lines, "", f"{table.statistic}: {where}."])


def main() -> int:
    tables = {table.benchmark: drawn(table) for table in TABLES}
    return fill("make_speed_table.py", ROOT / "README.md", tables, "benchmarks/results")


if __name__ == "__main__":
    sys.exit(main())
