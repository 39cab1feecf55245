"""Variance and standard deviation of a column, of all rows or by group.

Law        (S2 - S1^2 / n) / (n - 1) of noisy sums of t^0, t^1, t^2 (see ``bernstein.py``), clamped to what is possible
Guarantee  epsilon-DP in total, moments 3 and 4 included
Why        a row has L1 norm K in the Bernstein basis whatever its value, so one noise pays for all moments
Error      standard deviation about 0.45 (upper - lower)^2 / (epsilon n) in the middle of the bounds; the interval for
           the data holds at least its level for every table
Numerics   exact integers on a grid of 2^16 cells until the noise is drawn; the interval includes the grid
Limits     of fewer than two rows the variance is taken to be 0; where the noise drowns the signal the interval is
           the whole possible range; the population's interval leans on the central limit theorem
Source     flou's own
Proof      docs/explanation/proofs/variance.md
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flou.central.bernstein import POWERS, BernsteinGrid, NoisyBernstein
from flou.central.question import Context, Draft, Question
from flou.guarantee import Guarantee
from flou.laws.law import Floats
from flou.mechanisms import Laplace
from flou.parameters import Number
from flou.release.uncertainty import Interval, NoiseAndSampling
from flou.summaries.request import Code, Request
from flou.theory.tails import accepted_end, two_sided

__all__ = ["StandardDeviation", "Variance"]

NUISANCE = 50  # one part in so many of the error probability goes to the unknown mean and number of rows


@dataclass(frozen=True)
class Variance(Question):
    """The variance with divisor n - 1, of all rows or of every group of ``by``."""

    column: str
    epsilon: Number
    by: str | None = None
    statistic = "variance"

    def cost(self, context: Context) -> Guarantee:
        self._grid(context).mechanism(self.epsilon, context)
        return context.pure(self.epsilon)

    def _grid(self, context: Context) -> BernsteinGrid:
        groups = 1 if self.by is None else context.domain(self.by).size
        return BernsteinGrid.of(self.column, context.domain(self.column), groups)

    def requests(self, context: Context) -> tuple[Request, ...]:
        by = None if self.by is None else Code(self.by, context.domain(self.by))
        return (self._grid(context).request(by),)

    def answer(self, found: list[NDArray[Any]], context: Context) -> Draft:
        grid, labels = self._grid(context), None
        mechanism = grid.mechanism(self.epsilon, context)
        rows = context.known_rows if self.by is None else None
        groups = [grid.release(counts, mechanism, rows, context.bits) for counts in np.atleast_2d(found[0])]
        if self.by is not None:
            domain = context.domain(self.by)
            labels = tuple(str(label) for label in domain.decode(np.arange(domain.size)).tolist())
        uncertainty = VarianceUncertainty(grid, tuple(map(NoisyVariance, groups)), labels is not None, self._root)
        values = uncertainty.values
        return Draft(
            value=values if labels is not None else float(values[0]),
            uncertainty=uncertainty,
            mechanism=described_bernstein(mechanism, grid, context),
            labels=labels,
            note=_small(uncertainty.groups, labels),
            postprocessing=("variance from released moments", "clamped to the possible range"),
            keys={} if self.by is None else {"group_keys": "public", "column": self.by},
        )

    @property
    def _root(self) -> bool:
        return False


@dataclass(frozen=True)
class StandardDeviation(Variance):
    """The standard deviation: the root of the variance, interval and all."""

    statistic = "std"

    @property
    def _root(self) -> bool:
        return True


@dataclass(frozen=True, eq=False)
class NoisyVariance:
    """What the released moments say about the variance, in squares of the width of the bounds."""

    moments: NoisyBernstein

    @cached_property
    def rows(self) -> float:
        return self.moments.power_sum(0)

    @cached_property
    def mean(self) -> float:
        return min(max(self.moments.power_sum(1) / self.rows, 0.0), 1.0) if self.rows > 0 else 0.5

    @cached_property
    def value(self) -> float:
        """The released variance; the middle of what is possible where there seem to be no two rows."""
        if self._too_few:
            return 0.0
        if self.rows <= 1:
            return 0.125
        squares = float(self.moments.linear(_about(np.array(self.mean), 2))[0])
        return min(max(squares / (self.rows - 1), 0.0), self._most(self.rows))

    @property
    def _too_few(self) -> bool:
        """Whether it is public that there are no two rows: the variance is 0, by convention."""
        return self.moments.known_rows is not None and self.moments.known_rows < 2

    @staticmethod
    def _most(rows: float) -> float:
        """The largest variance of so many numbers between 0 and 1: half of them at each end."""
        return 0.25 * max(rows, 2.0) / (max(rows, 2.0) - 1)

    def means(self, alpha: float) -> Floats:
        """The means m at which the released sum of t - m is no surprise, as a few points."""

        def accepted(m: Floats) -> NDArray[np.bool_]:
            seen, scales = self.moments.linear(POWERS[1] - m[:, None] * POWERS[0])
            return two_sided(scales, np.zeros(()), seen) >= alpha

        low, high = (accepted_end(accepted, self.mean, end) for end in (0.0, 1.0))
        return np.append(np.linspace(low, high, 5), self.mean)

    @cached_property
    def _known(self) -> dict[tuple[float, bool], tuple[float, float]]:
        return {}

    def interval(self, level: float, *, sampling: bool) -> tuple[float, float]:
        """Both ends; computed once, because certificates and tables ask again."""
        if (level, sampling) not in self._known:
            self._known[level, sampling] = self._interval(level, sampling)
        return self._known[level, sampling]

    def _interval(self, level: float, sampling: bool) -> tuple[float, float]:
        """All y for which, at some mean m, the released sum of (t - m)^2 less (n - 1) y is no surprise."""
        if self._too_few and not sampling:
            return 0.0, 0.0
        alpha = 1 - level
        m = self.means(alpha / NUISANCE)
        about = _about(m, 2)  # (m, k)
        tau = self._sampling() if sampling else 0.0

        def accepted(y: Floats) -> NDArray[np.bool_]:
            seen, scales = self.moments.linear(about - y[:, None, None] * POWERS[0])
            surprise = two_sided(scales, np.asarray(tau), seen + y[:, None])
            held: NDArray[np.bool_] = np.any(surprise >= alpha * (1 - 2 / NUISANCE), axis=1)
            return held

        most = 0.25 if sampling else self._most(self._fewest(alpha / NUISANCE))
        start = min(self.value, most)
        return accepted_end(accepted, start, 0.0), accepted_end(accepted, start, most)

    def _fewest(self, alpha: float) -> float:
        """Rows that there are at least, with this error probability."""

        def accepted(n: Floats) -> NDArray[np.bool_]:
            seen, scales = self.moments.linear(np.broadcast_to(POWERS[0], (n.size, POWERS.shape[1])))
            return two_sided(scales, np.zeros(()), seen - n) >= alpha

        return accepted_end(accepted, max(self.rows, 2.0), 2.0)

    def _sampling(self) -> float:
        """The standard deviation of the sum of (t - mean)^2 over samples, a little more rather than less."""
        y, m, rows = self.value, np.array(self.mean), max(self.rows, 1.0)
        squares, scales = self.moments.linear(_about(m, 4) - 2 * y * _about(m, 2) + y * y * POWERS[0])
        extra = float(np.sqrt(2 * np.sum(scales**2)))
        far = max(self.mean, 1 - self.mean) ** 2  # (t - mean)^2 lies between 0 and this, and its mean is about y
        most = rows * max(y * (far - y), 0.0) + extra
        return float(np.sqrt(min(max(float(squares), 0.0) + extra, most)))


def _about(m: Floats, power: int) -> Floats:
    """The Bernstein coefficients of (t - m)^power, on a last axis behind those of m."""
    terms = [comb(power, j) * (-m[..., None]) ** (power - j) * POWERS[j] for j in range(power + 1)]
    total: Floats = np.sum(terms, axis=0)
    return total


@dataclass(frozen=True, eq=False)
class VarianceUncertainty(NoiseAndSampling):
    """Intervals for variances, or for their roots."""

    table: BernsteinGrid
    groups: tuple[NoisyVariance, ...]
    grouped: bool
    root: bool

    @property
    def values(self) -> Floats:
        found = np.array([group.value for group in self.groups]) * self.table.width**2
        return np.sqrt(found) if self.root else found

    def _interval(self, level: float, sampling: bool) -> Interval:
        ends = np.sqrt(np.array([group.interval(level, sampling=sampling) for group in self.groups]))
        # moving every row by at most r moves the standard deviation by at most r sqrt(n / (n - 1))
        r = self.table.rounding * (1 if sampling else np.sqrt(2))
        ends = np.maximum(ends + np.array([-r, r]), 0.0) * self.table.width
        low, high = (ends if self.root else ends**2).T
        return (low, high) if self.grouped else (float(low[0]), float(high[0]))

    @property
    def grid(self) -> float:
        r = self.table.rounding * self.table.width
        return (
            r
            if self.root
            else 2 * r * float(np.max(np.sqrt([group.value for group in self.groups]))) * self.table.width
        )


def described_bernstein(mechanism: Laplace, grid: BernsteinGrid, context: Context) -> dict[str, Any]:
    """The mechanism block of a certificate."""
    return {
        "name": "discrete Laplace on Bernstein moments of degree 4",
        "scale": float(mechanism.noise.scale),
        "grid": f"{grid.code.domain.size} cells, 2^-28 of a row",
        "sensitivity": float(mechanism.sensitivity),
        "norm": "L1",
        "sampler": "exact, by inversion with refinement",
        "random_source": context.random_source,
    }


def _small(groups: tuple[NoisyVariance, ...], labels: tuple[str, ...] | None) -> str:
    """Groups whose released size is within the noise are flagged, without a look at the exact one."""
    if labels is None:
        return ""
    small = [label for label, group in zip(labels, groups, strict=True) if group.rows < 20 * group.moments.scale]
    return f"Few rows next to the noise: {', '.join(small)}." if small else ""
