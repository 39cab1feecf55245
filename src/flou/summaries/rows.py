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
    """Let nothing that an engine says come out: its messages may quote a record, its kinds of errors depend on one.

    Polars panics with an error that is no ``Exception``. Only what ends a program or a generator passes.
    """
    error = InvalidData(
        f"The engine {engine!r} could not answer.",
        "What went wrong is not shown, because messages of engines can quote a record.",
        "Check that the source can be read, that it is not in use, and that the engine has memory and time enough.",
    )
    return instead(error, BaseException, but=(KeyboardInterrupt, SystemExit, GeneratorExit))


def keyed(bits: Bits) -> Bits:
    """Bits under a key of 256 bits that is drawn from others, of which each engine takes as many as it needs.

    The others go on as they would on any other engine.
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
        """What was asked for, in order: vectors in shared passes, the keys of each column in a pass of its own."""
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
        """At most so many rows of every unit, chosen at random; rows without a unit are left out."""

    @abstractmethod
    def key_counts(self, column: str, least: int = 1) -> KeyCounts:
        """The keys of a column (``keys.py``) that at least so many rows have, in any order, each with its rows.

        Unlike all else that leaves an engine, the keys are private: they are for ``central/counts/keys.py`` alone.
        """

    @abstractmethod
    def tally(self, code: Code, spans: Spans, by: Code | None = None) -> Tally:
        """The occupied codes in some spans (first included, last not) and how many rows each has, group by group.

        In order of the groups, and of the codes within them; without ``by``, all rows are in group 0. Spans are in
        order and apart.
        """

    @abstractmethod
    def codes(self, wanted: Sequence[Code]) -> Iterator[list[NDArray[np.int64]]]:
        """The codes of the rows themselves, in their order, some thousands of rows at a time.

        They are private: they are for ``local``, where each row is randomised by itself.
        """

    @abstractmethod
    def values(self, columns: Sequence[str]) -> Iterator[list[NDArray[Any]]]:
        """The columns themselves, in their order, some thousands of rows at a time.

        A column is an array of numbers, masked where they are missing, or of objects with None where they are. Values
        are private: they are for ``joint``, where a party adds up its own rows.
        """

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise InvalidParameter(
            "Rows can be neither pickled nor copied.",
            "They are confidential, and a copy could be asked without the budget of the table.",
            "Pickle releases, which are public, and open the source again where rows are needed.",
        )

    def require_cap(self, unit: str, rows: int) -> int:
        """Refuse a unit that is not there, and a number of rows that is no number of rows."""
        self.require(unit)
        return integer("rows", rows, 1, 2**62)

    def require(self, column: str) -> None:
        """Refuse a column that is not there."""
        if column not in self.columns:
            raise InvalidData(  # which does not list those that there are: in a file without a header they are a row
                f"There is no column {column!r}.",
                "A question is about a column of the table, by the name that the table has for it.",
                "Check the spelling in the schema and, for a text file, that its first line names the columns.",
            )
