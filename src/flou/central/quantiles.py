"""Quantiles of a column, one or many, of all rows or by group.

Law        the method's own, on a grid of 2^31 cells or of the public granularity (``quantile_plan.py`` chooses)
Guarantee  epsilon-DP in total, the intervals included
Why        a method reads the records once; then records are counted around its answers, for a share of epsilon
Error      ranks off by a few times 1/epsilon; an interval holds the data's, or the population's, quantile, whatever
           the data are (``quantile_ranks.py``)
Numerics   exact integers until the answers are drawn; coarse counts first, then one finer look around the targets
Limits     where a unit has several rows the grid has 2^20 cells, because its rows are chosen anew for every look
Source     see ``mechanisms/quantiles``
Proof      docs/explanation/proofs/quantiles.md
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from flou.central.bins import names_of
from flou.central.quantile_grid import QuantileGrid
from flou.central.quantile_plan import METHODS, Drawn, QuantilePlan
from flou.central.question import Context, Draft, Question
from flou.guarantee import Guarantee
from flou.mechanisms.quantiles.targets import fractions_of
from flou.parameters import Number, choice, number, probability
from flou.release.uncertainty import Interval, NoiseAndSampling
from flou.summaries.request import Counts, Request

__all__ = ["INTERVALS", "Quantiles", "Range"]

Floats: TypeAlias = NDArray[np.float64]
Ends: TypeAlias = tuple[Floats, Floats]

INTERVALS = Fraction(1, 10)


@dataclass(frozen=True)
class Quantiles(Question):
    """Quantiles of a column; ``intervals`` is the share of epsilon that pays for intervals."""

    column: str
    probabilities: Any
    epsilon: Number
    method: str = "auto"
    intervals: Number = INTERVALS
    by: str | None = None
    statistic: str = "quantiles"

    def cost(self, context: Context) -> Guarantee:
        self._plan(context).mechanism  # noqa: B018 - refuses what cannot be asked
        self._grid(context)
        return context.pure(self.epsilon)

    def _grid(self, context: Context) -> QuantileGrid:
        return QuantileGrid.of(
            self.column, context.domain(self.column), context.groups(self.by), context.tally is not None
        )

    def _plan(self, context: Context) -> QuantilePlan:
        """The price of one changed row; where the number of rows is not public, substitution is two changes."""
        public = context.known_rows is not None and self.by is None
        return QuantilePlan(
            probabilities=fractions_of(self.probabilities),
            epsilon=number("epsilon", self.epsilon) / (1 if public else context.changes),
            relation="substitute" if public else "add-remove",
            method=choice("method", self.method, METHODS),
            intervals=probability("intervals", self.intervals),
            rows=context.known_rows if public else None,
        )

    def requests(self, context: Context) -> tuple[Request, ...]:
        by = () if self.by is None else (context.code(self.by),)
        return (Counts((*by, self._grid(context).coarse)),)

    def answer(self, found: list[NDArray[Any]], context: Context) -> Draft:
        plan, grid = self._plan(context), self._grid(context)
        by = None if self.by is None else context.code(self.by)
        records = grid.records(np.atleast_2d(found[0]), context.tally, by, plan.ranks)
        drawn = [plan.draw(group, context.bits, 1 << grid.shift) for group in records]
        chosen = dict.fromkeys(one.plan.choice for one in drawn)
        values = self._values(np.concatenate([grid.value(one.cells) for one in drawn]))
        labels = self._labels(plan, None if self.by is None else names_of(context.domain(self.by)))
        return Draft(
            value=float(values[0]) if labels is None else values,
            uncertainty=QuantileUncertainty(self, plan.probabilities, tuple(drawn), grid, labels is None),
            mechanism={
                "name": f"quantiles, {' or '.join(name for name, _ in chosen)}",
                "choice": "; ".join(why for _, why in chosen),
                "epsilon_for_choice": float(plan.for_the_choice),
                "epsilon_for_intervals": float(max(one.plan.share * one.plan.epsilon for one in drawn)),
                "grid": f"{grid.cells} cells",
                "sampler": "exact",
                "random_source": context.random_source,
            },
            labels=labels,
            postprocessing=("increasing",),
            keys={} if self.by is None else {"group_keys": "public", "column": self.by},
        )

    def _values(self, quantiles: Floats) -> Floats:
        """What is told of the quantiles."""
        return quantiles

    def _ends(self, found: Callable[[float], Ends], level: float) -> Ends:
        """The intervals of what is told, from those of the quantiles at any level."""
        return found(level)

    def _labels(self, plan: QuantilePlan, groups: tuple[str, ...] | None) -> tuple[str, ...] | None:
        names = [f"{100 * float(p):.6g} %" for p in plan.probabilities]
        if isinstance(self.probabilities, Fraction):  # one, and no list of them
            return groups
        return tuple(names) if groups is None else tuple(f"{group}: {name}" for group in groups for name in names)


class Range(Quantiles):
    """How far apart two quantiles are."""

    def _values(self, quantiles: Floats) -> Floats:
        return quantiles[1::2] - quantiles[0::2]

    def _ends(self, found: Callable[[float], Ends], level: float) -> Ends:
        low, high = found((1 + level) / 2)  # both quantiles have to lie in theirs
        return np.maximum(low[1::2] - high[0::2], 0.0), high[1::2] - low[0::2]

    def _labels(self, plan: QuantilePlan, groups: tuple[str, ...] | None) -> tuple[str, ...] | None:
        del plan
        return groups


@dataclass(frozen=True, eq=False)
class QuantileUncertainty(NoiseAndSampling):
    """Intervals from counts around the quantiles; the bounds, where nothing was paid for counts."""

    question: Quantiles
    probabilities: tuple[Fraction, ...]
    drawn: tuple[Drawn, ...]
    places: QuantileGrid
    single: bool

    def _interval(self, level: float, sampling: bool) -> Interval:
        low, high = self.question._ends(lambda at: self._of_quantiles(at, sampling), level)
        return (float(low[0]), float(high[0])) if self.single else (low, high)

    def _of_quantiles(self, level: float, sampling: bool) -> Ends:
        low, high = [], []
        for one in self.drawn:
            for p, cell in zip(self.probabilities, one.cells.tolist(), strict=True):
                none = (0, self.places.cells)
                start, end = none if one.ranks is None else one.ranks.interval(p, level, sampling)
                low.append(min(start, cell))
                high.append(max(end - 1, cell))
        return self.places.lower(np.array(low)), self.places.upper(np.array(high))

    @property
    def grid(self) -> float:
        return self.places.rounding
