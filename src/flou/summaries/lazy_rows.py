"""Rows behind a lazy engine that narwhals speaks: Polars, Spark, and databases through Ibis.

Codes are expressions (``lazy_codes.py``), and products are summed in limbs of 22 bits, so that no engine overflows
however many rows there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from flou.bits import SYSTEM
from flou.errors import InvalidData
from flou.summaries.condition import Condition, named
from flou.summaries.keys import Key, KeyCounts, key_of, listed
from flou.summaries.lazy_codes import ColumnExpression, condition_expression
from flou.summaries.request import LIMB, Code, Counts, Request, Sums
from flou.summaries.rows import Rows, Spans, Tally, free, quiet
from flou.summaries.spans_sql import run_of

__all__ = ["LazyRows"]

MOST_RUNS = 1 << 10  # of codes that are looked for one by one
HALF_BITS = 16
HALF = 1 << HALF_BITS


class LazyRows(Rows):
    """A narwhals LazyFrame."""

    def __init__(self, frame: nw.LazyFrame[Any], *, engine: str) -> None:
        self._frame = frame
        self._schema = frame.collect_schema()
        self._expressions = {name: ColumnExpression(name, kind) for name, kind in self._schema.items()}
        self.engine = engine

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self._schema.names())

    def collect(self, requests: Sequence[Request]) -> list[NDArray[Any]]:
        with quiet(self.engine):
            return self._collected(requests)

    def _collected(self, requests: Sequence[Request]) -> list[NDArray[Any]]:
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
        """Only the codes of the rows; a select of constants alone would have one row, so they are added first."""
        names = {code: free(f"flou_{i}", self.columns) for i, code in enumerate(dict.fromkeys(codes))}
        coded = self._frame.with_columns(*(self._code(code).alias(name) for code, name in names.items()))
        return coded.select(*names.values()), names

    def _code(self, code: Code) -> nw.Expr:
        self.require(code.column)
        expression = self._expressions[code.column].code(code.domain)
        if self.engine == "ibis":  # which writes no cast it holds for needless, and PostgreSQL takes 5 for 32 bits
            return expression.cast(nw.Float64()).cast(nw.Int64())
        return expression

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

    def tally(self, code: Code, spans: Spans, by: Code | None = None) -> Tally:
        with quiet(self.engine):
            frame, names = self._coded([code] if by is None else [code, by])
            key = nw.col(names[code])
            held = _held(key, spans)
            keys = [names[code]] if by is None else list(dict.fromkeys([names[by], names[code]]))
            rows = _fetched(frame.filter(held).group_by(*keys).agg(nw.len().alias("flou_n")))
        group = None if by is None else names[by]
        found = sorted((0 if group is None else int(r[group]), int(r[names[code]]), int(r["flou_n"])) for r in rows)
        groups, codes, counts = np.array(found, dtype=np.int64).reshape(-1, 3).T
        return groups, codes, counts

    def codes(self, wanted: Sequence[Code]) -> Iterator[list[NDArray[np.int64]]]:
        with quiet(self.engine):
            frame, names = self._coded(wanted)
            found = frame.collect()
            columns = [found[names[code]].to_numpy().astype(np.int64) for code in wanted]
        yield columns

    def values(self, columns: Sequence[str]) -> Iterator[list[NDArray[Any]]]:
        for name in columns:
            self.require(name)
        with quiet(self.engine):
            found = self._frame.select(*columns).collect()
            arrays: list[NDArray[Any]] = [found[name].to_numpy() for name in columns]
        yield arrays

    def where(self, condition: Condition) -> LazyRows:
        for column in named(condition):
            self.require(column)
        held = condition_expression(condition, self._expressions)
        with quiet(self.engine):
            return LazyRows(self._frame.filter(held), engine=self.engine)

    def capped(self, unit: str, rows: int) -> LazyRows:
        most = self.require_cap(unit, rows)
        with quiet(self.engine):
            native = self._frame.filter(self._expressions[unit].present()).to_native()
            kept = nw.from_native(_capped(native, unit, most, self.engine, self.columns)).lazy()
            return LazyRows(kept, engine=self.engine)

    def key_counts(self, column: str, least: int = 1) -> KeyCounts:
        self.require(column)
        key, name = self._expressions[column].key(), free("flou_key", self.columns)
        if key is None:
            return listed((), least)
        found: dict[Key, int] = {}
        with quiet(self.engine):
            _require_exact_texts(self._frame.to_native(), self.engine)
            keyed = self._frame.with_columns(key.alias(name)).select(name).filter(~nw.col(name).is_null())
            for row in _fetched(keyed.group_by(name).agg(nw.len().alias("flou_n")).filter(nw.col("flou_n") >= least)):
                one, rows = key_of(row[name]), int(row["flou_n"])
                if one is not None:  # two keys that only the engine can tell apart count as the larger of them
                    found[one] = max(found.get(one, 0), rows)
        return listed(found.items(), least)


def _held(key: nw.Expr, spans: Spans) -> nw.Expr:
    """Whether a code lies in one of some spans, by the runs that they are made of: an engine may compute the code anew
    for each comparison.
    """
    run = run_of(spans)
    if 0 < sum(b - a for a, b in spans) <= MOST_RUNS * run:
        return (key // run).is_in([one for a, b in spans for one in range(a // run, b // run)])
    return nw.any_horizontal(key < 0, *((key >= a) & (key < b) for a, b in spans), ignore_nulls=False)


def _require_exact_texts(native: Any, engine: str) -> None:
    """Refuse databases that take two spellings for one text: they would show that of one row."""
    if engine == "ibis" and native.get_backend().name in ("mysql", "mssql"):
        raise InvalidData(
            "Keys cannot be selected in databases that compare texts without regard to case.",
            "Of several spellings they would show the one of a single row.",
            "Read the table with DuckDB, Polars or Spark, or declare the categories.",
        )


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


def _fetched(frame: nw.LazyFrame[Any]) -> list[dict[str, Any]]:
    collected = frame.collect()
    return list(collected.iter_rows(named=True))


def _capped(native: Any, unit: str, rows: int, engine: str, taken: Sequence[str]) -> Any:
    """At most so many random rows of every unit, in the words of each engine; where it takes a seed, a secret one."""
    seed = int(SYSTEM.words(1)[0]) >> 1
    rank, draw = (free(name, taken) for name in ("flou_rank", "flou_draw"))
    if engine == "polars":
        import polars as pl

        return native.filter(pl.int_range(pl.len()).shuffle(seed).over(unit) < rows)
    if engine == "spark":
        from pyspark.sql import Window, functions

        order = Window.partitionBy(_backticked(unit)).orderBy(functions.rand(seed))
        ranked = native.withColumn(rank, functions.row_number().over(order))
        return ranked.filter(functions.col(rank) <= rows).drop(rank)
    if engine == "ibis":
        import ibis

        ranked = native.mutate(**{draw: ibis.random()})
        window = ibis.window(group_by=ranked[unit], order_by=ranked[draw])
        ranked = ranked.mutate(**{rank: ibis.row_number().over(window)})
        return ranked.filter(ranked[rank] < rows).drop(rank, draw)
    raise InvalidData(
        f"The number of rows a unit has cannot be capped on engine {engine!r}.",
        "Without the cap one person could move the answer by more than is stated.",
        "Use DuckDB, Polars, Spark, Ibis, or a table in memory.",
    )


def _backticked(name: str) -> str:
    """A column of Spark, where a point in a name would look into a structure."""
    return "`" + name.replace("`", "``") + "`"
