"""What can be asked of rows: sums of products of codes, and counts of codes. Nothing else leaves an engine, except the
keys of a column whose categories are not public.

A code is a column seen through its public domain: a whole number from 0 to size - 1 for every row. All statistics are
made of two requests, both of them vectors of exact integers that add up when two tables are put together:

    Sums([(), (x,), (x, x), (x, y)], by=g)   for every group of g: the rows, the sum of x, of x^2, of x y
    Counts([x, y])                           for every pair of codes: the rows that have it

A third request is for a column whose categories are not public; its answer has one entry per key:

    DistinctKeys(column, least)              every key that at least ``least`` rows have, and how many
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

from flou.domain import Domain
from flou.domain.rule import Rule
from flou.errors import InvalidParameter

__all__ = [
    "LARGEST_CODE",
    "LIMB",
    "Code",
    "Counts",
    "DistinctKeys",
    "Reading",
    "Request",
    "Sums",
    "Term",
    "codes_of",
    "columns_of",
    "keys_of",
]

LARGEST_CODE = 2**31  # so that the product of two codes fits into 62 bits
LIMB = 22  # bits summed at a time: 2^40 rows of 22 bits stay below 2^62 in any engine
LARGEST_TABLE = 2**26  # cells of a table of counts


@dataclass(frozen=True)
class Code:
    """One column, as the codes of a public domain or of a rule."""

    column: str
    domain: Domain | Rule

    def __post_init__(self) -> None:
        if self.domain.size > LARGEST_CODE:
            raise InvalidParameter(
                f"The grid of column {self.column!r} has {self.domain.size} codes, and at most 2^31 can be summed.",
                "Products of two codes must fit into 64 bits on every engine.",
                "Declare a coarser step, or fewer cells.",
            )

    @property
    def rule(self) -> Rule:
        """What an engine computes for each row."""
        return self.domain.rule

    @property
    def ruled(self) -> bool:
        """Whether all engines compute the same codes (``domain/rule.py``)."""
        return self.rule.portable


Term: TypeAlias = tuple[Code, ...]  # the product of no, one or two codes


def require_rule(codes: Iterable[Code]) -> None:
    """Refuse grids whose cells engines could round differently (``domain/rule.py``)."""
    for code in codes:
        if not code.ruled:
            raise InvalidParameter(
                f"The grid of column {code.column!r} is too fine to be counted: it has {code.domain.size} cells.",
                "At an edge, different engines could round the same value into different cells.",
                "Pass fewer cells or bins, for example 65536, or a number of cells that is a power of two.",
            )


@dataclass(frozen=True)
class Sums:
    """The sum of each term over the rows; with ``by``, a row of sums for each of its codes."""

    terms: tuple[Term, ...]
    by: Code | None = None

    def __post_init__(self) -> None:
        if any(len(term) > 2 for term in self.terms):
            raise InvalidParameter(
                "A term of a sum is the product of at most two codes.",
                "A product of three would not fit into 64 bits.",
                "Ask for products of two codes.",
            )
        if prod(self.shape) > LARGEST_TABLE:
            raise InvalidParameter(
                "A table of sums would have more than 2^26 cells.",
                "Every group has its sums, and empty groups have them too.",
                "Group by a coarser grid, or ask for fewer terms at a time.",
            )
        require_rule(codes_of(self))

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.terms),) if self.by is None else (self.by.domain.size, len(self.terms))


@dataclass(frozen=True)
class Counts:
    """How many rows have each combination of codes."""

    codes: tuple[Code, ...]

    def __post_init__(self) -> None:
        if not self.codes:
            raise InvalidParameter(
                "A table of counts needs at least one code.",
                "A table without codes is a single cell, the number of rows.",
                "Ask for Sums(((),)) instead.",
            )
        if prod(code.domain.size for code in self.codes) > LARGEST_TABLE:
            names = ", ".join(repr(code.column) for code in self.codes)
            raise InvalidParameter(
                f"A table of counts of {names} would have more than 2^26 cells.",
                "Every cell is released or searched, and empty cells are as well.",
                "Ask for fewer bins, or for fewer columns at a time.",
            )
        require_rule(self.codes)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(code.domain.size for code in self.codes)


@dataclass(frozen=True)
class DistinctKeys:
    """The keys of a column (``keys.py``) that at least ``least`` rows have, each with its number of rows.

    Unlike everything else that leaves an engine, the keys are private: only ``central/counts/keys.py`` may use them.
    """

    column: str
    least: int = 1


Request: TypeAlias = Sums | Counts  # vectors of a length that is public
Reading: TypeAlias = Request | DistinctKeys


def columns_of(request: Reading) -> tuple[str, ...]:
    """The columns that are read."""
    return (request.column,) if isinstance(request, DistinctKeys) else tuple(code.column for code in codes_of(request))


def keys_of(request: Request) -> tuple[Code, ...]:
    """The codes by which rows are grouped."""
    if isinstance(request, Counts):
        return request.codes
    return () if request.by is None else (request.by,)


def codes_of(request: Request) -> tuple[Code, ...]:
    """All codes that are asked for."""
    terms = () if isinstance(request, Counts) else request.terms
    return (*keys_of(request), *(code for term in terms for code in term))
