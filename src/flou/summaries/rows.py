"""Rows of a table, wherever they live: the one interface through which statistics reach an engine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from flou.bits import SYSTEM, Bits, SeededBits
from flou.errors import InvalidData, InvalidParameter, instead
from flou.parameters import integer
from flou.summaries.condition import Condition
from flou.summaries.keys import KeyCounts
from flou.summaries.request import Code, DistinctKeys, Reading, Request

__all__ = ["Rows", "Spans", "Tally", "free", "keyed", "quiet"]

Spans: TypeAlias = Sequence[tuple[int, int]]
Tally: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]  # groups, codes, rows


def quiet(engine: str) -> instead:
    """Replace every error of an engine: its message may quote a record, and its type may depend on a record.

    Polars panics with an error that is not an ``Exception``. Only what ends a program or a generator passes.
    """
    error = InvalidData(
        f"The engine {engine!r} could not answer.",
        "What went wrong is not shown, because messages of engines can quote a record.",
        "Check that the source can be read, that it is not in use, and that the engine has enough memory and time.",
    )
    return instead(error, BaseException, but=(KeyboardInterrupt, SystemExit, GeneratorExit))


def keyed(bits: Bits) -> Bits:
    """A new stream of bits under a 256-bit key drawn from ``bits``; an engine takes as many as it needs.

    So ``bits`` itself continues in the same way on every engine.
    """
    return SeededBits(bits.take(32).tobytes())


def free(name: str, taken: Iterable[str]) -> str:
    """A name that no column has, whatever its case."""
    names = {column.lower() for column in taken}
    while name in names:
        name += "_"
    return name


class Rows(ABC):
    """A table that answers requests with exact integers, and can be narrowed row by row."""

    engine: str  # what computes, as the certificate names it

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""

    @abstractmethod
    def collect(self, requests: Sequence[Request]) -> list[NDArray[Any]]:
        """The answers, in order: arrays of Python integers for sums, of 64-bit integers for counts.

        Requests asked together share passes over the rows where the engine can.
        """

    def read(self, readings: Sequence[Reading]) -> list[Any]:
        """The answers, in order: vectors in shared passes, the keys of each column in a separate pass."""
        vectors = [one for one in readings if not isinstance(one, DistinctKeys)]
        found = iter(self.collect(vectors) if vectors else ())
        return [
            self.key_counts(one.column, one.least) if isinstance(one, DistinctKeys) else next(found) for one in readings
        ]

    @abstractmethod
    def where(self, condition: Condition) -> Rows:
        """The rows for which the condition holds."""

    @abstractmethod
    def capped(self, unit: str, rows: int, *, bits: Bits = SYSTEM) -> Rows:
        """At most ``rows`` rows of every unit, chosen at random; rows without a unit are left out."""

    @abstractmethod
    def key_counts(self, column: str, least: int = 1) -> KeyCounts:
        """The keys of a column (``keys.py``) that at least ``least`` rows have, in any order, with their row counts.

        Unlike everything else that leaves an engine, keys are private: only ``central/counts/keys.py`` may use them.
        """

    @abstractmethod
    def tally(self, code: Code, spans: Spans, by: Code | None = None) -> Tally:
        """The occupied codes in some spans (first included, last not) and how many rows each has, group by group.

        Groups are in order, and so are the codes within them; without ``by``, all rows are in group 0. Spans are in
        order and do not overlap.
        """

    @abstractmethod
    def codes(self, wanted: Sequence[Code]) -> Iterator[list[NDArray[np.int64]]]:
        """The code of every row, in order, some thousands of rows at a time.

        They are private: only ``local`` may use them, where each row is randomised by itself.
        """

    @abstractmethod
    def values(self, columns: Sequence[str]) -> Iterator[list[NDArray[Any]]]:
        """The values of every row, in order, some thousands of rows at a time.

        A column is an array of numbers, masked where they are missing, or of objects with None where they are. Values
        are private: only ``joint`` may use them, where a party adds up its own rows.
        """

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise InvalidParameter(
            "Rows can be neither pickled nor copied.",
            "They are confidential, and questions to a copy would not be charged to the budget of the table.",
            "Pickle releases, which are public, and open the source again where rows are needed.",
        )

    def require_cap(self, unit: str, rows: int) -> int:
        """Refuse a unit that does not exist, and a number of rows that is not a positive whole number."""
        self.require(unit)
        return integer("rows", rows, 1, 2**62)

    def require(self, column: str) -> None:
        """Refuse a column that does not exist."""
        if column not in self.columns:
            raise InvalidData(  # without a list of the columns: in a file without a header, their names are a row
                f"There is no column {column!r}.",
                "A question names a column as the table does.",
                "Check the spelling in the schema and, for a text file, that its first line names the columns.",
            )
