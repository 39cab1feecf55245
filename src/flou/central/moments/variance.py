"""Variance and standard deviation of a column, of all rows or by group.

Law        (S2 - S1^2 / n) / (n - 1) of noisy sums of t^0, t^1, t^2 (see ``bernstein.py``), clamped to what is possible
Guarantee  that of the price, in total, moments 3 and 4 included
Why        a row has L1 norm K in the Bernstein basis whatever its value, so one noise pays for all moments
Error      with Laplace noise, standard deviation about 0.45 (upper - lower)^2 / (epsilon n) in the middle of the
           bounds; the interval for the data holds at least its level for every table
Numerics   exact integers on a grid of 2^16 cells until the noise is drawn; the interval includes the grid
Limits     of fewer than two rows the variance is taken to be 0; where the noise drowns the signal the interval is
           the whole possible range; the population's interval allows for rows that were not seen, and is wide with few
Source     flou's own
Proof      docs/explanation/proofs/variance.md
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import comb
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from flou.arrays import Floats
from flou.central.moments.bernstein import POWERS, UNIT, BernsteinGrid, BernsteinNoise, NoisyBernstein
from flou.central.moments.column_question import ColumnQuestion, ColumnUncertainty
from flou.central.price import Price
from flou.central.question import PublicFacts
from flou.theory.least_favourable import holds_mean
from flou.theory.tails import accepted_end

__all__ = ["StandardDeviation", "Variance"]

NUISANCE = 50  # one fiftieth of the error probability goes to the unknown mean and number of rows
CAUTION = 0.5  # deviations of its noise by which the estimated fourth moment is raised
ROUGHLY = 1e-3  # of its distance: how far an end for the population may be rounded outwards
TOGETHER = 128  # groups whose intervals are searched at once: enough for speed, few enough for the cache


@dataclass(frozen=True)
class Variance(ColumnQuestion):
    """The variance with divisor n - 1, of all rows or of every group of ``by``."""

    statistic = "variance"
    proof = "variance"
    _root: ClassVar[bool] = False
    _postprocessing = ("variance from released moments", "clamped to the possible range")

    def noise(self, facts: PublicFacts) -> BernsteinNoise:
        grid = BernsteinGrid.of(self.column, facts.domain(self.column), facts.groups(self.by))
        return BernsteinNoise(grid, Price.read(self.price), facts)

    def _uncertainty(self, groups: tuple[Any, ...]) -> ColumnUncertainty:
        return VarianceUncertainty(groups, self.by is not None, self._root)


@dataclass(frozen=True)
class StandardDeviation(Variance):
    """The standard deviation: the root of the variance, interval and all."""

    statistic = "std"
    _root = True


@dataclass(frozen=True, eq=False)
class NoisyVariance:
    """What the released moments say about the variance, in squares of the width of the bounds; group by group."""

    moments: NoisyBernstein

    @cached_property
    def rows(self) -> Any:
        return self.moments.rows

    @cached_property
    def mean(self) -> Any:
        total, rows = self.moments.power_sum(1), self.rows
        return np.where(rows > 0, np.clip(total / np.where(rows > 0, rows, 1.0), 0.0, 1.0), 0.5)

    @cached_property
    def value(self) -> Any:
        """The released variance; the middle of what is possible where there seem to be no two rows."""
        if self._too_few:
            return np.zeros_like(self.mean)
        squares, enough = self.moments.linear(_about(self.mean, 2))[0], self.rows > 1
        found = np.clip(squares / np.where(enough, self.rows - 1, 1.0), 0.0, _most(self.rows))
        return np.where(enough, found, 0.125)

    @property
    def _too_few(self) -> bool:
        """Whether it is public that there are no two rows: the variance is 0, by convention."""
        return self.moments.known_rows is not None and self.moments.known_rows < 2

    def means(self, alpha: float) -> Floats:
        """The means m at which the released sum of t - m is no surprise, as a few points on a last axis."""

        def accepted(m: Floats) -> NDArray[np.bool_]:
            return self.moments.surprise(POWERS[1] - m[..., None] * POWERS[0], np.zeros(())) >= alpha

        low, high = (accepted_end(accepted, self.mean, end) for end in (0.0, 1.0))
        return np.concatenate([np.linspace(low, high, 5, axis=-1), self.mean[..., None]], axis=-1)

    def interval(self, level: float, *, sampling: bool) -> Floats:
        """Both ends of all y for which, at some mean m, the released sum of (t - m)^2 less (n - 1) y is no surprise."""
        if self._too_few and not sampling:
            return np.zeros((2, *self.mean.shape))
        alpha = 1 - level
        means = self.means(alpha / NUISANCE)[..., None, :]  # (groups, y, m)
        about = _about(means, 2)

        def noisy(y: Floats) -> NDArray[np.bool_]:
            surprise = self.moments.surprise(about - y[..., None, None] * POWERS[0], -y[..., None])
            held: NDArray[np.bool_] = np.any(surprise >= alpha * (1 - 2 / NUISANCE), axis=-1)
            return held

        def sampled(y: Floats) -> NDArray[np.bool_]:
            held: NDArray[np.bool_] = np.any(self._held(means, y[..., None], alpha * (0.5 - 1 / NUISANCE)), axis=-1)
            return held

        most = 0.25 if sampling else _most(self._fewest(alpha / NUISANCE))
        start = np.minimum(self.value, most)
        if sampling:
            return np.array([accepted_end(sampled, start, end, ROUGHLY) for end in (0.0, most)])
        return np.array([accepted_end(noisy, start, end) for end in (0.0, most)])

    def _held(self, m: Floats, y: Floats, tail: float) -> NDArray[np.bool_]:
        """Whether samples of variance y have sums of (t - m)^2 as far from (n - 1) y as released."""
        _, weights = self.moments.linear(_about(m, 2) - y[..., None] * POWERS[0])
        rows, fourth, value = (
            part[..., None, None] for part in (self.rows, self._fourth, np.minimum(self.value, 0.25))
        )
        n = np.maximum(rows, 1.0)
        # the population's mean is at most about two deviations from that of the rows; (t - mean)^2 lies below top
        top = np.minimum(np.maximum(m, 1 - m) + 2 * np.sqrt(value / n), 1.0) ** 2
        squares = np.clip(self.moments.linear(_about(m, 2))[0], 0.0, np.maximum(rows, 0.0) * top)
        # about the mean of the rows squares add up to less than about that of the population, by y on average
        seen = squares - np.where(y < value, np.maximum(rows, 0.0), np.maximum(rows - 1, 0.0)) * y
        return holds_mean(
            self.moments.noise.mechanism.noise,
            weights / UNIT,
            rows=np.ceil(n),
            found=(value, fourth / n),
            top=top,
            candidate=y,
            seen=seen,
            tail=tail,
        )

    def _fewest(self, alpha: float) -> Floats:
        """Rows that there are at least, with this error probability."""

        def accepted(n: Floats) -> NDArray[np.bool_]:
            return self.moments.surprise(np.broadcast_to(POWERS[0], (*n.shape, POWERS.shape[1])), n) >= alpha

        return accepted_end(accepted, np.maximum(self.rows, 2.0), 2.0)

    @cached_property
    def _fourth(self) -> Any:
        """The variance of the sum of (t - mean)^2 over samples, a little more rather than less."""
        y, m = self.value[..., None], self.mean
        function = _about(m, 4) - 2 * y * _about(m, 2) + y * y * POWERS[0]
        return np.maximum(self.moments.linear(function)[0], 0.0) + CAUTION * self.moments.deviation(function)


def _most(rows: Any) -> Any:
    """The largest variance of this number of values between 0 and 1: half of them are at each end."""
    return 0.25 * np.maximum(rows, 2.0) / (np.maximum(rows, 2.0) - 1)


def _about(m: Floats, power: int) -> Floats:
    """The Bernstein coefficients of (t - m)^power, on a last axis behind those of m."""
    terms = [comb(power, j) * (-m[..., None]) ** (power - j) * POWERS[j] for j in range(power + 1)]
    total: Floats = np.sum(terms, axis=0)
    return total


@dataclass(frozen=True, eq=False)
class VarianceUncertainty(ColumnUncertainty):
    """Intervals for variances, or for their roots."""

    groups: tuple[NoisyBernstein, ...]
    root: bool

    @cached_property
    def _parts(self) -> list[NoisyVariance]:
        starts = range(0, len(self.groups), TOGETHER)
        return [NoisyVariance(NoisyBernstein.together(self.groups[start : start + TOGETHER])) for start in starts]

    @cached_property
    def _known(self) -> dict[tuple[float, bool], tuple[Floats, Floats]]:
        return {}

    @property
    def _grid(self) -> BernsteinGrid:
        return self.groups[0].noise.grid

    @cached_property
    def values(self) -> Floats:
        found = np.concatenate([part.value for part in self._parts]) * self._grid.width**2
        return np.sqrt(found) if self.root else found

    def _ends(self, level: float, sampling: bool) -> tuple[Floats, Floats]:
        """Computed once, because certificates and tables ask again."""
        if (level, sampling) not in self._known:
            ends = np.sqrt(np.hstack([part.interval(level, sampling=sampling) for part in self._parts]))
            # moving every row by at most r moves the standard deviation by at most r sqrt(n / (n - 1))
            r = self._grid.rounding * (1 if sampling else np.sqrt(2))
            low, high = np.maximum(ends + np.array([[-r], [r]]), 0.0) * self._grid.width
            self._known[level, sampling] = (low, high) if self.root else (low**2, high**2)
        return self._known[level, sampling]

    @property
    def grid(self) -> float:
        r, largest = self._grid.rounding * self._grid.width, float(np.max(self.values))
        return r if self.root else 2 * r * float(np.sqrt(largest))
