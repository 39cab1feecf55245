"""Made-up populations of numbers between public bounds, whose mean, variance and shares are known in closed form.

They are the shapes on which intervals are tried: a plain one, a skewed one that is clipped at its bounds, one with
nothing between its two ends, one close to a bound, and one that does not vary at all; and the hard ones, whose mean and
variance hang on rows that a small sample does not see: rare events, and two heavy tails.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from flou.arrays import Floats
from flou.laws.normal import ndtr

__all__ = ["FULL", "HARD", "POPULATIONS", "Generator", "Population"]

Generator: TypeAlias = np.random.Generator


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


def _events(chance: float) -> Population:
    """100 with this probability, and 0 otherwise."""
    return Population(
        0,
        100,
        lambda generator, rows: np.where(generator.random(rows) < chance, 100.0, 0.0),
        100 * chance,
        chance * (1 - chance) * 100**2,
        lambda x: np.full_like(x, 1 - chance),
    )


def _tail(index: float, upper: float) -> Population:
    """A Pareto law from 1 on, with this index and clipped at the upper bound; the lower one is 0."""

    def moment(k: int) -> float:
        return float((index - k * upper ** (k - index)) / (index - k))

    return Population(
        0,
        upper,
        lambda generator, rows: np.minimum((1 - generator.random(rows)) ** (-1 / index), upper),
        mean=moment(1),
        variance=moment(2) - moment(1) ** 2,
        below=lambda x: 1 - np.maximum(x, 1.0) ** -index,
    )


FULL = ("uniform", "salaries", "two points")  # shapes that fill their bounds
HARD = ("rare events", "incomes", "heavy tail")  # shapes of which a small sample does not see what matters

POPULATIONS = {
    "uniform": Population(
        0, 100, lambda generator, rows: generator.uniform(0, 100, rows), 50, 100**2 / 12, lambda x: x / 100
    ),
    "salaries": _salaries(45_000, 0.5, 10_000, 150_000),
    "two points": _events(0.3),
    "near a bound": Population(
        0,
        100,
        lambda generator, rows: generator.uniform(95, 100, rows),
        97.5,
        5**2 / 12,
        lambda x: np.clip((x - 95) / 5, 0, 1),
    ),
    "constant": Population(0, 100, lambda _, rows: np.full(rows, 40.0), 40, 0, lambda x: np.asarray(x > 40, float)),
    "rare events": _events(0.005),
    "incomes": _salaries(30_000, 1.0, 1_000, 1_000_000),
    "heavy tail": _tail(1.5, 100),
}
