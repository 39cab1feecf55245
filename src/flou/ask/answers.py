"""From a file, a schema and questions in words to answers: all is checked first, then charged, then read once.

Keys are selected first, in a pass of their own for each, because other questions may be about their groups.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from flou.ask.questions import Asked, keys_in, parsed
from flou.ask.shares import epsilon_of, shares
from flou.bits import SYSTEM, Bits
from flou.central import Budget, Keys, Quantiles, Question, open_table
from flou.central.counts.keys import Selection
from flou.central.grouped import InGroups
from flou.domain import Schema
from flou.errors import InvalidParameter
from flou.guarantee import ApproxDP, Guarantee, compose
from flou.release import Release
from flou.summaries.condition_words import condition

__all__ = ["Answer", "Answers", "ask_file"]


@dataclass(frozen=True)
class Answer:
    """A question in words, and what was released."""

    question: str
    title: str
    release: Release


@dataclass(frozen=True)
class Answers:
    """All answers of one call, and what they cost together."""

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
    """Ask a file several questions together; ``epsilon`` is what all of them cost, ``delta`` all keys together.

    ``method`` says how quantiles are found.
    """
    if not asks:
        raise InvalidParameter(
            "There is no question.",
            "Nothing is released that was not asked for.",
            "Ask at least one, for example --ask count.",
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
    # the keys first: certificates are a chain, and the answers stand in its order
    order = sorted(range(len(asked)), key=lambda i: asked[i].statistic != "keys")
    selected = [q for i in order if isinstance(q := questions[i], Keys)]
    releases = view.ask(*selected)
    selections = {q.column: Selection(release) for q, release in zip(selected, releases, strict=True)}
    rest = [i for i in order if asked[i].statistic != "keys"]
    releases += view.ask(*(_in_groups(questions[i], asked[i].by, schema, selections) for i in rest))
    answers = tuple(Answer(str(asked[i]), asked[i].title, release) for i, release in zip(order, releases, strict=True))
    return Answers(schema.name or path.stem, where, answers, compose(*(release.cost for release in releases)))


def _with_delta(asks: Sequence[str], schema: Schema, delta: str | None) -> list[Asked]:
    """The questions; those for keys with their part of delta, and others may have the groups of these."""
    keys = keys_in(asks)
    if bool(keys) == (delta is None) or len(set(keys)) < len(keys):
        raise InvalidParameter(
            "--delta must be given exactly when keys are asked for, and the keys of a column once.",
            "It is how likely it may be that a key shows which only one person has.",
            "Pass for example --ask 'keys city' --ask 'mean salary by city' --delta 1e-8.",
        )
    asked = [parsed(text, schema, keys) for text in asks]
    if delta is None:
        return asked
    part = epsilon_of("--delta", delta) / len(keys)
    return [replace(one, delta=part) if one.statistic == "keys" else one for one in asked]


def _with_method(questions: list[Question], method: str) -> list[Question]:
    """Those for quantiles, to be found in a way that was asked for."""
    if not any(isinstance(one, Quantiles) for one in questions):
        raise InvalidParameter(
            "--method is for quantiles, and none are asked for.",
            "It says how they are found; other statistics have no choice.",
            "Leave it out, or ask for example --ask 'deciles salary'.",
        )
    return [replace(one, method=method) if isinstance(one, Quantiles) else one for one in questions]


def _budget(cap: Fraction, total: Fraction, schema: Schema, delta: str | None) -> Guarantee | Fraction:
    """What may be spent; where keys come first, all is checked before they do."""
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
