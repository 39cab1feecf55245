"""A statistic as a sequence of sums over the parties.

A program says which words are added up next (:class:`Ask`), given everything that was opened before, and what the
result is once nothing is left to ask. All of this is public and the same everywhere: the coordinator runs it, and every
party runs it again and refuses a coordinator whose question differs from its own. Only :meth:`Program.words` sees rows,
at the party that owns them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from flou.domain import Schema
from flou.domain.table import checked_table
from flou.errors import ProtocolError
from flou.guarantee import Guarantee
from flou.joint.estimators.party_rows import PartyRows, Reading
from flou.joint.masking.noise import NoiseShare
from flou.parameters import choice, integer

__all__ = ["ESTIMATORS", "Ask", "Opened", "Program", "not_of_rows", "program_of", "program_type"]

ROUNDED = 1e-10  # of the largest of several parameters, for those that are differences of large ones
CLOSE = 1e-6  # how far, relatively, parameters of two machines may be apart: their linear algebra rounds differently


@dataclass(frozen=True)
class Ask:
    """What one round adds up."""

    step: str  # which of the program's sums
    length: int  # words
    limit: int  # no word of one party, before noise, is larger than this in size; each party checks its own
    parameters: Mapping[str, Any] = field(default_factory=dict)  # public: numbers, texts and lists of them
    noise: NoiseShare | None = None  # what each party adds to each word

    def __post_init__(self) -> None:
        integer("length", self.length, 1, 1 << 40)  # a round that opens nothing would not count

    def to_dict(self) -> dict[str, Any]:
        noise = None if self.noise is None else self.noise.to_dict()
        return {
            "step": self.step,
            "length": self.length,
            "limit": self.limit,
            "parameters": dict(self.parameters),
            "noise": noise,
        }

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> Ask:
        noise = None if told["noise"] is None else NoiseShare.from_dict(told["noise"])
        return cls(told["step"], told["length"], told["limit"], told["parameters"], noise)

    def agrees(self, other: Ask) -> bool:
        """The same question, but for the last digits of its parameters."""
        same = (self.step, self.length, self.limit, self.noise) == (other.step, other.length, other.limit, other.noise)
        return same and _agree(dict(self.parameters), dict(other.parameters))


def _agree(mine: Any, theirs: Any) -> bool:
    if isinstance(mine, Mapping) and isinstance(theirs, Mapping):
        return mine.keys() == theirs.keys() and all(_agree(mine[key], theirs[key]) for key in mine)
    if isinstance(mine, list | tuple) and isinstance(theirs, list | tuple):
        if mine and all(isinstance(part, float) for part in (*mine, *theirs)):
            return len(mine) == len(theirs) and _near(mine, theirs)
        return len(mine) == len(theirs) and all(map(_agree, mine, theirs))
    if isinstance(mine, float) and isinstance(theirs, float):
        return _near([mine], [theirs])
    return type(mine) is type(theirs) and bool(mine == theirs)


def _near(mine: Sequence[float], theirs: Sequence[float]) -> bool:
    a, b = np.asarray(mine, float), np.asarray(theirs, float)
    scale = np.max(np.abs(a), initial=0.0)
    return bool(np.all(np.isfinite(b)) and np.all(np.abs(a - b) <= CLOSE * np.abs(a) + ROUNDED * scale))


@dataclass(frozen=True)
class Opened:
    """The sums that a round has opened, and over whom."""

    ask: Ask
    sums: tuple[int, ...]
    parties: tuple[str, ...]


def not_of_rows(what: str) -> ProtocolError:
    """A party can send any words within its limits, even words that no rows could give."""
    return ProtocolError(
        what,
        "The sums are not those of any rows: a party has sent words that its rows do not give.",
        "Begin a new session, and ask the parties to check their versions of flou.",
    )


class Program(ABC):
    """A statistic of the rows of several parties, as rounds of sums."""

    estimator: ClassVar[str]  # its name in a plan
    _required: ClassVar[tuple[str, ...]]  # the terms that a plan must write
    _optional: ClassVar[tuple[str, ...]] = ()
    proofs: ClassVar[tuple[str, ...]] = ("masked-sums",)  # the pages that prove what it promises

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """The columns that it computes with. Rows give it these and no others."""

    def reading(self, where: str = "") -> Reading:
        """All that is read of a party's rows, with a condition on them."""
        schema = self.terms().get("schema")
        return Reading.of(self.columns, where=where, schema=None if schema is None else Schema.from_dict(schema))

    @property
    @abstractmethod
    def scalars(self) -> int:
        """How many numbers are opened at most, in all rounds together."""

    @property
    def guarantee(self) -> Guarantee | None:
        """What all rounds together cost a row, in differential privacy; None where the sums are exact."""
        return None

    @abstractmethod
    def next(self, opened: Sequence[Opened]) -> Ask | None:
        """What is added up next, or None when the result follows from what was opened."""

    @abstractmethod
    def words(self, ask: Ask, rows: PartyRows) -> Sequence[int]:
        """One party's words for a question: exact integers, without noise."""

    @abstractmethod
    def result(self, opened: Sequence[Opened]) -> Any:
        """The result, a Fit."""

    @abstractmethod
    def terms(self) -> dict[str, Any]:
        """What a plan says about this statistic: texts, numbers and lists, from which ``from_terms`` makes it again."""

    @classmethod
    def from_terms(cls, terms: Mapping[str, Any]) -> Program:
        """The program that a plan describes. Someone else may have written the terms: everything is checked."""
        given = checked_table(cls.estimator, terms, required=cls._required, optional=cls._optional)
        if given.get("schema") is not None:
            given["schema"] = Schema.from_dict(given["schema"])
        return cls(**given)


HERE = "flou.joint.estimators"
ESTIMATORS = {  # which statistics a plan may name, and where each lives: a module is imported when it is first named
    "vector sum": f"{HERE}.distribution.vector_sum.VectorSum",
    "moments": f"{HERE}.linear.moments.Moments",
    "ols": f"{HERE}.linear.linear.LinearRegression",
    "logit": f"{HERE}.likelihood.logistic.LogisticRegression",
    "likelihood": f"{HERE}.likelihood.likelihood.MaximumLikelihood",
    "histogram": f"{HERE}.distribution.distribution.Histogram",
    "ecdf": f"{HERE}.distribution.distribution.Ecdf",
    "quantiles": f"{HERE}.distribution.quantiles.Quantiles",
    "private ols": f"{HERE}.private.linear.PrivateLinearRegression",
    "private logit": f"{HERE}.private.logistic.PrivateLogisticRegression",
    "private histogram": f"{HERE}.private.histogram.PrivateHistogram",
    "private quantiles": f"{HERE}.private.quantiles.PrivateQuantiles",
}


def program_type(estimator: str) -> type[Program]:
    """The class of a statistic."""
    choice("estimator", estimator, ESTIMATORS)
    module, _, name = ESTIMATORS[estimator].rpartition(".")
    found: type[Program] = getattr(import_module(module), name)
    return found


def program_of(estimator: str, terms: Mapping[str, Any]) -> Program:
    """The statistic that a plan describes."""
    return program_type(estimator).from_terms(terms)
