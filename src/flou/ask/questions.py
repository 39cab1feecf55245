"""``mean salary by department`` becomes a question: the name of a statistic, what it is about, and its groups.

    statistic [column ...] [number] [by column]

Names with spaces are quoted. Columns come from the schema. A column that is not in the schema can be asked for its
keys, which are then groups for other questions.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import takewhile
from typing import Any

from flou.central import Question
from flou.central.question import PublicFacts
from flou.central.registry import STATISTICS
from flou.central.statistic import Statistic
from flou.domain import Schema
from flou.domain.table import closest
from flou.errors import InvalidParameter
from flou.parameters import Number, probability, shown
from flou.summaries.condition_words import Token, tokens

__all__ = ["Asked", "form", "keys_in", "parsed"]

MOST_LINES = 10_000  # values in one answer


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
        kind = STATISTICS[self.statistic].phrase
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
        statistic = STATISTICS[self.statistic]
        columns = (self.column, *self.others) if self.column else ()
        options = statistic.phrase.options(self.number, self.shares)
        if self.delta is not None:
            options["delta"] = self.delta
        return statistic.question(self.by, *columns, **options, epsilon=epsilon)


def form(word: str) -> str:
    """The grammar of a statistic: ``histogram C [bins] [by G]``."""
    statistic = STATISTICS[word]
    phrase = statistic.phrase
    columns = " C" * phrase.column + (f" {phrase.others} ..." if phrase.others else "") + " P" * (phrase.shares == 1)
    number = f" [{phrase.number}{' | P P ...' * (phrase.shares > 1)}]" if phrase.number else ""
    return word + columns + number + " [by G]" * statistic.grouped


def _example(word: str) -> str:
    """A question for a statistic: ``histogram salary by department``."""
    statistic = STATISTICS[word]
    phrase = statistic.phrase
    others = f" {phrase.others}".replace("C", "age") if phrase.others else ""
    share, by = " 0.9" * (phrase.shares == 1), " by department" * statistic.grouped
    return word + " salary" * phrase.column + others + share + by


# Words that people use instead, and the statistic to suggest.
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
            f"Every public value gets an answer, even without rows, and a question may have {MOST_LINES} answers.",
            "Ask for fewer values, declare the column on a coarser grid, or group by a column with fewer values.",
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
            "The mere name of a group can reveal the one person who is in it.",
            f'{closest(name, list(schema))}; or declare the column; or ask for its keys: --ask "keys {_quoted(name)}" '
            "--delta 1e-8.",
        )


def _lines(asked: Asked, schema: Schema) -> int:
    """How many values the answer has; of one group, if the keys are not selected yet."""
    known = asked if asked.by is None or asked.by in schema else replace(asked, by=None)
    return known.question(1).prepare(PublicFacts(schema, None)).entries


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
            forms, example = f"The form of this question is: {form(known)}", _example(known)
        else:
            forms = f"A question begins with one of {', '.join(STATISTICS)}"
            meant = OTHER_WORDS.get(known, "mean")
            example = _example(meant)
        return InvalidParameter(
            f"The question {shown(text)} was not understood: {what}.",
            f"{forms}, with names that have spaces in quotes.",
            f"{hint or 'Write'} for example --ask '{example}'.",
        )

    if not found:
        raise refused("it is empty")
    if any(token.kind == "open" for token in found):
        raise refused("a quote is not closed, or a sign is unknown")
    word, rest = found[0].text.lower(), found[1:]
    if word not in STATISTICS or found[0].kind != "word":
        meant = f"Perhaps {OTHER_WORDS[word]!r} was meant" if word in OTHER_WORDS else closest(word, list(STATISTICS))
        raise refused(f"{found[0]} is not a known statistic", f"{meant},")
    statistic: Statistic[Any] = STATISTICS[word]
    phrase = statistic.phrase
    parts: dict[str, Any] = {"statistic": word}
    if phrase.column:
        if not rest or not rest[0].is_name or rest[0].says("by"):
            raise refused(f"{word} needs the name of a column")
        parts["column"] = rest.pop(0).text
    if phrase.others:
        if word == "regression" and rest and rest[0].says("on"):
            del rest[0]
        named = list(takewhile(lambda token: token.is_name and not token.says("by", "on"), rest))
        if not named:
            raise refused(f"{word} needs the names of several columns")
        parts["others"], rest = tuple(token.text for token in named), rest[len(named) :]
    if phrase.shares:
        numbers = list(takewhile(lambda token: token.kind == "number", rest))
        if phrase.shares == 1 and len(numbers) != 1:
            raise refused(f"{word} needs one share of the rows, such as 0.9")
        given = [float(token.text.replace("_", "")) for token in numbers]
        if phrase.shares == 1 or len(given) > 1 or (given and given[0] < 1):
            if any(share > 1 for share in given):
                raise refused("shares lie between 0 and 1: for a percentile of 90 write 0.9")
            parts["shares"], rest = tuple(probability("P", share) for share in given), rest[len(numbers) :]
    if phrase.number and rest and rest[0].kind == "number":
        digits = rest.pop(0).text
        if not digits.replace("_", "").isascii() or not digits.replace("_", "").isdigit() or len(digits) > 9:
            raise refused(f"{phrase.number} must be a whole number, got {shown(digits)}")
        parts["number"] = int(digits.replace("_", ""))
    if statistic.grouped and len(rest) >= 2 and rest[0].says("by") and rest[1].is_name:
        parts["by"] = rest[1].text
        rest = rest[2:]
    if rest:
        what = f"{rest[0]} does not belong there"
        if rest[0].says("by"):
            what = "by needs the name of a column" if statistic.grouped else f"{word} takes no groups"
        raise refused(what)
    return Asked(**parts)
