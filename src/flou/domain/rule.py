"""How a value becomes a code: the rules that every engine can compute.

A domain has one of these rules, and each engine translates it: NumPy here, DuckDB in ``summaries/duck/sql.py``, lazy
frames in ``summaries/lazy/codes.py``. A new kind of column whose codes follow a rule of this list works on all engines.

Cells      numbers: whole numbers of units, divided by the width of a cell and clamped
Wholes     numbers: the floor, minus the lower bound, clamped
Lookup     texts, whole numbers, truth values: the place in a public list (``lookup.py``)
Truth      truth values, and the numbers 1 and 0 (``lookup.py``)

The code of a row depends on that row alone: no value in another row changes it, and no value raises an error. Whatever
has no code of its own (NULL, NaN, another type) gets the ``missing_code``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from flou.domain.column import column, each, is_numeric, real
from flou.parameters import exact

__all__ = ["Cells", "Codes", "Rule", "Units", "Wholes"]

Codes: TypeAlias = NDArray[np.int64]

FARTHEST = 2**62  # sums and differences of two whole numbers of this size stay within 64 bits
IN_CACHE = 2**15  # rows at a time
BITS = 50  # of the number of units between the bounds
MOVED = 64  # no edge is moved by more than one part in 64 of a cell


class Rule(ABC):
    """Codes 0, 1, ..., size - 1, and which of them a value has."""

    increasing: ClassVar[bool] = False  # whether codes never decrease as numbers grow

    @property
    def rule(self) -> Rule:
        """The rule itself: engines accept a rule as well as a domain."""
        return self

    @property
    @abstractmethod
    def size(self) -> int:
        """How many codes there are."""

    @property
    @abstractmethod
    def missing_code(self) -> int:
        """The code of a row that holds nothing usable."""

    def encode(self, values: object) -> Codes:
        """The code of each row."""
        rows, null = column(values)
        codes = self._numbers(rows) if is_numeric(rows) else self._elements(rows)
        if null is not None:
            codes[null] = self.missing_code
        return codes

    def _numbers(self, rows: NDArray[Any]) -> Codes:
        """The codes of an array whose type promises numbers, or truth values."""
        raise NotImplementedError

    def _elements(self, rows: NDArray[Any]) -> Codes:
        """The codes of anything else, element by element."""
        return each(rows, self._element, self.missing_code, np.int64)

    def _element(self, element: Any) -> int:
        """The code of one element."""
        raise NotImplementedError

    @property
    def last(self) -> int:
        """The largest code that a row can have."""
        return self.size - 1

    @property
    def portable(self) -> bool:
        """Whether all engines compute the same codes."""
        return True


@dataclass(frozen=True, slots=True)
class Units:
    """The rule of one grid: code = floor((floor((x - origin) scale) - start) / width).

    Cells are whole numbers of small units, so that no engine can round a row into another cell. Engines do not promise
    IEEE arithmetic. Polars divides by a constant in some batches and multiplies by its reciprocal in others. Other
    engines may fuse a product and a sum. How rows are cut into batches depends on how many rows there are, so a
    quotient that is rounded differently would let one row move the code of another. Therefore a code is made of steps
    whose results are the same however they are computed:

        x - origin       exact: the origin is 0, or a bound that is within a factor of two of every value (Sterbenz)
        times 2^s        exact: a power of two
        floor            exact: a whole number of units, of size at most 2^51
        less A - 1/2     exact: D + 1/2 with D a whole number from 0 to about 2^50
        over m           at least 1 / (2 m) away from every whole number, and rounded by far less than that
        floor            the code

    Why        D = k m + r with 0 <= r < m, so (D + 1/2) / m lies between k + 1 / (2 m) and k + 1 - 1 / (2 m). A
               division, or a product with the rounded reciprocal, errs by at most 2^-51 of the quotient. The quotient
               is less than 2^51 / (2 m), so it errs by less than 1 / (2 m), and its floor is k
    Coarser    floor(floor((D + 1/2) / m) / 2^b) = floor((D + 1/2) / (2^b m)): the code on a grid whose cells are 2^b
               times as wide is the code without its last b bits
    Edges      cell k begins at A + k m units: at the decimal that was asked for, or below it by at most one unit a cell
               and some for the rounding of doubles; a unit is at most 2^-49 of the range. So 0.6 lies in the cell that
               begins at 0.6, although the double next to 0.6 is smaller
    Limits     cells that are neither whole numbers of units nor much wider than one unit have no such rule
    """

    origin: float
    scale: float  # a power of two: how many units make 1
    start: float  # A - 1/2
    width: float  # m: how many units make a cell
    near_zero: bool  # whether numbers between -1 and 1 are floored first: scaled, they could be too small for a double

    @classmethod
    def of(cls, lower: float, upper: float, cells: int, width: Fraction) -> Units | None:
        """The rule for a number of cells of this width from ``lower`` on; None where no such rule exists."""
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
        """(D + 1/2) / m for every number: its floor is the code, where the grid has that code. NaN stays NaN."""
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


@dataclass(frozen=True, slots=True)
class Cells(Rule):
    """Numbers between two bounds: ``cells`` of width ``step``, in ``units`` where there is a rule without rounding."""

    increasing: ClassVar[bool] = True

    lower: float
    upper: float
    cells: int
    step: float
    missing: float
    units: Units | None
    last: int = field(init=False)  # the code of the upper bound, and of all that lies beyond
    missing_code: int = field(init=False)

    def __post_init__(self) -> None:
        top, missing = self._quotients(np.array([self.upper, self.missing])).tolist()
        object.__setattr__(self, "last", min(int(top), self.cells - 1))
        object.__setattr__(self, "missing_code", int(min(max(missing, 0.0), self.last)))

    @property
    def size(self) -> int:
        return self.cells

    @property
    def portable(self) -> bool:
        return self.units is not None

    def coarser(self, bits: int) -> Cells:
        """The rule for cells that are 2^bits times as wide: its codes are these without their last bits."""
        assert self.units is not None
        units = self.units.coarser(bits)
        return replace(self, cells=-(-self.cells >> bits), step=units.step, units=units)

    def _numbers(self, rows: NDArray[Any]) -> Codes:
        codes = np.empty(len(rows), dtype=np.int64)
        room = np.empty(min(len(rows), IN_CACHE), dtype=np.float64)
        with np.errstate(all="ignore"):  # a signalling NaN
            for start in range(0, len(rows), IN_CACHE):
                part = rows[start : start + IN_CACHE]
                numbers = self._quotients(part.astype(np.float64, copy=False), room[: len(part)])
                if not (numbers.max() < self.last + 1 and numbers.min() >= 0):  # or one is NaN
                    self._clipped(numbers)[np.isnan(numbers)] = self.missing_code
                codes[start : start + IN_CACHE] = numbers
        return codes

    def _elements(self, rows: NDArray[Any]) -> Codes:
        return self._numbers(each(rows, _as_float, math.nan, np.float64))

    def _quotients(self, x: NDArray[np.float64], out: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """The codes of numbers within the bounds, before the cast that drops the digits after the point; NaN stays."""
        if self.units is not None:
            return self.units.quotients(x, out)
        places = np.subtract(x, self.lower, out=out) if self.lower else x  # which is the same without lower
        return np.divide(places, self.step, out=out)

    def _clipped(self, quotients: NDArray[np.float64]) -> NDArray[np.float64]:
        """The same array, within the bounds.

        Rounding is monotone: whatever lies beyond a bound, also an infinite quotient, is clipped to the bound's code.
        Afterwards nothing is below 0, where the cast would not be the floor.
        """
        return np.clip(quotients, 0.0, self.last, out=quotients)


@dataclass(frozen=True, slots=True)
class Wholes(Rule):
    """Whole numbers from ``lower`` to ``upper``; integers never pass through floats."""

    increasing: ClassVar[bool] = True

    lower: int
    upper: int
    missing: int

    @property
    def size(self) -> int:
        return self.upper - self.lower + 1

    @property
    def missing_code(self) -> int:
        return self.missing - self.lower

    def _numbers(self, rows: NDArray[Any]) -> Codes:
        lost = None
        if rows.dtype.kind == "f":
            with np.errstate(all="ignore"):  # a signalling NaN
                floors = np.floor(rows.astype(np.float64))
            lost = np.isnan(floors)
            floors[lost] = 0
            whole = np.clip(floors, -(2.0**62), 2.0**62).astype(np.int64)
        elif rows.dtype.kind == "u":
            whole = np.minimum(rows.astype(np.uint64), np.uint64(FARTHEST)).astype(np.int64)
        else:
            whole = rows.astype(np.int64)
        codes = np.clip(whole, self.lower, self.upper)
        codes -= self.lower
        if lost is not None:
            codes[lost] = self.missing_code
        return codes

    def _element(self, element: Any) -> int:
        number = real(element)
        if number is None or number != number:
            return self.missing_code
        # Compared first: the floor of Decimal("1e999999") has a million digits.
        if number <= self.lower:
            return 0
        return (self.upper if number >= self.upper else math.floor(number)) - self.lower


def _as_float(element: Any) -> float:
    number = real(element)
    if number is None:
        return math.nan
    try:
        return float(number)
    except OverflowError:  # an integer or a fraction beyond the largest double
        return math.inf if number > 0 else -math.inf
