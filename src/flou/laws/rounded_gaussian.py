"""Rounded Gaussian law: a continuous Gaussian, rounded to the nearest integer.

Law      P(K = k) = Phi((k + 1/2)/sigma) - Phi((k - 1/2)/sigma)
Why      rounding is post-processing, so everything proved about the continuous Gaussian mechanism (the
         exact trade-off of epsilon and delta for vectors among it) holds for this one on the integers
Sampler  on cells of width 2^-s, small next to sigma, |X| 2^s = j + f with j geometric of scale
         t = floor(sigma') + 1, sigma' = sigma 2^s, and f uniform, kept with probability
         e^(-((j - sigma'^2/t)^2 + 2 j f + f^2) / (2 sigma'^2)). The bits of f are drawn as far as the
         decision needs them, and X is rounded exactly, for j alone says where it goes when s >= 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from flou.arrays import Ints
from flou.bits import Bits
from flou.laws.decide import MORE, coins
from flou.laws.enclosure import Enclosure, exp_minus
from flou.laws.geometric import Geometric
from flou.laws.law import Law, as_integers, in_chunks
from flou.laws.normal import gauss_legendre, ndtr
from flou.parameters import Number, number

__all__ = ["RoundedGaussian"]

OVERSHOOT = 1.5


@dataclass(frozen=True, repr=False)
class RoundedGaussian(Law):
    """The nearest integer to a Gaussian of standard deviation sigma."""

    sigma: Fraction

    def __init__(self, sigma: Number) -> None:
        object.__setattr__(self, "sigma", number("sigma", sigma))

    def log_pmf(self, k: ArrayLike) -> Any:
        k, sigma = np.abs(as_integers(k)), float(self.sigma)
        if sigma < 2:
            with np.errstate(divide="ignore"):
                return np.log(ndtr((0.5 - k) / sigma) - ndtr((-0.5 - k) / sigma))
        # the density integrated over the cell: e^(-z^2/2) times the mean of e^(-z t/sigma - t^2/(2 sigma^2))
        nodes, weights = gauss_legendre(24)
        t = nodes[:, None] / (2 * sigma)
        z = np.ravel(k / sigma)
        cell = weights @ np.exp(-z * t - t * t / 2) / 2
        log = np.log(cell) - z * z / 2 - math.log(sigma) - math.log(2 * math.pi) / 2
        return log.reshape(np.shape(k))[()]

    def cdf(self, k: ArrayLike) -> Any:
        return ndtr((as_integers(k) + 0.5) / float(self.sigma))

    def sf(self, k: ArrayLike) -> Any:
        return ndtr(-(as_integers(k) + 0.5) / float(self.sigma))

    @property
    def mean(self) -> float:
        return 0.0

    @property
    def variance(self) -> float:
        return _moments(self.sigma)[1]

    @property
    def mean_absolute(self) -> float:
        return _moments(self.sigma)[0]

    def draw(self, size: int, bits: Bits) -> Ints:
        shift = 1
        while self.sigma * 2**shift < 1:
            shift += 1
        square = (self.sigma * 2**shift) ** 2
        t = math.isqrt(math.floor(square)) + 1
        proposal = Geometric(t)
        middle, factor = float(square / t), float(-1 / (2 * square))

        def draw(count: int) -> Ints:
            kept = np.empty(0, dtype=np.int64)
            while kept.size < count:
                proposed = math.ceil(OVERSHOOT * (count - kept.size)) + 8
                j = proposal.draw(proposed, bits)
                extra = bits.words(proposed)  # the first bits of f, and a sign in the last one
                f = (extra >> np.uint64(1)).astype(np.float64) * 2.0**-63
                x = j.astype(np.float64) - middle
                approximate = np.exp((x * x + (2.0 * j + f) * f) * factor)

                def keep(i: int, j: Ints = j, extra: Any = extra) -> Enclosure:
                    return _keep(int(j[i]), int(extra[i]) >> 1, square, t, bits)

                heads = coins(bits.words(proposed), approximate, 2.0**-43, keep, bits)
                nearest = (j[heads] + 2 ** (shift - 1)) >> shift
                kept = np.concatenate([kept, np.where(extra[heads] & np.uint64(1), -nearest, nearest)])
            return kept[:count]

        return in_chunks(size, draw)


def _keep(j: int, known: int, square: Fraction, t: int, bits: Bits) -> Enclosure:
    """The probability of keeping j + f, where f starts with the 63 bits ``known`` and goes on as needed."""
    length = 63

    def exponent(f: Fraction) -> Fraction:
        return ((j - square / t) ** 2 + 2 * j * f + f * f) / (2 * square)

    def enclose(precision: int) -> tuple[int, int]:
        nonlocal known, length
        while length < precision + j.bit_length():
            known, length = known << MORE | bits.integer(MORE), length + MORE
        f = Fraction(known, 1 << length)
        low = exp_minus(exponent(f + Fraction(1, 1 << length)))(precision)[0]
        return low, exp_minus(exponent(f))(precision)[1]

    return enclose


@lru_cache(maxsize=64)
def _moments(sigma: Fraction) -> tuple[float, float]:
    """E |K| and E K^2, from the tails: summed, or by the Euler-Maclaurin formula for a wide law."""
    s = float(sigma)
    if s >= 1000:
        return s * math.sqrt(2 / math.pi) - 1 / (12 * s * math.sqrt(2 * math.pi)), s * s + 1 / 12
    k = np.arange(1, math.ceil(40 * s) + 3)
    tail = ndtr(-(k - 0.5) / s)
    return 2 * float(np.sum(tail)), 2 * float(np.dot(2 * k - 1, tail))
