"""A randomised survey: public questions, one total epsilon a respondent, and reports that can be collected by anyone.

A survey is a file that respondents, collectors and readers share. Each respondent answers one question, picked
by their own fair die, with all of epsilon (``ask="one"``), or all questions with an equal part of it each
(``ask="all"``). Asking one question is more accurate: with d questions its variance is about d times that of a
survey with one question, while with parts of epsilon the variance grows with d squared or faster. Either way a
respondent's whole set of answers costs epsilon: the question is picked without looking at the answers, and the report
says nothing about the other answers.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from flou.bits import SYSTEM, Bits
from flou.domain import Domain, Numbers, domain_from_dict, toml
from flou.domain.table import checked_table
from flou.errors import InvalidParameter
from flou.guarantee import PureDP
from flou.local.categories.oracles import frequencies
from flou.local.numbers.mean_of import mean_of
from flou.local.numbers.square_wave import SquareWave
from flou.local.randomiser import Randomiser
from flou.parameters import Number, checked_text, choice, number
from flou.summaries import rows_of
from flou.summaries.request import Code

__all__ = ["Ask", "Item", "Reports", "Survey"]

Ask: TypeAlias = Literal["one", "all"]
Reports: TypeAlias = dict[str, NDArray[Any]]  # of each question, in the order in which they came

STATISTICS = ("shares", "mean", "distribution")
SETTINGS = ("method", "statistic")


@dataclass(frozen=True)
class Item:
    """One question: what can be answered, what is estimated, and by which method."""

    domain: Domain
    statistic: str = ""
    method: str = "auto"

    def __post_init__(self) -> None:
        stated = self.statistic or ("mean" if self.domain.measured else "shares")
        choice("statistic", stated, STATISTICS)
        if not (self.domain.discrete if stated == "shares" else self.domain.measured):
            raise InvalidParameter(
                f"The statistic {stated!r} does not fit this type of answer.",
                "Categories have shares; numbers have a mean or a distribution; whole numbers have all of them.",
                "Change statistic, or the type of the question.",
            )
        if stated == "distribution" and self.method != "auto":
            choice("method", self.method, ("auto",))
        object.__setattr__(self, "statistic", stated)

    def randomiser(self, epsilon: Fraction) -> Randomiser:
        """The randomiser that runs on the respondent's side."""
        if self.statistic == "shares":
            return frequencies(self.domain, epsilon=epsilon, method=self.method)
        assert isinstance(self.domain, Numbers)  # see above: other domains have shares only
        if self.statistic == "mean":
            return mean_of(self.domain, epsilon=epsilon, method=self.method)
        return SquareWave(self.domain, epsilon=epsilon)


@dataclass(frozen=True, eq=False)
class Survey:
    """``questions`` by name; ``epsilon`` is what a respondent pays in total, whatever is asked."""

    questions: Mapping[str, Item | Domain]
    epsilon: Number
    ask: Ask = "one"
    name: str = "survey"
    items: Mapping[str, Item] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.questions, Mapping) or not self.questions:
            raise InvalidParameter(
                "A survey needs at least one question.",
                "Respondents randomise answers to public questions.",
                "Pass for example questions={'smokes': flou.Boolean()}.",
            )
        asked = {
            checked_text("questions", name): item if isinstance(item, Item) else Item(item)
            for name, item in self.questions.items()
        }
        object.__setattr__(self, "items", MappingProxyType(asked))
        object.__setattr__(self, "epsilon", number("epsilon", self.epsilon))
        choice("ask", self.ask, ("one", "all"))
        checked_text("name", self.name)

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str]) -> Survey:
        """The survey in a file."""
        return cls.from_dict(toml.parsed(toml.file_text(path)))

    @classmethod
    def from_dict(cls, tables: Mapping[str, Any]) -> Survey:
        """The survey in a dictionary with the tables of a survey file."""
        tables = checked_table("survey file", tables, required=("survey", "questions"))
        settings = checked_table("survey", tables["survey"], required=("epsilon",), optional=("name", "ask"))
        items = {}
        for name, table in checked_table("questions", tables["questions"], optional=list(tables["questions"])).items():
            stated = dict(table) if isinstance(table, Mapping) else {}
            chosen = {key: stated.pop(key) for key in SETTINGS if key in stated}
            items[name] = Item(domain_from_dict(stated, f"questions.{name}"), **chosen)
        return cls(items, **settings)

    def to_dict(self) -> dict[str, Any]:
        """The tables of a survey file, every choice written out."""
        questions = {
            name: {**item.domain.to_dict(), "statistic": item.statistic, "method": item.method}
            for name, item in self.items.items()
        }
        return {
            "survey": {"name": self.name, "epsilon": float(self.epsilon), "ask": self.ask},
            "questions": questions,
        }

    def to_toml(self) -> str:
        """The text of a survey file."""
        return toml.written(self.to_dict())

    @cached_property
    def fingerprint(self) -> str:
        """What respondents and collectors must share."""
        return hashlib.sha256(json.dumps(self.to_dict(), sort_keys=True).encode()).hexdigest()

    @cached_property
    def randomisers(self) -> dict[str, Randomiser]:
        """The randomiser of each question, with the question's part of epsilon."""
        parts = 1 if self.ask == "one" else len(self.items)
        return {name: item.randomiser(Fraction(self.epsilon) / parts) for name, item in self.items.items()}

    @property
    def guarantee(self) -> PureDP:
        """What one respondent pays for all answers together."""
        return PureDP(self.epsilon, relation="substitute", unit="person")

    def randomise(self, answers: Any, *, bits: Bits = SYSTEM) -> Reports:
        """The reports of one respondent or of many: ``answers`` is any table with a column for each question.

        A missing answer is randomised as the public value for missing answers. So it stays hidden that somebody did not
        answer.
        """
        parts: dict[str, list[NDArray[Any]]] = {name: [] for name in self.items}
        wanted = [Code(name, item.domain) for name, item in self.items.items()]
        for codes in rows_of(answers).codes(wanted):
            for name, reports in self._randomised(dict(zip(self.items, codes, strict=True)), bits).items():
                parts[name].append(reports)
        return {name: np.concatenate(found) if found else np.zeros(0, np.int64) for name, found in parts.items()}

    def _randomised(self, codes: dict[str, NDArray[np.int64]], bits: Bits) -> Reports:
        if self.ask == "all":
            return {name: self.randomisers[name].sample(code, bits=bits) for name, code in codes.items()}
        asked = bits.below(len(codes), len(next(iter(codes.values()))))
        return {
            name: self.randomisers[name].sample(code[asked == place], bits=bits)
            for place, (name, code) in enumerate(codes.items())
        }
