"""What came out: the numbers of an entry, the verdict on a claim, and the same as JSON."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from harness.declare import Cell, Claim, Entry, Fact, Measure, Section, Unit

__all__ = ["MeasureOutcome", "Outcome", "SectionOutcome", "Verdict", "judge", "judge_fact"]


STATISTICS: dict[str, Callable[[list[float]], float]] = {
    "min": min,
    "median": statistics.median,
    "max": max,
    "root mean square": lambda numbers: math.sqrt(statistics.fmean(number**2 for number in numbers)),
}


@dataclass
class Outcome:
    """The timings or the answers of one entry, a number a round; or the reason why there are none."""

    entry: Entry
    cpu: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    problem: str = ""
    mean_absolute: float | None = None

    def to_json(self) -> dict[str, Any]:
        facts = {"participant": self.entry.participant, "label": self.entry.label, "task": self.entry.task}
        facts |= {"parameters": dict(self.entry.parameters), "units": self.entry.units}
        if self.problem:
            return facts | {"problem": self.problem}
        if self.mean_absolute is not None:
            facts["mean_absolute"] = self.mean_absolute
        if self.values:
            return facts | {"values": self.values}
        return facts | {"cpu_seconds": _rounded(self.cpu), "wall_seconds": _rounded(self.wall)}


def _rounded(seconds: list[float]) -> list[float]:
    return [round(s, 9) for s in seconds]


@dataclass
class MeasureOutcome:
    measure: Measure
    rows: list[Outcome]


@dataclass
class SectionOutcome:
    section: Section
    measures: list[MeasureOutcome]

    def reading(self, row: Outcome) -> float | None:
        """One call's seconds by the clock of the section, or what it returned; by the statistic of the section."""
        rounds = {"cpu": row.cpu, "wall": row.wall, None: row.values}[self.section.clock]
        return None if row.problem or not rounds else STATISTICS[self.section.statistic](rounds)

    def reading_a_unit(self, row: Outcome) -> float | None:
        reading = self.reading(row)
        return None if reading is None else reading / row.entry.units

    def value(self, row: Outcome) -> float | None:
        """What the table shows."""
        reading = self.reading(row)
        return None if reading is None else self.section.unit.value(reading, row.entry.units)

    def to_json(self) -> dict[str, Any]:
        unit: Unit = self.section.unit
        return {
            "title": self.section.title,
            "unit": unit.name,
            "clock": self.section.clock,
            "statistic": self.section.statistic,
            "rounds": self.section.rounds,
            "measures": [
                {"name": m.measure.name, "rows": [{"value": self.value(r)} | r.to_json() for r in m.rows]}
                for m in self.measures
            ],
        }


@dataclass(frozen=True)
class Verdict:
    """Whether a claim holds; None when a side of it was not measured."""

    text: str
    holds: bool | None
    measured: str
    limit: str
    ratio: float | None = None

    def to_json(self) -> dict[str, Any]:
        return {k: getattr(self, k) for k in ("text", "holds", "ratio", "measured", "limit")}


def judge(claim: Claim, outcomes: list[SectionOutcome]) -> Verdict:
    """The measured ratio, or value, of a claim against its limit."""
    if (claim.at_most is None) == (claim.at_least is None):
        raise ValueError(f"a claim has one limit, at_most or at_least: {claim.text}")
    limit = f"at most {claim.at_most:g}" if claim.at_most is not None else f"at least {claim.at_least:g}"
    cells = {_cell(s, m, r): (s, r) for s in outcomes for m in s.measures for r in m.rows}
    for side in (claim.ours, claim.theirs):
        if side is not None and side not in cells:
            raise KeyError(f"a claim names a cell that no section has: {side}")
    unit = "times" if claim.theirs else cells[claim.ours][0].section.unit.name
    measured = _ratio(claim, cells) if claim.theirs else SectionOutcome.value(*cells[claim.ours])
    limit = limit if claim.theirs else f"{limit} {unit}"
    if measured is None:
        return Verdict(claim.text, None, "not measured", limit)
    holds = measured <= claim.at_most if claim.at_most is not None else measured >= claim.at_least
    shown = f"{measured:.2f}" if measured < 10 else f"{measured:.0f}"
    return Verdict(claim.text, holds, f"{shown} {unit}", limit, measured)


def _ratio(claim: Claim, cells: dict[Cell, tuple[SectionOutcome, Outcome]]) -> float | None:
    """Ours over theirs; the other way round where theirs ought to be larger."""
    ours, theirs = (SectionOutcome.reading_a_unit(*cells[side]) for side in (claim.ours, claim.theirs))
    if ours is None or theirs is None:
        return None
    return ours / theirs if claim.at_most is not None else theirs / ours


def judge_fact(fact: Fact, found: list[str] | None) -> Verdict:
    """A fact holds when its list is empty."""
    if found is None:
        return Verdict(fact.text, None, "not measured", "none")
    return Verdict(fact.text, not found, ", ".join(found) or "none", "none")


def _cell(section: SectionOutcome, measure: MeasureOutcome, row: Outcome) -> Cell:
    return section.section.title, measure.measure.name, row.entry.label
