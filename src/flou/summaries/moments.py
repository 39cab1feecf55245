"""First and second moments of a column, as exact integers whose sensitivity is known exactly.

Write t for the place of a value between its bounds, 0 to 1. With T = K t and h = K t (1 - t) rounded to integers, the
row contributes (K - T - h, 2 h, T - h) = K ((1 - t)^2, 2 t (1 - t), t^2): three numbers of at least 0 that add up to K.
So the L1 norm of a row is K whatever its value, and the second moment costs nothing beyond the first. Two rows
differ by at most K in (T, h) as well, because |t - t'| (1 + |1 - t - t'|) <= 1.

Small whole-number domains are exact. Otherwise T comes from a grid of K / 2 cells and h is rounded to steps of 2^-18 K
(``Spread``) on a grid of at most 2^26 cells: h is then at most half a step and 2^-27 K more than T or K - T, which
pushes a row past K by at most twice that. ``bound`` includes it.

The grid moves a value by at most half a cell, and so it moves a mean. A mean uses 2^26 cells: the sum of a hundred
million rows is then exact in one double (``duck/query.py``). In the worst case, when all rows are moved the same way,
the mean moves by 2^-27 = 0.75e-8 of the range. The noise for that many rows at epsilon = 1 is about 1.4e-8. Where
values fall anywhere in their cells, the mean moves far less. Intervals include the worst case. A total adds up the
moves of n rows, and where it counts from zero n is not known: it uses 2^31 cells, and moves by 2^-32 n of the range, a
fortieth of the range for n = 10^8.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flou.domain import Domain, Interval, Numbers, require_numbers
from flou.domain.rule import Codes, Rule
from flou.summaries.request import Code, Sums

__all__ = ["LARGEST_SPREAD", "OF_MEANS", "OF_TOTALS", "SPREAD_CELLS", "STEPS", "MomentGrid", "Moments", "Spread"]

OF_MEANS, OF_TOTALS = 2**26, 2**31  # cells
MOST_EXACT = 2**15  # the largest code whose square is summed as it is
STEPS = 2**18  # of t (1 - t) in 1
LARGEST_SPREAD = STEPS // 4
SPREAD_CELLS = 2**26  # the largest number of cells from which a spread is computed
HALF_A_CELL = 0.5 + 2**-10  # and some units of the rule (``domain/rule.py``), of which a cell has 2^18 at least


@dataclass(frozen=True)
class Spread(Rule):
    """t (1 - t) for the place t of a value between its bounds: a code like any other, computed from a finer one.

    Rule       with f the cell of the value on a fine grid of C cells, C a power of two up to 2^26, and
               w = f - (C - 1) / 2, its place from the middle: 2^16 - floor(w^2 2^18 / C^2 + 1/2), which is t (1 - t) in
               steps of 2^-18, 0 to 2^16
    Why        t (1 - t) = 1/4 - (t - 1/2)^2, and w = C (t - 1/2) at the middle of the cell; a square is one operation
    Numerics   every step is exact, however an engine computes it: 2 w is a whole number of at most 26 bits, so that w^2
               has at most 52; scaling by a power of two changes no digit; and adding 1/2 to a multiple of 2^-36 below
               2^16 leaves at most 53
    Error      at most half a step
    """

    grid: Interval

    def __post_init__(self) -> None:
        assert self.grid.size <= SPREAD_CELLS

    @property
    def size(self) -> int:
        return LARGEST_SPREAD + 1

    @property
    def middle(self) -> float:
        """The middle of the codes of the grid."""
        return (self.grid.size - 1) / 2

    @property
    def scale(self) -> float:
        """The steps in the square of a cell's width: a power of two."""
        return STEPS / self.grid.size**2

    @property
    def missing_code(self) -> int:
        return int(self.of(np.array([self.grid.missing_code]))[0])

    def encode(self, values: object) -> Codes:
        """The spread of each row."""
        return self.of(self.grid.encode(values))

    def of(self, cells: Codes) -> Codes:
        """The spread of each cell."""
        w = cells.astype(np.float64) - self.middle
        return LARGEST_SPREAD - np.floor(w * w * self.scale + 0.5).astype(np.int64)


@dataclass(frozen=True)
class Moments:
    """Sums over rows: the number of rows, the sum of T, and the sum of h."""

    rows: int
    first: int
    spread: int

    def __add__(self, other: Moments) -> Moments:
        return Moments(self.rows + other.rows, self.first + other.first, self.spread + other.spread)


@dataclass(frozen=True)
class MomentGrid:
    """How a column becomes moments: t = 0 at ``lower`` and 1 at ``upper``, in units of 1/K."""

    column: str
    domain: Numbers
    lower: float
    upper: float
    width: float  # of all cells together: in some grids they reach a little beyond ``upper``
    unit: int  # K; on a grid of cells twice their number, so that the middle of cell f lies at 2 f + 1
    bound: int  # the largest L1 norm of a row
    rounding: float  # how far a value may be moved, in its own units
    exact: bool

    @classmethod
    def of(cls, column: str, domain: Domain, cells: int = OF_MEANS) -> MomentGrid:
        """The grid of a domain: its own where that is exact, otherwise a grid of ``cells`` cells."""
        numbers = require_numbers(column, domain, "sum", "Only numbers can be added.")
        last, (low, high) = numbers.size - 1, numbers.bounds
        if numbers.discrete and last <= MOST_EXACT:
            return cls(column, numbers, low, high, high - low, last**2, last**2, 0.0, True)
        grid, unit = numbers.interval.fine(cells.bit_length() - 1), 2 * cells
        bound = unit + unit // STEPS + unit // SPREAD_CELLS + 4
        return cls(column, grid, *grid.bounds, grid.step * cells, unit, bound, grid.step * HALF_A_CELL, False)

    @property
    def spreads(self) -> bool:
        """Whether a row can lie strictly between the two ends."""
        return self.unit > 1

    def request(self, by: Code | None = None) -> Sums:
        """The request to an engine."""
        if self.exact:
            code = Code(self.column, self.domain)
            return Sums(((), (code,), (code, code)), by)
        grid = self.domain.interval
        spread = Spread(grid.coarser(max(grid.size // SPREAD_CELLS, 1).bit_length() - 1))
        return Sums(((), (Code(self.column, grid),), (Code(self.column, spread),)), by)

    def moments(self, sums: NDArray[Any]) -> Moments:
        """The moments from the sums, in exact arithmetic."""
        values = [int(value) for value in sums]
        if self.exact:
            rows, first, squares = values
            last = max(self.domain.size - 1, 1)
            return Moments(rows, last * first, last * first - squares)
        rows, first, spread = values
        return Moments(rows, 2 * first + rows, self.unit // STEPS * spread)
