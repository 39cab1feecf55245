"""Moments with noise, and what follows from them: the one mechanism behind means and sums.

Law        every coordinate of the vector of moments gets noise that fits the price (``price.py``): discrete Laplace of
           scale L1/epsilon, or Gaussian for the L2 norm
Guarantee  that of the price: both sensitivities follow from the norm of a row (``summaries/moments.py``), how many rows
           a unit has, and the relation
Error      a linear function of the moments errs by the same linear function of the noises, whose law is known; a
           ratio such as a mean is bounded by inverting the law of total - m rows, which is noise alone at the true m
Proof      docs/explanation/proofs/moments.md
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flou.arrays import Floats
from flou.central.moments.column_question import ColumnNoise
from flou.central.price import Noise, Price, PricedNoise, Sensitivity, width_of
from flou.central.question import PublicFacts
from flou.summaries.moments import MomentGrid, Moments
from flou.summaries.request import Code, Request
from flou.theory.least_favourable import holds_mean
from flou.theory.tails import accepted_end, surprise

__all__ = ["MomentNoise", "NoisyMoments", "mean_intervals"]

FINEST = 64  # steps of its grid that the noise is wide at least: its law is the continuous one to 1e-5
CAUTION = (
    0.5  # deviations of its noise by which an estimated spread is raised: measured, see docs/explanation/coverage.md
)
ROUGHLY = 1e-3  # of its distance: how far an end for the population may be rounded outwards


@dataclass(frozen=True)
class MomentNoise(ColumnNoise):
    """The mechanism: which coordinates are released, and with how much noise."""

    grid: MomentGrid
    price: Price
    facts: PublicFacts
    from_zero: bool = False  # only sums from zero are wanted, so rows need no coordinate of their own

    @property
    def known_rows(self) -> int | None:
        return self.facts.known_rows

    @property
    def short(self) -> bool:
        """Whether (T, h) is released, rather than three coordinates."""
        return self.known_rows is not None or self.from_zero

    @property
    def sensitivity(self) -> Sensitivity:
        """In units of 1/K of a row."""
        bound = self.grid.bound
        if self.known_rows is not None:  # (T, h) moves by at most K in all when one row changes
            return Sensitivity(bound, bound**2)
        return Sensitivity.of_rows(bound, self.facts)

    @cached_property
    def steps(self) -> int:
        """Steps of the noise's grid in 1/K of a row."""
        return max(1, math.ceil(FINEST / self.price.width(self.sensitivity)))

    @cached_property
    def _priced(self) -> PricedNoise:
        return self.price.noise(self.sensitivity.times(self.steps), self.facts)

    @property
    def mechanism(self) -> Noise:
        return self._priced.mechanism

    @cached_property
    def row(self) -> int:
        """A row, in steps of the noise's grid."""
        return self.steps * self.grid.unit

    def request(self, by: Code | None) -> Request:
        return self.grid.request(by)

    def vector(self, moments: Moments) -> dict[str, int]:
        """The coordinates that are released, before noise, in units of 1/K of a row."""
        if self.short:
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

    def coordinates(self, exact: NDArray[Any]) -> list[int]:
        return [self.steps * value for value in self.vector(self.grid.moments(exact)).values()]

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return tuple(self.vector(Moments(0, 0, 0)))

    def noisy(self, coordinates: list[int]) -> NoisyMoments:
        found = zip(self._names, coordinates, strict=True)
        return NoisyMoments(self, {name: value / self.row for name, value in found})

    def described(self) -> dict[str, Any]:
        return self._priced.described(on=" on unit-norm moments", grid=f"1/{self.row} of a row")


@dataclass(frozen=True)
class NoisyMoments:
    """The released coordinates, in rows, and their linear functions."""

    noise: MomentNoise
    noisy: dict[str, float]

    @cached_property
    def scale(self) -> float:
        """Of the noise on each coordinate, in rows: the Laplace scale, or the sigma of a Gaussian."""
        return width_of(self.noise.mechanism.noise) / self.noise.row

    def _linear(self, name: str) -> dict[str, float]:
        """rows, total (the sum of t) and spread (the sum of t (1 - t)) as linear functions of the coordinates."""
        short = self.noise.short
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

    def weights(self, **of: float) -> Floats:
        """The weights of the noises, in steps of their grid, in a linear function of rows, total and spread."""
        combined = dict.fromkeys(self.noisy, 0.0)
        for name, weight in of.items():
            for coordinate, w in self._linear(name).items():
                if coordinate in combined:
                    combined[coordinate] += weight * w
        return np.array(list(combined.values())) / self.noise.row

    def cautious(self, **of: float) -> float:
        """A sum that is at least 0: its released value, or 0, and half a standard deviation of its noise more."""
        deviation = self.noise.mechanism.noise.standard_deviation * math.sqrt(np.sum(self.weights(**of) ** 2))
        return max(sum(weight * self._value(name) for name, weight in of.items()), 0.0) + CAUTION * deviation

    @cached_property
    def mean(self) -> float:
        """The mean of t, between 0 and 1; the middle where there seem to be no rows."""
        return min(max(self.total / self.rows, 0.0), 1.0) if self.rows > 0 else 0.5

    @cached_property
    def variance(self) -> float:
        """The variance of t, a little more rather than less, and never more than is possible with this mean."""
        rows, m = max(self.rows, 1.0), self.mean
        most = m * (1 - m) + self.scale / rows
        if not self.noise.grid.spreads:
            return min(most, 0.25)
        return min(self.cautious(total=1 - 2 * m, spread=-1.0, rows=m**2) / rows, most, 0.25)


def mean_intervals(groups: Sequence[NoisyMoments], level: float, *, sampling: bool) -> Floats:
    """For every group, the ends of all means m in [0, 1] at which the released total - m rows is no surprise.

    For the rows it is noise alone. For the population that they are a sample of, it is noise and the least favourable
    sample of mean m; what holds the rows is held for the population too.
    """
    noise, grid = groups[0].noise.mechanism.noise, groups[0].noise.grid
    of_total, of_rows = groups[0].weights(total=1.0), groups[0].weights(rows=1.0)
    total, rows, mean = (np.array([getattr(group, name) for group in groups]) for name in ("total", "rows", "mean"))
    variance = np.array([group.variance for group in groups])

    def noisy(m: Floats) -> NDArray[np.bool_]:
        weights = of_total - m[..., None] * of_rows
        return surprise(noise, weights, np.zeros(()), total[:, None] - m * rows[:, None]) >= 1 - level

    tail, n = (1 - level) / 2, np.maximum(np.ceil(rows), 1.0)

    def sampled(m: Floats) -> NDArray[np.bool_]:
        return holds_mean(
            noise,
            of_total - m[..., None] * of_rows,
            rows=n[:, None],
            found=(mean[:, None], variance[:, None]),
            top=1.0,
            candidate=m,
            seen=(mean[:, None] - m) * np.maximum(rows, 0.0)[:, None],  # the total, moved to where it can be
            tail=tail,
            whole=not grid.spreads,
        )

    far = np.broadcast_to([[0.0], [1.0]], (2, len(groups)))
    ends = accepted_end(noisy, mean, far)
    if not sampling:
        return ends
    # Chebyshev: a total d away is a surprise from where tail d^2 = n variance + d + the variance of the noise
    known = n * variance + noise.variance * np.sum((np.abs(of_total) + np.abs(of_rows)) ** 2)
    reach = (1 + np.sqrt(1 + 4 * tail * known)) / (2 * tail) / np.maximum(rows, 1.0)
    return accepted_end(sampled, ends, np.clip([mean - reach, mean + reach], 0.0, 1.0), ROUGHLY)
