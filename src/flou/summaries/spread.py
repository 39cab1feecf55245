"""t (1 - t) for the place t of a value between its bounds: a code like any other, made of a finer one.

Rule       with f the cell of the value on a fine grid of C cells, C a power of two up to 2^26, and
           w = f - (C - 1) / 2, its place from the middle: 2^16 - floor(w^2 2^18 / C^2 + 1/2), which is t (1 - t) in
           steps of 2^-18, 0 to 2^16
Why        t (1 - t) = 1/4 - (t - 1/2)^2, and w = C (t - 1/2) at the middle of the cell; a square is one operation
Numerics   every step is exact, however an engine computes it: 2 w is a whole number of at most 26 bits, so that w^2 has
           at most 52; scaling by a power of two changes no digit; and adding 1/2 to a multiple of 2^-36 below 2^16
           leaves at most 53
Error      at most half a step
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flou.domain import Interval
from flou.domain.rule import Codes, Rule

__all__ = ["MOST", "STEPS", "Spread"]

STEPS = 2**18  # of t (1 - t) in 1
MOST = STEPS // 4
LARGEST = 2**26  # cells of the grid


@dataclass(frozen=True)
class Spread(Rule):
    """The spread of the values of an interval, computed from the cells of a fine grid."""

    grid: Interval

    def __post_init__(self) -> None:
        assert self.grid.size <= LARGEST

    @property
    def size(self) -> int:
        return MOST + 1

    @property
    def middle(self) -> float:
        """Of the codes of the grid."""
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
        return MOST - np.floor(w * w * self.scale + 0.5).astype(np.int64)
