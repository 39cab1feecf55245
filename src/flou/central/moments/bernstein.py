"""Four moments for the price of one: a column in the Bernstein basis, with noise.

Law        a row at t in [0, 1] adds K C(4, k) t^k (1 - t)^(4 - k) to coordinate k = 0..4, rounded to integers that add
           up to K exactly (a public table, one line a cell of the grid); each of the five sums gets discrete Laplace
           noise of scale K c / epsilon, c = rows that a unit may have, twice that under substitution; or Gaussian noise
           for the L2 norm K c, sqrt(2) times that under substitution (``price.py``)
Guarantee  that of the price
Why        a line of the table has L1 norm K, and two lines are at most 2 K apart (L1) or sqrt(2) K (L2): checked for
           every pair of cells
Error      every linear function of the moments 0..4 errs by a known sum of five noises
Numerics   exact integers until the noise is drawn; K = 2^28, a grid of at most 2^16 cells
Limits     values are moved to the middle of their cell: at most 2^-17 of the width of the bounds
Source     flou's own; the basis is Bernstein's (1912)
Proof      docs/explanation/proofs/bernstein.md
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flou.arrays import Floats
from flou.central.moments.column_question import ColumnNoise
from flou.central.price import Noise, Price, PricedNoise, Sensitivity, width_of
from flou.central.question import PublicFacts
from flou.domain import Domain, require_numbers
from flou.summaries.request import Code, Counts, Request
from flou.theory.tails import surprise

__all__ = ["DEGREE", "POWERS", "UNIT", "BernsteinGrid", "BernsteinNoise", "NoisyBernstein"]

DEGREE = 4
UNIT = 2**28  # K: rounding the weights moves a moment by less than 2^-28
CELLS = 2**16
TABLE = 2**24  # cells of all groups together
_NONE = np.zeros(())
_LIMB = 14  # bits of a weight multiplied at a time: 2^40 rows stay below 2^54

# t^j = sum over k of C(k, j) / C(4, j) B_k(t): the moments as linear functions of the coordinates
POWERS: Floats = np.array([[comb(k, j) / comb(DEGREE, j) for k in range(DEGREE + 1)] for j in range(DEGREE + 1)])


@lru_cache(maxsize=8)
def weights(numerators: tuple[int, int, int]) -> NDArray[np.int64]:
    """The public table: for the cells t = (first + step i) / last, five integers that add up to UNIT."""
    first, step, cells = numerators
    last = 2 * first + step * (cells - 1)
    t = (first + step * np.arange(cells)) / last
    exact = np.stack([UNIT * comb(DEGREE, k) * t**k * (1 - t) ** (DEGREE - k) for k in range(DEGREE + 1)], axis=1)
    table = np.floor(exact).astype(np.int64)
    order = np.argsort(table - exact, axis=1, kind="stable")  # the largest remainders are rounded up
    missing = UNIT - table.sum(axis=1, keepdims=True)
    table += np.argsort(order, axis=1) < missing
    table.setflags(write=False)
    return table


@dataclass(frozen=True)
class BernsteinGrid:
    """How a column becomes five integers: the grid, and where its cells lie between the bounds."""

    code: Code
    lower: float
    upper: float
    numerators: tuple[int, int, int]
    rounding: float  # how far a row may be moved, as a part of the width

    @classmethod
    def of(cls, column: str, domain: Domain, groups: int = 1) -> BernsteinGrid:
        cells = min(CELLS, 2 ** ((TABLE // groups).bit_length() - 1))
        numbers = require_numbers(column, domain, "variance", "Only numbers spread around a mean.")
        if numbers.discrete and numbers.size <= cells:
            return cls(Code(column, numbers), *numbers.bounds, (0, 1, numbers.size), 0.0)
        grid = numbers.interval.fine(cells.bit_length() - 1)
        return cls(Code(column, grid), *grid.bounds, (1, 2, cells), 0.5 / cells)

    @property
    def width(self) -> float:
        return self.upper - self.lower

    @property
    def table(self) -> NDArray[np.int64]:
        return weights(self.numerators)

    @property
    def active(self) -> tuple[int, ...]:
        """The coordinates that can be other than zero at all: all five, or the two ends of yes and no."""
        return (0, DEGREE) if self.numerators == (0, 1, 2) else tuple(range(DEGREE + 1))

    def request(self, by: Code | None = None) -> Counts:
        return Counts((self.code,) if by is None else (by, self.code))

    def vector(self, counts: NDArray[Any]) -> list[int]:
        """The exact sums of the weights over the rows, limb by limb."""
        held = np.flatnonzero(counts)
        table, rows = self.table[held], counts[held]
        low, high = rows @ (table & (2**_LIMB - 1)), rows @ (table >> _LIMB)
        return [int(a) + (int(b) << _LIMB) for a, b in zip(low, high, strict=True)]


@dataclass(frozen=True)
class BernsteinNoise(ColumnNoise):
    """The noise on the five sums."""

    grid: BernsteinGrid
    price: Price
    facts: PublicFacts

    @cached_property
    def _priced(self) -> PricedNoise:
        return self.price.noise(Sensitivity.of_rows(UNIT, self.facts), self.facts)

    @property
    def sensitivity(self) -> Sensitivity:
        return self._priced.sensitivity

    @property
    def mechanism(self) -> Noise:
        return self._priced.mechanism

    def request(self, by: Code | None) -> Request:
        return self.grid.request(by)

    def coordinates(self, exact: NDArray[Any]) -> list[int]:
        vector = self.grid.vector(exact)
        return [vector[k] for k in self.grid.active]

    def noisy(self, coordinates: list[int]) -> NoisyBernstein:
        sums = np.zeros(DEGREE + 1)
        sums[list(self.grid.active)] = [value / UNIT for value in coordinates]
        return NoisyBernstein(self, sums)

    def described(self) -> dict[str, Any]:
        grid = f"{self.grid.code.domain.size} cells, 2^-28 of a row"
        return self._priced.described(on=" on Bernstein moments of degree 4", grid=grid)


@dataclass(frozen=True, eq=False)
class NoisyBernstein:
    """The released coordinates, in rows, and their linear functions; of one group, or of several on a first axis."""

    noise: BernsteinNoise
    noisy: Floats

    @classmethod
    def together(cls, groups: Sequence[NoisyBernstein]) -> NoisyBernstein:
        return cls(groups[0].noise, np.array([group.noisy for group in groups]))

    @property
    def known_rows(self) -> int | None:
        return self.noise.facts.known_rows

    @cached_property
    def rows(self) -> Any:
        return self.power_sum(0)

    @cached_property
    def scale(self) -> float:
        """Of the noise on a coordinate, in rows: the Laplace scale, or the sigma of a Gaussian."""
        return width_of(self.noise.mechanism.noise) / UNIT

    def linear(self, coefficients: Floats) -> tuple[Any, Floats]:
        """The released values of the sums of sum_k c_k B_k(t), and the weights of the noises in them.

        The coordinates add up to the number of rows. Where that is known, a constant taken off all c_k and given back
        as the constant times the rows leaves the sum as it is and the noise smaller: the mean of the c_k is taken off.
        """
        active = list(self.noise.grid.active)
        used, noisy = coefficients[..., active], self.noisy[..., active]
        between = (1,) * (used.ndim - noisy.ndim)  # the axes of the functions stand behind that of the groups
        noisy = noisy.reshape(*noisy.shape[:-1], *between, len(active))
        if self.known_rows is None:
            return np.sum(used * noisy, axis=-1), used
        level = used.mean(axis=-1, keepdims=True)
        return np.sum((used - level) * noisy, axis=-1) + level[..., 0] * self.known_rows, used - level

    def surprise(self, coefficients: Floats, less: Floats, tau: Floats = _NONE) -> Floats:
        """P(|noise + normal of deviation tau| >= |released value - less|), for each linear function."""
        value, weights = self.linear(coefficients)
        return surprise(self.noise.mechanism.noise, weights / UNIT, tau, value - less)

    def deviation(self, coefficients: Floats) -> Any:
        """The standard deviation of the noise in a linear function."""
        one = self.noise.mechanism.noise.standard_deviation / UNIT
        return one * np.sqrt(np.sum(self.linear(coefficients)[1] ** 2, axis=-1))

    def power_sum(self, j: int) -> Any:
        """The released sum of t^j."""
        return self.linear(POWERS[j])[0]
