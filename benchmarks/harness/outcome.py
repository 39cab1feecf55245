"""What came out: the timings of an entry, the verdict on a claim, and the same as JSON."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field
from typing import Any

from harness.declare import Cell, Claim, Entry, Fact, Measure, Section, Unit

__all__ = ["MeasureOutcome", "Outcome", "SectionOutcome", "Verdict", "judge", "judge_fact"]


@dataclass
class Outcome:
    """The timings of one entry, a number a round; or the reason why there are none."""

    entry: Entry
    cpu: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)
    problem: str = ""
    mean_absolute: float | None = None

    def to_json(self) -> dict[str, Any]:
        facts = {"participant": self.entry.participant, "label": self.entry.label, "task": self.entry.task}
        facts |= {"parameters": dict(self.entry.parameters), "units": self.entry.units}
        if self.problem:
            return facts | {"problem": self.problem}
        if self.mean_absolute is not None:
            facts["mean_absolute"] = self.mean_absolute
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

    def seconds(self, row: Outcome) -> float | None:
        """Seconds of one timed call, by the clock and the statistic of the section."""
        rounds = row.cpu if self.section.clock == "cpu" else row.wall
        if row.problem or not rounds:
            return None
        return min(rounds) if self.section.statistic == "min" else statistics.median(rounds)

    def seconds_a_unit(self, row: Outcome) -> float | None:
        seconds = self.seconds(row)
        return None if seconds is None else seconds / row.entry.units

    def value(self, row: Outcome) -> float | None:
        """What the table shows."""
        seconds = self.seconds(row)
        return None if seconds is None else self.section.unit.value(seconds, row.entry.units)

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
    """The measured ratio of a claim against its limit."""
    if (claim.at_most is None) == (claim.at_least is None):
        raise ValueError(f"a claim has one limit, at_most or at_least: {claim.text}")
    limit = f"at most {claim.at_most:g}" if claim.at_most is not None else f"at least {claim.at_least:g}"
    cells = {_cell(s, m, r): s.seconds_a_unit(r) for s in outcomes for m in s.measures for r in m.rows}
    for side in (claim.ours, claim.theirs):
        if side not in cells:
            raise KeyError(f"a claim names a cell that no section has: {side}")
    ours, theirs = cells[claim.ours], cells[claim.theirs]
    if ours is None or theirs is None:
        return Verdict(claim.text, None, "not measured", limit)
    if claim.at_most is not None:
        ratio = ours / theirs
        return Verdict(claim.text, ratio <= claim.at_most, f"{ratio:.2f} times", limit, ratio)
    ratio = theirs / ours
    return Verdict(claim.text, ratio >= claim.at_least, f"{ratio:.0f} times", limit, ratio)


def judge_fact(fact: Fact, found: list[str] | None) -> Verdict:
    """A fact holds when its list is empty."""
    if found is None:
        return Verdict(fact.text, None, "not measured", "none")
    return Verdict(fact.text, not found, ", ".join(found) or "none", "none")


def _cell(section: SectionOutcome, measure: MeasureOutcome, row: Outcome) -> Cell:
    return section.section.title, measure.measure.name, row.entry.label
