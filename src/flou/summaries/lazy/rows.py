"""Rows behind a lazy engine that narwhals speaks: Polars, Spark, and databases through Ibis.

Codes are expressions (``lazy/codes.py``), and requests that are asked together share passes (``lazy/shared_pass.py``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from flou.bits import SYSTEM, Bits
from flou.domain.column import masked
from flou.errors import InvalidData
from flou.summaries.condition import Condition, named
from flou.summaries.duck.spans import run_of
from flou.summaries.keys import Key, KeyCounts, key_of, listed
from flou.summaries.lazy.codes import ColumnExpression, condition_expression, place
from flou.summaries.lazy.refinement import Refinement
from flou.summaries.lazy.shared_pass import Digit, planned
from flou.summaries.request import Code, Request
from flou.summaries.rows import Rows, Spans, Tally, free, keyed, quiet

__all__ = ["LazyRows"]

MOST_RUNS = 1 << 10  # of codes that are looked for one by one


class LazyRows(Rows):
    """A narwhals LazyFrame."""

    def __init__(self, frame: nw.LazyFrame[Any], *, engine: str) -> None:
        schema = frame.collect_schema()
        self._names = _plain_names(schema.names(), engine)  # what a column is called in the frame
        renamed = {name: plain for name, plain in self._names.items() if name != plain}
        self._frame = frame.rename(renamed) if renamed else frame
        self._taken = tuple(self._names.values())
        self._expressions = {
            name: ColumnExpression(self._names[name], kind, any_size=engine == "ibis") for name, kind in schema.items()
        }
        self.engine = engine

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self._names)

    def _with(self, frame: nw.LazyFrame[Any]) -> LazyRows:
        """Some of the rows, with all columns."""
        some = object.__new__(LazyRows)
        some.__dict__ |= vars(self) | {"_frame": frame}
        return some

    def collect(self, requests: Sequence[Request]) -> list[NDArray[Any]]:
        with quiet(self.engine):
            return self._collected(requests)

    def _collected(self, requests: Sequence[Request]) -> list[NDArray[Any]]:
        answers: dict[int, NDArray[Any]] = {}
        for one, places in planned(requests):
            found = _fetched(one.aggregated(*self._coded(one.codes)))
            answers |= zip(places, one.answers([requests[i] for i in places], found), strict=True)
        return [answers[i] for i in range(len(requests))]

    def _coded(self, codes: Sequence[Digit]) -> tuple[nw.LazyFrame[Any], dict[Digit, str]]:
        """Only the codes of the rows; a select of constants alone would have one row, so they are added first."""
        names = {code: free(f"flou_{i}", self._taken) for i, code in enumerate(dict.fromkeys(codes))}
        for code in names:
            self.require(code.column)
        refined = dict.fromkeys(code.column for code in names if isinstance(code, Refinement))
        numbers = {column: free(f"flou_x{i}", self._taken) for i, column in enumerate(refined)}
        frame = self._frame
        if numbers:  # which are compared many times
            frame = frame.with_columns(*(self._expressions[c].number().alias(name) for c, name in numbers.items()))
        if names:
            coded = frame.with_columns(*(self._code(code, numbers).alias(name) for code, name in names.items()))
            frame = coded.select(*names.values())
        return frame, names

    def _code(self, code: Digit, numbers: dict[str, str]) -> nw.Expr:
        if isinstance(code, Refinement):
            expression = place(nw.col(numbers[code.column]), code.cuts)
        elif not code.ruled:  # to be encoded by the domain itself
            return self._expressions[code.column].number()
        else:
            expression = self._expressions[code.column].code(code.domain)
        if self.engine == "ibis":  # which writes no cast it holds for needless, and PostgreSQL takes 5 for 32 bits
            return expression.cast(nw.Float64()).cast(nw.Int64())
        return expression

    def tally(self, code: Code, spans: Spans, by: Code | None = None) -> Tally:
        with quiet(self.engine):
            frame, names = self._coded([code] if by is None else [code, by])
            key = nw.col(names[code])
            held = _held(key, spans)
            keys = [names[code]] if by is None else list(dict.fromkeys([names[by], names[code]]))
            rows = _fetched(frame.filter(held).group_by(*keys).agg(nw.len().alias("flou_n"))).rows(named=True)
        group = None if by is None else names[by]
        found = sorted((0 if group is None else int(r[group]), int(r[names[code]]), int(r["flou_n"])) for r in rows)
        groups, codes, counts = np.array(found, dtype=np.int64).reshape(-1, 3).T
        return groups, codes, counts

    def codes(self, wanted: Sequence[Code]) -> Iterator[list[NDArray[np.int64]]]:
        with quiet(self.engine):
            frame, names = self._coded(wanted)
            found = frame.collect()
            arrays = [found[names[code]].to_numpy() for code in wanted]
        yield [
            array.astype(np.int64) if code.ruled else code.domain.encode(array)
            for code, array in zip(wanted, arrays, strict=True)
        ]

    def values(self, columns: Sequence[str]) -> Iterator[list[NDArray[Any]]]:
        for name in columns:
            self.require(name)
        with quiet(self.engine):
            found = self._frame.select(*(self._names[name] for name in columns)).collect()
            arrays = [masked(found[self._names[name]].to_native()) for name in columns]
        yield arrays

    def where(self, condition: Condition) -> LazyRows:
        for column in named(condition):
            self.require(column)
        held = condition_expression(condition, self._expressions)
        with quiet(self.engine):
            return self._with(self._frame.filter(held))

    def capped(self, unit: str, rows: int, *, bits: Bits = SYSTEM) -> LazyRows:
        most = self.require_cap(unit, rows)
        with quiet(self.engine):
            native = self._frame.filter(self._expressions[unit].present()).to_native()
            kept = nw.from_native(_capped(native, self._names[unit], most, self.engine, self._taken, bits)).lazy()
            return self._with(kept)

    def key_counts(self, column: str, least: int = 1) -> KeyCounts:
        self.require(column)
        key, name = self._expressions[column].key(), free("flou_key", self._taken)
        if key is None:
            return listed((), least)
        found: dict[Key, int] = {}
        with quiet(self.engine):
            _require_exact_texts(self._frame.to_native(), self.engine)
            keyed = self._frame.with_columns(key.alias(name)).select(name).filter(~nw.col(name).is_null())
            counted = keyed.group_by(name).agg(nw.len().alias("flou_n")).filter(nw.col("flou_n") >= least)
            answer = _fetched(counted)
            keys = masked(answer[name].to_native()).tolist()
            for one, rows in zip(map(key_of, keys), answer["flou_n"].to_list(), strict=True):
                if one is not None:  # two keys that only the engine can tell apart count as the larger of them
                    found[one] = max(found.get(one, 0), int(rows))
        return listed(found.items(), least)


def _plain_names(names: Sequence[str], engine: str) -> dict[str, str]:
    """For each column a name that means nothing else to the engine: in Polars * is all columns, and ^...$ a pattern."""

    def speaks(name: str) -> bool:
        return engine == "polars" and (name == "*" or (name.startswith("^") and name.endswith("$")))

    return {name: free(f"flou_named{i}", names) if speaks(name) else name for i, name in enumerate(names)}


def _held(key: nw.Expr, spans: Spans) -> nw.Expr:
    """Whether a code lies in one of some spans, by the runs that they are made of: an engine may compute the code again
    for each comparison.
    """
    run = run_of(spans)
    if 0 < sum(b - a for a, b in spans) <= MOST_RUNS * run:
        return (key // run).is_in([one for a, b in spans for one in range(a // run, b // run)])
    return nw.any_horizontal(key < 0, *((key >= a) & (key < b) for a, b in spans), ignore_nulls=False)


def _require_exact_texts(native: Any, engine: str) -> None:
    """Refuse databases that treat two spellings as one text: they would show the spelling of one row."""
    if engine == "ibis" and native.get_backend().name in ("mysql", "mssql"):
        raise InvalidData(
            "Keys cannot be selected in databases that compare texts without regard to case.",
            "Of several spellings of a key, the database would show the spelling of a single row.",
            "Read the table with DuckDB, Polars or Spark, or declare the categories.",
        )


def _fetched(frame: nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
    """The one place where an answer leaves the engine."""
    return frame.collect()


def _capped(native: Any, unit: str, rows: int, engine: str, taken: Sequence[str], bits: Bits) -> Any:
    """At most ``rows`` random rows of every unit, as each engine expresses it; a seed is secret."""
    seed = int(keyed(bits).words(1)[0]) >> 1
    rank, draw = (free(name, taken) for name in ("flou_rank", "flou_draw"))
    if engine == "polars":
        import polars as pl

        # one order of all rows: shuffled unit by unit, all units of one size would keep the same places
        drawn = native.with_columns(pl.int_range(pl.len()).shuffle(seed).alias(draw))
        return drawn.filter(pl.col(draw).rank("ordinal").over(unit) <= rows).drop(draw)
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
        f"The number of rows per unit cannot be capped on engine {engine!r}.",
        "Without the cap one person could move the answer by more than is stated.",
        "Use DuckDB, Polars, Spark, Ibis, or a table in memory.",
    )


def _backticked(name: str) -> str:
    """A column of Spark, where a point in a name would look into a structure."""
    return "`" + name.replace("`", "``") + "`"
