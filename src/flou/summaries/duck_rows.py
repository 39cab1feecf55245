"""Rows behind DuckDB: files larger than memory, relations, and anything DuckDB can read, by SQL made of codes.

All requests of one call share one pass: every sum and every table of counts is one grouping set of one query.

Codes and their products are whole DOUBLEs, cut into limbs of 16 bits. In groups they are averaged, because DuckDB does
that about twice as fast as it sums doubles, or integers. Nothing is lost: a sum of n limbs stays below 2^53, so that it
is exact in any order, and in a double; n times its rounded quotient by n errs by less than 2^-51 of n 2^16, and the
nearest whole number is the sum for all n up to 2^35. Beyond, the pass is repeated with limbs of 8 bits.

Codes of intervals are summed as they are read, from the middle of their grid: that is a whole number or a half, and n
times the middle is added at the end. Their spread is 2^16 less a square, and is summed as that square.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flou.bits import SYSTEM
from flou.domain import Interval
from flou.summaries.condition import Condition, named
from flou.summaries.duck_batches import in_batches, values_in_batches
from flou.summaries.duck_sql import (
    EXACT,
    ColumnSQL,
    clipped_sql,
    condition_sql,
    middle,
    quoted,
    rounded_sql,
    squared_sql,
)
from flou.summaries.keys import KeyCounts, key_of, key_sql, listed
from flou.summaries.progress import reported
from flou.summaries.request import Code, Counts, Request, Term
from flou.summaries.rows import Rows, Spans, Tally, free, quiet
from flou.summaries.spans_sql import spans_sql
from flou.summaries.spread import MOST, SCALE, Spread

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

__all__ = ["DuckRows"]

LIMBS = (16, 8)  # bits of the parts of a sum
SQUARE = round(-math.log2(SCALE))
AVERAGED = 2**51  # below this a sum is the nearest whole number to its rows times its average


class DuckRows(Rows):
    """A DuckDB relation; ``as_text`` says that every column is text to be read by its domain (a CSV file)."""

    def __init__(
        self,
        relation: DuckDBPyRelation,
        *,
        as_text: bool = False,
        engine: str = "duckdb",
        keep: DuckDBPyConnection | None = None,
    ) -> None:
        self._relation = relation
        self._as_text = as_text
        self._keep = keep  # the connection that the relation lives in, where nobody else holds it; it closes with us
        self.engine = engine
        kinds = zip(relation.columns, relation.types, strict=True)
        self._columns = {name: ColumnSQL(name, str(kind), as_text) for name, kind in kinds}

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self._columns)

    def _with(self, relation: DuckDBPyRelation) -> DuckRows:
        return DuckRows(relation, as_text=self._as_text, engine=self.engine, keep=self._keep)

    def collect(self, requests: Sequence[Request]) -> list[NDArray[Any]]:
        for code in {code for request in requests for code in _codes(request)}:
            self.require(code.column)
        with quiet(self.engine):
            for bits in LIMBS:
                query = _Query(requests, self._columns, bits)
                rows = self._relation
                if query.codes:
                    rows = rows.project(", ".join(query.reads)).project(", ".join(query.projected))
                found = self._fetched(rows.aggregate(*query.aggregation))
                if not query.sums or int(found["n"].max(initial=0)) << bits < AVERAGED:
                    break
        return [query.placed(request, found) for request in requests]

    def tally(self, code: Code, spans: Spans, by: Code | None = None) -> Tally:
        names = {code: "flou_c"} | ({} if by is None else {by: "flou_g"})
        with quiet(self.engine):
            rows = self._coded(names).filter(spans_sql("flou_c", spans))
            group = "0" if by is None else names[by]
            keys = f"CAST({group} AS BIGINT) AS g, CAST(flou_c AS BIGINT) AS c"
            found = self._fetched(rows.aggregate(f"{keys}, count(*) AS n", ", ".join(names.values())).order("g, c"))
        groups, codes, counts = (found[name].astype(np.int64) for name in "gcn")
        return groups, codes, counts

    def _coded(self, names: dict[Code, str]) -> DuckDBPyRelation:
        """Only the codes of the rows, under these names."""
        for wanted in names:
            self.require(wanted.column)
        columns = {wanted: self._columns[wanted.column] for wanted in names}
        cells = {wanted: column.cell(wanted.domain) for wanted, column in columns.items()}
        read = {columns[w].read() if cell is None else f"{cell} AS {names[w]}_cell": None for w, cell in cells.items()}
        coded = (
            f"{column.code(w.domain, None if cells[w] is None else f'{names[w]}_cell')} AS {names[w]}"
            for w, column in columns.items()
        )
        return self._relation.project(", ".join(read)).project(", ".join(coded))

    def codes(self, wanted: Sequence[Code]) -> Iterator[list[NDArray[np.int64]]]:
        names = {code: f"flou_c{i}" for i, code in enumerate(dict.fromkeys(wanted))}
        with quiet(self.engine):
            casts = (f"CAST({name} AS BIGINT) AS {name}" for name in names.values())
            for found in in_batches(self._coded(names).project(", ".join(casts))):
                yield [found[list(names).index(code)] for code in wanted]

    def values(self, columns: Sequence[str]) -> Iterator[list[NDArray[Any]]]:
        for name in columns:
            self.require(name)
        with quiet(self.engine):
            yield from values_in_batches(self._relation.project(", ".join(map(quoted, columns))))

    def _fetched(self, relation: DuckDBPyRelation) -> dict[str, NDArray[Any]]:
        """The one place where an answer leaves DuckDB."""
        with reported(self._keep):
            return {name: np.asarray(values) for name, values in relation.fetchnumpy().items()}

    def where(self, condition: Condition) -> DuckRows:
        for column in named(condition):
            self.require(column)
        return self._with(self._relation.filter(condition_sql(condition, self._columns)))

    def capped(self, unit: str, rows: int) -> DuckRows:
        """Rows of a unit are ordered by a keyed hash of DuckDB's random numbers, which a user could have seeded."""
        most = self.require_cap(unit, rows)
        column = self._columns[unit]
        rank, draw = (free(name, self.columns) for name in ("flou_rank", "flou_draw"))
        drawn = f"*, hash(random(), {int(SYSTEM.words(1)[0])}::UBIGINT) AS {draw}"
        ranked = f"*, row_number() OVER (PARTITION BY {column.name} ORDER BY {draw}) AS {rank}"
        with quiet(self.engine):
            kept = self._relation.filter(column.present()).project(drawn).project(ranked).filter(f"{rank} <= {most}")
            return self._with(kept.project(f"* EXCLUDE ({rank}, {draw})"))

    def key_counts(self, column: str, least: int = 1) -> KeyCounts:
        self.require(column)
        key = key_sql(self._columns[column])
        if key is None:
            return listed((), least)
        with quiet(self.engine):
            keyed = self._relation.project(self._columns[column].read()).project(f"{key} AS k").filter("k IS NOT NULL")
            found = self._fetched(keyed.aggregate("k, count(*) AS n", "k").filter(f"n >= {least}"))
        keys = map(key_of, found["k"].tolist())
        return listed(((k, n) for k, n in zip(keys, found["n"].tolist(), strict=True) if k is not None), least)


class _Query:
    """The names of codes and sums, and the grouping sets, of requests that are asked together."""

    def __init__(self, requests: Sequence[Request], columns: dict[str, ColumnSQL], bits: int) -> None:
        self._columns, self._bits = columns, bits
        self.codes: dict[tuple[Code, str], str] = {}  # the names of codes, and of keys
        self.sums: dict[tuple[int, frozenset[Code]], list[tuple[str, int]]] = {}  # of limbs, and their shifts
        averages: list[str] = []
        groupings = dict.fromkeys(frozenset(self._name(code, "k") for code in _keys(request)) for request in requests)
        keys = {name: code for (code, _), name in self.codes.items()}
        self.keys = list(keys)
        added = "avg" if keys else "sum"
        for term in (term for r in requests if not isinstance(r, Counts) for term in r.terms):
            if term and _product(term) not in self.sums:
                limbs = self._limbs(term)
                names = [f"s{len(averages) + i}" for i in range(len(limbs))]
                averages += [f"coalesce({added}({limb}), 0) AS {n}" for n, (limb, _) in zip(names, limbs, strict=True)]
                self.sums[_product(term)] = [(n, shift) for n, (_, shift) in zip(names, limbs, strict=True)]
        codes = [f"{columns[c.column].coded(c.domain, key)} AS {key}_code" for key, c in keys.items()]
        outputs = [*codes, "count(*) AS n", *averages]
        sets = ", ".join(f"({', '.join(sorted(grouping))})" for grouping in groupings)
        if len(groupings) > 1:
            outputs.append(f"CAST(grouping({', '.join(keys)}) AS BIGINT) AS mark")
            sets = f"GROUPING SETS ({sets})"
        self.aggregation = (", ".join(outputs), sets if keys else "")

    def _name(self, code: Code, kind: str) -> str:
        return self.codes.setdefault((code, kind), f"{kind}{len(self.codes)}")

    @cached_property
    def _cells(self) -> dict[Code, tuple[str, str]]:
        """For codes that are clipped cells: how a cell is read, and its name."""
        read = {code: self._columns[code.column].cell(code.domain) for code, _ in self.codes}
        names = (free(f"flou_{i}", self._columns) for i in itertools.count())
        return {code: (cell, next(names)) for code, cell in read.items() if cell is not None}

    @property
    def reads(self) -> list[str]:
        """The cells, and the columns of other codes."""
        columns = dict.fromkeys(code.column for code, _ in self.codes if code not in self._cells)
        cells = (f"{cell} AS {name}" for cell, name in self._cells.values())
        return [*cells, *(self._columns[column].read() for column in columns)]

    @property
    def projected(self) -> list[str]:
        """The codes and keys of each row."""
        return [f"{self._made(code, kind)} AS {name}" for (code, kind), name in self.codes.items()]

    def _made(self, code: Code, kind: str) -> str:
        column, domain, cell = self._columns[code.column], code.domain, self._cells.get(code, ("", None))[1]
        if kind == "k":
            return column.key(domain, cell)
        if not isinstance(domain, Interval):
            return column.code(domain)
        return clipped_sql(cell, domain) if cell else f"({column.code(domain)} - {middle(domain)})"

    def _value(self, code: Code) -> str:
        """A code as a DOUBLE; that of an interval from the middle of its grid."""
        return f"CAST({self._name(code, 'c')} AS DOUBLE)"

    def _whole(self, code: Code) -> str:
        """A code as a DOUBLE, from 0."""
        if isinstance(code.domain, Spread):
            return f"({MOST} - {squared_sql(self._value(Code(code.column, code.domain.grid)))} * {SCALE}::DOUBLE)"
        return (
            f"({self._value(code)} + {middle(code.domain)})" if isinstance(code.domain, Interval) else self._value(code)
        )

    def _limbs(self, term: Term) -> list[tuple[str, int]]:
        """A product of codes as whole multiples of powers of two, at most 2^bits of them each, and these powers."""
        largest = math.prod(code.domain.size - 1 for code in term)
        if len(term) == 1:
            domain = term[0].domain
            if isinstance(domain, Spread):
                return self._cut(squared_sql(self._value(Code(term[0].column, domain.grid))), MOST << SQUARE, SQUARE)
            centred = isinstance(domain, Interval)
            return self._cut(self._value(term[0]), largest / 2 if centred else largest, -1 if centred else 0)
        value, other = map(self._whole, term)
        if largest < EXACT:
            return self._cut(f"({value} * {other})", largest, 0)
        upper = rounded_sql(value, 1 << 16)  # products with either part of a code have less than 53 bits
        parts = ((f"(({value} - {upper}) * {other})", 0), (f"({upper} * {other})", 16))
        return [limb for part, shift in parts for limb in self._cut(part, largest, shift)]

    def _cut(self, value: str, largest: float, shift: int) -> list[tuple[str, int]]:
        limbs = []
        while largest > 1 << (shift + self._bits):
            upper = rounded_sql(value, 1 << (shift + self._bits))
            limbs.append((f"{value} - {upper}", shift))
            value, shift = upper, shift + self._bits
        return [*limbs, (value, shift)]

    def placed(self, request: Request, found: dict[str, NDArray[Any]]) -> NDArray[Any]:
        """The part of the common answer that belongs to one request, as a dense array."""
        grouping = [self._name(code, "k") for code in _keys(request)]
        rows: Any = slice(None)
        if "mark" in found:  # bit i of the mark, from the right, is 1 when that key is summed over
            last = len(self.keys) - 1
            rows = found["mark"] == sum((key not in grouping) << (last - i) for i, key in enumerate(self.keys))
        cells = tuple(found[f"{key}_code"][rows].astype(np.int64) for key in grouping)
        result = np.zeros(request.shape, dtype=np.int64 if isinstance(request, Counts) else object)
        numbers = found["n"][rows]
        if isinstance(request, Counts):
            np.add.at(result, cells, numbers)
            return result
        for i, term in enumerate(request.terms):
            values = self._sum(term, {name: found[name][rows] for name in found}) if term else numbers.astype(object)
            np.add.at(result[..., i], cells, values if cells else values[0])
        return result

    def _sum(self, term: Term, found: dict[str, NDArray[Any]]) -> NDArray[Any]:
        """The exact sum of a term in each group, from its limbs."""
        times = found["n"] if self.keys else 1
        limbs = ((np.rint(found[name] * times / 2.0**shift), shift) for name, shift in self.sums[_product(term)])
        halves = sum(limb.astype(np.int64).astype(object) * 2 ** (shift + 1) for limb, shift in limbs)
        domain, rows = term[0].domain, found["n"].astype(object)
        if len(term) == 1 and isinstance(domain, Spread):
            return np.asarray(MOST * rows - halves // 2 ** (SQUARE + 1))
        return np.asarray(
            (halves + rows * (domain.size - 1) if len(term) == 1 and isinstance(domain, Interval) else halves) // 2
        )


def _product(term: Term) -> tuple[int, frozenset[Code]]:
    """What a product is, whatever the order of its factors."""
    return len(term), frozenset(term)


def _keys(request: Request) -> tuple[Code, ...]:
    if isinstance(request, Counts):
        return request.codes
    return () if request.by is None else (request.by,)


def _codes(request: Request) -> tuple[Code, ...]:
    terms = () if isinstance(request, Counts) else request.terms
    return (*_keys(request), *(code for term in terms for code in term))
