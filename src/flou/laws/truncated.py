"""A law kept inside bounds: K given that lower <= K <= upper.

Law      P(K = k) = P_law(k) / P_law([lower, upper]) inside, 0 outside
Sampler  draws of the law, kept when inside, where that happens at least one time in four; otherwise the range
         is narrow next to the law: up to 2^16 outcomes are chosen among by their weights, and of more a uniform k is
         kept with probability P_law(k) / P_law(0). All decisions are exact. The peak 0 must lie inside the bounds.
Caution  its mean is not the law's: an average of truncated values must be corrected
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from flou.arrays import Ints
from flou.bits import Bits
from flou.errors import InvalidParameter
from flou.laws.decide import coins
from flou.laws.enclosure import exp_minus
from flou.laws.law import Law, as_integers, in_chunks
from flou.laws.weighted_choice import WeightedChoice
from flou.parameters import integer

__all__ = ["Peaked", "Truncated"]

SUMMED = 1 << 22  # as many outcomes are summed one by one
NARROW = 1 << 16  # as many are weighed one by one


class Peaked(Protocol):
    """A law whose probabilities fall on both sides of 0, with exact exponents."""

    @property
    def rate(self) -> Fraction: ...
    def level(self, k: ArrayLike) -> Any: ...
    def exponent(self, k: int) -> Fraction: ...
    def log_pmf(self, k: ArrayLike) -> Any: ...
    def cdf(self, k: ArrayLike) -> Any: ...
    def sf(self, k: ArrayLike) -> Any: ...
    def draw(self, size: int, bits: Bits) -> Ints: ...
    def interval(self, level: float = 0.95) -> tuple[int, int]: ...


@dataclass(frozen=True)
class Truncated(Law):
    """``law`` given that its value lies between ``lower`` and ``upper``, both included."""

    law: Peaked
    lower: int
    upper: int

    def __post_init__(self) -> None:
        integer("lower", self.lower, -(2**61), 2**61)
        integer("upper", self.upper, -(2**61), 2**61)
        if not self.lower <= 0 <= self.upper:
            raise InvalidParameter(
                f"lower <= 0 <= upper must hold, got {self.lower} and {self.upper}.",
                "The law has its peak at 0, and a draw would almost never fall into a range without it.",
                "Subtract the answer, which lies between the bounds, from both of them.",
            )
        if not hasattr(self.law, "exponent"):
            raise InvalidParameter(
                f"{type(self.law).__name__} cannot be truncated.",
                "Its probabilities cannot be written with exact exponents.",
                "Use a discrete Laplace, discrete Gaussian or discrete staircase law.",
            )

    @property
    def mass(self) -> float:
        """The probability of the range under the law itself."""
        if hasattr(self.law, "between"):
            return float(self.law.between(self.lower, self.upper))
        if self.upper - self.lower < NARROW:
            return float(np.sum(np.exp(self.law.log_pmf(np.arange(self.lower, self.upper + 1)))))
        return float(1 - self.law.cdf(self.lower - 1) - self.law.sf(self.upper))

    def _inside(self, k: Any) -> Any:
        return (self.lower <= k) & (k <= self.upper)

    def log_pmf(self, k: ArrayLike) -> Any:
        k = as_integers(k)
        return np.where(self._inside(k), self.law.log_pmf(k) - math.log(self.mass), -np.inf)[()]

    def cdf(self, k: ArrayLike) -> Any:
        k = np.clip(as_integers(k), self.lower - 1, self.upper)
        if self.mass < 1e-3 and hasattr(self.law, "between"):  # where differences of the law's own cdf cancel
            up = self.law.between(self.lower, np.maximum(k, 0)) / self.mass
            down = 1 - self.law.between(np.minimum(k, -1) + 1, self.upper) / self.mass
            return np.where(k >= 0, up, down)[()]
        return np.clip((self.law.cdf(k) - self.law.cdf(self.lower - 1)) / self.mass, 0.0, 1.0)[()]

    def sf(self, k: ArrayLike) -> Any:
        k = np.clip(as_integers(k), self.lower - 1, self.upper)
        if self.mass < 1e-3 and hasattr(self.law, "between"):
            return 1 - self.cdf(k)
        return np.clip((self.law.sf(k) - self.law.sf(self.upper)) / self.mass, 0.0, 1.0)[()]

    @property
    def mean(self) -> float:
        return _moments(self)[0]

    @property
    def variance(self) -> float:
        return _moments(self)[1]

    @property
    def mean_absolute(self) -> float:
        return _moments(self)[2]

    def draw(self, size: int, bits: Bits) -> Ints:
        if self.mass < 0.25 and self.upper - self.lower < NARROW:
            levels = self.law.level(np.arange(self.lower, self.upper + 1))
            return WeightedChoice(levels, rate=self.law.rate).draw(size, bits) + np.int64(self.lower)
        once = self._from_law if self.mass >= 0.25 else self._from_range

        def draw(count: int) -> Ints:
            kept = np.empty(0, dtype=np.int64)
            while kept.size < count:
                kept = np.concatenate([kept, once(2 * (count - kept.size) + 8, bits)])
            return kept[:count]

        return in_chunks(size, draw)

    def _from_law(self, size: int, bits: Bits) -> Ints:
        k = self.law.draw(size, bits)
        return k[np.flatnonzero(self._inside(k))]

    def _from_range(self, size: int, bits: Bits) -> Ints:
        k: Ints = bits.below(self.upper - self.lower + 1, size) + np.int64(self.lower)
        approximate = np.exp(self.law.log_pmf(k) - self.law.log_pmf(0))
        words = bits.words(size)
        kept = coins(words, approximate, 2.0**-40, lambda i: exp_minus(self.law.exponent(int(k[i]))), bits)
        return k[kept]


@lru_cache(maxsize=256)
def _moments(law: Truncated) -> tuple[float, float, float]:
    """Mean, variance and E |K|: summed over the outcomes, or integrated where there are too many of them."""
    low, high = law.law.interval(1 - 2.0**-52)
    low, high = max(low, law.lower), min(high, law.upper)
    if high - low < SUMMED:
        k = np.arange(low, high + 1, dtype=np.float64)
        p = law.pmf(k)
    else:
        # Millions of outcomes: blocks of neighbours whose probability is taken from the cdf.
        edges = np.unique(np.linspace(low - 1, high, SUMMED // 4).astype(np.int64))
        k = (edges[:-1] + 1 + edges[1:]) / 2.0
        p = np.where(k < 0, np.diff(law.cdf(edges)), -np.diff(law.sf(edges)))
    p = p / np.sum(p)
    mean = float(np.dot(p, k))
    return mean, float(np.dot(p, (k - mean) ** 2)), float(np.dot(p, np.abs(k)))
