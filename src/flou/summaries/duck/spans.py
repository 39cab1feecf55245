"""Spans of codes in DuckDB's SQL: a hash table of the runs of codes that they are made of.

A comparison with each span would be shorter, but DuckDB would compute the code again for each of them. The length of a
run is the largest power of two that divides all edges.
"""

from __future__ import annotations

import functools
import operator

from flou.domain import Domain
from flou.domain.rule import Cells, Rule
from flou.summaries.duck.sql import ColumnSQL
from flou.summaries.rows import Spans

__all__ = ["holds_missing", "rows_sql", "run_of", "spans_sql"]

MOST = 1 << 18  # runs in the table


def rows_sql(column: ColumnSQL, domain: Domain | Rule, spans: Spans) -> str | None:
    """Whether the code of a row lies in one of some spans, before codes are computed; None where codes are needed.

    The run of a code is the code on a grid whose cells are as long as runs (``domain/rule.py``). Spans that hold the
    first or the last code, which rows beyond the bounds have, are left to ``spans_sql``: neither a negative cell nor
    one beyond the last is in the table. NULL and NaN count as NaN, which equals itself in DuckDB, and is in the table
    where the spans hold the code of missing values.
    """
    run, rule = run_of(spans), domain.rule
    if not isinstance(rule, Cells) or not spans or spans[0][0] == 0 or spans[-1][1] > rule.last:
        return None
    if _many(spans, run):
        return None
    cell = column.cell(rule.coarser(run.bit_length() - 1), centred=False)
    if cell is None:
        return None
    listed = f"SELECT CAST(unnest(range(a, b)) AS DOUBLE) FROM {_table(spans, run)}"
    if holds_missing(rule, spans):
        listed += " UNION ALL SELECT 'nan'::DOUBLE"
    return f"coalesce({cell}, 'nan'::DOUBLE) IN ({listed})"


def spans_sql(code: str, spans: Spans) -> str:
    """Whether a code lies in one of some spans."""
    run = run_of(spans)
    if not spans or _many(spans, run):
        return " OR ".join(f"({code} >= {a} AND {code} < {b})" for a, b in spans) or "false"
    return f"CAST(FLOOR({code} / {run}) AS BIGINT) IN (SELECT unnest(range(a, b)) FROM {_table(spans, run)})"


def holds_missing(domain: Domain | Rule, spans: Spans) -> bool:
    """Whether the code of missing values lies in one of some spans."""
    return any(a <= domain.missing_code < b for a, b in spans)


def run_of(spans: Spans) -> int:
    """How many codes a run has."""
    edges = functools.reduce(operator.or_, (edge for span in spans for edge in span), 0)
    return edges & -edges


def _many(spans: Spans, run: int) -> bool:
    return sum(b - a for a, b in spans) > MOST * run


def _table(spans: Spans, run: int) -> str:
    """The first run of each span, and the run after its last."""
    return f"(VALUES {', '.join(f'({a // run}, {b // run})' for a, b in spans)}) AS spans(a, b)"
