"""Text files that another engine reads lazily: refused before a row is read.

Polars and DuckDB read a CSV or JSON file by types that are given or that they guess from its first rows, and stop at a
cell that does not fit. A question that fails would then reveal that such a cell exists. The plan of a lazy frame names
its scans, whatever the files hold: whether a frame is refused depends on no value.
"""

from __future__ import annotations

import re
from typing import Any

from flou.errors import InvalidData

__all__ = ["require_no_text_scan"]

_SCANS = {
    "polars": re.compile(r"^\s*(Csv|NDJson|Lines) SCAN", re.MULTILINE | re.IGNORECASE),
    "duckdb": re.compile(r"\bREAD_(CSV|JSON|NDJSON)(_AUTO|_OBJECTS|_OBJECTS_AUTO)?\b"),
}


def require_no_text_scan(native: Any, engine: str) -> None:
    """Refuse a lazy frame of Polars, a relation of DuckDB, or one of either through Ibis, that reads a text file."""
    if engine == "ibis":
        backend = native.get_backend()
        engine, compiled = backend.name, backend.compile(native)
        if engine not in _SCANS:  # a database, which has read its files already
            return
        native = backend.con.sql(compiled) if engine == "duckdb" else compiled
    plan = native.explain(optimized=False) if engine == "polars" else native.explain()
    if _SCANS[engine].search(str(plan)):
        raise InvalidData(
            f"This table reads a text file through {engine}, which stops at a cell that does not fit its column.",
            "One row could then turn every answer into an error.",
            "Pass the path to flou.open, which reads every cell by the schema, or read the file into memory first.",
        )
