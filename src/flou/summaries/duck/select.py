"""A SELECT over files, put together as text, with the verbs of a DuckDB relation.

DuckDB binds every link of a chain of relations when it is made, and the whole of it once more when it is run. Of text
it sees the last link only, which saves some milliseconds a question. A connection holds one result at a time: who runs
a text keeps others away from it until the result is fetched, or one question would be given the answer to another.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock, RLock
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

__all__ = ["USERS", "Select"]

USERS = RLock()  # relations that users made: they do not tell which connections they belong to, so that all share one


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
        """The same as a relation of DuckDB's, which knows the names and types of its columns."""
        return self.connection.sql(self.text)
