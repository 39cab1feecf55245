"""Spans of codes in DuckDB's SQL."""

from __future__ import annotations

import functools
import operator

from flou.summaries.rows import Spans

__all__ = ["spans_sql"]

FEW = 32  # spans that are tried one after the other


def spans_sql(code: str, spans: Spans) -> str:
    """Whether a code lies in one of some spans; of many, by a hash table of the runs of codes that they are made of."""
    if len(spans) <= FEW:
        return " OR ".join(f"({code} >= {a} AND {code} < {b})" for a, b in spans) or "false"
    edges = functools.reduce(operator.or_, (edge for span in spans for edge in span))
    run = edges & -edges  # the largest power of two that divides them all
    runs = ", ".join(f"({a // run}, {b // run})" for a, b in spans)
    listed = f"SELECT unnest(range(a, b)) FROM (VALUES {runs}) AS spans(a, b)"
    return f"CAST(FLOOR({code} / {run}) AS BIGINT) IN ({listed})"
