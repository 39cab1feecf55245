"""The rules for public lists: a value's place in a list, and truth values."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import repeat
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from flou.domain.column import each, real
from flou.domain.rule import Codes, Rule

__all__ = ["Lookup", "Truth", "Value"]

Value: TypeAlias = str | int | bool

BLOCK = 2**16  # rows that become Python objects at a time
SPAN = 2**20  # numbers closer together than this are looked up in a table


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
