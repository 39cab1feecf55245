"""t (1 - t) for the place t of a value between its bounds: a code like any other, made of a finer one.

Rule       with f the cell of the value on a ``fine`` grid of C cells, C a power of two up to 2^31, and
           w = f - (C - 1) / 2, its place from the middle: 2^16 less the whole number nearest to w^2 2^18 / C^2, which
           is t (1 - t) in steps of 2^-18, 0 to 2^16
Why        t (1 - t) = 1/4 - (t - 1/2)^2, and w = C (t - 1/2) at the middle of the cell; a square is one operation
Numerics   double operations in exactly this order: the difference (exact), its square, its scaling (exact), and the
           nearest whole number, by adding 3 * 2^51 and taking it away again; so that any engine that has IEEE doubles
           gets the same integers, scaled before that or after
Error      at most half a step, but for the rounding of the square to 53 bits; of up to 2^26 cells a square has 52
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flou.domain import Interval

__all__ = ["MOST", "NEAREST", "STEPS", "Spread", "fine"]

STEPS = 2**18  # of t (1 - t) in 1
MOST = STEPS // 4
NEAREST = 3 * 2.0**51  # doubles from 2^52 to 2^53 are whole: adding this rounds to the nearest, ties to even


def fine(interval: Interval, cells: int) -> Interval:
    """The same bounds in so many cells, a power of two up to 2^31, by a step that is one double wider than their share.

    With the share itself, the upper bound would begin a cell of its own behind the last one, and would have to be
    clipped; engines clip in batches, and one value at its bound makes a whole batch slow. With m 2^e the share and
    1 <= m < 2, the step is wider by 2^-52 / m of it, so that the quotient at the upper bound is at most
    cells (1 - 2^-53): a double, below ``cells``. All cells together move by less than 2^-20 of a cell.
    """
    step = math.nextafter((interval.upper - interval.lower) / cells, math.inf)
    return Interval(
        interval.lower, interval.upper, step=step, granularity=interval.granularity, missing=interval.missing
    )


@dataclass(frozen=True)
class Spread:
    """The spread of the values of an interval, computed from the cells of a ``fine`` grid."""

    grid: Interval

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

    def encode(self, values: object) -> NDArray[np.int64]:
        """The spread of each row."""
        return self.of(self.grid.encode(values))

    def of(self, cells: NDArray[np.int64]) -> NDArray[np.int64]:
        """The spread of each cell."""
        w = cells.astype(np.float64) - self.middle
        return MOST - (w * w * self.scale + NEAREST - NEAREST).astype(np.int64)

    def decode(self, codes: object) -> NDArray[np.float64]:
        """t (1 - t)."""
        return np.asarray(codes, dtype=np.float64) / STEPS

    def to_dict(self) -> dict[str, Any]:
        """That of the values: the spread is no domain of its own."""
        return self.grid.to_dict()
