"""A question about a table, and its two steps: it is prepared, then answered.

``prepare`` meets the public facts of a table and nothing else. It checks the parameters and builds grid, mechanism and
noise, once. What it returns says what the answer costs, which exact integers the engine is asked for, and how the
answer is made of them.

``answer`` gets these integers and a curator, who draws the noise. A question that looks at the rows again once noise is
drawn says so beforehand (``looks_again``): only then does its curator hold rows, and the certificate says it too. All
that is drawn is part of the cost. What an answer returns is public, and leads neither to the rows nor to the curator.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, ClassVar, NoReturn

from flou.bits import SYSTEM, Bits
from flou.domain import Domain, Schema
from flou.errors import InvalidParameter
from flou.guarantee import Guarantee, PureDP
from flou.parameters import Number
from flou.release import Layout, Uncertainty
from flou.release.blocks import CLAMPED, source_of
from flou.release.release import Value
from flou.summaries.request import Code, Reading
from flou.summaries.rows import Rows, Spans, Tally

__all__ = ["Curator", "Draft", "Prepared", "PublicFacts", "Question", "few_rows", "require_few_groups"]

USUAL = ("clamped to public bounds", "rounded to a public grid", "missing values as declared")  # done to rows
NAMED = 8  # groups that can be read in a line
MOST_CELLS, MOST_GROUPS = 1000, 2**20  # of an interval that is grouped by, and of any column


@dataclass(frozen=True)
class PublicFacts:
    """All that a question may know about a table, and all that a release may keep of where it came from.

    A frozen value without a way to the rows and without a source of randomness.
    """

    schema: Schema
    known_rows: int | None  # how many rows there are, where that is public: substitution, nothing filtered
    table_rows: int | None = None  # how many rows the whole table has, where that is public
    random_source: str = source_of(SYSTEM)
    looks_again: bool = False  # whether a second look at the rows would see the same ones as the first

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

    @staticmethod
    def require_name(column: object) -> None:
        """Refuse what is not the name of a column."""
        if not isinstance(column, str):
            raise InvalidParameter(
                f"A column is given by its name, got a {type(column).__name__}.",
                "Every column is an argument of its own.",
                'Pass the name as a text, for example "salary".',
            )

    def domain(self, column: str) -> Any:
        self.require_name(column)
        if column not in self.schema:
            known = ", ".join(repr(name) for name in self.schema)
            raise InvalidParameter(
                f"Column {column!r} is not in the schema.",
                f"A column can be asked about once its public domain is declared. Declared columns: {known}.",
                "Add it to the schema.",
            )
        return self.schema[column]

    def _groups(self, by: str) -> Any:
        """The domain of a column whose codes are groups; too many of them are refused."""
        domain = self.domain(by)
        require_few_groups(by, domain)
        return domain

    def code(self, by: str) -> Code:
        """The code by which an engine groups rows."""
        return Code(by, self._groups(by))

    def groups(self, by: str | None) -> int:
        """How many groups the engine is asked about: one of all rows, or every code of a column."""
        return 1 if by is None else int(self._groups(by).size)

    def labels(self, by: str) -> tuple[str, ...]:
        """The names of the groups that are answered about."""
        names: tuple[str, ...] = self._groups(by).names
        return names

    def pure(self, epsilon: Number) -> PureDP:
        return PureDP(epsilon, relation=self.schema.relation, unit=self.unit)


def require_few_groups(by: str, domain: Domain) -> None:
    """Refuse more groups than a reader can name, or an answer can hold."""
    if not domain.discrete and domain.size > MOST_CELLS:
        raise InvalidParameter(
            f"Column {by!r} is an interval of {domain.size} cells, too many to be groups.",
            "Every cell is a group, and a group should be something that a reader can name.",
            "Declare it with few cells, for example Interval(0, 100, cells=10), or as integers or categories.",
        )
    if domain.size > MOST_GROUPS:
        raise InvalidParameter(
            f"Column {by!r} has more than 2^20 groups.",
            "Every public group gets an answer, empty groups too.",
            "Declare it with a coarser grid, or as categories.",
        )


class Curator:
    """Who may look at the rows and draw random bits, from ``with`` to its end and no longer.

    A curator that is kept all the same is of no use to whoever finds it: it can be neither copied nor pickled, and it
    lets go of the rows and of the bits as soon as the question is answered.
    """

    __slots__ = ("_bits", "_rows")

    def __init__(self, bits: Bits = SYSTEM, rows: Rows | None = None) -> None:
        self._bits: Bits | None = bits
        self._rows = rows

    def __enter__(self) -> Curator:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        del kind, error, trace
        self._bits = self._rows = None

    def __repr__(self) -> str:
        return "Curator(...)"

    @property
    def bits(self) -> Bits:
        """Where noise is drawn."""
        if self._bits is None:
            raise _over()
        return self._bits

    def tally(self, code: Code, spans: Spans, by: Code | None = None) -> Tally:
        """A second look at the rows, see ``Rows.tally``."""
        if self._rows is None:
            raise _over()
        return self._rows.tally(code, spans, by)

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise InvalidParameter(
            "A curator can be neither pickled nor copied.",
            "A curator leads to confidential rows, and a copy could leave the place where they are kept.",
            "Keep the release, which is public.",
        )


def _over() -> InvalidParameter:
    return InvalidParameter(
        "The curator has no rows to look at.",
        "It serves only while a question is answered, and only if a second look would see the same rows as the first.",
        "Ask the table a new question.",
    )


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
    proofs: tuple[str, ...] = ()  # of what was chosen on the way, besides that of the question
    preprocessing: tuple[str, ...] = (
        "clamped to public bounds",
        "rounded to a public grid",
        "missing values as declared",
    )
    clipping: str = CLAMPED
    layout: Layout | None = None  # how the entries lie, where their labels do not say it all


@dataclass(frozen=True)
class Prepared:
    """A question that has met the public facts: what it costs, what it asks of the engine, and how it answers."""

    cost: Guarantee
    requests: tuple[Reading, ...]
    answer: Callable[[list[Any], Curator], Draft]  # from what the requests delivered; the curator is asked and not kept
    entries: int = 1  # how many values the answer has
    looks_again: bool = False  # whether rows may be read again after noise was drawn; how often is private


class Question(ABC):
    """One statistic with its parameters."""

    statistic: str
    column: str | None
    proof: ClassVar[str]  # the page that proves what the answer costs, in docs/explanation/proofs

    @abstractmethod
    def prepare(self, facts: PublicFacts) -> Prepared:
        """Check the parameters, and build all that the answer needs before a row is read."""


def few_rows(groups: Sequence[str]) -> str:
    """A word of caution about groups whose rows are few next to the noise; nothing where there is none."""
    if not groups:
        return ""
    more = f" and {len(groups) - NAMED} more" if len(groups) > NAMED else ""
    return f"Few rows next to the noise: {', '.join(groups[:NAMED])}{more}."
