"""The noise that is really in an opened word: the sum of the shares of all parties, honest or not.

Law        Skellam shares add up to a Skellam law; discrete Gaussian ones to a discrete Gaussian law, to within the
           variation that ``noise_privacy.py`` bounds, which is nothing for shares of a variance above 1. m Pólya shares
           of h make X - Y with X and Y negative binomial of size m/h; for m = h the discrete Laplace law
Use        what is known about a count: the opened number less a central interval of this law
Numerics   probabilities of the Pólya sum are added up; where there are more than 2^20 of them they are those of a
           smaller scale, stretched
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from flou.joint.masking.noise import NoiseShare
from flou.laws import DiscreteGaussian, Skellam
from flou.parameters import Number, open_probability

__all__ = ["TotalNoise"]

MOST_TERMS = 2**20
TAIL = 1e-18  # of the law, left out of sums


@dataclass(frozen=True)
class TotalNoise:
    """The sum of so many shares."""

    share: NoiseShare
    parties: int

    @property
    def variance(self) -> float:
        return self.share.total(self.parties)

    def reach(self, level: Number = 0.95) -> int:
        """The least t with P(|noise| <= t) >= level, the law being symmetric."""
        outside = (1 - float(open_probability("level", level))) / 2
        whole = self.share.parameter * self.parties / self.share.honest
        if self.share.kind == "discrete-gaussian":
            return -DiscreteGaussian(sigma_squared=whole).interval(float(level))[0]
        if self.share.kind == "skellam":
            return -Skellam(whole).interval(float(level))[0]
        scale, size = float(self.share.parameter), self.parties / self.share.honest
        stretch = max(_terms(scale, size) / MOST_TERMS, 1.0)
        return math.ceil(_polya_reach(scale / stretch, size, outside) * stretch)


def _terms(scale: float, size: float) -> int:
    """P(X >= k) <= 2^size e^(-k / (2 scale)), which is below the tail from here on (Chernoff, at half the rate)."""
    return math.ceil(2 * scale * (size + math.log(1 / TAIL))) + 2


def _polya_reach(scale: float, size: float, outside: float) -> int:
    """The least t with P(X - Y > t) <= outside, X and Y negative binomial of this size."""
    from scipy.special import gammaln

    length = _terms(scale, size)
    k = np.arange(length)
    log = gammaln(k + size) - gammaln(k + 1) - gammaln(size) - k / scale
    p = np.exp(log + size * math.log(-math.expm1(-1 / scale)))
    above = np.append(np.cumsum(p[:0:-1])[::-1], 0.0)  # P(X > k)
    low, high = -1, length - 1
    while high - low > 1:
        middle = (low + high) // 2
        reached = float(p[: length - middle] @ above[middle:]) <= outside
        low, high = (low, middle) if reached else (middle, high)
    return high
