"""Sum of a column: one linear function of noisy moments.

Law        see ``moment_noise.py``; with a bound at zero the total has one Laplace noise of scale max(|bounds|)/epsilon
Guarantee  epsilon-DP in total
Why        the spread rides along free: t + t (1 - t) <= 1
Error      known exactly: a sum of at most three independent Laplace noises
Numerics   exact integers on a grid of 2^31 cells until the noise is drawn
Limits     the population's sum is that of a sample of random size (Poisson), or of the known size under substitution
Source     documents 000 (3.1) and 003
Proof      docs/explanation/proofs/moments.md
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flou.central.mean import described_noise, noisy_groups
from flou.central.moment_noise import MomentNoise, NoisyMoments, moment_noise
from flou.central.question import Context, Draft, Question
from flou.guarantee import Guarantee
from flou.parameters import Number
from flou.release.uncertainty import Interval, NoiseAndSampling
from flou.summaries.moments import MomentGrid
from flou.summaries.request import Code, Request
from flou.theory.noise_and_sampling import Spread

__all__ = ["Total"]


@dataclass(frozen=True)
class Total(Question):
    """The sum, of all rows or of every group of ``by``."""

    column: str
    epsilon: Number
    by: str | None = None
    statistic = "sum"

    def cost(self, context: Context) -> Guarantee:
        self._noise(context)
        return context.pure(self.epsilon)

    def _noise(self, context: Context) -> MomentNoise:
        grid = MomentGrid.of(self.column, context.domain(self.column))
        known = context if self.by is None else context.without_rows()
        return moment_noise(grid, self.epsilon, known, from_zero=grid.lower == 0)

    def requests(self, context: Context) -> tuple[Request, ...]:
        by = None if self.by is None else Code(self.by, context.domain(self.by))
        return (self._noise(context).grid.request(by),)

    def answer(self, found: list[NDArray[Any]], context: Context) -> Draft:
        noise = self._noise(context)
        groups, labels = noisy_groups(noise, found[0], self.by, context)
        uncertainty = TotalUncertainty(tuple(groups), labels is not None)
        values = uncertainty.values
        return Draft(
            value=float(values[0]) if labels is None else values,
            uncertainty=uncertainty,
            mechanism=described_noise(noise, context),
            labels=labels,
            keys={} if self.by is None else {"group_keys": "public", "column": self.by},
        )


@dataclass(frozen=True)
class TotalUncertainty(NoiseAndSampling):
    """Intervals for sums: the noise is linear, so they are symmetric."""

    groups: tuple[NoisyMoments, ...]
    grouped: bool

    @property
    def values(self) -> NDArray[np.float64]:
        grid = self.groups[0].noise.grid
        return np.array([grid.lower * group.rows + grid.width * group.total for group in self.groups])

    def _interval(self, level: float, sampling: bool) -> Interval:
        grid = self.groups[0].noise.grid
        halves = []
        for group in self.groups:
            weights = {"total": grid.width} if grid.lower == 0 else {"total": grid.width, "rows": grid.lower}
            tau = _sampling(group) if sampling else 0.0
            halves.append(Spread(group.scales(**weights).tolist(), tau).half_width(level))
        half = np.array(halves)
        low, high = self.values - half, self.values + half
        return (low, high) if self.grouped else (float(low[0]), float(high[0]))

    @property
    def grid(self) -> float:
        group = self.groups[0]
        return group.noise.grid.rounding * max(group.rows, 1.0)


def _sampling(group: NoisyMoments) -> float:
    """The standard deviation of the sum over samples: of known size, or of a Poisson number of rows."""
    grid = group.noise.grid
    if group.noise.known_rows is not None:
        return grid.width * math.sqrt(group.noise.known_rows * group.variance)
    squares = grid.width**2 * group.squares
    if grid.lower != 0:
        squares += grid.lower**2 * max(group.rows, 0.0) + 2 * grid.lower * grid.width * group.total
    return math.sqrt(max(squares, 0.0))
