"""Rows in memory: arrays, lists and the columns of data frames, through NumPy, a chunk at a time."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from flou.bits import SYSTEM
from flou.domain.column import column as as_column
from flou.domain.column import each, is_numeric, real
from flou.errors import InvalidData
from flou.summaries.condition import FUNCTIONS, Both, Comparison, Condition, Either, Negation, fitted, named
from flou.summaries.keys import KeyCounts, counted, listed
from flou.summaries.request import LIMB, Code, Counts, Request, Sums, Term
from flou.summaries.rows import Rows, Spans, Tally

__all__ = ["ArrayRows"]

CHUNK = 1 << 20
_MASK = (1 << LIMB) - 1
Mask: TypeAlias = NDArray[np.bool_]


class ArrayRows(Rows):
    """Columns in memory, and which of their rows count."""

    def __init__(
        self, columns: Mapping[str, Any], *, engine: str = "numpy", kept: NDArray[np.int64] | None = None
    ) -> None:
        self._columns = columns if kept is not None else _read(columns)
        self._kept = kept
        self.engine = engine
        lengths = {len(rows) for rows, _ in self._columns.values()}
        if len(lengths) > 1:
            raise InvalidData(
                "The columns must have the same number of rows.",
                "A row is one value of every column.",
                "Pass columns of equal length.",
            )
        self.length = next(iter(lengths), 0) if kept is None else kept.size

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self._columns)

    def _values(self, name: str, start: int, stop: int) -> Any:
        self.require(name)
        rows, null = self._columns[name]
        part: slice | NDArray[np.int64] = slice(start, stop) if self._kept is None else self._kept[start:stop]
        return rows[part] if null is None else np.ma.MaskedArray(rows[part], null[part])

    def collect(self, requests: Sequence[Request]) -> list[NDArray[Any]]:
        totals = [np.zeros(r.shape, dtype=np.int64 if isinstance(r, Counts) else object) for r in requests]
        for start in range(0, self.length, CHUNK):
            stop = min(start + CHUNK, self.length)
            codes: dict[Code, NDArray[np.int64]] = {}

            def code(wanted: Code, codes: dict[Code, NDArray[np.int64]] = codes, a: int = start, b: int = stop) -> Any:
                if wanted not in codes:
                    codes[wanted] = wanted.domain.encode(self._values(wanted.column, a, b))
                return codes[wanted]

            for total, request in zip(totals, requests, strict=True):
                if isinstance(request, Counts):
                    flat = np.ravel_multi_index(tuple(code(c) for c in request.codes), request.shape)
                    total += np.bincount(flat, minlength=prod(request.shape)).reshape(request.shape)
                else:
                    groups = None if request.by is None else code(request.by)
                    for i, term in enumerate(request.terms):
                        total[..., i] += _summed(term, code, groups, request, stop - start)
        return totals

    def tally(self, code: Code, spans: Spans, within: tuple[Code, int] | None = None) -> Tally:
        found = [np.zeros(0, dtype=np.int64)]
        edges = np.array(spans, dtype=np.int64).reshape(-1)  # in order, so that the insides have odd places
        for start in range(0, self.length, CHUNK):
            stop = min(start + CHUNK, self.length)
            codes = code.domain.encode(self._values(code.column, start, stop))
            held = np.searchsorted(edges, codes, side="right") % 2 == 1
            if within is not None:
                held &= within[0].domain.encode(self._values(within[0].column, start, stop)) == within[1]
            found.append(codes[held])
        return np.unique(np.concatenate(found), return_counts=True)

    def where(self, condition: Condition) -> ArrayRows:
        for name in named(condition):
            self.require(name)
        return self._narrowed(np.flatnonzero(self._holds(condition)))

    def _narrowed(self, chosen: NDArray[np.int64]) -> ArrayRows:
        kept = chosen if self._kept is None else self._kept[chosen]
        return ArrayRows(self._columns, engine=self.engine, kept=kept)

    def _holds(self, condition: Condition) -> Mask:
        if isinstance(condition, Both):
            return self._holds(condition.left) & self._holds(condition.right)
        if isinstance(condition, Either):
            return self._holds(condition.left) | self._holds(condition.right)
        if isinstance(condition, Negation):
            return ~self._holds(condition.condition)
        assert isinstance(condition, Comparison)
        return _compared(self._values(condition.column, 0, self.length), condition)

    def capped(self, unit: str, rows: int) -> ArrayRows:
        most = self.require_cap(unit, rows)
        person = _people(self._values(unit, 0, self.length))
        usable = np.flatnonzero(person >= 0)
        shuffled = usable[np.argsort(SYSTEM.words(usable.size), kind="stable")]
        order = shuffled[np.argsort(person[shuffled], kind="stable")]  # unit by unit, at random within each
        starts = np.flatnonzero(np.diff(person[order], prepend=-1))
        rank = np.arange(order.size) - np.repeat(starts, np.diff(starts, append=order.size))
        return self._narrowed(np.sort(order[rank < most]))

    def key_counts(self, column: str, least: int = 1) -> KeyCounts:
        self.require(column)
        found: Counter[Any] = Counter()
        for start in range(0, self.length, CHUNK):
            found.update(counted(self._values(column, start, min(start + CHUNK, self.length))))
        return listed(((key, count) for (_, key), count in found.items()), least)


def _read(columns: Mapping[str, Any]) -> dict[str, tuple[NDArray[Any], Mask | None]]:
    """Every column as an array and a mask, once: an engine may copy a column each time it is asked."""
    for name in columns:
        if not isinstance(name, str):
            raise InvalidData(
                f"The names of columns must be texts, got a {type(name).__name__}.",
                "A schema declares columns by their names.",
                "Rename the column.",
            )
    return {name: as_column(values) for name, values in columns.items()}


def _people(values: Any) -> NDArray[np.int64]:
    """A number for each unit, -1 for rows without one; units that compare as equal are the same unit."""
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
    """What tells one unit from another: numbers by value, texts by their characters, the rest by equality."""
    if isinstance(element, bytes):
        return bytes.decode(element)
    number = real(element)
    unit = element if number is None else number
    if unit is None or not bool(unit == unit):
        raise ValueError("no unit")
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
        else:  # a chunk of 2^20 limbs of 22 bits stays below 2^53, where floats are exact
            part = np.bincount(groups, weights=limb, minlength=request.shape[0]).astype(np.int64).astype(object)
        total = total + part * (1 << shift)
    return total


def _compared(values: Any, comparison: Comparison) -> Mask:
    """One comparison, row by row; what cannot be compared does not hold."""
    rows, constant = np.asarray(values), comparison.constant
    if isinstance(constant, str):
        held = _texts(rows, comparison)
    elif is_numeric(rows):
        held = _numbers(rows, comparison)
    else:
        function = FUNCTIONS[comparison.operator]
        held = each(rows, lambda element: _holds_for(function, real(element), constant), False, np.bool_)
    return held & ~np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else held


def _texts(rows: NDArray[Any], comparison: Comparison) -> Mask:
    function, constant = FUNCTIONS[comparison.operator], comparison.constant
    if rows.dtype.kind == "U":
        return np.asarray(function(rows, constant), dtype=np.bool_)
    return each(rows, lambda element: isinstance(element, str) and function(element, constant), False, np.bool_)


def _numbers(rows: NDArray[Any], comparison: Comparison) -> Mask:
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
