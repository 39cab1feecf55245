"""The shortest call that can be right: one column in memory, what is public about it, and a question."""

from __future__ import annotations

from typing import Any

from flou.central.custody import Custody
from flou.central.question import Question
from flou.central.statistic import COLUMN
from flou.domain import Categories, Interval, Schema
from flou.errors import InvalidData, InvalidParameter
from flou.parameters import Relation
from flou.release import Release
from flou.summaries.array.rows import ArrayRows

__all__ = ["answer"]


def answer(
    values: Any,
    question: Question,
    *,
    relation: Relation = "add-remove",
    bounds: Any = None,
    granularity: float | None = None,
    categories: Any = None,
    domain: Any = None,
) -> Release:
    """The answer to a question about one column, whose domain is given in exactly one way."""
    if not hasattr(values, "__len__"):
        raise InvalidData(
            f"values must be a column, got a {type(values).__name__}.",
            "A statistic is about many rows.",
            "Pass a list, an array, or a column of a data frame.",
        )
    if sum(choice is not None for choice in (bounds, categories, domain)) != 1:
        raise InvalidParameter(
            "What the values can be must be given in exactly one way.",
            "It is public, and flou never reads it from the data.",
            'Pass bounds=(0, 100) or domain=flou.Integers(0, 100) for numbers, or categories=["yes", "no"].',
        )
    if granularity is not None and bounds is None:
        raise InvalidParameter(
            "granularity goes with bounds=(lower, upper).",
            "Every value is then the lower bound plus a multiple of it. A domain states its own granularity.",
            "Pass for example bounds=(0, 300_000) and granularity=1000.",
        )
    if bounds is not None:
        if not isinstance(bounds, tuple | list) or len(bounds) != 2:
            raise InvalidParameter(
                "bounds must be a pair (lower, upper).",
                "Values are clamped to these public bounds.",
                "Pass for example bounds=(0, 100).",
            )
        domain = Interval(*bounds, granularity=granularity)
    elif categories is not None:
        domain = Categories(categories)
    return Custody(ArrayRows({COLUMN: values}), Schema({COLUMN: domain}, relation=relation)).ask(question)[0]
