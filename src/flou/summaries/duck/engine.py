"""The embedded engine: one DuckDB in memory for all files that a process opens.

Starting an engine takes longer than many questions, and every engine has its own threads. So each file gets a
connection to the engine that already runs. Connections do not share settings, and close with the rows that hold them.

A forked child has its parent's engine in memory, but none of its threads: it would wait for them for ever, at its first
question and even when it ends. So the engine is given up before a fork, and both processes start a new engine when they
open a file. Tables that are open stay with the parent.
"""

from __future__ import annotations

import os
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING

from flou.summaries.duck.spill import spill

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["connected", "lenient"]

NO_TABLE = "SET perfect_ht_threshold = 17"  # codes of 16 bits, or NULL, are grouped without a hash table
NO_AHEAD = "SET disable_parquet_prefetching = true"  # reading ahead helps over a network; from a disk it is a copy more
REPLACED = "utf8_validation = 'replace'"


class _Engine:
    """The engine of this process, started when the first file is opened."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._engine: DuckDBPyConnection | None = None

    def connection(self) -> DuckDBPyConnection:
        with self._lock:
            if self._engine is None:
                import duckdb

                self._engine = duckdb.connect(config={"temp_directory": str(spill())})
            return self._engine.cursor()

    def give_up(self) -> None:
        with self._lock:
            self._engine = None

    def begin_anew(self) -> None:
        self._lock = Lock()  # which another thread of the parent may have held


_ENGINE = _Engine()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_ENGINE.give_up, after_in_child=_ENGINE.begin_anew)


def connected(*, local: bool) -> DuckDBPyConnection:
    """A new connection, for files on a local disk or elsewhere."""
    connection = _ENGINE.connection()
    connection.execute(f"{NO_TABLE}; {NO_AHEAD}" if local else NO_TABLE)
    return connection


@cache
def lenient() -> str:
    """How Parquet files with texts that are not UTF-8 are read: invalid bytes become "?", where DuckDB can do so (2.0).

    By default DuckDB would stop at such a text, and quote it.
    """
    known = "SELECT 1 FROM duckdb_functions() WHERE function_name = 'read_parquet' AND list_contains(parameters, ?)"
    return f", {REPLACED}" if _ENGINE.connection().execute(known, ["utf8_validation"]).fetchone() else ""
