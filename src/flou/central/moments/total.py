"""Sum of a column: one linear function of noisy moments.

Law        see ``moment_noise.py``; with a bound at zero and an epsilon the total has one Laplace noise of scale
           max(|bounds|)/epsilon
Guarantee  that of the price, in total: epsilon-DP, (epsilon, delta)-DP or rho-zCDP
Why        the spread rides along free: t + t (1 - t) <= 1
Error      known exactly: a sum of at most three independent noises
Numerics   exact integers on a grid of 2^31 cells until the noise is drawn; the intervals include the grid, half a cell
           for each row, unless the sum counts from zero, where the number of rows is not released
Limits     the population's sum is that of a sample of random size (Poisson), or of the known size under substitution
Source     documents 000 (3.1) and 003
Proof      docs/explanation/proofs/moments.md
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flou.arrays import Floats
from flou.central.moments.column_question import ColumnQuestion, ColumnUncertainty
from flou.central.moments.moment_noise import ROUGHLY, MomentNoise, NoisyMoments, mean_intervals
from flou.central.price import Price
from flou.central.question import PublicFacts
from flou.summaries.moments import OF_TOTALS, MomentGrid
from flou.theory.least_favourable import holds_total
from flou.theory.tails import accepted_end, half_widths

__all__ = ["Total"]


@dataclass(frozen=True)
class Total(ColumnQuestion):
    """The sum, of all rows or of every group of ``by``."""

    statistic = "sum"
    proof = "moments"
    _divides = False
    _postprocessing = ("moved to what is possible between the bounds",)

    def noise(self, facts: PublicFacts) -> MomentNoise:
        grid = MomentGrid.of(self.column, facts.domain(self.column), OF_TOTALS)
        return MomentNoise(grid, Price.read(self.price), facts, from_zero=grid.lower == 0)

    def _uncertainty(self, groups: tuple[Any, ...]) -> ColumnUncertainty:
        return TotalUncertainty(groups, self.by is not None)


@dataclass(frozen=True, eq=False)
class TotalUncertainty(ColumnUncertainty):
    """Intervals for sums: the noise is linear, so they are symmetric, except where a sum cannot be."""

    groups: tuple[NoisyMoments, ...]

    @property
    def values(self) -> Floats:
        return self._possible(self._noisy)

    @cached_property
    def _noisy(self) -> Floats:
        grid = self.groups[0].noise.grid
        return np.array([grid.lower * group.rows + grid.width * group.total for group in self.groups])

    def _possible(self, sums: Floats) -> Floats:
        """Sums moved to where a sum between the bounds can be: all truth that an interval holds stays in it."""
        noise = self.groups[0].noise
        low, high = noise.grid.lower, noise.grid.upper
        rows = noise.known_rows
        if rows is not None:
            return np.clip(sums, rows * low, rows * high)
        return np.clip(sums, 0.0 if low >= 0 else -np.inf, 0.0 if high <= 0 else np.inf)

    def _ends(self, level: float, sampling: bool) -> tuple[Floats, Floats]:
        group, grid = self.groups[0], self.groups[0].noise.grid
        weights = group.weights(total=grid.width, rows=grid.lower)
        half = half_widths(group.noise.mechanism.noise, weights, np.zeros(1), level)
        low, high = self._noisy - half, self._noisy + half
        if sampling:
            low, high = self._sampled(weights, level, self._possible(low), self._possible(high))
        moved = grid.rounding * np.array([max(group.rows, 0.0) for group in self.groups])
        return self._possible(low - moved), self._possible(high + moved)

    def _sampled(self, weights: Floats, level: float, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """The ends for the population: of a sample of known size, or of a Poisson number of rows."""
        noise, grid = self.groups[0].noise, self.groups[0].noise.grid
        if noise.known_rows is not None:
            means = grid.lower + grid.width * mean_intervals(self.groups, level, sampling=True)
            return noise.known_rows * means[0], noise.known_rows * means[1]
        law, squares = noise.mechanism.noise, np.array([_squares(group) for group in self.groups])
        reach, tail = max(abs(grid.lower), abs(grid.upper)), (1 - level) / 2
        # Chebyshev: d is a surprise from where tail d^2 = squares + d reach + the variance of the noise
        known = squares + law.variance * np.sum(weights**2)
        far = (reach + np.sqrt(reach**2 + 4 * tail * known)) / (2 * tail)

        def accepted(candidate: Floats) -> NDArray[np.bool_]:
            return holds_total(
                law,
                weights,
                found=(self.values[:, None], squares[:, None]),
                bounds=(grid.lower, grid.upper),
                candidate=candidate,
                tail=tail,
                whole=not grid.spreads,
            )

        ends = self._possible(self.values - far), self._possible(self.values + far)
        return accepted_end(accepted, low, ends[0], ROUGHLY), accepted_end(accepted, high, ends[1], ROUGHLY)

    @property
    def grid(self) -> float:
        return self.groups[0].noise.grid.rounding * max(1.0, *(group.rows for group in self.groups))


def _squares(group: NoisyMoments) -> float:
    """The sum of squares, a little more rather than less."""
    low, width = group.noise.grid.lower, group.noise.grid.width
    return group.cautious(total=width**2 + 2 * low * width, spread=-(width**2), rows=low**2)  # of (low + width t)^2
