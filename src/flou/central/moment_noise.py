"""Moments with noise, and what follows from them: the one mechanism behind means and sums.

Law        every coordinate of the vector of moments gets discrete Laplace noise of scale sensitivity / epsilon
Guarantee  epsilon-DP: the vector's L1 sensitivity follows from the norm of a row (``summaries/moments.py``), how many
           rows a unit has, and the relation
Error      a linear function of the moments errs by the same linear function of the noises, whose law is known; a
           ratio such as a mean is bounded by inverting the law of total - m rows, which is noise alone at the true m
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from flou.bits import Bits
from flou.laws.law import Floats
from flou.mechanisms import Laplace
from flou.parameters import Number, Relation, exact
from flou.summaries.moments import MomentGrid, Moments
from flou.theory.noise_and_sampling import Spread

__all__ = ["MomentNoise", "NoisyMoments"]

FINEST = 64  # the noise is at least so many steps of its grid wide: its law is the continuous one to 1e-5


@dataclass(frozen=True)
class MomentNoise:
    """The mechanism: which coordinates are released, and with how much noise."""

    grid: MomentGrid
    epsilon: Fraction
    changes: int  # rows that leave or enter between neighbours
    known_rows: int | None
    relation: Relation
    total_only: bool  # only sums from zero are wanted, so rows need no coordinate of their own

    @property
    def sensitivity(self) -> int:
        """In units of 1/K of a row."""
        # with the number of rows known, or not wanted, (T, h) moves by at most K in all when one row changes
        return self.grid.bound * (1 if self.known_rows is not None else self.changes)

    @property
    def steps(self) -> int:
        """Steps of the noise's grid in 1/K of a row."""
        return max(1, math.ceil(FINEST * self.epsilon / self.sensitivity))

    def mechanism(self, unit: str) -> Laplace:
        return Laplace(
            sensitivity=self.steps * self.sensitivity, epsilon=self.epsilon, relation=self.relation, unit=unit
        )

    def vector(self, moments: Moments) -> dict[str, int]:
        """The coordinates that are released, before noise, in units of 1/K of a row."""
        if self.known_rows is not None or self.total_only:
            vector = {"first": moments.first, "spread": moments.spread}
        else:
            vector = {
                "low": moments.rows * self.grid.unit - moments.first - moments.spread,
                "spread": moments.spread * 2,
                "high": moments.first - moments.spread,
            }
        if not self.grid.spreads:
            vector.pop("spread")
        return vector

    def release(self, moments: Moments, *, unit: str, bits: Bits) -> NoisyMoments:
        """Draw the noise."""
        mechanism, vector = self.mechanism(unit), self.vector(moments)
        scale = self.steps * self.grid.unit
        noisy = {
            name: float(Fraction(mechanism.sample(self.steps * v, bits=bits), scale)) for name, v in vector.items()
        }
        return NoisyMoments(self, noisy)


@dataclass(frozen=True)
class NoisyMoments:
    """The released coordinates, in rows, and their linear functions."""

    noise: MomentNoise
    noisy: dict[str, float]

    @property
    def scale(self) -> float:
        """Of the Laplace noise on each coordinate, in rows."""
        return float(self.noise.sensitivity / self.noise.epsilon / self.noise.grid.unit)

    def _linear(self, name: str) -> dict[str, float]:
        """rows, total (the sum of t) and spread (the sum of t (1 - t)) as linear functions of the coordinates."""
        short = self.noise.known_rows is not None or self.noise.total_only
        return {
            "rows": {} if short else {"low": 1.0, "spread": 1.0, "high": 1.0},
            "total": {"first": 1.0} if short else {"spread": 0.5, "high": 1.0},
            "spread": {"spread": 1.0 if short else 0.5},
        }[name]

    def _value(self, name: str) -> float:
        constant = float(self.noise.known_rows or 0) if name == "rows" else 0.0
        return constant + sum(w * self.noisy.get(c, 0.0) for c, w in self._linear(name).items())

    @cached_property
    def rows(self) -> float:
        return self._value("rows")

    @cached_property
    def total(self) -> float:
        return self._value("total")

    def scales(self, **weights: float) -> Floats:
        """The scales of the noises in a linear function of rows, total and spread."""
        combined = dict.fromkeys(self.noisy, 0.0)
        for name, weight in weights.items():
            for coordinate, w in self._linear(name).items():
                if coordinate in combined:
                    combined[coordinate] += weight * w
        return np.abs(np.array(list(combined.values())) * self.scale)

    @cached_property
    def mean(self) -> float:
        """The mean of t, between 0 and 1; the middle where there seem to be no rows."""
        return min(max(self.total / self.rows, 0.0), 1.0) if self.rows > 0 else 0.5

    @cached_property
    def squares(self) -> float:
        """The sum of t^2, a little more rather than less."""
        return min(max(self.total - self._value("spread"), 0.0) + 2 * self.scale, max(self.total, 0.0) + 2 * self.scale)

    @cached_property
    def variance(self) -> float:
        """The variance of t, a little more rather than less, and never more than is possible with this mean."""
        rows, mean = max(self.rows, 1.0), self.mean
        most = mean * (1 - mean) + self.scale / rows
        if not self.noise.grid.spreads:
            return min(most, 0.25)
        found = (self.total - self._value("spread")) / rows - mean**2
        return min(max(found, 0.0) + 2 * self.scale / rows, most, 0.25)

    def mean_interval(self, level: float, *, sampling: bool) -> tuple[float, float]:
        """All means m in [0, 1] at which the released total - m rows is no surprise."""
        tau = math.sqrt(max(self.rows, 1.0) * self.variance) if sampling else 0.0

        def surprise(m: float) -> float:
            """P(|noise and sampling| >= what was seen), at the mean m."""
            return 2 * Spread(self.scales(total=1.0, rows=-m).tolist(), tau).above(abs(self.total - m * self.rows))

        alpha = 1 - level
        return _edge(surprise, self.mean, 0.0, alpha), _edge(surprise, self.mean, 1.0, alpha)


def _edge(surprise: Callable[[float], float], inside: float, outside: float, alpha: float) -> float:
    """The farthest point from ``inside`` towards ``outside`` that is no surprise."""
    points: list[float] = (inside + (outside - inside) * np.linspace(0, 1, 9) ** 4).tolist()
    excess = [math.log(max(surprise(m), 1e-300) / alpha) for m in points]
    held = [i for i, e in enumerate(excess) if e >= 0]
    last = held[-1] if held else 0
    if last == len(points) - 1:
        return outside
    low, high, at_low, at_high = points[last], points[last + 1], max(excess[last], 0.0), excess[last + 1]
    for _ in range(60):  # false position, with the weight of an end that does not move halved (Illinois)
        middle = (low * at_high - high * at_low) / (at_high - at_low)
        value = math.log(max(surprise(middle), 1e-300) / alpha)
        if abs(high - low) <= 1e-9 * abs(outside - inside) or abs(value) < 1e-9:
            return middle
        if value >= 0:
            low, at_low, at_high = middle, value, at_high / 2
        else:
            high, at_high, at_low = middle, value, at_low / 2
    return high


def moment_noise(grid: MomentGrid, epsilon: Number, context: Any, *, from_zero: bool = False) -> MomentNoise:
    """The mechanism for a column in a context."""
    return MomentNoise(
        grid,
        exact(epsilon),
        context.changes,
        context.known_rows,
        context.schema.relation,
        total_only=from_zero and context.known_rows is None,
    )
