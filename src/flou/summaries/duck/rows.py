"""Rows behind DuckDB: files larger than memory, relations, and anything DuckDB can read, by SQL made of codes.

All requests of one call share one pass, as long as they have no more than 62 different keys: every sum and every table
of counts is one grouping set of one query. How sums stay exact is in ``duck/query.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from flou.bits import SYSTEM, Bits
from flou.errors import InvalidData
from flou.summaries.condition import Condition, named
from flou.summaries.duck.query import LIMBS, Query
from flou.summaries.duck.select import USERS, Select, values_in_batches
from flou.summaries.duck.spans import holds_missing, rows_sql, spans_sql
from flou.summaries.duck.sql import ColumnSQL, condition_sql, quoted
from flou.summaries.keys import KeyCounts, key_of, key_sql, listed
from flou.summaries.progress import reported
from flou.summaries.request import Code, Request, Sums, codes_of, keys_of
from flou.summaries.rows import Rows, Spans, Tally, free, keyed, quiet

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

__all__ = ["DuckRows"]

Batch = TypeVar("Batch")

MOST_KEYS = 62  # of one query: DuckDB marks grouping sets with as many bits


class DuckRows(Rows):
    """A DuckDB relation, or a SELECT with its own connection, which closes with these rows.

    ``as_text`` says that every column is text to be read by its domain (a CSV file), ``counted`` that the number of all
    rows is known without reading them.
    """

    def __init__(
        self,
        relation: DuckDBPyRelation | Select,
        *,
        as_text: bool = False,
        engine: str = "duckdb",
        counted: bool = False,
    ) -> None:
        self._relation = relation
        self._counted = relation if counted else None  # all rows, before any filter
        self.engine = engine
        bound = relation.bound() if isinstance(relation, Select) else relation
        if len({name.lower() for name in bound.columns}) < len(bound.columns):
            raise InvalidData(
                "Two columns of the table have the same name.",
                "A question names its column, and DuckDB ignores the case of names.",
                "Rename one of them, or leave it out.",
            )
        self._alone: AbstractContextManager[Any] = nullcontext() if isinstance(relation, Select) else USERS
        kinds = zip(bound.columns, bound.types, strict=True)
        self._columns = {name: ColumnSQL(name, str(kind), as_text) for name, kind in kinds}

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self._columns)

    def _with(self, relation: DuckDBPyRelation | Select) -> DuckRows:
        """Some of the rows, with all columns."""
        some = object.__new__(type(self))
        some.__dict__.update(self.__dict__, _relation=relation)
        return some

    def collect(self, requests: Sequence[Request]) -> list[NDArray[Any]]:
        for code in {code for request in requests for code in codes_of(request)}:
            self.require(code.column)
        with self._alone, quiet(self.engine):
            return [answer for some in _batches(requests) for answer in self._collected(some)]

    def _collected(self, requests: Sequence[Request]) -> list[NDArray[Any]]:
        """The answers of one pass."""
        rows = self._expected(requests)
        for bits in LIMBS:
            query = Query(requests, self._columns, bits)
            if bits > LIMBS[-1] and not query.exact(rows):
                continue
            read = self._relation
            if query.codes:
                read = read.project(", ".join(query.reads)).project(", ".join(query.projected))
            found = self._fetched(read.aggregate(*query.aggregation))
            rows = int(found["n"].max(initial=0))
            if query.exact(rows):
                break
        return [query.placed(request, found) for request in requests]

    def _expected(self, requests: Sequence[Request]) -> int:
        """Rows of the largest group, if it has half of them: a guess that can save a pass; 0 without a guess."""
        if self._counted is None or not any(isinstance(request, Sums) for request in requests):
            return 0
        rows = int(self._fetched(self._counted.aggregate("count(*) AS n"))["n"][0])
        return rows // 2 if all(map(keys_of, requests)) else rows

    def tally(self, code: Code, spans: Spans, by: Code | None = None) -> Tally:
        names = {code: "flou_c"} | ({} if by is None else {by: "flou_g"})
        self.require(code.column)
        inside = rows_sql(self._columns[code.column], code.domain, spans)
        with self._alone, quiet(self.engine):
            some = self if inside is None else self._with(self._relation.filter(inside))
            # rows that were chosen by their cells lie within the grid, and need no clipping
            clipped = inside is None or holds_missing(code.domain, spans)
            rows = some._coded(names, None if clipped else code)
            if inside is None:
                rows = rows.filter(spans_sql("flou_c", spans))
            group = "0" if by is None else names[by]
            keys = f"CAST({group} AS BIGINT) AS g, CAST(flou_c AS BIGINT) AS c"
            found = self._fetched(rows.aggregate(f"{keys}, count(*) AS n", ", ".join(names.values())).order("g, c"))
        groups, codes, counts = (found[name].astype(np.int64) for name in "gcn")
        return groups, codes, counts

    def _coded(self, names: dict[Code, str], within: Code | None = None) -> DuckDBPyRelation | Select:
        """Only the codes of the rows, under these names; for the code ``within``, all rows are known to be cells.

        Codes without a rule for engines are given as numbers, which the domain itself encodes.
        """
        for wanted in names:
            self.require(wanted.column)
        columns = {wanted: self._columns[wanted.column] for wanted in names}
        cells = {w: column.cell(w.domain, w != within) if w.ruled else None for w, column in columns.items()}
        read = {columns[w].read() if cell is None else f"{cell} AS {names[w]}_cell": None for w, cell in cells.items()}
        coded = (
            f"{names[w]}_cell AS {names[w]}"
            if w == within
            else f"{column.code(w.domain, None if cells[w] is None else f'{names[w]}_cell')} AS {names[w]}"
            if w.ruled
            else f"{column.number()} AS {names[w]}"
            for w, column in columns.items()
        )
        return self._relation.project(", ".join(read)).project(", ".join(coded))

    def codes(self, wanted: Sequence[Code]) -> Iterator[list[NDArray[np.int64]]]:
        names = {code: f"flou_c{i}" for i, code in enumerate(dict.fromkeys(wanted))}
        with quiet(self.engine):
            casts = (f"CAST({name} AS BIGINT) AS {name}" if c.ruled else name for c, name in names.items())
            for found in self._in_turn(values_in_batches(self._coded(names).project(", ".join(casts)))):
                coded = {
                    c: np.asarray(column, dtype=np.int64) if c.ruled else c.domain.encode(column)
                    for c, column in zip(names, found, strict=True)
                }
                yield [coded[code] for code in wanted]

    def values(self, columns: Sequence[str]) -> Iterator[list[NDArray[Any]]]:
        for name in columns:
            self.require(name)
        with quiet(self.engine):
            yield from self._in_turn(values_in_batches(self._relation.project(", ".join(map(quoted, columns)))))

    def _in_turn(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        """Batches, each fetched under the lock; the lock is free while the caller works on a batch."""
        while True:
            with self._alone:
                batch = next(batches, None)
            if batch is None:
                return
            yield batch

    def _fetched(self, relation: DuckDBPyRelation | Select) -> dict[str, NDArray[Any]]:
        """The one place where an answer leaves DuckDB."""
        with reported(relation.connection if isinstance(relation, Select) else None):
            return {name: np.asarray(values) for name, values in relation.fetchnumpy().items()}

    def where(self, condition: Condition) -> DuckRows:
        for column in named(condition):
            self.require(column)
        held = condition_sql(condition, self._columns)
        with self._alone, quiet(self.engine):
            return self._with(self._relation.filter(held))

    def capped(self, unit: str, rows: int, *, bits: Bits = SYSTEM) -> DuckRows:
        """Rows of a unit are ordered by a keyed hash of DuckDB's random numbers, which a user could have seeded."""
        most = self.require_cap(unit, rows)
        column = self._columns[unit]
        rank, draw = (free(name, self.columns) for name in ("flou_rank", "flou_draw"))
        drawn = f"*, hash(random(), {int(keyed(bits).words(1)[0])}::UBIGINT) AS {draw}"
        ranked = f"*, row_number() OVER (PARTITION BY {column.name} ORDER BY {draw}) AS {rank}"
        with self._alone, quiet(self.engine):
            kept = self._relation.filter(column.present()).project(drawn).project(ranked).filter(f"{rank} <= {most}")
            return self._with(kept.project(f"* EXCLUDE ({rank}, {draw})"))

    def key_counts(self, column: str, least: int = 1) -> KeyCounts:
        self.require(column)
        key = key_sql(self._columns[column])
        if key is None:
            return listed((), least)
        with self._alone, quiet(self.engine):
            keyed = self._relation.project(self._columns[column].read()).project(f"{key} AS k").filter("k IS NOT NULL")
            found = self._fetched(keyed.aggregate("k, count(*) AS n", "k").filter(f"n >= {least}"))
        keys = map(key_of, found["k"].tolist())
        return listed(((k, n) for k, n in zip(keys, found["n"].tolist(), strict=True) if k is not None), least)


def _batches(requests: Sequence[Request]) -> Iterator[list[Request]]:
    """Requests in their order, in batches whose keys fit into one query of DuckDB."""
    batch: list[Request] = []
    keys: set[Code] = set()
    for request in requests:
        more = keys | set(keys_of(request))
        if batch and len(more) > MOST_KEYS:
            yield batch
            batch, more = [], set(keys_of(request))
        batch, keys = [*batch, request], more
    yield batch
