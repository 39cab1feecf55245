"""What a collector keeps on disk: the sums of a survey, in SQLite.

A batch is counted in one transaction, which is on disk before it is acknowledged. Whatever happens to the process, a
batch is counted whole or not at all, and stays counted once it was acknowledged. The sender names each batch; a batch
that is sent again, because its acknowledgement was lost, is not counted twice. The store keeps only the sums of the
reports and the names of the batches.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from flou.errors import InvalidData, InvalidParameter
from flou.local import Aggregate, Collection, Survey

__all__ = ["Store"]

WAIT = 30_000  # milliseconds that one writer waits for another
LONGEST_NAME = 128

TABLES = """
CREATE TABLE IF NOT EXISTS survey (fingerprint TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS sums (question TEXT PRIMARY KEY, aggregate BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS batches (name TEXT PRIMARY KEY, reports INTEGER NOT NULL) WITHOUT ROWID;
"""


class Store:
    """The collected sums of one survey, in a file that several processes may write to."""

    def __init__(self, path: str | Path, survey: Survey) -> None:
        self.path, self.survey = Path(path), survey
        try:
            with self._open() as connection:
                connection.executescript(TABLES)
                found = connection.execute("SELECT fingerprint FROM survey").fetchone()
                if found is None:
                    connection.execute("INSERT INTO survey VALUES (?)", (survey.fingerprint,))
        except sqlite3.DatabaseError:
            raise InvalidParameter(
                "The database cannot be used.",
                "The file is not a database, its folder does not exist, or it may not be written to.",
                "Pass the path of a new file, or of a database that a collector has written.",
            ) from None
        if found is not None and found[0] != survey.fingerprint:
            raise InvalidParameter(
                "The database belongs to another survey.",
                "Reports to other questions, or with another epsilon, cannot be added to the sums in it.",
                "Pass the path of a new file, or the survey file of this database.",
            )

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """A new connection, for use by one thread; it is closed at the end."""
        connection = sqlite3.connect(self.path, timeout=WAIT / 1000, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            yield connection
        finally:
            connection.close()

    def add(self, name: str, reports: Mapping[str, Any]) -> bool:
        """Count a batch and write it to disk; False if a batch of this name was counted before."""
        if not isinstance(name, str) or not 1 <= len(name) <= LONGEST_NAME:
            raise InvalidData(
                f"A batch needs a name of 1 to {LONGEST_NAME} characters.",
                "The name shows that a batch is sent again, so that it is not counted twice.",
                "Use a random name for each batch, and the same name when the batch is sent again.",
            )
        new = Collection(self.survey).add(reports)  # refuses what is malformed, before anything is written
        with self._open() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                done = connection.execute("SELECT 1 FROM batches WHERE name = ?", (name,)).fetchone()
                if done is None:
                    connection.execute("INSERT INTO batches VALUES (?, ?)", (name, new.reports))
                    for question, aggregate in new.aggregates.items():
                        if aggregate.people:
                            self._grow(connection, question, aggregate)
                connection.execute("COMMIT")
            except BaseException:
                connection.execute("ROLLBACK")
                raise
        return done is None

    def _grow(self, connection: sqlite3.Connection, question: str, aggregate: Aggregate) -> None:
        held = connection.execute("SELECT aggregate FROM sums WHERE question = ?", (question,)).fetchone()
        if held is not None:
            aggregate.merge(Aggregate.from_bytes(aggregate.randomiser, held[0]))
        connection.execute("INSERT OR REPLACE INTO sums VALUES (?, ?)", (question, aggregate.to_bytes()))

    def collection(self) -> Collection:
        """All reports counted so far, as sums."""
        found = Collection(self.survey)
        with self._open() as connection:
            for question, data in connection.execute("SELECT question, aggregate FROM sums"):
                found.aggregates[question].merge(Aggregate.from_bytes(self.survey.randomisers[question], data))
        return found

    @property
    def batches(self) -> int:
        """How many batches were counted."""
        with self._open() as connection:
            return int(connection.execute("SELECT count(*) FROM batches").fetchone()[0])
