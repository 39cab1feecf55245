"""Bernoulli law: one biased coin.

Law      P(K = 1) = p, for a rational p, for p = e^-x with a rational x, or for any enclosed number
Sampler  U < p, decided exactly
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from flou.arrays import Ints
from flou.bits import Bits
from flou.errors import InvalidParameter
from flou.laws.decide import coins
from flou.laws.enclosure import Enclosure, affine, constant, exp_minus
from flou.laws.law import Law, as_integers, in_chunks
from flou.parameters import Number, exact, probability, shown

__all__ = ["Bernoulli"]


@dataclass(frozen=True)
class Bernoulli(Law):
    """P(K = 1) = p and P(K = 0) = 1 - p."""

    p: float  # what is shown and used in formulas: within 2^-50 relative of the number itself, as is q
    q: float = field(repr=False)  # 1 - p, just as accurate where p is close to 1
    number: Enclosure = field(repr=False)

    def __init__(self, p: Number | Enclosure) -> None:
        number = p if callable(p) else constant(probability("p", p))
        object.__setattr__(self, "number", number)
        object.__setattr__(self, "p", _nearest(number))
        object.__setattr__(self, "q", _nearest(affine(number, times=-1, plus=1)))

    @classmethod
    def exp_minus(cls, x: Number) -> Bernoulli:
        """The coin that shows 1 with probability e^-x."""
        try:
            rational = exact(x)
        except (TypeError, ValueError, OverflowError):
            rational = Fraction(-1)
        if rational < 0:
            raise InvalidParameter(
                f"x must be a number of at least 0, got {shown(x)}.",
                "Otherwise e^-x is not a probability.",
                "Pass for example x=0.5.",
            )
        return cls(exp_minus(rational))

    def log_pmf(self, k: ArrayLike) -> Any:
        with np.errstate(divide="ignore"):
            return np.log(self.pmf(k))

    def pmf(self, k: ArrayLike) -> Any:
        k = as_integers(k)
        return np.where(k == 1, self.p, np.where(k == 0, self.q, 0.0))[()]

    def sf(self, k: ArrayLike) -> Any:
        k = as_integers(k)
        return np.where(k < 0, 1.0, np.where(k < 1, self.p, 0.0))[()]

    def cdf(self, k: ArrayLike) -> Any:
        k = as_integers(k)
        return np.where(k < 0, 0.0, np.where(k < 1, self.q, 1.0))[()]

    @property
    def mean(self) -> float:
        return self.p

    @property
    def variance(self) -> float:
        return self.p * self.q

    @property
    def mean_absolute(self) -> float:
        return self.p

    def draw(self, size: int, bits: Bits) -> Ints:
        def draw(count: int) -> Ints:
            return coins(bits.words(count), self.p, 2.0**-50, lambda _: self.number, bits).astype(np.int64)

        return in_chunks(size, draw)


def _nearest(number: Enclosure) -> float:
    """A float within 2^-50 relative of an enclosed number, or 0 when it is below 2^-1040."""
    for precision in (64, 256, 1100):
        low, high = number(precision)
        if high - low <= low >> 52:
            return float(Fraction(low + high, 2 << precision))
    return 0.0
