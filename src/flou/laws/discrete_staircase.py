"""Discrete staircase law: noise that falls in steps, one sensitivity wide.

Law      for i >= 0, i = j D + o with 0 <= o < D: P(i) = P(-i) = a b^j if o < r and a b^(j+1) otherwise,
         where b = e^-epsilon, D the sensitivity, r in 1..D the width of a step's upper part and
         a = (1 - b) / (2 r + 2 b (D - r) - (1 - b))
Choice   r = D is the widest tread; ``cost="absolute"`` takes the r of least E |K| (near D / (1 + e^(epsilon/2))),
         ``cost="squared"`` the r of least variance
Sampler  j geometric of scale 1/epsilon, o in the upper part with probability r / (r + b (D - r)) and uniform
         there, a fair sign; a negative zero is drawn again
Source   Geng and Viswanath (2014)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from flou.arrays import Ints
from flou.bits import Bits
from flou.laws.bernoulli import Bernoulli
from flou.laws.enclosure import affine, constant, exp_minus, quotient
from flou.laws.geometric import Geometric
from flou.laws.law import Law, as_integers, in_chunks
from flou.parameters import Number, choice, integer, number

__all__ = ["DiscreteStaircase"]

LARGEST_SENSITIVITY = 2**48


@dataclass(frozen=True, repr=False)
class DiscreteStaircase(Law):
    """Integer noise whose probability falls by e^-epsilon once every ``sensitivity`` steps."""

    sensitivity: int
    epsilon: Fraction
    r: int

    def __init__(
        self,
        sensitivity: int,
        epsilon: Number,
        *,
        r: int | None = None,
        cost: Literal["absolute", "squared"] = "absolute",
    ) -> None:
        width = integer("sensitivity", sensitivity, 1, LARGEST_SENSITIVITY)
        object.__setattr__(self, "sensitivity", width)
        object.__setattr__(self, "epsilon", number("epsilon", epsilon))
        number("scale", width / self.epsilon)
        choice("cost", cost, ("absolute", "squared"))
        best = _best(width, self.epsilon, cost) if r is None else integer("r", r, 1, width)
        object.__setattr__(self, "r", best)

    @property
    def _drop(self) -> float:
        return math.exp(-self.epsilon)

    def _split(self, k: ArrayLike) -> tuple[Any, Any]:
        return np.divmod(np.abs(as_integers(k)), self.sensitivity)

    def level(self, k: ArrayLike) -> Any:
        """How many steps down k stands: P(k) = P(0) e^(-epsilon level(k))."""
        j, o = self._split(k)
        return j + (o >= self.r)

    @property
    def rate(self) -> Fraction:
        return self.epsilon

    def exponent(self, k: int) -> Fraction:
        """The exact -log(P(k) / P(0))."""
        return int(self.level(k)) * self.epsilon

    @property
    def _top(self) -> float:
        """a = P(0)."""
        rise = -math.expm1(-self.epsilon)
        return rise / (2 * self.r + 2 * self._drop * (self.sensitivity - self.r) - rise)

    def log_pmf(self, k: ArrayLike) -> Any:
        return math.log(self._top) - float(self.epsilon) * self.level(k)

    def sf(self, k: ArrayLike) -> Any:
        k = as_integers(k)
        tail = self._tail(np.where(k >= 0, k, -k - 1))
        return np.where(k >= 0, tail, 1 - tail)[()]

    def _tail(self, k: Any) -> Any:
        """P(K > k) for k >= 0: the rest of k's step, and all the steps below it."""
        j, o = self._split(k)
        a, b, r, width = self._top, self._drop, self.r, self.sensitivity
        upper = np.maximum(r - o - 1, 0)
        lower = width - np.maximum(o + 1, r)
        below = b * (r + b * (width - r)) / -math.expm1(-self.epsilon)
        return a * np.exp(-float(self.epsilon) * j) * (upper + b * lower + below)

    def cdf(self, k: ArrayLike) -> Any:
        return self.sf(-as_integers(k) - 1)

    @property
    def mean(self) -> float:
        return 0.0

    @property
    def mean_absolute(self) -> float:
        return _moments(self.sensitivity, self.epsilon, self.r)[0]

    @property
    def variance(self) -> float:
        return _moments(self.sensitivity, self.epsilon, self.r)[1]

    def draw(self, size: int, bits: Bits) -> Ints:
        return in_chunks(size, lambda count: self._draw(count, bits))

    def _draw(self, size: int, bits: Bits) -> Ints:
        width, r = self.sensitivity, self.r
        total = affine(exp_minus(self.epsilon), times=width - r, plus=r)
        upper = Bernoulli(quotient(constant(Fraction(r)), total)).draw(size, bits) == 1
        steps = Geometric(1 / self.epsilon).draw(size, bits)
        offset = bits.below(r, size)
        if r < width:
            offset = np.where(upper, offset, r + bits.below(width - r, size))
        magnitude = steps * width + offset
        negative = bits.below(2, size) == 1
        result = np.where(negative, -magnitude, magnitude)
        again = np.flatnonzero(negative & (magnitude == 0))
        if again.size:
            result[again] = self._draw(again.size, bits)
        return result


def _moments(width: int, epsilon: Fraction, r: int) -> tuple[float, float]:
    """E |K| and E K^2, from the sums over one step and over the geometric number of steps."""
    b, rise = math.exp(-epsilon), -math.expm1(-epsilon)
    a = rise / (2 * r + 2 * b * (width - r) - rise)

    def step(
        sum_to: Any,
    ) -> float:  # the sum over o of level(o) o^p, from sum_to(n) = the sum over o < n of o^p
        return float(a * (sum_to(r) + b * (sum_to(width) - sum_to(r))))

    zeroth = step(float)
    first = step(lambda n: n * (n - 1.0) / 2)
    second = step(lambda n: (n - 1.0) * n * (2 * n - 1.0) / 6)
    absolute = 2 * (width * zeroth * b / rise**2 + first / rise)
    squared = 2 * (width**2 * zeroth * b * (1 + b) / rise**3 + 2 * width * first * b / rise**2 + second / rise)
    return absolute, squared


def _best(width: int, epsilon: Fraction, cost: str) -> int:
    """The r of least cost, by bisection on its slope: both costs fall and then rise in r."""
    column = 0 if cost == "absolute" else 1
    low, high = 1, width
    while low < high:
        middle = (low + high) // 2
        if _moments(width, epsilon, middle + 1)[column] < _moments(width, epsilon, middle)[column]:
            low = middle + 1
        else:
            high = middle
    return low
