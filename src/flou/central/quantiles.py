"""Quantiles of a column, one or many, of all rows or by group.

Law        the method's own, on a grid of 2^31 cells or of the public granularity (``quantile_plan.py`` chooses)
Guarantee  epsilon-DP in total, the intervals included
Why        a method reads the records once; the intervals are quantiles too, and have a share of epsilon
Error      ranks off by a few times 1/epsilon; an interval holds the data's, or the population's, quantile
Numerics   exact integers until the answers are drawn; coarse counts first, then one finer look around the targets
Limits     where a unit has several rows the grid has 2^20 cells, because its rows are chosen anew for every look
Source     see ``mechanisms/quantiles``
Proof      docs/explanation/proofs/quantiles.md
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from flou.central.count import names_of
from flou.central.quantile_grid import QuantileGrid
from flou.central.quantile_plan import METHODS, Drawn, QuantilePlan
from flou.central.question import Context, Draft, Question
from flou.guarantee import Guarantee
from flou.mechanisms.quantiles.targets import fractions_of
from flou.parameters import Number, choice, number, open_probability, probability
from flou.release import Uncertainty
from flou.release.uncertainty import Interval
from flou.summaries.request import Counts, Request

__all__ = ["INTERVALS", "Quantiles", "Range"]

Floats: TypeAlias = NDArray[np.float64]
Ends: TypeAlias = tuple[Floats, Floats]

INTERVALS = Fraction(1, 5)


@dataclass(frozen=True)
class Quantiles(Question):
    """Quantiles of a column; ``intervals`` is the share of epsilon that pays for intervals at ``level``."""

    column: str
    probabilities: Any
    epsilon: Number
    method: str = "auto"
    intervals: Number = INTERVALS
    level: float = 0.95
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
        share = probability("intervals", self.intervals)
        return QuantilePlan(
            probabilities=fractions_of(self.probabilities),
            epsilon=number("epsilon", self.epsilon) / (1 if public else context.changes),
            relation="substitute" if public else "add-remove",
            method=choice("method", self.method, METHODS),
            share=share,
            level=float(open_probability("level", self.level)),
        )

    def requests(self, context: Context) -> tuple[Request, ...]:
        by = () if self.by is None else (context.code(self.by),)
        return (Counts((*by, self._grid(context).coarse)),)

    def answer(self, found: list[NDArray[Any]], context: Context) -> Draft:
        plan, grid = self._plan(context), self._grid(context)
        counts = np.atleast_2d(found[0])
        drawn = []
        for group, row in enumerate(counts):
            within = None if self.by is None else (context.code(self.by), group)
            drawn.append(plan.draw(grid.records(row, context.tally, within), context.bits))
        name, why = plan.choice
        values, data, population = self._found(drawn, grid)
        labels = self._labels(plan, None if self.by is None else names_of(context.domain(self.by)))
        return Draft(
            value=float(values[0]) if labels is None else values,
            uncertainty=QuantileUncertainty(
                data, population, plan.level, self._limits(grid), grid.rounding, labels is None
            ),
            mechanism={
                "name": f"quantiles, {name}",
                "choice": why,
                "epsilon_for_intervals": float(plan.share * plan.epsilon),
                "grid": f"{grid.cells} cells",
                "sampler": "exact",
                "random_source": context.random_source,
            },
            labels=labels,
            postprocessing=("increasing",),
            keys={} if self.by is None else {"group_keys": "public", "column": self.by},
        )

    def _found(self, drawn: list[Drawn], grid: QuantileGrid) -> tuple[Floats, Ends, Ends]:
        """The values, and the ends of the intervals for the data and for the population."""
        data, population = (
            tuple(np.concatenate([place(getattr(one, of)[i]) for one in drawn]) for i, place in enumerate(places))
            for of, places in ((of, (grid.lower, grid.upper)) for of in ("data", "population"))
        )
        return np.concatenate([grid.value(one.cells) for one in drawn]), data, population  # type: ignore[return-value]

    def _limits(self, grid: QuantileGrid) -> tuple[float, float]:
        """Between which an answer can lie at all."""
        return grid.bounds

    def _labels(self, plan: QuantilePlan, groups: tuple[str, ...] | None) -> tuple[str, ...] | None:
        names = [f"{100 * float(p):.6g} %" for p in plan.probabilities]
        if isinstance(self.probabilities, Fraction):  # one, and no list of them
            return groups
        return tuple(names) if groups is None else tuple(f"{group}: {name}" for group in groups for name in names)


class Range(Quantiles):
    """How far apart two quantiles are."""

    def _found(self, drawn: list[Drawn], grid: QuantileGrid) -> tuple[Floats, Ends, Ends]:
        values, *intervals = super()._found(drawn, grid)
        low, high = values[0::2], values[1::2]
        ends = [(np.maximum(a[1::2] - b[0::2], 0.0), b[1::2] - a[0::2]) for a, b in intervals]
        return high - low, ends[0], ends[1]

    def _limits(self, grid: QuantileGrid) -> tuple[float, float]:
        return 0.0, grid.bounds[1] - grid.bounds[0]

    def _labels(self, plan: QuantilePlan, groups: tuple[str, ...] | None) -> tuple[str, ...] | None:
        del plan
        return groups


@dataclass(frozen=True, eq=False)
class QuantileUncertainty(Uncertainty):
    """Intervals that were paid for at one level; they hold at lower ones too, and beyond it there are the bounds."""

    ends_of_data: Ends
    ends_of_population: Ends
    level: float
    bounds: tuple[float, float]
    rounding: float
    single: bool

    def data(self, level: float) -> Interval:
        return self._shown(self.ends_of_data, level)

    def population(self, level: float) -> Interval:
        return self._shown(self.ends_of_population, level)

    def _shown(self, ends: Ends, level: float) -> Interval:
        low, high = ends
        if level > self.level:
            low, high = (np.full(low.size, bound) for bound in self.bounds)
        return (float(low[0]), float(high[0])) if self.single else (low, high)

    @property
    def grid(self) -> float:
        return self.rounding
