"""How a value becomes a code: the few rules that every engine can compute.

A domain gives one of these rules, and each engine translates it: NumPy here, DuckDB in ``summaries/duck/sql.py``, lazy
frames in ``summaries/lazy/codes.py``. A new kind of column whose codes follow a rule of this list works on all engines.

Cells      numbers: whole numbers of units, divided by the width of a cell and clamped (``units.py``)
Wholes     numbers: the floor, less the lower bound, clamped
Lookup     texts, whole numbers, truth values: the place in a public list
Truth      truth values, and the numbers 1 and 0

The code of a row depends on that row alone: no value in another row changes it, and no value raises. Everything that
has no code of its own (NULL, NaN, another type) has the ``missing_code``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from flou.domain.column import column, each, is_numeric, real
from flou.domain.units import Units

__all__ = ["Cells", "Codes", "Lookup", "Rule", "Truth", "Value", "Wholes"]

Codes: TypeAlias = NDArray[np.int64]
Value: TypeAlias = str | int | bool

FARTHEST = 2**62  # sums and differences of two whole numbers of this size stay within 64 bits
IN_CACHE = 2**15  # rows at a time
BLOCK = 2**16  # rows that become Python objects at a time
SPAN = 2**20  # numbers closer together than this are looked up in a table


class Rule(ABC):
    """Codes 0, 1, ..., size - 1, and which of them a value has."""

    increasing: ClassVar[bool] = False  # whether codes never decrease as numbers grow

    @property
    def rule(self) -> Rule:
        """Itself: an engine can be asked for a rule as for a domain."""
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
        """The codes of numbers within the bounds, before the cast that drops what comes after the point; NaN stays."""
        if self.units is not None:
            return self.units.quotients(x, out)
        places = np.subtract(x, self.lower, out=out) if self.lower else x  # which is the same without lower
        return np.divide(places, self.step, out=out)

    def _clipped(self, quotients: NDArray[np.float64]) -> NDArray[np.float64]:
        """The same array, within the bounds.

        Rounding is monotone: whatever lies beyond a bound, also an infinite quotient, is clipped to the bound's code.
        Nothing is below 0 then, where the cast would not be the floor.
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


@dataclass(frozen=True, slots=True)
class Lookup(Rule):
    """The place of a value in a list; texts equal texts, numbers numbers, and truth values truth values only."""

    values: tuple[Value, ...]
    size: int = field()
    missing_code: int = field()
    _by_text: dict[str, int] = field(init=False, repr=False, compare=False)
    _by_number: dict[int, int] = field(init=False, repr=False, compare=False)
    _by_truth: dict[bool, int] = field(init=False, repr=False, hash=False)  # compared: for Python, 1 and True are equal

    def __post_init__(self) -> None:
        for name, kind in (("_by_text", str), ("_by_number", int), ("_by_truth", bool)):
            codes = {value: code for code, value in enumerate(self.values) if type(value) is kind}
            object.__setattr__(self, name, codes)

    @property
    def texts(self) -> bool:
        """Whether all values are texts."""
        return len(self._by_text) == len(self.values)

    @property
    def whole(self) -> bool:
        """Whether all values are whole numbers."""
        return len(self._by_number) == len(self.values)

    def _elements(self, rows: NDArray[Any]) -> Codes:
        codes = np.empty(len(rows), dtype=np.int64)
        for start in range(0, len(rows), BLOCK):
            block, here = rows[start : start + BLOCK], slice(start, start + BLOCK)
            if block.dtype.kind == "U":  # nothing but texts
                found = map(self._by_text.get, block.tolist(), repeat(self.missing_code))
                codes[here] = np.fromiter(found, dtype=np.int64, count=len(block))
            else:
                codes[here] = each(block, self._element, self.missing_code, np.int64)
        return codes

    def _element(self, element: Any) -> int:
        kind = type(element)
        if issubclass(kind, str):
            return self._by_text.get(str.__str__(element), self.missing_code)
        if issubclass(kind, bytes):
            return self._by_text.get(bytes.decode(element), self.missing_code)
        if issubclass(kind, bool | np.bool_):
            return self._by_truth.get(bool(element), self.missing_code)
        number: Any = real(element)
        return self.missing_code if number is None else self._by_number.get(number, self.missing_code)

    def _numbers(self, rows: NDArray[Any]) -> Codes:
        unknown = self.missing_code
        if rows.dtype.kind == "b":
            pair = [self._by_truth.get(answer, unknown) for answer in (False, True)]
            return np.array(pair, dtype=np.int64)[rows.astype(np.int64)]
        if not self._by_number:
            return np.full(len(rows), unknown, dtype=np.int64)
        # Numbers without a place in int64 become one that no category can be.
        if rows.dtype.kind == "f":
            with np.errstate(all="ignore"):  # a signalling NaN
                numbers = rows.astype(np.float64)
                fits = (np.floor(numbers) == numbers) & (np.abs(numbers) < 2.0**63)
            whole = np.where(fits, numbers, -(2.0**63)).astype(np.int64)
        elif rows.dtype.kind == "u":
            whole = np.minimum(rows.astype(np.uint64), np.uint64(2**63 - 1)).astype(np.int64)
        else:
            whole = rows.astype(np.int64)
        known = np.array(sorted(self._by_number), dtype=np.int64)
        places = np.array([self._by_number[number] for number in known.tolist()], dtype=np.int64)
        first, last = int(known[0]), int(known[-1])
        if last - first < SPAN:  # a table from the number to its code, with an unknown one at both ends
            table = np.full(last - first + 3, unknown, dtype=np.int64)
            table[known - (first - 1)] = places
            return table[np.clip(whole, first - 1, last + 1) - (first - 1)]
        nearest = np.minimum(np.searchsorted(known, whole), len(known) - 1)
        return np.where(known[nearest] == whole, places[nearest], unknown)


@dataclass(frozen=True, slots=True)
class Truth(Rule):
    """True and the number 1 have code 1, False and the number 0 have code 0."""

    missing_code: int = field()

    @property
    def size(self) -> int:
        return 2

    def _numbers(self, rows: NDArray[Any]) -> Codes:
        with np.errstate(all="ignore"):  # a signalling NaN
            return np.where(rows == 1, 1, np.where(rows == 0, 0, self.missing_code)).astype(np.int64)

    def _element(self, element: Any) -> int:
        number = real(element)
        return 1 if number == 1 else 0 if number == 0 else self.missing_code


def _as_float(element: Any) -> float:
    number = real(element)
    if number is None:
        return math.nan
    try:
        return float(number)
    except OverflowError:  # an integer or a fraction beyond the largest double
        return math.inf if number > 0 else -math.inf
