"""From a file, a schema and questions in words to answers: everything is checked, then charged, then read once.

Keys are selected first, in one pass for each column, because other questions may ask about these groups. The questions
share a total epsilon in exact fractions that add up to it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from flou.ask.questions import Asked, keys_in, parsed
from flou.bits import SYSTEM, Bits
from flou.central import Budget, Keys, Quantiles, Question, open_table
from flou.central.counts.keys import Selection
from flou.central.grouped import InGroups
from flou.domain import Schema
from flou.errors import InvalidParameter
from flou.guarantee import ApproxDP, Guarantee, compose
from flou.parameters import number, shown
from flou.release import Release
from flou.summaries.condition_words import condition

__all__ = ["Answer", "Answers", "ask_file", "epsilon_of", "shares"]

WRITTEN = re.compile(
    r"\s*(?:\d{1,12}(?:\.\d{0,12})?|\.\d{1,12})(?:[eE][+-]?\d{1,2})?\s*|\s*\d{1,12}/0*[1-9]\d{0,11}\s*"
)


@dataclass(frozen=True)
class Answer:
    """A question in words, and its release."""

    question: str
    title: str
    release: Release


@dataclass(frozen=True)
class Answers:
    """All answers of one call, and their privacy cost together."""

    dataset: str
    where: str | None
    answers: tuple[Answer, ...]
    cost: Guarantee

    def __iter__(self) -> Iterator[Answer]:
        return iter(self.answers)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {
            "dataset": self.dataset,
            "where": self.where,
            "cost": self.cost.to_dict(),
            "cost_in_words": self.cost.in_words(),
            "answers": [{"question": answer.question, **answer.release.to_dict()} for answer in self],
        }

    def to_json(self) -> str:
        """The same as JSON."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)


def ask_file(
    path: Path,
    *,
    schema: Schema,
    asks: Sequence[str],
    epsilon: str,
    split: str | None = None,
    where: str | None = None,
    budget: str | None = None,
    delta: str | None = None,
    method: str | None = None,
    bits: Bits = SYSTEM,
) -> Answers:
    """Ask a file several questions; ``epsilon`` is the cost of all answers together, ``delta`` that of all keys.

    ``method`` says how quantiles are computed.
    """
    if not asks:
        raise InvalidParameter(
            "There is no question.",
            "Only answers to questions are released.",
            "Ask at least one question, for example --ask count.",
        )
    total = epsilon_of("--epsilon", epsilon)
    parts = shares(total, len(asks), split)
    cap = total if budget is None else epsilon_of("--budget", budget)
    asked = _with_delta(asks, schema, delta)
    kept = None if where is None else condition(where)
    purse = _budget(cap, total, schema, delta)
    questions = [one.question(part) for one, part in zip(asked, parts, strict=True)]
    if method is not None:
        questions = _with_method(questions, method)
    table = open_table(path, schema=schema, budget=purse, bits=bits)
    view = table if kept is None else table.where(kept)
    # keys first: the certificates form a chain, and the answers keep its order
    order = sorted(range(len(asked)), key=lambda i: asked[i].statistic != "keys")
    selected = [q for i in order if isinstance(q := questions[i], Keys)]
    releases = view.ask(*selected)
    selections = {q.column: Selection(release) for q, release in zip(selected, releases, strict=True)}
    rest = [i for i in order if asked[i].statistic != "keys"]
    releases += view.ask(*(_in_groups(questions[i], asked[i].by, schema, selections) for i in rest))
    answers = tuple(Answer(str(asked[i]), asked[i].title, release) for i, release in zip(order, releases, strict=True))
    return Answers(schema.name or path.stem, where, answers, compose(*(release.cost for release in releases)))


def _with_delta(asks: Sequence[str], schema: Schema, delta: str | None) -> list[Asked]:
    """The questions; those for keys get their part of delta, and others may use the keys as groups."""
    keys = keys_in(asks)
    if bool(keys) == (delta is None) or len(set(keys)) < len(keys):
        raise InvalidParameter(
            "--delta must be given exactly when a question asks for keys, and each column is asked for its keys once.",
            "It is the probability of revealing a key held by one person.",
            "Pass for example --ask 'keys city' --ask 'mean salary by city' --delta 1e-8.",
        )
    asked = [parsed(text, schema, keys) for text in asks]
    if delta is None:
        return asked
    part = epsilon_of("--delta", delta) / len(keys)
    return [replace(one, delta=part) if one.statistic == "keys" else one for one in asked]


def _with_method(questions: list[Question], method: str) -> list[Question]:
    """The questions, with this method for quantiles."""
    if not any(isinstance(one, Quantiles) for one in questions):
        raise InvalidParameter(
            "--method is for quantiles, and no question asks for quantiles.",
            "Other statistics have only one method.",
            "Leave --method out, or ask for quantiles, for example --ask 'deciles salary'.",
        )
    return [replace(one, method=method) if isinstance(one, Quantiles) else one for one in questions]


def _budget(cap: Fraction, total: Fraction, schema: Schema, delta: str | None) -> Guarantee | Fraction:
    """The budget; if there are keys, the cost of all questions is checked against it before they are selected."""
    if delta is None:
        return cap
    facts: dict[str, Any] = {"relation": schema.relation, "unit": schema.unit or "row"}
    purse = ApproxDP(cap, epsilon_of("--delta", delta), **facts)
    Budget(purse).charge(ApproxDP(total, epsilon_of("--delta", delta), **facts))
    return purse


def _in_groups(question: Question, by: str | None, schema: Schema, selections: dict[str, Selection]) -> Question:
    if by is None or by in schema:
        return question
    return InGroups(question, by, selections[by])


def epsilon_of(name: str, text: str) -> Fraction:
    """The exact number that was typed: 0.1 is one tenth, 1/3 a third."""
    if WRITTEN.fullmatch(text):
        return number("epsilon", Fraction(text.strip()))
    raise InvalidParameter(
        f"{name} must be a positive number, got {shown(text)}.",
        "It limits the privacy loss, and is used exactly as it is written.",
        f"Pass for example {name} 0.5, or {name} 1/3.",
    )


def shares(total: Fraction, count: int, split: str | None = None) -> tuple[Fraction, ...]:
    """The total in ``count`` parts that add up to it: equal ones, or in proportion to weights such as ``2,1,1``."""
    weights = [Fraction(1)] * count if split is None else _weights(split, count)
    return tuple(total * weight / sum(weights) for weight in weights)


def _weights(split: str, count: int) -> Sequence[Fraction]:
    texts = split.split(",")
    weights = [Fraction(text.strip()) for text in texts if WRITTEN.fullmatch(text)]
    if len(texts) != count or len(weights) != count or min(weights) <= 0:
        raise InvalidParameter(
            f"--split must be {count} positive numbers, one for each question, got {shown(split)}.",
            "They say which part of epsilon each question gets.",
            f"Pass for example --split {','.join(['2', *['1'] * (count - 1)])}, or leave it out for equal shares.",
        )
    return weights
