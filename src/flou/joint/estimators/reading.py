"""What a plan reads of a party's rows: the one list of columns that parties agree to, policies check and rows obey.

A statistic computes with some columns, and a condition compares some. Whoever knows for which rows a condition holds
knows something about the columns in it, so both kinds are read, and a policy lists both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from flou.domain import Schema
from flou.summaries.condition import Condition, named
from flou.summaries.condition_words import condition

__all__ = ["Reading"]


@dataclass(frozen=True)
class Reading:
    """Which columns are read, of which rows, and which of them as texts."""

    computed: tuple[str, ...]  # what the statistic computes with
    where: str = ""  # a condition in words; rows for which it does not hold are left out
    texts: frozenset[str] = frozenset()  # columns that stay as they are written

    def __post_init__(self) -> None:
        self.columns  # noqa: B018  refuse a condition that cannot be read

    @classmethod
    def of(cls, computed: Sequence[str], *, where: str = "", schema: Schema | None = None) -> Reading:
        """Columns whose domain is a list of texts are read as texts."""
        domains = {} if schema is None else schema.columns
        listed = {name: domain.levels for name, domain in domains.items() if domain.numbers is None}
        texts = frozenset(name for name, values in listed.items() if all(isinstance(value, str) for value in values))
        return cls(tuple(dict.fromkeys(computed)), where, texts)

    @cached_property
    def condition(self) -> Condition | None:
        """The condition, taken apart; None where all rows are read."""
        return condition(self.where) if self.where else None

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Every column that anything reads: those of the statistic, then those of the condition alone."""
        compared = () if self.condition is None else named(self.condition)
        return tuple(dict.fromkeys((*self.computed, *compared)))
