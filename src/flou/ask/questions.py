"""``mean salary by department`` becomes a question: one word of ``STATISTICS``, what it is about, and its groups.

    statistic [column ...] [number] [by column]

Names with spaces are quoted. Columns are those of the schema; others can be asked for their keys, and then be groups of
other questions. A new statistic is one line of ``STATISTICS``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import takewhile
from typing import Any

from flou.central import (
    Correlation,
    Count,
    Covariance,
    Density,
    Ecdf,
    GroupCounts,
    GroupedHistogram,
    Histogram,
    Keys,
    MajorityAnswer,
    Mean,
    Mode,
    OuterBounds,
    Quantiles,
    Question,
    Range,
    Regression,
    StandardDeviation,
    TopK,
    Total,
    Variance,
    deciles,
    quartiles,
)
from flou.central.counts.bins import for_histogram
from flou.central.quantiles.calls import FIVE, OUTER
from flou.central.quantiles.ecdf import POINTS
from flou.domain import Schema
from flou.domain.table import closest
from flou.errors import InvalidParameter
from flou.parameters import Number, integer, probability, shown
from flou.summaries.tokens import Token, tokens

__all__ = ["STATISTICS", "Asked", "Statistic", "keys_in", "parsed"]

MOST_LINES = 10_000  # of one answer
PARTS = 100  # equal ones, between which quantiles lie


@dataclass(frozen=True)
class Asked:
    """The parts of a question."""

    statistic: str
    column: str = ""  # empty where the statistic is about whole rows
    others: tuple[str, ...] = ()  # columns after the first
    number: int | None = None
    shares: tuple[Fraction, ...] = ()  # of rows that lie below a quantile
    by: str | None = None
    delta: Number | None = None  # where keys are selected

    def __str__(self) -> str:
        words = [self.statistic, *(_quoted(name) for name in (self.column, *self.others) if name)]
        words += [] if self.number is None else [str(self.number)]
        words += self._shares
        return " ".join(words + ([] if self.by is None else ["by", _quoted(self.by)]))

    @property
    def _shares(self) -> list[str]:
        """As they are typed."""
        return [f"{float(share):.10g}" for share in self.shares]

    @property
    def title(self) -> str:
        """The question as a heading."""
        kind = STATISTICS[self.statistic]
        what, details = self.statistic, ", ".join(self._shares)
        if kind.shares == 1:  # which is part of the name
            what, details = f"{details}-{what}", ""
        if self.number is not None:
            details = f"{self.number} {kind.number}"
        about = f" of {self.column}" if self.column else ""
        others = f"{' on' if self.statistic == 'regression' else ','} {', '.join(self.others)}" if self.others else ""
        by = "" if self.by is None else f" by {self.by}"
        return f"{what.capitalize()}{about}{others}{f' ({details})' if details else ''}{by}"

    def question(self, epsilon: Number) -> Question:
        """The question with its price."""
        return STATISTICS[self.statistic].make(self, epsilon)


@dataclass(frozen=True)
class Statistic:
    """How to ask for one statistic: what it takes, and the question it makes."""

    make: Callable[[Asked, Number], Question]
    column: bool = True
    others: str = ""  # what further columns are, of which there must be one at least
    number: str = ""  # what an optional whole number after the column means
    shares: int = 0  # whether a number between 0 and 1 must follow the column: 1; or several of them may: 2
    by: bool = True

    def form(self, word: str) -> str:
        """The grammar: ``histogram C [bins]``."""
        columns = " C" * self.column + (f" {self.others} ..." if self.others else "") + " P" * (self.shares == 1)
        number = f" [{self.number}{' | P P ...' * (self.shares > 1)}]" if self.number else ""
        return word + columns + number + " [by G]" * self.by

    def example(self, word: str) -> str:
        """Such a question: ``histogram salary by department``."""
        others = f" {self.others}".replace("C", "age") if self.others else ""
        return word + " salary" * self.column + others + " 0.9" * (self.shares == 1) + " by department" * self.by


STATISTICS: dict[str, Statistic] = {
    "count": Statistic(lambda a, e: Count(e) if a.by is None else GroupCounts(a.by, e), column=False),
    "sum": Statistic(lambda a, e: Total(a.column, e, a.by)),
    "mean": Statistic(lambda a, e: Mean(a.column, e, a.by)),
    "variance": Statistic(lambda a, e: Variance(a.column, e, a.by)),
    "std": Statistic(lambda a, e: StandardDeviation(a.column, e, a.by)),
    "histogram": Statistic(
        lambda a, e: (
            Histogram(a.column, e, a.number) if a.by is None else GroupedHistogram(a.column, e, a.number, by=a.by)
        ),
        number="bins",
    ),
    "quantile": Statistic(
        lambda a, e: Quantiles(a.column, a.shares[0], e, by=a.by, statistic=f"{float(a.shares[0]):.10g}-quantile"),
        shares=1,
    ),
    "quantiles": Statistic(
        lambda a, e: Quantiles(a.column, a.shares or _cuts(a.number), e, by=a.by, statistic="quantiles"),
        number="parts",
        shares=2,
    ),
    "median": Statistic(lambda a, e: Quantiles(a.column, Fraction(1, 2), e, by=a.by, statistic="median")),
    "quartiles": Statistic(lambda a, e: Quantiles(a.column, quartiles, e, by=a.by, statistic="quartiles")),
    "deciles": Statistic(lambda a, e: Quantiles(a.column, deciles, e, by=a.by, statistic="deciles")),
    "boxplot": Statistic(lambda a, e: Quantiles(a.column, FIVE, e, by=a.by, statistic="boxplot")),
    "iqr": Statistic(lambda a, e: Range(a.column, OUTER, e, by=a.by, statistic="iqr")),
    "ecdf": Statistic(lambda a, e: Ecdf(a.column, e, POINTS if a.number is None else a.number, a.by), number="points"),
    "mode": Statistic(lambda a, e: Mode(a.column, e, 1, a.number), number="bins", by=False),
    "top": Statistic(lambda a, e: TopK(a.column, e, 3 if a.number is None else a.number), number="values", by=False),
    "majority": Statistic(lambda a, e: MajorityAnswer(a.column, e), by=False),
    "density": Statistic(lambda a, e: Density(a.column, e), by=False),
    "covariance": Statistic(lambda a, e: Covariance((a.column, *a.others), e), others="C", by=False),
    "correlation": Statistic(lambda a, e: Correlation((a.column, *a.others), e), others="C", by=False),
    "regression": Statistic(lambda a, e: Regression(a.column, a.others, e), others="on C", by=False),
    "bounds": Statistic(lambda a, e: OuterBounds(a.column, e), by=False),
    "keys": Statistic(lambda a, e: Keys(a.column, e, 0 if a.delta is None else a.delta), by=False),
}

# Words that people use for the same thing, to be suggested.
OTHER_WORDS = {
    **dict.fromkeys(("average", "avg"), "mean"),
    **dict.fromkeys(("number", "size", "n", "rows"), "count"),
    **dict.fromkeys(("stdev", "sd", "deviation"), "std"),
    **dict.fromkeys(("cdf", "distribution"), "ecdf"),
    **dict.fromkeys(("percentiles", "centiles"), "quantiles"),
    "percentile": "quantile",
    **dict.fromkeys(("ols", "regress", "linear"), "regression"),
    "total": "sum",
    "top_k": "top",
}


def _cuts(parts: int | None) -> tuple[Fraction, ...]:
    """The probabilities between so many equal parts."""
    many = integer("parts", PARTS if parts is None else parts, 2, MOST_LINES)
    return tuple(Fraction(part, many) for part in range(1, many))


def parsed(text: str, schema: Schema, selected: Collection[str] = ()) -> Asked:
    """A question in words, checked against the public schema; groups may also be columns whose keys are selected."""
    asked = _read(text, tokens(text))
    if asked.statistic in {"keys", "bounds"}:  # which are for columns that nothing is known about
        return asked
    for name in filter(None, (asked.column, *asked.others)):
        schema[name]  # refuses an undeclared column, and suggests the closest one
    if asked.by is not None and asked.by not in selected:
        _require_public_groups(asked.by, schema)
    lines = _lines(asked, schema)
    if lines > MOST_LINES:
        raise InvalidParameter(
            f"The question {shown(text)} would have {lines} answers.",
            f"Every public value is answered about, the empty ones too, and a page holds {MOST_LINES} answers.",
            "Ask for fewer, declare the column on a coarser grid, or ask by a column with fewer values.",
        )
    return asked


def keys_in(texts: Sequence[str]) -> list[str]:
    """The columns whose keys are asked for."""
    asked = [_read(text, tokens(text)) for text in texts]
    return [one.column for one in asked if one.statistic == "keys"]


def _require_public_groups(name: str, schema: Schema) -> None:
    if name not in schema:
        raise InvalidParameter(
            f"The groups of {shown(name)} are not public: it is not in the schema.",
            "That a group is there at all can reveal the one person who is in it.",
            f'{closest(name, list(schema))}; or declare it, or have its keys selected: --ask "keys {_quoted(name)}" '
            "--delta 1e-8.",
        )


def _lines(asked: Asked, schema: Schema) -> int:
    """How many numbers the answer has; as if there were one group, where the keys are yet to be selected."""
    groups = schema[asked.by].size if asked.by is not None and asked.by in schema else 1
    if asked.statistic == "ecdf":
        return groups * min(asked.number or POINTS, schema[asked.column].size)
    if asked.statistic == "quantiles":
        return groups * (len(asked.shares) or max((PARTS if asked.number is None else asked.number) - 1, 1))
    if asked.statistic != "histogram":
        return groups * {"deciles": 9, "boxplot": 5, "quartiles": 3}.get(asked.statistic, 1)
    return groups * int(for_histogram(asked.column, schema[asked.column], asked.number).size)


def _quoted(name: str) -> str:
    """A name as it can be typed in a question."""
    found = tokens(name)
    if len(found) == 1 and found[0].kind == "word" and not found[0].says("by"):
        return name
    return "'" + name.replace("'", "''") + "'"


def _read(text: str, found: list[Token]) -> Asked:
    def refused(what: str, hint: str = "") -> InvalidParameter:
        known = found[0].text.lower() if found else ""
        if known in STATISTICS:
            forms, example = f"It is asked as: {STATISTICS[known].form(known)}", STATISTICS[known].example(known)
        else:
            forms = f"A question begins with one of {', '.join(STATISTICS)}"
            meant = OTHER_WORDS.get(known, "mean")
            example = STATISTICS[meant].example(meant)
        return InvalidParameter(
            f"The question {shown(text)} was not understood: {what}.",
            f"{forms}, with names that have spaces in quotes.",
            f"{hint or 'Write'} for example --ask '{example}'.",
        )

    if not found:
        raise refused("it is empty")
    if any(token.kind == "open" for token in found):
        raise refused("a quote or a sign has no counterpart")
    word, rest = found[0].text.lower(), found[1:]
    if word not in STATISTICS or found[0].kind != "word":
        meant = f"Perhaps {OTHER_WORDS[word]!r} was meant" if word in OTHER_WORDS else closest(word, list(STATISTICS))
        raise refused(f"{found[0]} is not a known statistic", f"{meant},")
    statistic = STATISTICS[word]
    parts: dict[str, Any] = {"statistic": word}
    if statistic.column:
        if not rest or not rest[0].is_name or rest[0].says("by"):
            raise refused(f"{word} needs the name of a column")
        parts["column"] = rest.pop(0).text
    if statistic.others:
        if word == "regression" and rest and rest[0].says("on"):
            del rest[0]
        named = list(takewhile(lambda token: token.is_name and not token.says("by", "on"), rest))
        if not named:
            raise refused(f"{word} needs the names of several columns")
        parts["others"], rest = tuple(token.text for token in named), rest[len(named) :]
    if statistic.shares:
        numbers = list(takewhile(lambda token: token.kind == "number", rest))
        if statistic.shares == 1 and len(numbers) != 1:
            raise refused(f"{word} needs one share of the rows, such as 0.9")
        given = [float(token.text.replace("_", "")) for token in numbers]
        if statistic.shares == 1 or len(given) > 1 or (given and given[0] < 1):
            if any(share > 1 for share in given):
                raise refused("shares lie between 0 and 1: for a percentile of 90 write 0.9")
            parts["shares"], rest = tuple(probability("P", share) for share in given), rest[len(numbers) :]
    if statistic.number and rest and rest[0].kind == "number":
        digits = rest.pop(0).text
        if not digits.replace("_", "").isascii() or not digits.replace("_", "").isdigit() or len(digits) > 9:
            raise refused(f"{statistic.number} must be a whole number, got {shown(digits)}")
        parts["number"] = int(digits.replace("_", ""))
    if statistic.by and len(rest) >= 2 and rest[0].says("by") and rest[1].is_name:
        parts["by"] = rest[1].text
        rest = rest[2:]
    if rest:
        what = f"{rest[0]} has no place in it"
        if rest[0].says("by"):
            what = "by needs the name of a column" if statistic.by else f"{word} takes no groups"
        raise refused(what)
    return Asked(**parts)
