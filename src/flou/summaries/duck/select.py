"""Rows of DuckDB: a SELECT over files, with the verbs of a relation, and the rows of either in batches.

DuckDB binds every link of a chain of relations when it is made, and the whole chain again when it runs. A text is bound
once, which saves some milliseconds per question. A connection holds one result at a time: a lock is held until the
result is fetched, so that no question gets the answer to another.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from threading import Lock, RLock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flou.domain.column import masked

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

__all__ = ["USERS", "Select", "values_in_batches"]

BATCH = 1 << 16  # rows

USERS = RLock()  # for relations that users made: their connections are not known, so all of them share one lock


@dataclass(frozen=True)
class Select:
    """The rows that a SELECT of a connection gives."""

    connection: DuckDBPyConnection
    text: str
    lock: Lock = field(default_factory=Lock, repr=False, compare=False)  # of the connection

    def _around(self, before: str, after: str = "") -> Select:
        return Select(self.connection, f"{before} FROM ({self.text}) {after}".rstrip(), self.lock)

    def project(self, columns: str) -> Select:
        return self._around(f"SELECT {columns}")

    def filter(self, condition: str) -> Select:
        return self._around("SELECT *", f"WHERE {condition}")

    def aggregate(self, columns: str, by: str = "") -> Select:
        return self._around(f"SELECT {columns}", f"GROUP BY {by}" if by else "")

    def order(self, by: str) -> Select:
        return self._around("SELECT *", f"ORDER BY {by}")

    def fetchnumpy(self) -> dict[str, NDArray[Any]]:
        with self.lock:
            return dict(self.connection.execute(self.text).fetchnumpy())

    def bound(self) -> DuckDBPyRelation:
        """The same as a DuckDB relation, which knows the names and types of its columns."""
        return self.connection.sql(self.text)


def values_in_batches(relation: DuckDBPyRelation | Select) -> Iterator[list[NDArray[Any]]]:
    """The columns of each batch, in the order of the rows: numbers, masked where missing, or objects with None.

    Batches come through Arrow where it is installed.
    """
    if isinstance(relation, Select):
        relation = relation.bound()
    if find_spec("pyarrow") is not None:
        reader = getattr(relation, "to_arrow_reader", None) or relation.fetch_record_batch  # DuckDB 1 has the latter
        for batch in reader(BATCH):
            yield [masked(column) for column in batch.columns]
        return
    rows: Iterator[Any] = iter(relation.iter_rows() if hasattr(relation, "iter_rows") else relation.fetchall())
    while found := list(itertools.islice(rows, BATCH)):
        yield [np.fromiter(values, dtype=object, count=len(values)) for values in zip(*found, strict=True)]
