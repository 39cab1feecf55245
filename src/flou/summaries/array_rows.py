"""Rows in memory: arrays, lists and the columns of data frames, through NumPy, a chunk at a time."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from flou.bits import SYSTEM
from flou.domain.column import column as as_column
from flou.errors import InvalidData
from flou.summaries.condition import Both, Comparison, Condition, Either, Negation
from flou.summaries.request import LIMB, Code, Counts, Request, Sums, Term
from flou.summaries.rows import Rows

__all__ = ["ArrayRows"]

CHUNK = 1 << 20
_MASK = (1 << LIMB) - 1
_OPERATORS = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
Mask: TypeAlias = NDArray[np.bool_]


class ArrayRows(Rows):
    """Columns in memory, and which of their rows count."""

    def __init__(
        self, columns: Mapping[str, Any], *, engine: str = "numpy", kept: NDArray[np.int64] | None = None
    ) -> None:
        self._columns = dict(columns)
        self._kept = kept
        self.engine = engine
        lengths = {len(values) for values in self._columns.values()}
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
        rows, null = as_column(self._columns[name])
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

    def where(self, condition: Condition) -> ArrayRows:
        kept = np.flatnonzero(self._holds(condition))
        return self._narrowed(kept if self._kept is None else self._kept[kept])

    def _narrowed(self, kept: NDArray[np.int64]) -> ArrayRows:
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
        values = self._values(unit, 0, self.length)
        null = np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else np.zeros(self.length, bool)
        plain = np.asarray(values)
        if plain.dtype.kind == "O":
            null = null | np.array([v is None or v != v for v in plain.tolist()], dtype=bool)
            plain = np.array([repr(v) for v in plain.tolist()])
        elif plain.dtype.kind in "fc":
            null = null | np.isnan(plain)
        usable = np.flatnonzero(~null)
        shuffled = usable[np.argsort(SYSTEM.words(usable.size), kind="stable")]
        _, person = np.unique(plain[shuffled], return_inverse=True)
        order = np.argsort(person, kind="stable")
        first = np.concatenate([[0], np.flatnonzero(np.diff(person[order])) + 1]) if order.size else np.zeros(0, int)
        rank = np.arange(order.size) - np.repeat(first, np.diff(np.append(first, order.size)))
        kept = np.sort(shuffled[order[rank < rows]])
        return self._narrowed(kept if self._kept is None else self._kept[kept])


def _summed(term: Term, code: Any, groups: NDArray[np.int64] | None, request: Sums, rows: int) -> Any:
    """The sum of a product of codes over a chunk, for each group; exact, limb by limb."""
    if not term:
        return rows if groups is None else np.bincount(groups, minlength=request.shape[0]).astype(object)
    product = code(term[0]) if len(term) == 1 else code(term[0]) * code(term[1])
    total: Any = 0
    for i in range(3):
        limb = (product >> (LIMB * i)) & _MASK
        if groups is None:
            part: Any = int(np.sum(limb))
        else:  # a chunk of 2^20 limbs of 22 bits stays below 2^53, where floats are exact
            part = np.bincount(groups, weights=limb, minlength=request.shape[0]).astype(np.int64).astype(object)
        total = total + part * (1 << (LIMB * i))
    return total


def _compared(values: Any, comparison: Comparison) -> Mask:
    """One comparison, row by row; what cannot be compared does not hold."""
    null = np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else None
    rows = np.asarray(values)
    function, constant = _OPERATORS[comparison.operator], comparison.constant
    is_text = isinstance(constant, str)
    if rows.dtype.kind in ("U" if is_text else "biuf"):
        held: Mask = np.asarray(function(rows, constant))
        if rows.dtype.kind == "f":
            held &= ~np.isnan(rows)
    else:
        held = np.array([_element(function, v, constant, is_text) for v in rows.tolist()], dtype=bool)
    return held if null is None else held & ~null


def _element(function: Any, value: Any, constant: Any, is_text: bool) -> bool:
    if value is None or isinstance(value, str) != is_text:
        return False
    try:
        return bool(value == value and function(value, constant))
    except Exception:
        return False
