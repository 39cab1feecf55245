"""What every domain knows about itself.

A new kind of column is a subclass of ``Domain``, or of ``Numbers`` or ``EvenNumbers`` if its values can be added: it
gives a rule for its codes (``rule.py``), says what the codes stand for, and is written to a schema file and read back.
Statistics and engines ask it everything else, and never which kind it is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flou.domain.rule import Codes, Rule
from flou.errors import InvalidParameter

if TYPE_CHECKING:
    from flou.domain.interval import Interval

__all__ = ["Domain", "Numbers", "require_numbers"]

MOST_LISTED = 2**22  # codes whose names fit into memory with room to spare


class Domain(ABC):
    """What is public about one column: a fixed list of codes, and the rule that gives every row one of them."""

    kind: ClassVar[str]  # what it is called in a schema file, and by messages
    about: ClassVar[str] = ""  # a short description, for a template of a schema file
    lines: ClassVar[str] = ""  # the lines to fill in there
    declared: ClassVar[tuple[str, ...]] = ()  # column types of a typed file that imply this kind

    discrete: ClassVar[bool] = True  # whether a code stands for one value, and not for all values of a cell
    binary: ClassVar[bool] = False  # whether the values are yes and no

    @property
    def rule(self) -> Rule:
        """How a value becomes a code, as engines compute it; a domain of several columns has an ``encode`` instead."""
        raise NotImplementedError

    @abstractmethod
    def decode(self, codes: object) -> NDArray[Any]:
        """What each code stands for, in the user's units."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """The domain as a TOML table, every choice written out."""

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> Domain:
        """The domain that a TOML table describes, for kinds that a schema file can name."""
        raise NotImplementedError

    @property
    def size(self) -> int:
        """How many codes there are: 0, 1, ..., size - 1."""
        return self.rule.size

    @property
    def missing_code(self) -> int:
        """The code of a row that holds nothing usable (NULL, NaN, another type)."""
        return self.rule.missing_code

    @property
    def last(self) -> int:
        """The largest code that a row can have; for numbers, the code of the upper bound and of all larger values."""
        return self.rule.last

    def encode(self, values: object) -> Codes:
        """The code of each row."""
        return self.rule.encode(values)

    @property
    def numbers(self) -> Numbers | None:
        """The same domain where its values have an order and a distance; otherwise None."""
        return None

    @property
    def measured(self) -> bool:
        """Whether the values are numbers that measure something, and not yes and no."""
        return self.numbers is not None and not self.binary

    @property
    def levels(self) -> tuple[Any, ...]:
        """The public values, one for each code; a code for all other values is left out."""
        return tuple(self.decode(self._all_codes).tolist())

    def named(self, codes: object) -> tuple[str, ...]:
        """What some codes are called in tables and plots."""
        return tuple(map(str, self.decode(codes).tolist()))

    @property
    def names(self) -> tuple[str, ...]:
        """What all codes are called."""
        return self.named(self._all_codes)

    @property
    def _all_codes(self) -> NDArray[np.int64]:
        if self.size > MOST_LISTED:
            raise InvalidParameter(
                f"The {self.size} codes of this column are too many to be listed.",
                "The list would fill the memory.",
                "Declare the column on a coarser grid, or ask about fewer bins.",
            )
        return np.arange(self.size)

    def binned(self, column: str, bins: int) -> Domain:  # noqa: ARG002  numbers have bins
        """The same values in at most this number of bins, for the column of this name."""
        raise InvalidParameter(
            f"Column {column!r} has {self.size} fixed codes, and cannot be cut into bins.",
            "Only numbers can be cut into bins.",
            "Leave bins out.",
        )


class Numbers(Domain):
    """Numbers between public bounds, whose codes lie at equal distances."""

    whole: ClassVar[bool] = False  # whether all values are whole numbers

    @property
    def numbers(self) -> Numbers:
        return self

    @property
    @abstractmethod
    def bounds(self) -> tuple[float, float]:
        """The smallest and the largest value."""

    @property
    @abstractmethod
    def step(self) -> float:
        """How far one code is from the next, in the units of the values."""

    @property
    @abstractmethod
    def interval(self) -> Interval:
        """The interval that the codes cover; its ``fine`` grids are as fine as a statistic needs."""

    @property
    @abstractmethod
    def granularity(self) -> float | None:
        """How far apart possible values are, where that is public."""

    @property
    @abstractmethod
    def grain(self) -> Fraction | None:
        """The granularity, exactly, if the bounds fit it."""

    @abstractmethod
    def possible(self, most: int) -> Numbers | None:
        """The same values with a code for each possible value, where these are known and at most ``most``."""

    @property
    def origin(self) -> float:
        """Where the first code begins."""
        return self.bounds[0]

    def places(self, codes: ArrayLike) -> NDArray[np.float64]:
        """Where codes begin, or parts of codes: 2.5 is the middle of code 2."""
        return np.asarray(self.origin + np.asarray(codes) * self.step, dtype=np.float64)

    def printed(self, values: NDArray[np.float64]) -> tuple[str, ...]:
        """Numbers as they are shown to people, with enough digits to distinguish them."""
        listed = values.tolist()
        digits = next((d for d in range(6, 17) if len({f"{x:.{d}g}" for x in listed}) == len(listed)), 17)
        return tuple(f"{x:.{digits}g}" for x in listed)


def require_numbers(column: str, domain: Domain, lacking: str, why: str) -> Numbers:
    """Refuse a column whose values are not numbers; ``lacking`` is what they lack, ``why`` says why it is needed."""
    if domain.numbers is None:
        raise InvalidParameter(
            f"Column {column!r} holds {domain.kind}, which have no {lacking}.",
            why,
            "Ask for its histogram, or declare the column as an interval or as integers.",
        )
    return domain.numbers
