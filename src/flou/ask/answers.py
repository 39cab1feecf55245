"""From a file, a schema and questions in words to answers: all is checked first, then charged, then read once."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flou.ask.conditions import condition
from flou.ask.questions import parsed
from flou.ask.shares import epsilon_of, shares
from flou.bits import SYSTEM, Bits
from flou.central import open_table
from flou.domain import Schema
from flou.errors import InvalidParameter
from flou.guarantee import Guarantee, compose
from flou.release import Release

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
    bits: Bits = SYSTEM,
) -> Answers:
    """Ask a file several questions together; ``epsilon`` is what all of them cost."""
    if not asks:
        raise InvalidParameter(
            "There is no question.",
            "Nothing is released that was not asked for.",
            "Ask at least one, for example --ask count.",
        )
    asked = [parsed(text, schema) for text in asks]
    total = epsilon_of("--epsilon", epsilon)
    parts = shares(total, len(asked), split)
    cap = total if budget is None else epsilon_of("--budget", budget)
    kept = None if where is None else condition(where)
    questions = [one.question(part) for one, part in zip(asked, parts, strict=True)]
    table = open_table(path, schema=schema, budget=cap, bits=bits)
    releases = (table if kept is None else table.where(kept)).ask(*questions)
    answers = tuple(Answer(str(one), one.title, release) for one, release in zip(asked, releases, strict=True))
    return Answers(schema.name or path.stem, where, answers, compose(*(release.cost for release in releases)))
