"""Quantiles of a column, one or many, of all rows or by group.

Law        the method's own (``plan.py`` chooses) on a grid of 2^31 cells, or as many as doubles tell apart, or
           of the possible values if these are at most 2^20, or fewer in very many groups; answers are multiples of a
           public granularity in any case
Guarantee  epsilon-DP in total, the intervals included
Why        a method reads the records once; then records are counted around its answers, for a share of epsilon
Error      ranks off by a few times 1/epsilon; an interval holds the data's, or the population's, quantile, whatever
           the data are (``ranks.py``)
Numerics   exact integers until the answers are drawn; coarse counts first, then one finer look around the targets,
           for all groups together, which is nearly always all that is needed (``second_look.py`` says when it is not)
Limits     where a unit has several rows the grid has 2^20 cells, because its rows are chosen anew for every look
Source     see ``mechanisms/quantiles``
Proof      docs/explanation/proofs/quantiles.md
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from flou.arrays import Floats
from flou.central.price import EpsilonQuestion
from flou.central.quantiles.grid import QuantileGrid
from flou.central.quantiles.plan import COUNTED, JOINTLY, METHODS, Drawn, QuantilePlan
from flou.central.question import Curator, Draft, Prepared, PublicFacts, few_rows
from flou.errors import InvalidParameter
from flou.mechanisms.quantiles import FocusedTree, HistogramMethod, IndExp, JointExp, JointN, RecExp, Tree
from flou.mechanisms.quantiles.joint_path import first_reach
from flou.mechanisms.quantiles.quantile_mechanism import QuantileMechanism
from flou.mechanisms.quantiles.rec_exp import SELDOM
from flou.mechanisms.quantiles.single import SingleQuantile
from flou.mechanisms.quantiles.targets import fractions_of, rank_of
from flou.parameters import Number, choice, number, probability
from flou.release import Layout
from flou.release.uncertainty import Interval, NoiseAndSampling
from flou.summaries.request import Counts

__all__ = ["INTERVALS", "Quantiles", "Range"]

Ends: TypeAlias = tuple[Floats, Floats]

INTERVALS = Fraction(1, 10)
FEW = 20  # times 1 / epsilon for each quantile that is paid for: of fewer rows, ranks are off by a good part
DOUBTFUL = 3.0  # standard errors: a group that seems to have fewer rows may be empty
WIDE = 20_000  # records seen, below which counts around the answers leave intervals that a tree has far narrower

UNPAID = "No share of epsilon was spent on intervals, so each interval is the whole range between the bounds."
NARROWER = 'method="focused" gives intervals that are several times narrower; its answers are less accurate.'
LEAST = Fraction(1, 10**12)  # of epsilon: noises for a part of this size can be drawn, with room to spare


@dataclass(frozen=True)
class Quantiles(EpsilonQuestion):
    """Quantiles of a column; ``intervals`` is the share of epsilon that pays for intervals."""

    column: str
    probabilities: Any
    epsilon: Number
    method: str = "auto"
    intervals: Number = INTERVALS
    by: str | None = None
    statistic: str = "quantiles"
    proof = "quantiles"

    def __post_init__(self) -> None:
        super().__post_init__()
        several = self.probabilities
        if isinstance(several, Iterable) and not isinstance(several, str):  # read once: a list could change, or run out
            object.__setattr__(self, "probabilities", tuple(several))

    def _grid(self, facts: PublicFacts) -> QuantileGrid:
        return QuantileGrid.of(self.column, facts.domain(self.column), facts.groups(self.by), facts.looks_again)

    def _plan(self, facts: PublicFacts, cells: int) -> QuantilePlan:
        """The price of one changed row; where the number of rows is not public, substitution is two changes."""
        public = facts.known_rows is not None and self.by is None
        return QuantilePlan(
            probabilities=fractions_of(self.probabilities),
            epsilon=number("epsilon", self.epsilon) / (1 if public else facts.changes),
            relation="substitute" if public else "add-remove",
            method=choice("method", self.method, METHODS),
            intervals=_part(self.intervals),
            rows=facts.known_rows if public else None,
            cells=cells,
        )

    def prepare(self, facts: PublicFacts) -> Prepared:
        grid = self._grid(facts)
        plan = self._plan(facts, grid.cells)
        _require_parts(plan, grid.cells)
        by = None if self.by is None else facts.code(self.by)
        groups = None if self.by is None else facts.labels(self.by)
        labels, likely = self._labels(plan, groups), _likely(plan, grid.cells)
        changes = float(number("epsilon", self.epsilon) / plan.epsilon)  # of rows, by one unit

        def answer(found: list[Any], curator: Curator) -> Draft:
            records, look = grid.records(np.atleast_2d(found[0]), curator.tally, by, likely)
            drawn = plan.draw_each(records, curator.bits, 1 << grid.shift, look)
            chosen = dict.fromkeys(one.plan.choice for one in drawn)
            values = self._values(np.concatenate([grid.value(one.cells) for one in drawn]), grid)
            return Draft(
                value=float(values[0]) if labels is None else values,
                uncertainty=QuantileUncertainty(self, plan.probabilities, tuple(drawn), grid, labels is None),
                mechanism={
                    "name": f"quantiles, {' or '.join(name for name, _ in chosen)}",
                    "choice": "; ".join(why for _, why in chosen),
                    "probabilities": [float(p) for p in plan.probabilities],
                    "epsilon_for_choice": changes * float(plan.for_the_choice),
                    "epsilon_for_intervals": changes * float(max(one.plan.share * one.plan.epsilon for one in drawn)),
                    "grid": f"{grid.cells} cells",
                    "sampler": "exact",
                    "random_source": facts.random_source,
                },
                labels=labels,
                note=_note(drawn, groups, self.method == "auto"),
                postprocessing=("increasing",),
                keys={} if self.by is None else {"group_keys": "public", "column": self.by},
                proofs=tuple(_proof(one.plan.mechanism) for one in drawn),
                layout=None if labels is groups else self._layout(plan, groups),
            )

        request = Counts((grid.coarse,) if by is None else (by, grid.coarse))
        return Prepared(facts.pure(self.epsilon), (request,), answer, len(labels or [""]), grid.shift > 0)

    def _values(self, quantiles: Floats, grid: QuantileGrid) -> Floats:
        """What is released of the quantiles."""
        del grid
        return quantiles

    def _ends(self, found: Callable[[float], Ends], level: float, grid: QuantileGrid) -> Ends:
        """The intervals of what is released, from those of the quantiles at any level."""
        del grid
        return found(level)

    def _labels(self, plan: QuantilePlan, groups: tuple[str, ...] | None) -> tuple[str, ...] | None:
        if isinstance(self.probabilities, Fraction):  # one, and no list of them
            return groups
        names = self._layout(plan, groups).names
        return names if groups is None else tuple(f"{group}: {name}" for group in groups for name in names)

    def _layout(self, plan: QuantilePlan, groups: tuple[str, ...] | None) -> Layout:
        names = tuple(f"{100 * float(p):.10g} %" for p in plan.probabilities)
        kind: Any = "boxes" if self.statistic == "boxplot" else "quantiles"
        return Layout(kind, groups, names, tuple(map(float, plan.probabilities)))


class Range(Quantiles):
    """How far apart two quantiles are."""

    def _values(self, quantiles: Floats, grid: QuantileGrid) -> Floats:
        return grid.apart(quantiles[0::2], quantiles[1::2])

    def _ends(self, found: Callable[[float], Ends], level: float, grid: QuantileGrid) -> Ends:
        low, high = found((1 + level) / 2)  # both quantiles have to lie in theirs
        return np.maximum(grid.apart(high[0::2], low[1::2]), 0.0), grid.apart(low[0::2], high[1::2])

    def _labels(self, plan: QuantilePlan, groups: tuple[str, ...] | None) -> tuple[str, ...] | None:
        del plan
        return groups


@dataclass(frozen=True, eq=False)
class QuantileUncertainty(NoiseAndSampling):
    """Intervals from counts around the quantiles; the bounds, where nothing was paid for counts."""

    question: Quantiles
    probabilities: tuple[Fraction, ...]
    drawn: tuple[Drawn, ...]
    on: QuantileGrid
    single: bool

    def _interval(self, level: float, sampling: bool) -> Interval:
        low, high = self.question._ends(lambda at: self._of_quantiles(at, sampling), level, self.on)
        return (float(low[0]), float(high[0])) if self.single else (low, high)

    def _of_quantiles(self, level: float, sampling: bool) -> Ends:
        low, high = [], []
        for one in self.drawn:
            for p, cell in zip(self.probabilities, one.cells.tolist(), strict=True):
                none = (0, self.on.cells)
                start, end = none if one.ranks is None else one.ranks.interval(p, level, sampling)
                low.append(min(start, cell))
                high.append(max(end - 1, cell))
        return self.on.lower(np.array(low)), self.on.upper(np.array(high))

    @property
    def places(self) -> tuple[int | None, int | None]:
        return self.on.places

    @property
    def grid(self) -> float:
        return self.on.rounding


def _proof(mechanism: QuantileMechanism) -> str:
    """The page that proves what a way of drawing quantiles costs."""
    if isinstance(mechanism, JointExp | JointN):
        return "joint_quantiles"
    return "many_quantiles" if isinstance(mechanism, RecExp | Tree | FocusedTree | HistogramMethod) else "quantiles"


def _part(intervals: Number) -> Fraction:
    """The share of epsilon that intervals may take: not all of it."""
    share = probability("intervals", intervals)
    if share == 1:
        raise InvalidParameter(
            "intervals must be below 1.",
            "It is the share of epsilon that pays for intervals, and nothing would be left for the quantiles.",
            "Pass for example intervals=0.1, or 0 to leave them out.",
        )
    return share


def _require_parts(plan: QuantilePlan, cells: int) -> None:
    """Refuse what cannot be drawn, before anything is paid: parts of epsilon that no noise is wide enough for."""
    mechanism, quantiles = plan.mechanism, len(set(plan.probabilities))
    undecided = plan.for_the_choice > 0 and quantiles <= JOINTLY  # then they may yet be drawn together
    share = plan.intervals if undecided else plan.share
    parts = [plan.for_the_choice, share * plan.epsilon]
    least = min([(1 - share) * plan.epsilon / quantiles, *(part for part in parts if part > 0)])
    if least < LEAST:
        raise InvalidParameter(
            f"epsilon is divided into parts, and the smallest part, {float(least):.3g}, is too small.",
            "Rows of a unit, quantiles and intervals each get a part, and each part must allow its noise.",
            "Pass a larger epsilon, fewer quantiles, or a larger share of intervals (0 leaves them out).",
        )
    if isinstance(mechanism, Tree | FocusedTree):
        (mechanism if isinstance(mechanism, Tree) else mechanism.first).noise(cells)
    elif isinstance(mechanism, HistogramMethod):
        mechanism.walks  # noqa: B018 - which refuse what is too small for denominators of probabilities


def _likely(plan: QuantilePlan, cells: int) -> Callable[[int], list[tuple[int, int]]]:
    """The ranks that a draw begins with, by the number of records; none where counts of coarse cells are enough."""
    mechanism = plan.mechanism

    def reach(rows: int) -> int:
        if isinstance(mechanism, JointExp | JointN):
            return first_reach(mechanism.gaps(rows), rows)
        if isinstance(mechanism, SingleQuantile):
            return mechanism.levels(rows).reach(cells)
        if isinstance(mechanism, IndExp):
            return max(part.levels(rows).reach(cells) for part in mechanism.parts)
        assert isinstance(mechanism, RecExp)
        return max(node.levels(rows).reach(cells * mechanism.places, SELDOM) for node in mechanism.root.walk())

    def ranks(rows: int) -> list[tuple[int, int]]:
        if rows == 0 or isinstance(mechanism, Tree | FocusedTree | HistogramMethod):
            return []
        away = reach(rows)
        return [(rank_of(p, rows) - away, rank_of(p, rows) + away) for p in mechanism.ordered]

    return ranks


def _note(drawn: Sequence[Drawn], groups: Sequence[str] | None, chosen_by_flou: bool) -> str:
    """What a reader should know about the quantiles of one set of records, or of each group."""
    found = []
    few = [place for place, one in enumerate(drawn) if _few(one)]
    if few and groups is None:
        found.append("Few rows next to the noise: the answers may be far off.")
    elif few and groups is not None:
        found.append(few_rows([groups[place] for place in few]))
    if any(one.ranks is None for one in drawn):
        found.append(UNPAID)
    elif chosen_by_flou and any(_wide(one) for place, one in enumerate(drawn) if place not in few):
        found.append(NARROWER)
    return " ".join(found)


def _few(one: Drawn) -> bool:
    plan, ranks = one.plan, one.ranks
    many = 1 if plan.choice[0] in COUNTED else len(set(plan.probabilities))  # counts serve all quantiles
    least = FEW * many / float(plan.epsilon)
    if plan.rows is not None and plan.relation == "substitute":
        return plan.rows < least
    if ranks is not None:
        return ranks.estimate.total < max(least, DOUBTFUL * math.sqrt(ranks.spare))
    return plan.rows is not None and plan.rows < least


def _wide(one: Drawn) -> bool:
    seen = one.plan.seen
    return one.plan.choice[0] == "joint" and seen is not None and seen < WIDE
