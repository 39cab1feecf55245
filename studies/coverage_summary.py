"""What the cells of the coverage simulation say together: averages over shapes and relations, and the two claims."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from central_coverage import EPSILONS, ROWS, Cell, Coverage, enough, not_too_much

__all__ = ["OF", "Result", "Summary", "by_line", "exceptions", "shortfalls", "summaries"]

OF = ("data", "population")


@dataclass(frozen=True)
class Result:
    """What came out of one cell."""

    cell: Cell
    found: dict[str, Coverage]

    def to_dict(self) -> dict[str, Any]:
        """Plain values; an infinite width is null."""
        parts: dict[str, dict[str, float | None]] = {}
        for of, found in self.found.items():
            error = math.sqrt(found.coverage * (1 - found.coverage) / found.runs)
            parts[of] = {"coverage": round(found.coverage, 5), "error": round(error, 5), "least": round(found.least, 5)}
            parts[of]["width"] = float(f"{found.width:.5g}") if math.isfinite(found.width) else None
        return {**asdict(self.cell), "runs": self.found["data"].runs, **parts}

    @classmethod
    def from_dict(cls, entry: dict[str, Any]) -> Result:
        cell = Cell(*(entry[name] for name in ("statistic", "shape", "relation", "rows", "epsilon")))
        parts = {of: entry[of] for of in OF}
        width = {of: math.inf if part["width"] is None else part["width"] for of, part in parts.items()}
        return cls(
            cell,
            {of: Coverage(part["coverage"], part["least"], width[of], entry["runs"]) for of, part in parts.items()},
        )


@dataclass(frozen=True)
class Summary:
    """One of the two intervals of a statistic at one number of rows and one epsilon, over all shapes and relations."""

    statistic: str
    of: str
    rows: int
    epsilon: float
    coverage: float
    runs: int
    lowest: float
    highest: float
    capped: bool  # whether the second claim is made for all of its cells

    @property
    def holds(self) -> bool:
        """Whether the average agrees with the claims; a cell at a time, see ``shortfalls`` and ``exceptions``."""
        return enough(self.coverage, self.runs) and (not self.capped or not_too_much(self.coverage, self.runs))


def summaries(results: Sequence[Result]) -> Iterable[Summary]:
    """In the order of the simulation."""
    for statistic in dict.fromkeys(result.cell.statistic for result in results):
        for of in OF:
            for rows in ROWS:
                for epsilon in EPSILONS:
                    wanted = (statistic, rows, epsilon)
                    some = [r for r in results if (r.cell.statistic, r.cell.rows, r.cell.epsilon) == wanted]
                    if not some:
                        continue
                    found, capped = [r.found[of] for r in some], all(r.cell.capped(of) for r in some)
                    coverages, runs = [one.coverage for one in found], sum(one.runs for one in found)
                    average = sum(one.coverage * one.runs for one in found) / runs
                    yield Summary(statistic, of, rows, epsilon, average, runs, min(coverages), max(coverages), capped)


def by_line(results: Sequence[Result]) -> dict[tuple[str, str, float], list[Summary | None]]:
    """A line for each statistic, interval and epsilon: for every number of rows a summary, where there is one."""
    lines: dict[tuple[str, str, float], list[Summary | None]] = {}
    for one in summaries(results):
        line = lines.setdefault((one.statistic, one.of, one.epsilon), [None] * len(ROWS))
        line[ROWS.index(one.rows)] = one
    return lines


def shortfalls(results: Sequence[Result]) -> list[tuple[Cell, str, float]]:
    """Cells in which some entry is covered in less than 94.5 % of runs, by more than the error of the simulation."""
    return [
        (r.cell, of, r.found[of].least) for r in results for of in OF if not enough(r.found[of].least, r.found[of].runs)
    ]


def exceptions(results: Sequence[Result]) -> list[tuple[Cell, str, float]]:
    """Cells with useless caution: more than 98 %, by more than the error of the simulation."""
    return [
        (r.cell, of, r.found[of].coverage)
        for r in results
        for of in OF
        if r.cell.capped(of) and not not_too_much(r.found[of].coverage, r.found[of].runs)
    ]
