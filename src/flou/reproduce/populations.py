"""Made-up populations of numbers between public bounds, whose mean, variance and shares are known in closed form.

They are the shapes on which intervals are tried: a plain one, a skewed one that is clipped at its bounds, one with
nothing between its two ends, one close to a bound, and one that does not vary at all.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from flou.laws.normal import ndtr

__all__ = ["POPULATIONS", "Generator", "Population"]

Floats: TypeAlias = NDArray[np.float64]
Generator: TypeAlias = np.random.Generator  # noqa: TID251 - made-up data, nothing to hide


@dataclass(frozen=True)
class Population:
    """A law of numbers in [lower, upper]: how to draw from it, and what is true of it."""

    lower: float
    upper: float
    draw: Callable[[Generator, int], Floats]
    mean: float
    variance: float
    below: Callable[[Floats], Floats]  # P(X < x), for lower < x <= upper

    @property
    def width(self) -> float:
        return self.upper - self.lower

    def quantile(self, p: float) -> float:
        """The largest x with P(X < x) <= p, to the last bit."""
        low, high = self.lower, math.nextafter(self.upper, math.inf)
        while (middle := low + (high - low) / 2) not in (low, high):
            low, high = (middle, high) if float(self.below(np.array(middle))) <= p else (low, middle)
        return low

    def shares(self, bins: int) -> Floats:
        """The probabilities of equal bins, the last of which holds the upper bound."""
        inner = self.below(np.linspace(self.lower, self.upper, bins + 1)[1:-1])
        return np.diff(inner, prepend=0.0, append=1.0)


def _salaries(middle: float, sigma: float, lower: float, upper: float) -> Population:
    """A log-normal law with this median, clipped at both bounds."""
    mu = math.log(middle)

    def moment(k: int) -> float:
        a, b = ((math.log(end) - mu) / sigma for end in (lower, upper))
        inside = math.exp(k * mu + (k * sigma) ** 2 / 2) * (ndtr(b - k * sigma) - ndtr(a - k * sigma))
        return float(lower**k * ndtr(a) + inside + upper**k * ndtr(-b))

    return Population(
        lower,
        upper,
        lambda generator, rows: np.clip(generator.lognormal(mu, sigma, rows), lower, upper),
        mean=moment(1),
        variance=moment(2) - moment(1) ** 2,
        below=lambda x: np.asarray(ndtr((np.log(x) - mu) / sigma)),
    )


POPULATIONS = {
    "uniform": Population(
        0, 100, lambda generator, rows: generator.uniform(0, 100, rows), 50, 100**2 / 12, lambda x: x / 100
    ),
    "salaries": _salaries(45_000, 0.5, 10_000, 150_000),
    "two points": Population(
        0,
        100,
        lambda generator, rows: np.where(generator.random(rows) < 0.3, 100.0, 0.0),
        30,
        0.3 * 0.7 * 100**2,
        lambda x: np.full_like(x, 0.7),
    ),
    "near a bound": Population(
        0,
        100,
        lambda generator, rows: generator.uniform(95, 100, rows),
        97.5,
        5**2 / 12,
        lambda x: np.clip((x - 95) / 5, 0, 1),
    ),
    "constant": Population(0, 100, lambda _, rows: np.full(rows, 40.0), 40, 0, lambda x: np.asarray(x > 40, float)),
}
