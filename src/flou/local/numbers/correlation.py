"""Correlation of two numbers: each person reports one of five moments, and nobody's pair is seen.

Law        on the scale where both grids go from -1 to 1 a person has x, y, x^2, y^2 and xy; one of the five is picked
           at random and reported by a randomiser of means with all of epsilon
Guarantee  epsilon-DP for both numbers of one person together, in one report
Why        it is ``SampledMeans`` of five numbers with m = 1: which one is reported does not depend on the person, and
           the report says nothing about the others. The five are functions of the pair, on public grids
Error      A = mean x^2 - (mean x)^2, B and C = mean xy - mean x mean y come from means of different people, which are
           independent; the known variance of (mean x)^2 is taken out. The estimate is C / S, S = sqrt(A B)
Interval   Fieller's: all r with (C - r S)^2 <= z^2 Var(C - r S), variances by the delta method. Where A or B cannot be
           distinguished from 0 at the same level, the interval is the whole of [-1, 1]
Numerics   exact: squares and products of codes are whole numbers on grids of their own; sums are whole numbers
Limits     only a fifth of all people speak about each moment: ask thousands, with bounds that the numbers fill. The
           interval for the respondents is that of the population, which is slightly too wide for them
Source     Fieller (1954)
Proof      docs/explanation/proofs/local_numbers.md
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flou.arrays import Ints
from flou.bits import SYSTEM, Bits
from flou.domain import Integers, Numbers
from flou.laws.normal import ndtri
from flou.laws.tabulated import Tabulated
from flou.local.aggregate import Aggregate
from flou.local.certify import certified
from flou.local.numbers.mean_randomiser import ReportMoments
from flou.local.numbers.number_randomiser import numbers_of
from flou.local.numbers.sampled_means import SampledMeans
from flou.local.numbers.vector import Vector
from flou.parameters import Number
from flou.release import Release
from flou.release.uncertainty import Interval as Ends
from flou.release.uncertainty import NoiseAndSampling

__all__ = ["Correlation", "CorrelationUncertainty"]

MOST = 362  # codes of a number: products of two then have at most 2^18 codes
USUAL = 256
NAMES = ("x", "y", "x^2", "y^2", "xy")


class Correlation(SampledMeans):
    """``first`` and ``second``: intervals, integers or pairs of bounds, of up to 362 codes; pairs have 256 cells."""

    name = "correlation"

    def __init__(self, first: Any, second: Any, *, epsilon: Number, method: str = "auto", unit: str = "person") -> None:
        both = [numbers_of(one, most=MOST, usual=USUAL) for one in (first, second)]
        s, t = (one.size - 1 for one in both)
        grids = [Integers(0, steps) for steps in (s, t, s * s, t * t, 2 * s * t)]
        super().__init__(grids, epsilon=epsilon, m=1, method=method, names=NAMES, unit=unit)
        self.domain = Vector(both)

    def moment_codes(self, answer: Ints) -> Ints:
        """The codes of x, y, x^2, y^2 and xy, a row for each person."""
        s, t = (one.size - 1 for one in self.domain.domains)
        x, y = 2 * np.clip(answer[:, 0], 0, s) - s, 2 * np.clip(answer[:, 1], 0, t) - t
        return np.stack([(x + s) // 2, (y + t) // 2, x * x, y * y, x * y + s * t], axis=1)

    def law(self, answer: Sequence[int]) -> Tabulated:
        """Of the reports in the order of the moments; for small grids."""
        return super().law(self.moment_codes(np.array([list(answer)]))[0].tolist())

    def sample(self, answer: Ints, *, bits: Bits = SYSTEM) -> NDArray[Any]:
        return super().sample(self.moment_codes(answer), bits=bits)

    def estimated(self, aggregate: Aggregate) -> Release:
        uncertainty = CorrelationUncertainty.of(self._moments(aggregate), self.domain.domains)
        return certified(self, aggregate, "correlation", uncertainty.centre, uncertainty)


@dataclass(frozen=True, eq=False)
class CorrelationUncertainty(NoiseAndSampling):
    """Estimates of the two variances and of the covariance, on the scale from -1 to 1, and their own covariances."""

    estimates: NDArray[np.float64]  # A, B, C
    covariances: NDArray[np.float64]  # infinite without reports
    cells: tuple[float, float]  # how far rounding to the grid moves a number, on the same scale

    @classmethod
    def of(cls, moments: list[ReportMoments], domains: Sequence[Numbers]) -> CorrelationUncertainty:
        """From the means of x, y, x^2, y^2 and xy; those of the squares were on a scale of their own."""
        x, y, xx, yy, xy = (one.mean for one in moments)
        errors = np.array([one.total / one.people if one.people else math.inf for one in moments])
        errors[2:4] /= 4  # from [-1, 1] to [0, 1]
        cells = tuple(0.0 if one.discrete else 1 / (one.size - 1) for one in domains)
        if not np.isfinite(errors).all():
            return cls(np.zeros(3), np.full((3, 3), math.inf), (cells[0], cells[1]))
        estimates = np.array([(1 + xx) / 2 - x * x + errors[0], (1 + yy) / 2 - y * y + errors[1], xy - x * y])
        slopes = np.array([[-2 * x, 0, 1, 0, 0], [0, -2 * y, 0, 1, 0], [-y, -x, 0, 0, 1]])
        return cls(estimates, (slopes * errors) @ slopes.T, (cells[0], cells[1]))

    def known(self, z: float = 0.0) -> bool:
        """Whether both variances are more than z standard errors above 0."""
        doubt = np.diag(self.covariances)[:2]
        return bool(np.isfinite(doubt).all() and np.all(self.estimates[:2] > z * np.sqrt(doubt)))

    @property
    def centre(self) -> float:
        """The estimate, between -1 and 1; 0 where there is none."""
        a, b, c = self.estimates.tolist()
        return min(max(c / math.sqrt(a * b), -1.0), 1.0) if self.known() else 0.0

    def _interval(self, level: float, sampling: bool) -> Ends:
        del sampling  # next to five means, each from a fifth of the people, it makes no difference
        z = float(ndtri((1 + level) / 2))
        if not self.known(z):
            return -1.0, 1.0
        a, b, c = self.estimates.tolist()
        s = math.sqrt(a * b)
        slope = np.array([s / (2 * a), s / (2 * b), 0.0])
        of_s, both, of_c = slope @ self.covariances @ slope, slope @ self.covariances[2], self.covariances[2, 2]
        # r^2 (s^2 - z^2 Var S) - 2 r (c s - z^2 Cov) + c^2 - z^2 Var C <= 0. The first bracket is positive, because
        # Var S / s^2 is a quarter of Var A / a^2 + Var B / b^2, and these are below 1 / z^2 each: A and B are known.
        first, middle = s**2 - z**2 * float(of_s), c * s - z**2 * float(both)
        width = math.sqrt(max(middle**2 - first * (c**2 - z**2 * float(of_c)), 0.0))
        low, high = (min(max(end / first, -1.0), 1.0) for end in (middle - width, middle + width))
        return low, high

    @property
    def grid(self) -> float:
        """At most 2 (h / sd + k / sd) for numbers moved by h and k: the most that two unit vectors can turn."""
        if not self.known():
            return 2.0
        return min(2.0, 2 * sum(cell / math.sqrt(v) for cell, v in zip(self.cells, self.estimates[:2], strict=True)))
