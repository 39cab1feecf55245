"""Rows behind a lazy engine that narwhals speaks: Polars, Spark, and databases through Ibis.

Codes are expressions of plain double operations (floor first, then cast, because engines cast differently), and
products are summed in limbs of 22 bits, so that no engine overflows however many rows there are.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from flou.domain import Boolean, Categories, Integers, Interval
from flou.errors import InvalidData
from flou.summaries.condition import Both, Comparison, Condition, Either, Negation
from flou.summaries.request import LIMB, Code, Counts, Request, Sums
from flou.summaries.rows import Rows

__all__ = ["LazyRows"]

_OPERATORS = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
HALF_BITS = 16
HALF = 1 << HALF_BITS


class LazyRows(Rows):
    """A narwhals LazyFrame."""

    def __init__(self, frame: nw.LazyFrame[Any], *, engine: str) -> None:
        self._frame = frame
        self._schema = frame.collect_schema()
        self.engine = engine

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self._schema.names())

    def collect(self, requests: Sequence[Request]) -> list[NDArray[Any]]:
        answers: dict[int, NDArray[Any]] = {}
        together = [i for i, r in enumerate(requests) if isinstance(r, Sums) and r.by is None]
        if together:  # all ungrouped sums share one pass
            terms = tuple(dict.fromkeys(term for i in together for term in requests[i].terms))  # type: ignore[union-attr]
            summed = dict(zip(terms, self._sums(Sums(terms)), strict=True))
            for i in together:
                answers[i] = np.array([summed[t] for t in requests[i].terms], dtype=object)  # type: ignore[union-attr]
        for i, request in enumerate(requests):
            if i not in answers:
                answers[i] = self._counts(request) if isinstance(request, Counts) else self._sums(request)
        return [answers[i] for i in range(len(requests))]

    def _coded(self, codes: Sequence[Code]) -> tuple[nw.LazyFrame[Any], dict[Code, str]]:
        names = {code: f"flou_{i}" for i, code in enumerate(dict.fromkeys(codes))}
        return self._frame.select(*(self._code(code).alias(name) for code, name in names.items())), names

    def _counts(self, request: Counts) -> NDArray[Any]:
        frame, names = self._coded(request.codes)
        keys = [names[code] for code in request.codes]
        result = np.zeros(request.shape, dtype=np.int64)
        for row in _fetched(frame.group_by(*dict.fromkeys(keys)).agg(nw.len().alias("flou_n"))):
            result[tuple(row[key] for key in keys)] = row["flou_n"]
        return result

    def _sums(self, request: Sums) -> NDArray[Any]:
        codes = [code for term in request.terms for code in term] + ([request.by] if request.by else [])
        result = np.zeros(request.shape, dtype=object)
        frame, names = self._coded(codes) if codes else (self._frame, {})
        wanted = [nw.len().alias("flou_n")]
        places: list[
            dict[str, int]
        ] = []  # for each term: the sums it is made of, and the bits by which they are shifted
        for i, term in enumerate(request.terms):
            limbs = _limbs([nw.col(names[code]) for code in term])
            places.append({f"flou_s{i}_{j}": shift for j, (shift, _) in enumerate(limbs)})
            wanted += [limb.sum().alias(f"flou_s{i}_{j}") for j, (_, limb) in enumerate(limbs)]
        if request.by is None:
            answer: list[tuple[Any, dict[str, Any]]] = [(slice(None), row) for row in _fetched(frame.select(*wanted))]
        else:
            key = names[request.by]
            answer = [(row[key], row) for row in _fetched(frame.group_by(key).agg(*wanted))]
        for cell, row in answer:
            for i, place in enumerate(places):
                total = sum(int(row[name] or 0) << shift for name, shift in place.items())
                result[(*((cell,) if request.by else ()), i)] = total if place else int(row["flou_n"])
        return result

    def where(self, condition: Condition) -> LazyRows:
        return LazyRows(self._frame.filter(self._condition(condition)), engine=self.engine)

    def capped(self, unit: str, rows: int) -> LazyRows:
        self.require(unit)
        native = self._frame.filter(~nw.col(unit).is_null()).to_native()
        return LazyRows(nw.from_native(_capped(native, unit, rows, self.engine)).lazy(), engine=self.engine)

    def _number(self, column: str) -> nw.Expr | None:
        self.require(column)
        kind = self._schema[column]
        return nw.col(column).cast(nw.Float64()) if kind.is_numeric() or kind == nw.Boolean() else None

    def _code(self, code: Code) -> nw.Expr:
        domain, missing = code.domain, nw.lit(code.domain.missing_code)
        number = self._number(code.column)
        if isinstance(domain, Categories):
            return self._category(code.column, domain)
        if number is None:
            return missing.cast(nw.Int64())
        if isinstance(domain, Boolean):
            found = (
                nw.when(number == 1).then(nw.lit(1)).otherwise(nw.when(number == 0).then(nw.lit(0)).otherwise(missing))
            )
            return nw.when(number.is_null()).then(missing).otherwise(found).cast(nw.Int64())
        if isinstance(domain, Integers):
            if self._schema[code.column].is_integer():
                x = nw.col(code.column).cast(nw.Int64())
                low, high = nw.lit(domain.lower), nw.lit(domain.upper)
                clamped = nw.when(x < low).then(low).otherwise(nw.when(x > high).then(high).otherwise(x))
                return nw.when(x.is_null()).then(missing).otherwise(clamped - domain.lower).cast(nw.Int64())
            x = _clamped(number.floor(), float(domain.lower), float(domain.upper)) - float(domain.lower)
        else:
            assert isinstance(domain, Interval)
            x = ((_clamped(number, domain.lower, domain.upper) - domain.lower) / domain.step).floor()
            last = float(domain.cells - 1)
            x = nw.when(x > last).then(nw.lit(last)).otherwise(x)
        found = nw.when(self._nothing(code.column, number)).then(nw.lit(float(domain.missing_code))).otherwise(x)
        return found.cast(nw.Int64())

    def _nothing(self, column: str, number: nw.Expr) -> nw.Expr:
        """Where a numeric column holds nothing: NULL, or NaN where there can be one."""
        return number.is_null() | number.is_nan() if self._schema[column].is_float() else number.is_null()

    def _category(self, column: str, domain: Categories) -> nw.Expr:
        kind = self._schema[column]
        found = nw.lit(domain.missing_code)
        for code, value in reversed(list(enumerate(domain.values))):
            if isinstance(value, bool):
                fits = kind == nw.Boolean()
            elif isinstance(value, str):
                fits = kind in (nw.String(), nw.Categorical(), nw.Enum) or kind == nw.Enum
            else:
                fits = kind.is_numeric()
            if fits:
                same = nw.col(column).cast(nw.String()) == value if isinstance(value, str) else nw.col(column) == value
                found = nw.when(same).then(nw.lit(code)).otherwise(found)
        return nw.when(nw.col(column).is_null()).then(nw.lit(domain.missing_code)).otherwise(found).cast(nw.Int64())

    def _condition(self, condition: Condition) -> nw.Expr:
        if isinstance(condition, Both):
            return self._condition(condition.left) & self._condition(condition.right)
        if isinstance(condition, Either):
            return self._condition(condition.left) | self._condition(condition.right)
        if isinstance(condition, Negation):
            return ~self._condition(condition.condition)
        assert isinstance(condition, Comparison)
        self.require(condition.column)
        kind, column = self._schema[condition.column], nw.col(condition.column)
        text = isinstance(condition.constant, str)
        if text != (kind == nw.String()) or not (text or kind.is_numeric() or kind == nw.Boolean()):
            return nw.lit(False)
        number = self._number(condition.column)
        compared = _OPERATORS[condition.operator](column if number is None else number, condition.constant)
        nothing = column.is_null() if number is None else self._nothing(condition.column, number)
        return nw.when(nothing).then(nw.lit(False)).otherwise(compared)


def _limbs(factors: list[nw.Expr]) -> list[tuple[int, nw.Expr]]:
    """A product of at most two codes as shifted parts of at most 22 bits.

    Engines may divide integers through doubles (Spark does), which is exact below 2^53 only: the codes, of 31 bits, are
    halved before they are multiplied, and the products, of 33 bits, once more before they are summed.
    """
    if not factors:
        return []
    parts = [(0, factors[0])]
    if len(factors) == 2:
        (a, b), (c, d) = ((x // HALF, x % HALF) for x in factors)
        parts = [(2 * HALF_BITS, a * c), (HALF_BITS, a * d + b * c), (0, b * d)]
    unit = 1 << LIMB
    return [piece for shift, x in parts for piece in ((shift + LIMB, x // unit), (shift, x % unit))]


def _clamped(x: nw.Expr, lower: float, upper: float) -> nw.Expr:
    low, high = nw.lit(lower), nw.lit(upper)
    return nw.when(x < low).then(low).otherwise(nw.when(x > high).then(high).otherwise(x))


def _fetched(frame: nw.LazyFrame[Any]) -> list[dict[str, Any]]:
    collected = frame.collect()
    return list(collected.iter_rows(named=True))


def _capped(native: Any, unit: str, rows: int, engine: str) -> Any:
    """At most so many random rows of every unit, in the words of each engine."""
    if engine == "polars":
        import polars as pl

        return native.filter(pl.int_range(pl.len()).shuffle().over(unit) < rows)
    if engine == "spark":
        from pyspark.sql import Window, functions

        rank = functions.row_number().over(Window.partitionBy(unit).orderBy(functions.rand()))
        return native.withColumn("flou_rank", rank).filter(functions.col("flou_rank") <= rows).drop("flou_rank")
    if engine == "ibis":
        import ibis

        ranked = native.mutate(flou_draw=ibis.random())
        window = ibis.window(group_by=unit, order_by=ranked.flou_draw)
        ranked = ranked.mutate(flou_rank=ibis.row_number().over(window))
        return ranked.filter(ranked.flou_rank < rows).drop("flou_rank", "flou_draw")
    raise InvalidData(
        f"The number of rows a unit has cannot be capped on engine {engine!r}.",
        "Without the cap one person could move the answer by more than is stated.",
        "Use DuckDB, Polars, Spark, Ibis, or a table in memory.",
    )
