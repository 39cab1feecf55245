"""Which rank errors are measured: flou's calls, all of its methods and its peers, on the same rows at equal epsilon."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from workers.quantiles_data import GRANULARITY, sets

__all__ = ["CALL", "DATA", "MULTIPLES", "PLAIN_CALL", "Column", "Effort", "Found", "Setting", "columns", "settings"]

DATA = ("uniform", "normal", "salaries")
ROWS, MANY, EPSILONS = (10**3, 10**5, 10**6), (1, 9, 99), (0.1, 1.0)
SWEEPS = (("uniform", 10**5, 9), ("uniform", 10**5, 1))  # the picture of the documentation,
SWEPT = (0.03, 0.1, 0.3, 1.0, 3.0)  # at these epsilons
CALL, PLAIN_CALL = "flou", "flou, intervals=0"
RELATIONS = ("add-remove", "substitute")
SINGLE = ("QExp", "GridInverseSensitivity", "PermuteAndFlipQuantile", "SmoothInverseSensitivity")
SEVERAL = ("IndExp",)  # of one quantile they are GridInverseSensitivity
ANY = (
    "JointExp", "DitheredJointExp", "JointN", "RecExp", "FocusedTree", "Tree", "HistogramMethod", "NoisyQuantile",
    "UnboundedQuantile", "SmoothSensitivity",
)  # fmt: skip
OPTIONS = {"SmoothSensitivity": {"delta": 1e-6}}  # which is no pure guarantee, and is not compared with those that are
CANDIDATES = (1_001, 10_001)
MULTIPLES = "the multiples of the granularity"


@dataclass(frozen=True, order=True)
class Setting:
    """Rows of some data, and how many quantiles of them are asked at which epsilon."""

    data: str
    rows: int
    many: int
    epsilon: float

    def __str__(self) -> str:
        return f"{self.data}, n = {self.rows:,}, m = {self.many}, ε = {self.epsilon:g}"


@dataclass(frozen=True)
class Column:
    """Somebody's way to answer under a relation."""

    name: str
    participant: str
    relation: str
    task: str
    parameters: dict[str, Any] = field(default_factory=dict, hash=False)

    @property
    def kind(self) -> str:
        if "delta" in self.parameters.get("options", {}):
            return "with delta"
        return {"error_of_call": "call", "error_of_method": "method"}.get(self.task, "peer")


@dataclass(frozen=True)
class Effort:
    """How many releases: as many as fit into some seconds, between a least and a most."""

    quick: bool

    def of(self, column: Column, setting: Setting) -> dict[str, float]:
        if self.quick:
            return {"least": 2, "most": 4, "seconds": 0.05, "limit": 5.0}
        seconds = 1.5 if column.kind in {"call", "peer"} else 0.3
        # the least of several methods is compared with: from few releases, standard errors come out small by chance;
        # of one quantile peers are near, so that there are many
        large = setting.rows > 10**5
        if column.kind == "method":
            least = 24 if setting.many == 1 else 12
        elif setting.many == 1:
            least = 40 if large else 200
        else:
            least = 12 if column.kind == "call" else 5 if large else 8
        return {"least": least, "most": 400, "seconds": seconds, "limit": 5.0}


@dataclass(frozen=True)
class Found:
    """The mean rank error of a column in a setting, with its standard error; or why there is none."""

    setting: Setting
    column: Column
    errors: tuple[float, ...] = ()  # of the releases, each the mean over its quantiles
    seconds: float = math.nan
    method: str = ""  # what a call chose,
    why: str = ""  # and why
    problem: str = ""

    @property
    def error(self) -> float:
        return statistics.fmean(self.errors) if self.errors else math.nan

    @property
    def standard_error(self) -> float:
        """By the sets of rows, which take turns: releases of the same rows have the luck of these rows in common."""
        releases, turns = len(self.errors), min(len(self.errors), sets(self.setting.rows))
        if turns < 2:
            return math.nan
        off = [error - self.error for error in self.errors]
        squares = sum(math.fsum(off[which::turns]) ** 2 for which in range(turns))
        return math.sqrt(squares * turns / (turns - 1)) / releases

    @property
    def doubt(self) -> float:
        """The standard error, but never less than one rank in all releases: a few equal errors prove little."""
        return max(self.standard_error, 1 / (len(self.errors) * self.setting.many))

    def to_json(self) -> dict[str, Any]:
        setting, column = self.setting, self.column
        facts: dict[str, Any] = {"data": setting.data, "rows": setting.rows, "quantiles": setting.many}
        facts |= {"epsilon": setting.epsilon, "relation": column.relation, "column": column.name, "kind": column.kind}
        facts["participant"] = column.participant
        if self.problem:
            return facts | {"problem": self.problem}
        facts |= {"error": float(f"{self.error:.6g}"), "standard_error": float(f"{self.standard_error:.4g}")}
        facts |= {"releases": len(self.errors), "seconds": float(f"{self.seconds:.4g}")}
        return facts | ({"method": self.method, "why": self.why} if self.method else {})


def settings(quick: bool) -> list[Setting]:
    """All of them, those of the picture included."""
    if quick:
        return [Setting(data, 10**3, many, 1.0) for data in ("uniform", "salaries") for many in (1, 9)]
    found = {Setting(*one, e) for one in ((d, n, m) for d in DATA for n in ROWS for m in MANY) for e in EPSILONS}
    found |= {Setting(*sweep, epsilon) for sweep in SWEEPS for epsilon in SWEPT}
    return sorted(found, key=lambda one: (DATA.index(one.data), one.rows, one.many, one.epsilon))


def columns(setting: Setting) -> Iterator[Column]:
    """Whoever can answer: flou's calls and methods, then its peers under the relation that they implement."""
    for relation in RELATIONS:
        yield Column(CALL, "flou", relation, "error_of_call", {"relation": relation, "intervals": True})
        yield Column(PLAIN_CALL, "flou", relation, "error_of_call", {"relation": relation, "intervals": False})
        for method in (*(SINGLE if setting.many == 1 else SEVERAL), *ANY):
            if method == "JointN" and relation == "substitute":
                continue  # the number of rows is public then
            options = OPTIONS.get(method, {})
            asked = {"relation": relation, "method": method, "options": options}
            name = ", ".join([method, *(f"{option}={value:g}" for option, value in options.items())])
            yield Column(name, "flou", relation, "error_of_method", asked)
            if method == "JointN" and setting.data in GRANULARITY:
                yield Column("JointN, dithered", "flou", relation, "error_of_method", asked | {"dithered": True})
    yield from peers(setting)


def peers(setting: Setting) -> Iterator[Column]:
    grain = GRANULARITY.get(setting.data)
    for relation in RELATIONS:
        for candidates in (CANDIDATES[0], None if grain else CANDIDATES[1]):
            name = f"OpenDP, {f'{candidates:,} candidates' if candidates else MULTIPLES}"
            asked = {"relation": relation, "candidates": candidates}
            yield Column(name, "OpenDP", relation, "error_of_quantiles", asked)
    for participant, relation in (("diffprivlib", "substitute"), ("PyDP", "add-remove")):
        yield Column(participant, participant, relation, "error_of_quantiles", {"snap": False})
        if grain:
            yield Column(
                f"{participant}, rounded to {grain}", participant, relation, "error_of_quantiles", {"snap": True}
            )
