"""What a benchmark is, as frozen values. Nothing here measures anything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

__all__ = ["Benchmark", "Cell", "Claim", "Entry", "Fact", "Measure", "Participant", "Section", "Unit"]


@dataclass(frozen=True)
class Participant:
    """A library, the worker module that drives it, and the environment it lives in."""

    name: str
    worker: str
    requirements: str | None = None  # peers/<requirements>.txt; None: the environment of flou itself


@dataclass(frozen=True)
class Unit:
    """How seconds, or what a call returned, become the number that is shown."""

    name: str
    factor: float
    rate: bool = False  # units a second (more is better) instead of seconds a unit

    def value(self, seconds: float, units: float) -> float:
        return self.factor * (units / seconds if self.rate else seconds / units)


@dataclass(frozen=True)
class Entry:
    """One row of a measure: a participant's task, its parameters, and how many units one timed call yields."""

    participant: str
    label: str
    task: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    units: float = 1
    rounds: int | None = None  # of a call that takes long: at most so many, and none to warm up


@dataclass(frozen=True)
class Measure:
    """Entries that do the same job, timed in interleaved rounds; one column of a table.

    With ``mean_absolute`` the draws of every entry are checked against it before anything is timed, so that a
    peer set to another scale is found out. With ``fresh`` every worker starts anew, for a library may keep what an
    earlier question made it allocate.
    """

    name: str
    entries: tuple[Entry, ...]
    mean_absolute: float | None = None
    fresh: bool = False


@dataclass(frozen=True)
class Section:
    """One table: measures in the same unit. The first row is what the others are compared with.

    The clock is processor time (of the worker with all its threads, and of its children: what a busy machine disturbs
    least, and what a call on one core costs), or wall time (for engines that use every core or wait for others).
    Without a clock the number that a call returns is the measurement: bytes, or an error.
    """

    title: str
    unit: Unit
    measures: tuple[Measure, ...]
    note: str = ""
    clock: Literal["cpu", "wall"] | None = "cpu"
    statistic: Literal["min", "median", "max", "root mean square"] = "min"
    rounds: int | None = None  # where the calls are short, and therefore noisy, more than the benchmark's


Cell: TypeAlias = tuple[str, str, str]  # section title, measure name, entry label


@dataclass(frozen=True)
class Claim:
    """A ratio of two cells and its limit: ours at most so many times theirs, or at least so many times faster.

    Without ``theirs`` the limit is on what the table shows for ours, in its unit.
    """

    text: str
    ours: Cell
    theirs: Cell | None = None
    at_most: float | None = None
    at_least: float | None = None


@dataclass(frozen=True)
class Fact:
    """A list that a task returns and that ought to be empty."""

    text: str
    entry: Entry


@dataclass(frozen=True)
class Benchmark:
    """Everything that one script measures."""

    name: str
    participants: tuple[Participant, ...]
    sections: tuple[Section, ...]
    claims: tuple[Claim, ...] = ()
    facts: tuple[Fact, ...] = ()
    rounds: int = 7
