"""Pólya share: one of several independent parts that add up to discrete Laplace noise.

Law      K = X - Y, X and Y independent negative binomial of size 1/h: P(X = k) = binom(k - 1 + 1/h, k) (1-a)^(1/h) a^k,
         a = e^(-1 / scale), h the number of parties
Sums     h independent shares add up to DiscreteLaplace(scale), exactly: h variables X make a geometric one
Sampler  X is a share of a geometric total G, P(G >= k) = a^k. While something is left of G, a uniform part of it, 1 or
         more, is split off and kept with probability 1/h; X is the sum of what was kept. Ints alone, and about
         ln(scale) + 1 parts for each of X and Y: a million draws take a tenth of a second to two seconds.
Why      let F_n(z) be the generating function of X given G = n, and H = sum_n F_n a^n. From the first part,
         n F_n = sum_j (z^j/h + 1 - 1/h) F_(n-j), so a H'/H = (1/h) za/(1-za) + (1 - 1/h) a/(1-a), hence
         (1-a) H = ((1-a) / (1-za))^(1/h), the generating function of the negative binomial law
Numerics with r = 1/h and y = a e^-u, P(K = k) = c int_0^inf y^|k| w(u) du, w(u) = ((e^u - 1)(1 - a^2 e^-u))^-r and
         c = (1-a)^(2r) sin(pi r)/pi: the generating function, integrated along its cut. Tails and E |K| put the sums of
         y^k under the integral. Everything is positive, and the trapezoidal rule in ln u is good to 1e-13.
Source   Goryczka and Xiong (2017); Hoppe (1984) for the parts, which are the cycles of a random permutation
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from flou.arrays import Floats, Ints
from flou.bits import Bits
from flou.laws.geometric import Geometric
from flou.laws.law import Law, as_integers, in_chunks
from flou.parameters import Number, integer, number

__all__ = ["PolyaShare"]

STEP = 0.25  # of the trapezoidal rule: the integrand is analytic within pi/2 of the real axis, error e^(-pi^2 / STEP)
TOGETHER = 512  # points integrated at once
MOST_PARTIES = 10**6


@dataclass(frozen=True, repr=False)
class PolyaShare(Law):
    """The part of one of several parties in discrete Laplace noise of a scale."""

    scale: Fraction
    parties: int

    def __init__(self, scale: Number, parties: int) -> None:
        object.__setattr__(self, "scale", number("scale", scale))
        object.__setattr__(self, "parties", integer("parties", parties, 2, MOST_PARTIES))

    @property
    def _rate(self) -> float:
        return float(1 / self.scale)

    def _log_integral(self, n: Floats, summed: Callable[[Floats], Floats]) -> Floats:
        """log of c int e^(-n u) summed(1 - y) w(u) du, for each n >= 0."""
        r, rate = 1 / self.parties, self._rate
        lowest = -42 / (1 - r) - max(math.log(2 / rate), 0.0)
        t = np.arange(lowest, math.log(45 * (1 + 1 / r)) + STEP, STEP)
        base = np.exp(t)
        result = np.empty(n.size)
        for at in range(0, n.size, TOGETHER):
            m = n[at : at + TOGETHER, None]
            u = base / (m + 1)
            weight = -r * (np.log(-np.expm1(-u)) + u + np.log(-np.expm1(-u - 2 * rate)))
            terms = weight - m * u + np.log(u) + summed(-np.expm1(-u - rate))
            top = np.max(terms, axis=1, keepdims=True)
            result[at : at + TOGETHER] = top[:, 0] + np.log(np.sum(np.exp(terms - top), axis=1))
        constant = math.log(STEP * math.sin(math.pi * r) / math.pi) + 2 * r * math.log(-math.expm1(-rate))
        return result + constant

    def log_pmf(self, k: ArrayLike) -> Any:
        k = np.abs(as_integers(k))
        logs = self._log_integral(np.ravel(k).astype(np.float64), np.zeros_like)
        return (logs.reshape(np.shape(k)) - k * self._rate)[()]

    def sf(self, k: ArrayLike) -> Any:
        k = as_integers(k)
        n = np.where(k >= 0, k + 1.0, -1.0 * k)  # the smaller tail is P(K >= n)
        logs = self._log_integral(np.ravel(n), lambda rest: -np.log(rest))  # sum of y^k from n on: y^n / (1 - y)
        tail = np.exp(logs.reshape(np.shape(k)) - n * self._rate)
        return np.where(k >= 0, tail, 1 - tail)[()]

    def cdf(self, k: ArrayLike) -> Any:
        return self.sf(-1 - as_integers(k))

    @property
    def mean(self) -> float:
        return 0.0

    @property
    def variance(self) -> float:
        return 2 * math.exp(-self._rate) / math.expm1(-self._rate) ** 2 / self.parties

    @property
    def mean_absolute(self) -> float:
        log = self._log_integral(np.ones(1), lambda rest: -2 * np.log(rest))  # sum of k y^k: y / (1 - y)^2
        return 2 * math.exp(float(log[0]) - self._rate)

    def draw(self, size: int, bits: Bits) -> Ints:
        return in_chunks(size, lambda count: self._one_side(count, bits) - self._one_side(count, bits))

    def _one_side(self, size: int, bits: Bits) -> Ints:
        left = Geometric(self.scale).draw(size, bits)
        kept = np.zeros(size, dtype=np.int64)
        where = np.flatnonzero(left)
        left = left[where]
        while where.size:
            part = 1 + _below_each(left, bits)
            ours = bits.below(self.parties, where.size) == 0
            kept[where[ours]] += part[ours]
            left -= part
            more = np.flatnonzero(left)
            where, left = where[more], left[more]
        return kept


def _below_each(n: Ints, bits: Bits) -> Ints:
    """Integers exactly uniform on 0, ..., n_i - 1: remainders of words outside the incomplete first cycle of n_i."""
    wide = n.astype(np.uint64)
    words = bits.words(n.size)
    again = np.flatnonzero(words < (-wide) % wide)  # 2^64 modulo n_i
    result = (words % wide).astype(np.int64)
    if again.size:
        result[again] = _below_each(n[again], bits)
    return result
