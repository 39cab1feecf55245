"""A question about a table: what it costs, what it asks of the engine, and how the answer is made private.

The three steps are separate on purpose. The cost is known before anything is read; the engine is asked for exact
integers only; and the answer draws its noise in one place, after which nothing touches the rows again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from numpy.typing import NDArray

from flou.bits import SYSTEM, Bits, SystemBits
from flou.domain import Schema
from flou.errors import InvalidParameter
from flou.guarantee import Guarantee, PureDP
from flou.parameters import Number
from flou.release import Uncertainty
from flou.release.release import Value
from flou.summaries.request import Code, Request
from flou.summaries.rows import Spans, Tally

__all__ = ["Context", "Draft", "Question", "Tallier"]

Tallier: TypeAlias = Callable[[Code, Spans, Code | None], Tally]


@dataclass(frozen=True)
class Context:
    """What a question may know: public facts, and the source of bits."""

    schema: Schema
    known_rows: int | None  # how many rows there are, where that is public: substitution, nothing filtered
    table_rows: int | None = None  # how many rows the whole table has, where that is public
    bits: Bits = SYSTEM
    tally: Tallier | None = None  # a second look at the rows, where it sees the same ones as the first

    def code(self, column: str) -> Code:
        """The code by which rows are grouped."""
        return Code(column, self.domain(column))

    def without_rows(self) -> Context:
        """The same context for parts of the table, whose numbers of rows are not public."""
        return replace(self, known_rows=None)

    @property
    def random_source(self) -> str:
        if isinstance(self.bits, SystemBits):
            return "AES-256-CTR keyed by the operating system"
        return "given by the caller: a test, not a release"

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


@dataclass(frozen=True)
class Draft:
    """A private answer, before it gets its cost and certificate."""

    value: Value
    uncertainty: Uncertainty
    mechanism: dict[str, Any]
    labels: tuple[str, ...] | None = None
    note: str = ""
    postprocessing: tuple[str, ...] = field(default=())
    keys: dict[str, Any] = field(default_factory=dict)


class Question(ABC):
    """One statistic with its parameters."""

    statistic: str
    column: str | None

    @abstractmethod
    def cost(self, context: Context) -> Guarantee:
        """What the answer will cost; also checks the parameters."""

    @abstractmethod
    def requests(self, context: Context) -> tuple[Request, ...]:
        """What the engine is asked for."""

    @abstractmethod
    def answer(self, found: list[NDArray[Any]], context: Context) -> Draft:
        """The private answer, from the exact integers."""
