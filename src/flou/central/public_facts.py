"""What is public about a table: all that a question may know, and all that a release may keep of where it came from.

It is a frozen value without a way to the rows and without a source of randomness. Both belong to the curator
(``curator.py``), who is an argument of an answer and is never kept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from flou.bits import SYSTEM, Bits, SystemBits
from flou.domain import Schema
from flou.errors import InvalidParameter
from flou.guarantee import PureDP
from flou.parameters import Number
from flou.summaries.request import Code

__all__ = ["PublicFacts", "source_of"]


def source_of(bits: Bits) -> str:
    """What a certificate says about the randomness."""
    if isinstance(bits, SystemBits):
        return "AES-256-CTR keyed by the operating system"
    return "given by the caller: a test, not a release"


@dataclass(frozen=True)
class PublicFacts:
    """The schema, the numbers of rows that are public, and what the certificate says about the randomness."""

    schema: Schema
    known_rows: int | None  # how many rows there are, where that is public: substitution, nothing filtered
    table_rows: int | None = None  # how many rows the whole table has, where that is public
    random_source: str = source_of(SYSTEM)
    looks_again: bool = False  # whether a second look at the rows would see the same ones as the first

    def code(self, column: str) -> Code:
        """The code by which rows are grouped."""
        return Code(column, self.domain(column))

    def without_rows(self) -> PublicFacts:
        """The same facts for parts of the table, whose numbers of rows are not public."""
        return replace(self, known_rows=None)

    @property
    def unit(self) -> str:
        return self.schema.unit or "row"

    @property
    def rows_per_unit(self) -> int:
        return self.schema.max_rows_per_unit

    @property
    def changes(self) -> int:
        """How many rows leave or enter between neighbours, at the most."""
        return self.rows_per_unit * (2 if self.schema.relation == "substitute" else 1)

    def domain(self, column: str) -> Any:
        if column not in self.schema:
            known = ", ".join(repr(name) for name in self.schema)
            raise InvalidParameter(
                f"Column {column!r} is not in the schema.",
                f"Its public domain must be declared before it can be asked about; declared are {known}.",
                "Add it to the schema.",
            )
        return self.schema[column]

    def groups(self, by: str | None) -> int:
        """How many groups the engine is asked about: one of all rows, or every code of a column."""
        return 1 if by is None else int(self.domain(by).size)

    def pure(self, epsilon: Number) -> PureDP:
        return PureDP(epsilon, relation=self.schema.relation, unit=self.unit)
