"""How a total epsilon is shared out: exact fractions that add up to it, with nothing lost and nothing left."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction

from flou.errors import InvalidParameter
from flou.parameters import number, shown

__all__ = ["epsilon_of", "shares"]

WRITTEN = re.compile(
    r"\s*(?:\d{1,12}(?:\.\d{0,12})?|\.\d{1,12})(?:[eE][+-]?\d{1,2})?\s*|\s*\d{1,12}/0*[1-9]\d{0,11}\s*"
)


def epsilon_of(name: str, text: str) -> Fraction:
    """The exact epsilon that was typed: 0.1 is one tenth, 1/3 a third."""
    if WRITTEN.fullmatch(text):
        return number("epsilon", Fraction(text.strip()))
    raise InvalidParameter(
        f"{name} must be a positive number, got {shown(text)}.",
        "It is the privacy loss that is allowed, and it is taken exactly as it is written.",
        f"Pass for example {name} 0.5, or {name} 1/3.",
    )


def shares(total: Fraction, count: int, split: str | None = None) -> tuple[Fraction, ...]:
    """So many parts of a total: equal ones, or in proportion to weights written as ``2,1,1``."""
    weights = [Fraction(1)] * count if split is None else _weights(split, count)
    return tuple(total * weight / sum(weights) for weight in weights)


def _weights(split: str, count: int) -> Sequence[Fraction]:
    texts = split.split(",")
    weights = [Fraction(text.strip()) for text in texts if WRITTEN.fullmatch(text)]
    if len(texts) != count or len(weights) != count or min(weights) <= 0:
        raise InvalidParameter(
            f"--split must be {count} positive numbers, one for each question, got {shown(split)}.",
            "They are the weights by which epsilon is shared out among the questions.",
            f"Pass for example --split {','.join(['2', *['1'] * (count - 1)])}, or leave it out for equal parts.",
        )
    return weights
