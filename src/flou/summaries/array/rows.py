"""Rows in memory: arrays, lists and the columns of data frames, through NumPy, a chunk at a time.

Each column is read when it is first asked about. A column outside of the schema, the conditions and the unit is never
looked at: its contents can neither stop a question nor appear in an error. Opening a table reads only names and
lengths.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, time, timedelta
from math import prod
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from flou.arrays import Booleans
from flou.bits import SYSTEM, Bits
from flou.domain.column import column as as_column
from flou.domain.column import each, is_numeric, real, require_column
from flou.domain.rule import Cells
from flou.errors import InvalidData
from flou.summaries.condition import FUNCTIONS, Both, Comparison, Condition, Either, Negation, fitted, named
from flou.summaries.keys import KeyCounts, counted, listed
from flou.summaries.moments import Spread
from flou.summaries.request import LIMB, Code, Counts, Request, Sums, Term
from flou.summaries.rows import Rows, Spans, Tally, keyed

__all__ = ["ArrayRows"]

CHUNK = 1 << 19
NAMING = (date, time, timedelta, UUID, np.datetime64, np.timedelta64)  # besides texts and numbers
_MASK = (1 << LIMB) - 1


class Columns:
    """Columns of one length as arrays and masks."""

    def __init__(self, columns: Mapping[str, Any]) -> None:
        for name in columns:
            if not isinstance(name, str):
                raise InvalidData(
                    f"The names of columns must be texts, got a {type(name).__name__}.",
                    "A schema declares columns by their names.",
                    "Rename the column.",
                )
        self._given = dict(columns)
        self._read: dict[str, tuple[NDArray[Any], Booleans | None]] = {}  # an engine may copy what it gives
        self.names = tuple(self._given)
        lengths = {self._length(name, values) for name, values in self._given.items()}
        if len(lengths) > 1:
            raise InvalidData(
                "The columns must have the same number of rows.",
                "A row is one value of every column.",
                "Pass columns of equal length.",
            )
        self.rows = next(iter(lengths), 0)

    def _length(self, name: str, values: Any) -> int:
        require_column(values)
        return len(values) if hasattr(values, "__len__") else len(self.read(name)[0])

    def read(self, name: str) -> tuple[NDArray[Any], Booleans | None]:
        if name not in self._read:
            self._read[name] = as_column(self._given[name])
        return self._read[name]


class ArrayRows(Rows):
    """Columns in memory, and which of their rows count."""

    def __init__(
        self, columns: Mapping[str, Any] | Columns, *, engine: str = "numpy", kept: NDArray[np.int64] | None = None
    ) -> None:
        self._columns = columns if isinstance(columns, Columns) else Columns(columns)
        self._kept = kept
        self._seen: dict[str, tuple[Cells, NDArray[np.uint16]]] = {}  # what first looks found, for second ones
        self.engine = engine
        self.length = self._columns.rows if kept is None else kept.size

    @property
    def columns(self) -> tuple[str, ...]:
        return self._columns.names

    def _values(self, name: str, some: slice | NDArray[np.int64]) -> Any:
        self.require(name)
        rows, null = self._columns.read(name)
        part = some if self._kept is None else self._kept[some]
        return rows[part] if null is None else np.ma.MaskedArray(rows[part], null[part])

    def collect(self, requests: Sequence[Request]) -> list[NDArray[Any]]:
        totals = [np.zeros(r.shape, dtype=np.int64 if isinstance(r, Counts) else object) for r in requests]
        seen = {code: (rule, np.empty(self.length, dtype=np.uint16)) for code, rule in _first_looks(requests)}
        for start in range(0, self.length, CHUNK):
            chunk = slice(start, min(start + CHUNK, self.length))
            codes: dict[Code, NDArray[np.int64]] = {}

            def code(wanted: Code, codes: dict[Code, NDArray[np.int64]] = codes, chunk: slice = chunk) -> Any:
                if wanted not in codes:
                    rule = wanted.rule
                    if isinstance(rule, Spread):  # made of cells, which are mostly asked for as well
                        codes[wanted] = rule.of(code(Code(wanted.column, rule.grid)))
                    else:
                        codes[wanted] = wanted.domain.encode(self._values(wanted.column, chunk))
                return codes[wanted]

            for total, request in zip(totals, requests, strict=True):
                if isinstance(request, Counts):
                    each_code = tuple(code(c) for c in request.codes)
                    flat = each_code[0] if len(each_code) == 1 else np.ravel_multi_index(each_code, request.shape)
                    total += np.bincount(flat, minlength=prod(request.shape)).reshape(request.shape)
                else:
                    groups = None if request.by is None else code(request.by)
                    for i, term in enumerate(request.terms):
                        total[..., i] += _summed(term, code, groups, request, chunk.stop - chunk.start)
            for wanted, (_, kept) in seen.items():
                kept[chunk] = code(wanted)
        self._seen |= {code.column: found for code, found in seen.items()}
        return totals

    def tally(self, code: Code, spans: Spans, by: Code | None = None) -> Tally:
        found, groups = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
        edges = np.array(spans, dtype=np.int64).reshape(-1)  # in order, so that the insides have odd places
        coarse, shift = self._coarse(code)
        near = None if coarse is None else _table(spans, shift)
        aligned = coarse is not None and not np.any(edges & ((1 << shift) - 1))  # then near codes are inside
        for start in range(0, self.length, CHUNK):
            stop = min(start + CHUNK, self.length)
            some: slice | NDArray[np.int64] = slice(start, stop)
            if coarse is not None and near is not None:
                some = start + np.flatnonzero(np.take(near, coarse[start:stop], mode="clip"))
            codes = code.domain.encode(self._values(code.column, some))
            held: Booleans | slice = slice(None) if aligned else np.searchsorted(edges, codes, side="right") % 2 == 1
            found.append(codes[held])
            if by is not None:
                groups.append(by.domain.encode(self._values(by.column, some))[held])
        codes = np.concatenate(found)
        if by is None:
            held_codes, counts = np.unique(codes, return_counts=True)
            return np.zeros_like(held_codes), held_codes, counts
        pairs, counts = np.unique(np.concatenate(groups) * code.domain.size + codes, return_counts=True)
        return pairs // code.domain.size, pairs % code.domain.size, counts

    def _coarse(self, code: Code) -> tuple[NDArray[np.uint16] | None, int]:
        """What a first look kept of this column, and how many last bits of the codes it dropped."""
        seen, fine = self._seen.get(code.column), code.rule
        if seen is None or not isinstance(fine, Cells) or not fine.portable or fine.cells < seen[0].cells:
            return None, 0
        coarse, kept = seen
        shift = (fine.cells // coarse.cells).bit_length() - 1
        return (kept, shift) if fine.coarser(shift) == coarse else (None, 0)

    def codes(self, wanted: Sequence[Code]) -> Iterator[list[NDArray[np.int64]]]:
        for code in wanted:
            self.require(code.column)
        for start in range(0, self.length, CHUNK):
            some = slice(start, min(start + CHUNK, self.length))
            yield [code.domain.encode(self._values(code.column, some)).astype(np.int64) for code in wanted]

    def values(self, columns: Sequence[str]) -> Iterator[list[NDArray[Any]]]:
        for name in columns:
            self.require(name)
        for start in range(0, self.length, CHUNK):
            some = slice(start, min(start + CHUNK, self.length))
            yield [self._values(name, some) for name in columns]

    def where(self, condition: Condition) -> ArrayRows:
        for name in named(condition):
            self.require(name)
        return self._narrowed(np.flatnonzero(self._holds(condition)))

    def _narrowed(self, chosen: NDArray[np.int64]) -> ArrayRows:
        kept = chosen if self._kept is None else self._kept[chosen]
        return ArrayRows(self._columns, engine=self.engine, kept=kept)

    def _holds(self, condition: Condition) -> Booleans:
        if isinstance(condition, Both):
            return self._holds(condition.left) & self._holds(condition.right)
        if isinstance(condition, Either):
            return self._holds(condition.left) | self._holds(condition.right)
        if isinstance(condition, Negation):
            return ~self._holds(condition.condition)
        assert isinstance(condition, Comparison)
        return _compared(self._values(condition.column, slice(0, self.length)), condition)

    def capped(self, unit: str, rows: int, *, bits: Bits = SYSTEM) -> ArrayRows:
        most = self.require_cap(unit, rows)
        person = _people(self._values(unit, slice(0, self.length)))
        usable = np.flatnonzero(person >= 0)
        shuffled = usable[np.argsort(keyed(bits).words(usable.size), kind="stable")]
        order = shuffled[np.argsort(person[shuffled], kind="stable")]  # unit by unit, at random within each
        starts = np.flatnonzero(np.diff(person[order], prepend=-1))
        rank = np.arange(order.size) - np.repeat(starts, np.diff(starts, append=order.size))
        return self._narrowed(np.sort(order[rank < most]))

    def key_counts(self, column: str, least: int = 1) -> KeyCounts:
        self.require(column)
        found: Counter[Any] = Counter()
        for start in range(0, self.length, CHUNK):
            found.update(counted(self._values(column, slice(start, start + CHUNK))))
        return listed(((key, count) for (_, key), count in found.items()), least)


def _first_looks(requests: Sequence[Request]) -> list[tuple[Code, Cells]]:
    """The codes that a finer look may follow: those of a grid whose codes fit into 16 bits."""
    codes = [code for request in requests if isinstance(request, Counts) for code in request.codes]
    grids = [(code, code.rule) for code in codes if isinstance(code.rule, Cells)]
    return sorted(  # the finest last: one look is kept for each column
        ((code, rule) for code, rule in grids if 2**8 < rule.cells <= 2**16), key=lambda found: found[1].cells
    )


def _table(spans: Spans, shift: int) -> Booleans:
    """For each coarse code, whether some of its fine codes lie in the spans."""
    near = np.zeros(2**16, dtype=np.bool_)
    for first, last in spans:
        near[first >> shift : ((last - 1) >> shift) + 1] = True
    return near


def _people(values: Any) -> NDArray[np.int64]:
    """A number for each unit, -1 for rows without a unit; units that compare as equal are the same unit."""
    rows = np.asarray(values)
    if rows.dtype.kind in "biufMmUS":
        null = np.isnat(rows) if rows.dtype.kind in "Mm" else rows != rows  # NaN
        person = np.unique(rows, return_inverse=True)[1].astype(np.int64)
    else:
        seen: dict[Any, int] = {}
        person = each(rows, lambda unit: seen.setdefault(_unit(unit), len(seen)), -1, np.int64)
        null = person < 0
    if isinstance(values, np.ma.MaskedArray):
        null = null | np.ma.getmaskarray(values)
    person[null] = -1
    return person


def _unit(element: Any) -> Any:
    """What tells one unit from another: numbers by value, texts by their characters, dates and identifiers by equality.

    Nothing else is a unit: a pair that holds a NaN, for example, never equals another, so each would count as a person.
    """
    if isinstance(element, str | bytes):
        return str.__str__(element) if isinstance(element, str) else bytes.decode(element)
    number = real(element)
    unit = element if number is None and isinstance(element, NAMING) else number
    if unit is None or not bool(unit == unit):
        raise ValueError("not a unit")
    return unit


def _summed(term: Term, code: Any, groups: NDArray[np.int64] | None, request: Sums, rows: int) -> Any:
    """The sum of a product of codes over a chunk, for each group; exact, limb by limb."""
    if not term:
        return rows if groups is None else np.bincount(groups, minlength=request.shape[0]).astype(object)
    product = code(term[0]) if len(term) == 1 else code(term[0]) * code(term[1])
    largest = prod(factor.domain.size - 1 for factor in term)
    total: Any = 0
    for shift in range(0, max(largest.bit_length(), 1), LIMB):
        limb = product if largest <= _MASK else (product >> shift) & _MASK
        if groups is None:
            part: Any = int(np.sum(limb))
        else:  # a chunk of 2^19 limbs of 22 bits stays below 2^53, where floats are exact
            part = np.bincount(groups, weights=limb, minlength=request.shape[0]).astype(np.int64).astype(object)
        total = total + part * (1 << shift)
    return total


def _compared(values: Any, comparison: Comparison) -> Booleans:
    """One comparison, row by row; it is false for values that cannot be compared."""
    rows, constant = np.asarray(values), comparison.constant
    if isinstance(constant, str):
        held = _texts(rows, comparison)
    elif is_numeric(rows):
        held = _numbers(rows, comparison)
    else:
        function = FUNCTIONS[comparison.operator]
        held = each(rows, lambda element: _holds_for(function, real(element), constant), False, np.bool_)
    return held & ~np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else held


def _texts(rows: NDArray[Any], comparison: Comparison) -> Booleans:
    function, constant = FUNCTIONS[comparison.operator], comparison.constant
    if rows.dtype.kind == "U":
        return np.asarray(function(rows, constant), dtype=np.bool_)
    return each(rows, lambda element: isinstance(element, str) and function(element, constant), False, np.bool_)


def _numbers(rows: NDArray[Any], comparison: Comparison) -> Booleans:
    if rows.dtype.kind == "f":
        with np.errstate(all="ignore"):  # a signalling NaN
            doubles = rows.astype(np.float64)
        stated, held = fitted(comparison, None), ~np.isnan(doubles)
        return held & (FUNCTIONS[stated[0]](doubles, stated[1]) if isinstance(stated, tuple) else stated)
    wholes = rows.astype(np.int8) if rows.dtype.kind == "b" else rows
    limits = np.iinfo(wholes.dtype)
    stated = fitted(comparison, (int(limits.min), int(limits.max)))
    if isinstance(stated, bool):
        return np.full(len(rows), stated)
    return np.asarray(FUNCTIONS[stated[0]](wholes, stated[1]), dtype=np.bool_)


def _holds_for(function: Any, number: Any, constant: Any) -> bool:
    """Whole numbers are compared exactly, others as doubles."""
    if number is None:
        return False
    if not isinstance(number, int):
        try:
            number = float(number)
        except OverflowError:
            number = math.inf if number > 0 else -math.inf
    return bool(number == number and function(number, constant))
