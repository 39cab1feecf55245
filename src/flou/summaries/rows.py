"""Rows of a table, wherever they live: the one interface through which statistics reach an engine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from flou.errors import InvalidData
from flou.summaries.condition import Condition
from flou.summaries.request import Request

__all__ = ["Rows"]


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

    @abstractmethod
    def where(self, condition: Condition) -> Rows:
        """The rows for which the condition holds."""

    @abstractmethod
    def capped(self, unit: str, rows: int) -> Rows:
        """At most so many rows of every unit, chosen at random; rows without a unit are left out."""

    def require(self, column: str) -> None:
        """Refuse a column that is not there."""
        if column not in self.columns:
            known = ", ".join(self.columns[:20])
            raise InvalidData(
                f"There is no column {column!r}.",
                f"The table has {known}.",
                "Check the spelling, or the schema.",
            )
