"""Rows behind DuckDB: files larger than memory, relations, and anything DuckDB can read, by SQL made of codes.

All requests of one call share one pass: every sum and every table of counts is one grouping set of one query. DuckDB
sums 64-bit integers into 128 bits, so no sum overflows. A cast in DuckDB rounds: codes are floored first, then cast.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flou.domain import Boolean, Categories, Domain, Integers, Interval
from flou.summaries.condition import Both, Comparison, Condition, Either, Negation
from flou.summaries.request import Code, Counts, Request, Sums
from flou.summaries.rows import Rows

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

__all__ = ["DuckRows"]

_WHOLE = {
    "TINYINT",
    "SMALLINT",
    "INTEGER",
    "BIGINT",
    "HUGEINT",
    "UTINYINT",
    "USMALLINT",
    "UINTEGER",
    "UBIGINT",
    "UHUGEINT",
}
_REAL = {"FLOAT", "DOUBLE"}


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
        self._keep = keep  # the connection that the relation lives in, where nobody else holds it
        self.engine = engine
        self._types = {
            name: str(kind).split("(")[0] for name, kind in zip(relation.columns, relation.types, strict=True)
        }

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self._types)

    def _with(self, relation: DuckDBPyRelation) -> DuckRows:
        return DuckRows(relation, as_text=self._as_text, engine=self.engine, keep=self._keep)

    def collect(self, requests: Sequence[Request]) -> list[NDArray[Any]]:
        codes: dict[Code, str] = {}

        def name(code: Code) -> str:
            self.require(code.column)
            return codes.setdefault(code, f"c{len(codes)}")

        sums: dict[tuple[str, ...], str] = {}
        groupings: dict[tuple[str, ...], int] = {}
        for request in requests:
            if isinstance(request, Counts):
                groupings.setdefault(tuple(name(code) for code in request.codes), len(groupings))
            else:
                groupings.setdefault(() if request.by is None else (name(request.by),), len(groupings))
                for term in request.terms:
                    if term:
                        sums.setdefault(tuple(name(code) for code in term), f"s{len(sums)}")
        keys = sorted({key for grouping in groupings for key in grouping})
        inner = ", ".join(f"{self._code_sql(code)} AS {alias}" for code, alias in codes.items()) or "1 AS one"
        outputs = [*keys, "count(*) AS n", *(f"sum({' * '.join(term)}) AS {alias}" for term, alias in sums.items())]
        if keys:
            outputs.append(f"grouping({', '.join(keys)}) AS mark")
        query = f"SELECT {', '.join(outputs)} FROM (SELECT {inner} FROM flou_rows)"
        if keys:
            sets = ", ".join(f"({', '.join(grouping)})" for grouping in groupings)
            query += f" GROUP BY GROUPING SETS ({sets})"
        found = self._query(query)
        answer = found.fetchall()
        table = {column: [row[i] for row in answer] for i, column in enumerate(found.columns)}
        mark = np.array(table.get("mark", [0] * len(answer)), dtype=np.int64)
        return [_placed(request, name, keys, table, mark, sums) for request in requests]

    def where(self, condition: Condition) -> DuckRows:
        return self._with(self._relation.filter(self._condition_sql(condition)))

    def capped(self, unit: str, rows: int) -> DuckRows:
        self.require(unit)
        column = _quoted(unit)
        drawn = f"SELECT *, random() AS flou_draw FROM flou_rows WHERE {column} IS NOT NULL"
        rank = f"row_number() OVER (PARTITION BY {column} ORDER BY flou_draw)"
        query = f"SELECT * EXCLUDE (flou_draw) FROM ({drawn}) QUALIFY {rank} <= {int(rows)}"
        return self._with(self._query(query))

    def _query(self, query: str) -> DuckDBPyRelation:
        found = self._relation.query("flou_rows", query)
        assert found is not None, "a SELECT has a result"
        return found

    def _number_sql(self, column: str) -> str | None:
        """The column as a DOUBLE that may be NULL, or None where it holds no numbers at all."""
        kind, quoted = self._types[column], _quoted(column)
        if self._as_text:
            return f"TRY_CAST({quoted} AS DOUBLE)"
        if kind in _REAL | _WHOLE | {"DECIMAL", "BOOLEAN"}:
            return f"CAST({quoted} AS DOUBLE)"
        return None

    def _code_sql(self, code: Code) -> str:
        domain, missing = code.domain, code.domain.missing_code
        if isinstance(domain, Categories):
            return self._category_sql(code.column, domain)
        number = self._number_sql(code.column)
        if number is None:
            return str(missing)
        if isinstance(domain, Boolean) and self._as_text:
            words = {"true": 1, "1": 1, "false": 0, "0": 0}
            cases = " ".join(f"WHEN '{word}' THEN {bit}" for word, bit in words.items())
            return f"CASE lower({_quoted(code.column)}) {cases} ELSE {missing} END"
        if isinstance(domain, Boolean):
            return f"CASE WHEN {number} = 1 THEN 1 WHEN {number} = 0 THEN 0 ELSE {missing} END"
        if isinstance(domain, Integers) and self._types[code.column] in _WHOLE:
            x = f"CAST({_quoted(code.column)} AS HUGEINT)"
            inside = f"LEAST(GREATEST({x}, {domain.lower}), {domain.upper})"
            return f"CASE WHEN {x} IS NULL THEN {missing} ELSE CAST({inside} - {domain.lower} AS BIGINT) END"
        grid = _grid_sql(number, domain)
        return f"CASE WHEN {number} IS NULL OR isnan({number}) THEN {missing} ELSE {grid} END"

    def _category_sql(self, column: str, domain: Categories) -> str:
        text, number = _quoted(column), self._number_sql(column)
        is_text = self._as_text or self._types[column] in {"VARCHAR", "ENUM"}
        is_truth = self._types[column] == "BOOLEAN"
        cases = []
        for code, value in enumerate(domain.values):
            if isinstance(value, bool):
                if is_truth:
                    cases.append(f"WHEN {text} = {str(value).lower()} THEN {code}")
                elif self._as_text:
                    cases.append(f"WHEN lower({text}) = '{str(value).lower()}' THEN {code}")
            elif isinstance(value, str):
                if is_text:
                    cases.append(f"WHEN {text} = {_literal(value)} THEN {code}")
            elif number is not None and not is_truth:
                cases.append(f"WHEN {number if self._as_text else text} = {value} THEN {code}")
        return f"CASE {' '.join(cases)} ELSE {domain.missing_code} END" if cases else str(domain.missing_code)

    def _condition_sql(self, condition: Condition) -> str:
        if isinstance(condition, Both | Either):
            word = "AND" if isinstance(condition, Both) else "OR"
            return f"({self._condition_sql(condition.left)} {word} {self._condition_sql(condition.right)})"
        if isinstance(condition, Negation):
            return f"(NOT {self._condition_sql(condition.condition)})"
        assert isinstance(condition, Comparison)
        self.require(condition.column)
        sign = {"==": "=", "!=": "<>"}.get(condition.operator, condition.operator)
        if isinstance(condition.constant, str):
            if self._as_text or self._types[condition.column] in {"VARCHAR", "ENUM"}:
                return f"COALESCE({_quoted(condition.column)} {sign} {_literal(condition.constant)}, false)"
            return "false"
        number = self._number_sql(condition.column)
        if number is None:
            return "false"
        return f"COALESCE(NOT isnan({number}) AND {number} {sign} {float(condition.constant)!r}, false)"


def _grid_sql(x: str, domain: Domain) -> str:
    """floor((x - lower) / step) inside the bounds, by the same double operations as everywhere."""
    if isinstance(domain, Interval):
        clamped = f"LEAST(GREATEST({x}, {domain.lower!r}::DOUBLE), {domain.upper!r}::DOUBLE)"
        cell = f"LEAST(FLOOR(({clamped} - {domain.lower!r}::DOUBLE) / {domain.step!r}::DOUBLE), {domain.cells - 1})"
        return f"CAST({cell} AS BIGINT)"
    assert isinstance(domain, Integers)
    whole = f"LEAST(GREATEST(FLOOR({x}), {domain.lower}), {domain.upper})"
    return f"CAST({whole} AS BIGINT) - {domain.lower}"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _placed(
    request: Request,
    name: Any,
    keys: list[str],
    table: dict[str, list[Any]],
    mark: NDArray[np.int64],
    sums: dict[Any, str],
) -> NDArray[Any]:
    """The part of the common answer that belongs to one request, as a dense array."""
    grouping = [name(code) for code in request.codes] if isinstance(request, Counts) else []
    if isinstance(request, Sums) and request.by is not None:
        grouping = [name(request.by)]
    # bit i of the mark, from the right, is 1 when that key is summed over
    own = sum((key not in grouping) << (len(keys) - 1 - i) for i, key in enumerate(keys))
    rows = np.flatnonzero(mark == own).tolist()
    result = np.zeros(request.shape, dtype=np.int64 if isinstance(request, Counts) else object)
    for row in rows:
        cell = tuple(table[key][row] for key in grouping)
        if isinstance(request, Counts):
            result[cell] = table["n"][row]
        else:
            for i, term in enumerate(request.terms):
                value = table[sums[tuple(name(code) for code in term)]][row] if term else table["n"][row]
                result[(*cell, i)] = int(value or 0)
    return result
