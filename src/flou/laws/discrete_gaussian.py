"""Discrete Gaussian law: the Gaussian density at the integers, normalised.

Law      P(K = k) proportional to e^(-k^2 / (2 sigma^2))
Sampler  a discrete Laplace draw y of scale t = floor(sigma) + 1, kept with probability
         e^(-(|y| - sigma^2/t)^2 / (2 sigma^2)), decided exactly
Numerics for sigma below 1000 sums run over a table out to 40 sigma; above it the Euler-Maclaurin
         formula at the middles of the cells, whose error is of order sigma^-6
Source   Canonne, Kamath and Steinke (2020)
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
from flou.laws.decide import coins
from flou.laws.discrete_laplace import DiscreteLaplace
from flou.laws.enclosure import Enclosure, exp_minus
from flou.laws.law import Law, as_integers, in_chunks
from flou.laws.normal import ndtr
from flou.parameters import Number, number

__all__ = ["DiscreteGaussian"]

WIDE = 1000  # from this sigma on, sums are integrals with known corrections
OVERSHOOT = 1.03  # proposals for each draw still missing, times the rate at which they are kept


@dataclass(frozen=True, repr=False)
class DiscreteGaussian(Law):
    """P(K = k) proportional to e^(-k^2 / (2 sigma^2))."""

    sigma_squared: Fraction

    def __init__(self, sigma: Number | None = None, *, sigma_squared: Number | None = None) -> None:
        square = number("sigma", sigma) ** 2 if sigma_squared is None else number("sigma_squared", sigma_squared)
        object.__setattr__(self, "sigma_squared", square)

    @property
    def sigma(self) -> float:
        return math.sqrt(self.sigma_squared)

    @property
    def rate(self) -> Fraction:
        return 1 / (2 * self.sigma_squared)

    def level(self, k: ArrayLike) -> Any:
        """P(k) = P(0) e^(-rate level(k)), for |k| below 2^31."""
        return as_integers(k) ** 2

    def exponent(self, k: int) -> Fraction:
        """The exact -log(P(k) / P(0))."""
        return k * k / (2 * self.sigma_squared)

    def log_pmf(self, k: ArrayLike) -> Any:
        z = as_integers(k) / self.sigma
        return -z * z / 2 - self._log_total

    @property
    def _log_total(self) -> float:
        if self.sigma >= WIDE:
            return math.log(self.sigma) + math.log(2 * math.pi) / 2
        return float(_table(self.sigma_squared)[0])

    def cdf(self, k: ArrayLike) -> Any:
        k = as_integers(k)
        if self.sigma < WIDE:
            below = _table(self.sigma_squared)[1]
            return below[np.clip(k + len(below) // 2, 0, len(below) - 1)]
        z = (k + 0.5) / self.sigma
        density = np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
        h = 1 / self.sigma**2
        return ndtr(z) + density * (z * h / 24 + 7 / 5760 * (3 * z - z**3) * h * h)

    def sf(self, k: ArrayLike) -> Any:
        return self.cdf(-as_integers(k) - 1)

    @property
    def mean(self) -> float:
        return 0.0

    @property
    def variance(self) -> float:
        return float(self.sigma_squared if self.sigma >= WIDE else _table(self.sigma_squared)[2])

    @property
    def mean_absolute(self) -> float:
        if self.sigma < WIDE:
            return float(_table(self.sigma_squared)[3])
        return 2 * (self.sigma - 1 / (12 * self.sigma)) / math.sqrt(2 * math.pi)

    def _keep(self, y: int, t: int) -> Enclosure:
        return exp_minus((abs(y) - self.sigma_squared / t) ** 2 / (2 * self.sigma_squared))

    def draw(self, size: int, bits: Bits) -> Ints:
        t = math.isqrt(math.floor(self.sigma_squared)) + 1
        proposal = DiscreteLaplace(t)
        middle, factor = float(self.sigma_squared / t), float(-1 / (2 * self.sigma_squared))
        # the share of proposals that is kept: the weights' sum times tanh(1/2t), less what the peak takes
        kept_share = math.exp(self._log_total + middle * middle * factor) * math.tanh(1 / (2 * t))

        def draw(count: int) -> Ints:
            kept = np.empty(0, dtype=np.int64)
            while kept.size < count:
                y = proposal.draw(math.ceil(OVERSHOOT * (count - kept.size) / kept_share) + 8, bits)
                x: Floats = np.abs(y) - middle
                # The exponent x^2 factor errs by at most 2^-49 (1 + |exponent|), and where it passes
                # 45 the probability is below 2^-64, inside the fixed part of the margin.
                approximate = np.exp(x * x * factor)

                def keep(i: int, y: Ints = y) -> Enclosure:
                    return self._keep(int(y[i]), t)

                heads = coins(bits.words(y.size), approximate, 2.0**-43, keep, bits)
                kept = np.concatenate([kept, y[heads]])
            return kept[:count]

        return in_chunks(size, draw)


@lru_cache(maxsize=64)
def _table(sigma_squared: Fraction) -> tuple[float, Floats, float, float]:
    """log of the sum of weights, the cdf on -reach..reach, the variance, and E |K|."""
    reach = math.ceil(40 * math.sqrt(sigma_squared)) + 2
    k = np.arange(-reach, reach + 1)
    weights = np.exp(-(k**2) / float(2 * sigma_squared))
    total = math.fsum(weights.tolist())
    p = weights / total
    return math.log(total), np.cumsum(p), float(np.dot(p, k**2)), float(np.dot(p, np.abs(k)))
