"""Discrete Laplace law: the two-sided geometric.

Law      P(K = k) = (1 - r)/(1 + r) r^|k|, r = e^(-1 / scale)
Sampler  the tail of |K| is P(|K| >= k) = e^(offset - k / scale) for k >= 1, with offset = ln(2 / (1 + r)),
         so |K| = floor(scale (offset - ln U)), decided exactly; the sign is one more fair bit. Above
         2^30 |K| is a geometric draw, and a negative zero is drawn again.
Source   Ghosh, Roughgarden and Sundararajan (2012); Canonne, Kamath and Steinke (2020)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from flou.arrays import Ints, Words
from flou.bits import Bits
from flou.laws.decide import tail_index
from flou.laws.enclosure import Enclosure, affine, exp_minus, quotient
from flou.laws.geometric import DIRECT, split_geometric
from flou.laws.law import Law, as_integers, in_chunks
from flou.parameters import Number, number

__all__ = ["DiscreteLaplace"]


def _signed(magnitude: Ints, words: Words) -> Ints:
    """The magnitude with the sign of each word's last bit."""
    sign = (words & np.uint64(1)).view(np.int64)
    np.negative(sign, out=sign)
    return (magnitude ^ sign) - sign


@dataclass(frozen=True, repr=False)
class DiscreteLaplace(Law):
    """P(K = k) proportional to e^(-|k| / scale)."""

    scale: Fraction

    def __init__(self, scale: Number) -> None:
        object.__setattr__(self, "scale", number("scale", scale))

    @property
    def _rate(self) -> float:
        return float(1 / self.scale)

    @property
    def rate(self) -> Fraction:
        return 1 / self.scale

    def level(self, k: ArrayLike) -> Any:
        """P(k) = P(0) e^(-rate level(k))."""
        return np.abs(as_integers(k))

    def exponent(self, k: int) -> Fraction:
        """The exact -log(P(k) / P(0))."""
        return abs(k) / self.scale

    def between(self, lower: ArrayLike, upper: ArrayLike) -> Any:
        """P(lower <= K <= upper) for lower <= 0 <= upper, accurate also where it is tiny."""
        a = self._rate
        sides = -np.expm1(-a * (as_integers(upper) + 1.0)) - np.expm1(-a * (1.0 - as_integers(lower))) + math.expm1(-a)
        return math.tanh(a / 2) * sides / -math.expm1(-a)

    def log_pmf(self, k: ArrayLike) -> Any:
        return math.log(math.tanh(self._rate / 2)) - self._rate * np.abs(as_integers(k))

    def sf(self, k: ArrayLike) -> Any:
        k = as_integers(k)
        # the smaller tail, P(K > k) for k >= 0 and P(K <= k) for k < 0, has the same formula
        tail = np.exp(-self._rate * np.where(k >= 0, k + 1.0, -1.0 * k)) / (1 + math.exp(-self._rate))
        return np.where(k >= 0, tail, 1 - tail)[()]

    def cdf(self, k: ArrayLike) -> Any:
        return self.sf(-as_integers(k) - 1)

    @property
    def mean(self) -> float:
        return 0.0

    @property
    def variance(self) -> float:
        return 2 * math.exp(-self._rate) / math.expm1(-self._rate) ** 2

    @property
    def mean_absolute(self) -> float:
        return 2 * math.exp(-self._rate) / -math.expm1(-2 * self._rate)

    def _tail(self, k: int) -> Enclosure:
        """P(|K| >= k) = 2 r^k / (1 + r)."""
        return quotient(affine(exp_minus(k / self.scale), times=2), affine(exp_minus(1 / self.scale), plus=1))

    def draw(self, size: int, bits: Bits) -> Ints:
        if self.scale > DIRECT:
            return in_chunks(size, lambda count: self._draw_split(count, bits))
        scale, offset = float(self.scale), math.log(2 / (1 + math.exp(-self._rate)))

        def draw(count: int) -> Ints:
            words = bits.words(count)
            return _signed(tail_index(words, scale, offset, self._tail, bits, length=63), words)

        return in_chunks(size, draw)

    def _draw_split(self, size: int, bits: Bits) -> Ints:
        magnitude = split_geometric(self.scale, size, bits)
        negative = bits.below(2, size) == 1
        again = np.flatnonzero(negative & (magnitude == 0))
        result = np.where(negative, -magnitude, magnitude)
        if again.size:
            result[again] = self._draw_split(again.size, bits)
        return result
