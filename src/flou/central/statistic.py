"""A statistic as tables and groups offer it: a method that makes a question of its arguments and asks it.

``registry.py`` lists them: it is the one registry from which the methods of tables and groups, the questions of the
command line and the reference page come.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Concatenate, Generic, ParamSpec, overload

from flou.central.question import Question
from flou.domain import Boolean
from flou.errors import InvalidParameter
from flou.release import Release

__all__ = ["COLUMN", "Asks", "OfGroups", "OfTable", "Phrase", "Statistic"]

P = ParamSpec("P")

MEANINGS = {  # of the parameters that several statistics share
    "column": "the name of a declared column",
    "values": "a list, an array or a column of a data frame; it is not changed",
    "bounds": "the public bounds (lower, upper); values beyond them count as the nearest bound",
    "granularity": "the public step, if all values are the lower bound plus a multiple of it: 1 for pay in whole euros",
    "categories": "the public list of possible values, instead of bounds",
    "domain": "what is public about the values, instead of bounds: for example flou.Integers(0, 120)",
    "columns": "the names of declared columns",
    "response": "the name of the column that is explained",
    "regressors": "the names of the columns that explain it",
    "bins": "into how many equal bins numbers are cut",
    "p": "the share of rows that lie below, between 0 and 1",
    "probabilities": "shares of rows between 0 and 1: a list of numbers, flou.deciles or flou.quartiles",
    "k": "how many values",
    "points": "at how many points the function is shown",
    "terms": "how many cosines the series has; by default a public rule decides",
    "min_rows": "keys with fewer rows are left out",
    "epsilon": "the privacy cost of the whole call: the smaller, the more noise",
    "delta": "together with epsilon: allows Gaussian noise if that is smaller",
    "rho": "instead of epsilon: the cost in zero-concentrated differential privacy, with Gaussian noise",
    "method": '"auto", or how quantiles are found: "focused" has narrower intervals, "joint" is more accurate',
    "intervals": "the share of epsilon that pays for the intervals; 0 for none",
    "relation": 'who counts as a neighbour: "add-remove" (one row more or less) or "substitute" (one row is another)',
}
TYPES = {
    "bounds": "Bounds | None",
    "granularity": "float | None",
    "categories": "Sequence[str | int | bool] | None",
    "domain": "Domain | None",
    "relation": "Relation",
}
COLUMN = "values"  # the name of the column of a short call


def _explained(signature: inspect.Signature) -> str:
    """What the shared parameters mean, a line for each."""
    return "\n".join(f"{name}: {MEANINGS[name]}" for name in signature.parameters if name in MEANINGS)


class Asks(ABC):
    """Whoever answers questions: a table, or a table seen group by group."""

    _by: str | None = None  # the column whose groups are asked about, one by one

    @abstractmethod
    def _one(self, question: Question) -> Release:
        """The answer to one question."""


@dataclass(frozen=True)
class Phrase:
    """How a statistic is asked for in words: ``histogram salary 20 by department``."""

    column: bool = True  # whether it is about a column; otherwise it is about whole rows
    others: str = ""  # what further columns are, of which there must be one at least: "C", or "on C"
    number: str = ""  # what an optional whole number after the columns means
    shares: int = 0  # 1: one number between 0 and 1 must follow the column; 2: several of them may
    word: str = ""  # the word, where it is not the name of the method
    arguments: Callable[[Any], dict[str, Any]] | None = None  # made of the shares, or of the number; None without both

    def options(self, number: int | None, shares: tuple[Fraction, ...]) -> dict[str, Any]:
        """The arguments that a number or shares stand for."""
        if self.arguments is not None:
            return self.arguments(shares or number)
        return {} if number is None else {self.number: number}


class Statistic(Generic[P]):
    """A method of tables, or of tables and groups."""

    name: str
    grouped: ClassVar[bool]

    def __init__(
        self,
        make: Callable[..., Question],
        says: str,
        phrase: Phrase | None = None,
        values: tuple[str, ...] | None = None,
    ) -> None:
        self._make, self.says, self.phrase = make, says, phrase or Phrase()
        self.values = values  # how its short call states what values can be; None if it has no short call

    def __set_name__(self, owner: type, name: str) -> None:
        self._owner, self.name = owner, name
        self.__doc__ = f"{self.says}\n\n{_explained(self.signature)}"

    @property
    def word(self) -> str:
        """What it is called on the command line."""
        return self.phrase.word or self.name

    def question(self, by: str | None, *arguments: Any, **options: Any) -> Question:
        """The question, of all rows or of every group of a column."""
        return self._make(by, *arguments, **options) if self.grouped else self._make(*arguments, **options)

    @cached_property
    def signature(self) -> inspect.Signature:
        """What the method takes."""
        known = list(inspect.signature(self._make).parameters.values())[int(self.grouped) :]
        return inspect.Signature(known, return_annotation=Release)

    def __call__(self, asks: Asks, /, *arguments: Any, **options: Any) -> Release:
        """Ask the question of a table, or of its groups if the statistic has them."""
        if not isinstance(asks, self._owner):
            raise InvalidParameter(
                f"{self.name} cannot be asked of a {type(asks).__name__}.",
                f"It is a statistic of {'tables and groups' if self.grouped else 'whole tables'}.",
                "Open a table with flou.open and call its method.",
            )
        given = self._bound(self.signature, arguments, options)
        return asks._one(self.question(asks._by, *given.args, **given.kwargs))

    def _bound(
        self, signature: inspect.Signature, arguments: tuple[Any, ...], options: dict[str, Any]
    ) -> inspect.BoundArguments:
        """The arguments by their public names; a wrong call is refused by the name of the statistic."""
        try:
            return signature.bind(*arguments, **options)
        except TypeError as error:
            wrong = TypeError(f"{self.name}() {error}; it takes {signature.replace(return_annotation=signature.empty)}")
        raise wrong

    def short_call(self, answer: Callable[..., Release]) -> Callable[..., Release]:
        """The call for one column of values, which ``answer`` answers: from a question and what is public."""
        own = [one for one in self.signature.parameters.values() if one.name != "column"]
        first = [one for one in own if one.kind is one.POSITIONAL_OR_KEYWORD]
        public = [_keyword(name, None) for name in self.values or ()]
        later = [one for one in own if one.kind is one.KEYWORD_ONLY]
        start = inspect.Parameter("values", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation="Values")
        signature = inspect.Signature(
            [start, *first, *public, *later, _keyword("relation", "add-remove")], return_annotation=Release
        )

        def call(*arguments: Any, **options: Any) -> Release:
            given = self._bound(signature, arguments, options).arguments
            column = (COLUMN,) if self.phrase.column else ()
            asked = {one.name: given[one.name] for one in own if one.name in given}
            question = self.question(None, *column, **asked)
            facts = {name: given[name] for name in (*(self.values or ()), "relation") if name in given}
            return answer(given["values"], question, **(facts if self.values else {**facts, "domain": Boolean()}))

        call.__name__ = call.__qualname__ = self.name
        call.__module__ = "flou"
        call.__doc__ = f"{self.says}\n\n{_explained(signature)}"
        call.__signature__ = signature  # type: ignore[attr-defined]
        return call

    @overload
    def __get__(self, asks: None, owner: type) -> Callable[Concatenate[Asks, P], Release]: ...
    @overload
    def __get__(self, asks: Asks, owner: type) -> Callable[P, Release]: ...
    def __get__(self, asks: Asks | None, owner: type) -> Callable[..., Release]:
        statistic, first = self, () if asks is None else (asks,)

        def method(*arguments: Any, **options: Any) -> Release:
            return statistic(*first, *arguments, **options)

        signature = self.signature
        if asks is None:
            itself = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
            signature = signature.replace(parameters=[itself, *signature.parameters.values()])
        method.__name__, method.__qualname__, method.__doc__ = self.name, f"{owner.__name__}.{self.name}", self.__doc__
        method.__module__ = owner.__module__
        method.__signature__ = signature  # type: ignore[attr-defined]
        return method


def _keyword(name: str, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=TYPES[name])


class OfTable(Statistic[P]):
    """A statistic of all rows."""

    grouped = False

    def __init__(
        self,
        make: Callable[P, Question],
        says: str,
        phrase: Phrase | None = None,
        values: tuple[str, ...] | None = None,
    ) -> None:
        super().__init__(make, says, phrase, values)


class OfGroups(Statistic[P]):
    """A statistic of all rows, or of every group of a column, which is the first argument of its question."""

    grouped = True

    def __init__(
        self,
        make: Callable[Concatenate[str | None, P], Question],
        says: str,
        phrase: Phrase | None = None,
        values: tuple[str, ...] | None = None,
    ) -> None:
        super().__init__(make, says, phrase, values)
