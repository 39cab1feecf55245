"""Skellam law: the difference of two independent Poisson variables of the same mean.

Law      P(K = k) = e^-v I_|k|(v), with v the variance and I the modified Bessel function; the two means are v/2
Sums     independent ones add up to a Skellam law whose variance is the sum of theirs
Sampler  two Poisson draws (poisson.py)
Numerics Bessel functions by their uniform expansion for large order (Debye) where r = sqrt(k^2 + v^2) is at least 1000,
         to r^-4; else by the recurrence I_(k-1) = I_(k+1) + (2k/v) I_k, downward. Tails are sums for v below 10^6, out
         to where probabilities underflow; above, integrals of the expansion with the corrections of Euler-Maclaurin.
Source   Skellam (1946); Agarwal, Kairouz and Liu (2021)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from flou.arrays import Floats, Ints
from flou.bits import Bits
from flou.errors import InvalidParameter
from flou.laws.law import Law, as_integers
from flou.laws.normal import gauss_legendre
from flou.laws.poisson import draw_poisson
from flou.parameters import Number, exact, is_number, shown

__all__ = ["Skellam"]

FAR = 1000  # from this r on, the expansion is used
WIDE = 10**6  # from this variance on, tails are integrals
LEAST, MOST = Fraction(1, 2**80), Fraction(2**60)


@dataclass(frozen=True, repr=False)
class Skellam(Law):
    """The difference of two Poisson variables of mean variance / 2 each."""

    exact_variance: Fraction

    def __init__(self, variance: Number) -> None:
        if not is_number(variance) or not LEAST <= exact(variance) <= MOST:
            raise InvalidParameter(
                f"variance must lie between 2^-80 and 2^60, got {shown(variance)}.",
                "It is the square of the width of the noise, and draws have 64 bits.",
                "Pass a number within these limits, for example variance=4.",
            )
        object.__setattr__(self, "exact_variance", exact(variance))

    def __repr__(self) -> str:
        v = self.exact_variance
        return f"Skellam(variance={v.numerator if v.denominator == 1 else float(v)!r})"

    @property
    def mean(self) -> float:
        return 0.0

    @property
    def variance(self) -> float:
        return float(self.exact_variance)

    @property
    def mean_absolute(self) -> float:
        return self.variance * float(np.sum(self.pmf(np.array([0, 1]))))

    def log_pmf(self, k: ArrayLike) -> Any:
        k, v = np.abs(as_integers(k)), self.variance
        if v >= FAR:
            return _expansion(k, v)
        near = _table(v)[0]
        return np.where(k < FAR, near[np.minimum(k, FAR)], _expansion(np.maximum(k, FAR), v))[()]

    def sf(self, k: ArrayLike) -> Any:
        k = as_integers(k)
        side = np.where(k >= 0, k, -1 - k)
        tail = self._tail(side)
        return np.where(k >= 0, tail, 1 - tail)[()]

    def cdf(self, k: ArrayLike) -> Any:
        return self.sf(-1 - as_integers(k))

    def _tail(self, k: Ints) -> Floats:
        """P(K > k) for k >= 0."""
        if self.variance >= WIDE:
            return _integral(k, self.variance)
        tails = _table(self.variance)[1]
        return np.asarray(tails[np.minimum(k, tails.size - 1)])

    def draw(self, size: int, bits: Bits) -> Ints:
        half = self.exact_variance / 2
        return draw_poisson(half, size, bits) - draw_poisson(half, size, bits)


def _expansion(x: Any, v: float) -> Any:
    """log(e^-v I_x(v)) for x >= 0 and x^2 + v^2 >= FAR^2 (Olver, NIST 10.41.3)."""
    r = np.hypot(x, v)
    q = (x / r) ** 2
    u1 = (3 - 5 * q) / 24
    u2 = (81 + q * (-462 + 385 * q)) / 1152
    u3 = (30375 + q * (-369603 + q * (765765 - 425425 * q))) / 414720
    u4 = (4465125 + q * (-94121676 + q * (349922430 + q * (-446185740 + 185910725 * q)))) / 39813120
    series = (u1 + (u2 + (u3 + u4 / r) / r) / r) / r
    x = np.asarray(x, dtype=np.float64)
    return x * (x / (r + v)) - x * np.arcsinh(x / v) - np.log(2 * math.pi * r) / 2 + np.log1p(series)


@lru_cache(maxsize=64)
def _table(v: float) -> tuple[Floats, Floats]:
    """log P(K = k) for k = 0..FAR where the recurrence is used, and P(K > k) until it underflows."""
    reach = max(FAR, math.ceil(40 * math.sqrt(v)) + 180)
    k = np.arange(reach + 1)
    if v >= FAR:
        logs = _expansion(k, v)
    else:
        ratios = np.empty(FAR)  # P(k) / P(k - 1) for k = 1..FAR
        ratio = math.exp(_expansion(FAR + 1, v) - _expansion(FAR, v))
        for i in range(FAR, 0, -1):
            ratio = 1 / (2 * i / v + ratio)
            ratios[i - 1] = ratio
        near = np.concatenate([[0.0], np.cumsum(np.log(ratios))])
        near -= math.log(math.fsum([1.0, *(2 * np.exp(near[1:])).tolist()]))
        logs = np.concatenate([near, _expansion(k[FAR + 1 :], v)])
    p = np.exp(logs)
    above = np.concatenate([np.cumsum(p[:0:-1])[::-1], [0.0]])
    return logs, above


def _integral(k: Ints, v: float) -> Floats:
    """P(K > k) for k >= 0: the expansion integrated from k + 1/2, with the corrections of the middles of cells."""
    sigma = math.sqrt(v)
    start = np.ravel(k + 0.5)
    z = start / sigma
    length = 80 / (z + np.sqrt(z * z + 80)) * sigma  # to where it has fallen by e^-40
    nodes, weights = gauss_legendre(64)
    x = start[:, None] + length[:, None] * (nodes + 1) / 2
    area = np.exp(_expansion(x, v)) @ weights * length / 2
    r = np.hypot(start, v)
    slope = -np.arcsinh(start / v) - start / (2 * r * r)  # of the logarithm
    density = np.exp(_expansion(start, v))
    corrected: Floats = area + density * slope * (1 / 24 - 7 / 5760 * (slope * slope - 3 / r))
    return corrected.reshape(np.shape(k))
