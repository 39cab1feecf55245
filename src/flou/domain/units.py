"""The rule for the cells of a grid: whole numbers of small units, so that no engine can round a row into another cell.

Engines do not promise IEEE arithmetic. Polars divides by a constant in some batches and multiplies by its reciprocal in
others. Other engines may fuse a product and a sum. How rows are cut into batches depends on how many rows there are, so
a quotient that is rounded differently would let one row move the code of another. Therefore a code is made of steps
whose results are the same however they are computed:

    x - origin       exact: the origin is 0, or a bound that is within a factor of two of every value (Sterbenz's lemma)
    times 2^s        exact: a power of two
    floor            exact: a whole number of units, of size at most 2^51
    less A - 1/2     exact: D + 1/2 with D a whole number from 0 to about 2^50
    over m           at least 1 / (2 m) away from every whole number, and rounded by far less than that
    floor            the code

Why        D = k m + r with 0 <= r < m, so (D + 1/2) / m lies between k + 1 / (2 m) and k + 1 - 1 / (2 m). A division,
           or a product with the rounded reciprocal, errs by at most 2^-51 of the quotient. The quotient is less than
           2^51 / (2 m), so it errs by less than 1 / (2 m), and its floor is k
Coarser    floor(floor((D + 1/2) / m) / 2^b) = floor((D + 1/2) / (2^b m)): the code on a grid whose cells are 2^b times
           as wide is the code without its last b bits
Edges      cell k begins at A + k m units: at the decimal that was asked for, or below it by at most one unit a cell and
           some for the rounding of doubles; a unit is at most 2^-49 of the range. So 0.6 lies in the cell that begins
           at 0.6, although the double next to 0.6 is smaller
Limits     cells that are neither whole numbers of units nor much wider than one have no such rule
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from flou.parameters import exact

__all__ = ["Units"]

BITS = 50  # of the number of units between the bounds
MOVED = 64  # no edge is moved by more than one part in 64 of a cell


@dataclass(frozen=True, slots=True)
class Units:
    """The rule of one grid: code = floor((floor((x - origin) scale) - start) / width)."""

    origin: float
    scale: float  # a power of two: how many units make 1
    start: float  # A - 1/2
    width: float  # m: how many units make a cell
    near_zero: bool  # whether numbers between -1 and 1 are floored first: scaled, they could be too small for a double

    @classmethod
    def of(cls, lower: float, upper: float, cells: int, width: Fraction) -> Units | None:
        """The rule for a number of cells of this width from ``lower`` on; None where there is none."""
        origin, shift, first, coarseness = _placed(lower, upper)
        units = width * Fraction(2) ** shift
        whole = math.floor(units)
        fits = units.denominator == 1
        if whole == 0 or not (fits or MOVED * cells <= whole):
            return None
        slack = 0 if fits and first.denominator == 1 else coarseness
        return cls._from(origin, shift, first, slack if MOVED * slack <= whole else 0, whole)

    @classmethod
    def fine(cls, lower: float, upper: float, bits: int) -> Units:
        """The rule for 2^bits cells, at most 2^31 of them: all values have a cell, and the last cells may be empty."""
        origin, shift, first, coarseness = _placed(lower, upper)
        last = math.floor((Fraction(upper) - Fraction(origin)) * Fraction(2) ** shift)
        slack = coarseness if first.denominator > 1 else 0
        whole = -(-(last - math.floor(first) + slack + 1) >> bits)
        return cls._from(origin, shift, first, slack if MOVED * slack <= whole else 0, whole)

    @classmethod
    def _from(cls, origin: float, shift: int, first: Fraction, slack: int, width: int) -> Units:
        start = math.floor(first) - slack - 0.5
        return cls(origin, 2.0**shift, start, float(width), shift < 0 and origin == 0)

    @property
    def step(self) -> float:
        """The width of a cell in the units of the values: a double, exactly."""
        return self.width / self.scale

    def coarser(self, bits: int) -> Units:
        """The rule for cells that are 2^bits times as wide: its codes are these without their last bits."""
        return replace(self, width=self.width * 2.0**bits)

    def quotients(self, x: NDArray[np.float64], out: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """(D + 1/2) / m for every number: its floor is the code, where the grid has that one. NaN stays NaN."""
        if self.near_zero:
            x = np.where(np.abs(x) < 1, np.floor(x), x)
        places = np.subtract(x, self.origin, out=out) if self.origin else x
        places = np.multiply(places, self.scale, out=out)
        places = np.floor(places, out=out)
        places = np.subtract(places, self.start, out=out)
        return np.divide(places, self.width, out=out)


def _placed(lower: float, upper: float) -> tuple[float, int, Fraction, int]:
    """What all grids between two bounds share: origin, power of two, where cells begin, and how coarse doubles are."""
    shift = min(BITS - math.frexp(upper - lower)[1], 1023)  # 2^1023 is the largest power that is a double
    near = (lower > 0 and upper <= 2 * lower) or (upper < 0 and lower >= 2 * upper)
    scale = Fraction(2) ** shift
    coarseness = math.ceil(Fraction(max(math.ulp(lower), math.ulp(upper))) * scale) + 1
    first = Fraction(0) if near else exact(lower) * scale
    return lower if near else 0.0, shift, first, coarseness
