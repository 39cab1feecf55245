"""Spans of codes in DuckDB's SQL: a hash table of the runs of codes that they are made of.

A comparison with each span would be shorter, but DuckDB computes the code anew for each of them.
"""

from __future__ import annotations

import functools
import operator

from flou.summaries.rows import Spans

__all__ = ["spans_sql"]

MOST = 1 << 18  # runs in the table


def spans_sql(code: str, spans: Spans) -> str:
    """Whether a code lies in one of some spans."""
    edges = functools.reduce(operator.or_, (edge for span in spans for edge in span), 0)
    run = edges & -edges  # the largest power of two that divides them all
    if not spans or sum(b - a for a, b in spans) > MOST * run:
        return " OR ".join(f"({code} >= {a} AND {code} < {b})" for a, b in spans) or "false"
    runs = ", ".join(f"({a // run}, {b // run})" for a, b in spans)
    listed = f"SELECT unnest(range(a, b)) FROM (VALUES {runs}) AS spans(a, b)"
    return f"CAST(FLOOR({code} / {run}) AS BIGINT) IN ({listed})"
