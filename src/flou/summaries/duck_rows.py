"""Rows behind DuckDB: files larger than memory, relations, and anything DuckDB can read, by SQL made of codes.

All requests of one call share one pass: every sum and every table of counts is one grouping set of one query. DuckDB
sums 64-bit integers into 128 bits, so no sum overflows, and sums come back as two halves of 62 bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flou.bits import SYSTEM
from flou.domain import Interval
from flou.summaries.condition import Condition, named
from flou.summaries.duck_sql import ColumnSQL, condition_sql
from flou.summaries.request import LARGEST_CODE, Code, Counts, Request, Term
from flou.summaries.rows import Rows, free, quiet

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

__all__ = ["DuckRows"]

HALF = 62  # bits of the lower part of a sum


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
        query = _Query(requests)
        for code in query.codes:
            self.require(code.column)
        with quiet(self.engine):
            rows = self._relation
            if query.codes:
                direct = {code: name for code, name in query.codes.items() if code not in query.shifts}
                inner = [f"{self._columns[code.column].code(code.domain)} AS {name}" for code, name in direct.items()]
                used = dict.fromkeys(self._columns[code.column].read() for code in direct)
                rows = rows.project(", ".join(used)).project(", ".join(inner))
            if query.shifts:
                shifted = (
                    f"{source} >> {bits} AS {query.codes[code]}" for code, (source, bits) in query.shifts.items()
                )
                rows = rows.project(", ".join(["*", *shifted]))
            found = self._fetched(rows.aggregate(*query.aggregation))
        return [query.placed(request, found) for request in requests]

    def _fetched(self, relation: DuckDBPyRelation) -> dict[str, NDArray[Any]]:
        """The one place where an answer leaves DuckDB."""
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


class _Query:
    """The names of codes and sums, and the grouping sets, of requests that are asked together."""

    def __init__(self, requests: Sequence[Request]) -> None:
        self.codes: dict[Code, str] = {}
        self.sums: dict[tuple[int, frozenset[Code]], tuple[str, str]] = {}
        groupings: dict[frozenset[str], None] = {}
        for request in requests:
            groupings.setdefault(frozenset(self._name(code) for code in _keys(request)))
            for term in () if isinstance(request, Counts) else request.terms:
                names = [self._name(code) for code in term]
                if len(term) == 2 and term[0].domain.size * term[1].domain.size > LARGEST_CODE:
                    names[0] += "::BIGINT"  # codes are INTEGER, whose products stop at 31 bits
                if term:
                    self.sums.setdefault(_product(term), (f"s{len(self.sums)}", " * ".join(names)))
        self.keys = sorted({key for grouping in groupings for key in grouping})
        self.shifts = _shifts(self.codes)
        outputs = [*self.keys, "count(*) AS n"]
        for name, product in self.sums.values():
            total = f"coalesce(sum({product}), 0)"
            outputs.append(f"CAST({total} // {1 << HALF} AS BIGINT) AS {name}_high")
            outputs.append(f"CAST({total} % {1 << HALF} AS BIGINT) AS {name}_low")
        if self.keys:
            outputs.append(f"CAST(grouping({', '.join(self.keys)}) AS BIGINT) AS mark")
        sets = ", ".join(f"({', '.join(sorted(grouping))})" for grouping in groupings)
        self.aggregation = (", ".join(outputs), f"GROUPING SETS ({sets})" if self.keys else "")

    def _name(self, code: Code) -> str:
        return self.codes.setdefault(code, f"c{len(self.codes)}")

    def placed(self, request: Request, found: dict[str, NDArray[Any]]) -> NDArray[Any]:
        """The part of the common answer that belongs to one request, as a dense array."""
        grouping = [self.codes[code] for code in _keys(request)]
        rows: Any = slice(None)
        if self.keys:  # bit i of the mark, from the right, is 1 when that key is summed over
            last = len(self.keys) - 1
            rows = found["mark"] == sum((key not in grouping) << (last - i) for i, key in enumerate(self.keys))
        cells = tuple(found[key][rows].astype(np.int64) for key in grouping)
        result = np.zeros(request.shape, dtype=np.int64 if isinstance(request, Counts) else object)
        if isinstance(request, Counts):
            result[cells] = found["n"][rows]
            return result
        for i, term in enumerate(request.terms):
            values = found["n"][rows].astype(object)
            if term:
                name = self.sums[_product(term)][0]
                high, low = (found[f"{name}_{part}"][rows].astype(object) for part in ("high", "low"))
                values = high * (1 << HALF) + low
            result[(*cells, i)] = values if cells else values[0]
        return result


def _product(term: Term) -> tuple[int, frozenset[Code]]:
    """What a product is, whatever the order of its factors."""
    return len(term), frozenset(term)


def _keys(request: Request) -> tuple[Code, ...]:
    if isinstance(request, Counts):
        return request.codes
    return () if request.by is None else (request.by,)


def _shifts(codes: dict[Code, str]) -> dict[Code, tuple[str, int]]:
    """Codes that are the upper bits of a finer code of the same column: its name, and by how many bits.

    Doubles scale exactly by powers of two, so that floor(d / (2^k step)) is floor(d / step) without its last k bits.
    """
    shifts: dict[Code, tuple[str, int]] = {}
    finest: dict[tuple[Any, ...], Code] = {}
    for code in sorted(codes, key=lambda code: -code.domain.size):
        domain = code.domain
        if not isinstance(domain, Interval):
            continue
        finer = finest.setdefault((code.column, domain.lower, domain.upper, domain.missing), code)
        assert isinstance(finer.domain, Interval)
        bits = (finer.domain.cells // domain.cells).bit_length() - 1
        if bits and finer.domain.cells == domain.cells << bits and finer.domain.step * 2**bits == domain.step:
            shifts[code] = codes[finer], bits
    return shifts
