"""Bounded staircase: staircase noise that is drawn again until the value lies within the bounds, at a smaller epsilon.

Law        codes and reports 0..m-1; reports less than r away from the code have weight 1, all others e^-e'; the weights
           are divided by their sum, which depends on the code
Guarantee  epsilon-DP for one person's number, in one report: e' is smaller than epsilon to pay for the division
Why        an answer at an end has r reports near it, one further inside up to n = min(2 r - 1, m - 1) that are still
           far from that end, so the loss is e' + ln((n + b (m - n)) / (r + b (m - r))), b = e^-e'; e' is the largest
           multiple of 2^-48 that keeps it at epsilon or below
Choice     ``cost="absolute"``: r as for the least E |noise|, near m / (1 + e^(e' / 2)), where e' = 2 ln((1 + sqrt(1 + 8
           e^epsilon)) / 4); ``cost="squared"``: r as for the least E noise^2
Numerics   exact: a coin enclosed as finely as needed, and a uniform integer; e' is certified by enclosures
Limits     reports are pulled towards the middle: their average is biased. ``mean``, ``quantiles`` and ``histogram``
           correct. ``ClampedWindow`` has less squared error at epsilon = 1, 5 and 10
Source     document 002, corrected: at e' = epsilon the loss would be 1.332 at epsilon = 1
Proof      docs/explanation/proofs/local_numbers.md
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from flou.arrays import Ints
from flou.laws import DiscreteStaircase
from flou.laws.enclosure import exp_minus
from flou.local.numbers.number_randomiser import Scale
from flou.local.numbers.window_randomiser import WindowDistribution
from flou.parameters import Number, choice

__all__ = ["BoundedStaircase"]

UNIT = 2**48
PRECISION = 256


class BoundedStaircase(WindowDistribution):
    """One record's value, randomised; reports are codes of the domain."""

    name = "bounded staircase"

    def __init__(
        self,
        domain: Scale,
        *,
        epsilon: Number,
        cost: Literal["absolute", "squared"] = "absolute",
        smooth: bool = True,
        unit: str = "person",
    ) -> None:
        super().__init__(domain, epsilon=epsilon, smooth=smooth, unit=unit)
        choice("cost", cost, ("absolute", "squared"))
        self.radius = _radius(self.domain.size, self.epsilon, cost)  # r
        self._rate = _calibrated(self.domain.size, self.radius, self.epsilon)  # e'

    @property
    def rate(self) -> Fraction:
        return self._rate

    def parameters(self) -> dict[str, Any]:
        return {**super().parameters(), "radius": self.radius, "rate": str(self.rate)}

    def window(self, codes: Ints) -> tuple[Ints, Ints]:
        return np.maximum(codes - self.radius + 1, 0), np.minimum(codes + self.radius, self.domain.size)

    def values(self, reports: NDArray[Any]) -> NDArray[Any]:
        """What the reports stand for, in the units of the domain."""
        return self.domain.decode(self.checked(reports))


def _near(cells: int, radius: int) -> int:
    """n: the most reports near an answer whose window misses an end of the grid."""
    return min(2 * radius - 1, cells - 1)


def _radius(cells: int, epsilon: Fraction, cost: Literal["absolute", "squared"]) -> int:
    """The staircase's own r at the e' whose loss is epsilon; bisection determines e'."""
    low, high = Fraction(0), epsilon
    radius = DiscreteStaircase(cells - 1, epsilon, cost=cost).r
    for _ in range(40):
        middle = (low + high) / 2
        radius = DiscreteStaircase(cells - 1, Fraction(round(middle * UNIT) or 1, UNIT), cost=cost).r
        if _safe(cells, radius, middle, epsilon):
            low = middle
        else:
            high = middle
    return radius


def _calibrated(cells: int, radius: int, epsilon: Fraction) -> Fraction:
    """The largest multiple of 2^-48 (or finer, for a tiny epsilon) whose loss is certainly at most epsilon."""
    unit = max(UNIT, math.ceil(2**16 / epsilon))
    low, high = 0, math.floor(epsilon * unit)
    while low < high:
        middle = -(-(low + high) // 2)
        if _safe(cells, radius, Fraction(middle, unit), epsilon):
            low = middle
        else:
            high = middle - 1
    return Fraction(low, unit)


def _safe(cells: int, radius: int, rate: Fraction, epsilon: Fraction) -> bool:
    """Whether (n + b (m - n)) e^(rate - epsilon) <= r + b (m - r), b = e^-rate, beyond doubt."""
    precision = PRECISION + 2 * int(epsilon)
    low, high = exp_minus(rate)(precision)
    _, factor = exp_minus(epsilon - rate)(precision)
    n, one = _near(cells, radius), 1 << precision
    return (n * one + high * (cells - n)) * factor <= (radius * one + low * (cells - radius)) << precision
