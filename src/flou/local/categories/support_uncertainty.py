"""Intervals for shares of single categories and of several together, from how many reports support each category.

Law        a category of share f has support in a report with probability q + f d, d = p - q
Error      the variance of the share in support is v(f) / n with v(f) = q (1 - q) + f (p (1 - p) - q (1 - q)) around the
           respondents' own share, as each of them is a coin p or q; drawing respondents from a population adds
           d^2 f (1 - f), and the sum is m (1 - m), m = q + f d
Interval   all f in [0, 1] with (r - q - f d)^2 <= z^2 v(f) / n, r the share in support: the score interval, which is
           Wilson's for m in a population. It holds for rare categories and small samples, where an estimate plus or
           minus its own standard error does not
Margins    for m categories together let T be how many of them a report supports. Its mean is m q, or m q + d for those
           who are in one of the m; its variance is V0, or V1 for those. (mean T - m q) / d is unbiased, and the
           interval is the same with V0 and V1 instead of q (1 - q) and p (1 - p)
Why        for a respondent in category x let s be the covariance of the support of x and of another category, and c
           that of two others: V0 = m q (1 - q) + m (m - 1) c, V1 = p (1 - p) + (m - 1) (q (1 - q) + 2 s + (m - 2) c).
           Each oracle states its s and c, see ``FrequencyOracle._covariances``
Limits     each interval holds by itself, not all of them at once. Support rarer than chance gives an interval that ends
           at 0, or is only 0. For Hadamard and OLH V0 and V1 are upper bounds, as if every category had as many
           partners as possible
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flou.laws.normal import ndtri
from flou.release.uncertainty import Interval as Ends
from flou.release.uncertainty import NoiseAndSampling

if TYPE_CHECKING:
    from flou.local.categories.frequency_oracle import FrequencyOracle

__all__ = ["MarginUncertainty", "SupportUncertainty", "support_variances"]


@dataclass(frozen=True, eq=False)
class SupportUncertainty(NoiseAndSampling):
    """``support`` out of ``people`` reports; numbers, or one for each category.

    ``subsampling`` is the part of the sampling variance that belongs to the respondents' interval too: 0 where every
    report speaks about every category, 1 - m/n where only m random ones of n respondents were asked about it.
    """

    support: NDArray[np.int64]
    people: Any
    p: Any
    q: Any
    gap: Any  # p - q, without cancellation
    subsampling: Any = 0.0

    def _interval(self, level: float, sampling: bool) -> Ends:
        share = (self.support / np.maximum(self.people, 1) - self.q) / self.gap
        rest, d2 = self.q * (1 - self.q), self.gap**2
        slope = self.gap * (1 - self.p - self.q)  # p (1 - p) - q (1 - q)
        return score_interval(share, self.people, level, rest / d2, slope / d2, 1.0 if sampling else self.subsampling)

    @property
    def grid(self) -> float:
        return 0.0


@dataclass(frozen=True, eq=False)
class MarginUncertainty(NoiseAndSampling):
    """Shares of several categories together, without bias; ``outside`` and ``inside`` are V0 / d^2 and V1 / d^2."""

    shares: NDArray[np.float64]
    people: int
    outside: float
    inside: float

    @classmethod
    def of(cls, oracle: FrequencyOracle, shares: NDArray[np.float64], people: int, m: int) -> MarginUncertainty:
        """For sums of m estimates of the oracle each."""
        outside, inside = support_variances(oracle, m)
        return cls(shares, people, outside / oracle.gap**2, inside / oracle.gap**2)

    def _interval(self, level: float, sampling: bool) -> Ends:
        slope = self.inside - self.outside
        return score_interval(self.shares, self.people, level, self.outside, slope, 1.0 if sampling else 0.0)

    @property
    def grid(self) -> float:
        return 0.0


def score_interval(share: Any, people: Any, level: float, rest: Any, slope: Any, part: Any) -> Ends:
    """All f in [0, 1] with (share - f)^2 <= z^2 (rest + f slope + part f (1 - f)) / people."""
    z2 = float(ndtri((1 + level) / 2)) ** 2 / np.maximum(people, 1)
    # f^2 (1 + part z2) - 2 f middle + share^2 - z2 rest <= 0
    middle = share + z2 * (slope + part) / 2
    first = 1 + part * z2
    width = np.sqrt(np.maximum(middle**2 - first * (share**2 - z2 * rest), 0.0))
    low, high = np.clip((middle - width) / first, 0.0, 1.0), np.clip((middle + width) / first, 0.0, 1.0)
    nothing = np.broadcast_to(np.asarray(people) == 0, low.shape)
    return np.where(nothing, 0.0, low), np.where(nothing, 1.0, high)


def support_variances(oracle: FrequencyOracle, m: int) -> tuple[float, float]:
    """V0 and V1: of how many of m categories a report supports, for those in none and for those in one of them."""
    p, q = oracle.p, oracle.q
    own, others, partners = oracle._covariances
    outside = m * (q * (1 - q) + min(m - 1, partners) * others)
    inside = p * (1 - p) + (m - 1) * (q * (1 - q) + 2 * own + max(min(m - 2, partners), 0) * others)
    return max(outside, 0.0), max(inside, 0.0)
