"""The law of several answers, listed outcome by outcome: for tiny grids, where all outcomes can be enumerated."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import product

from flou.errors import InvalidParameter

__all__ = ["MOST_OUTCOMES", "AnswerLaw", "Answers", "too_many_outcomes"]

Answers = tuple[int, ...]

MOST_OUTCOMES = 1 << 20


class AnswerLaw:
    """P(answers) for each tuple of answers that can be released."""

    def __init__(self, probabilities: Mapping[Answers, float]) -> None:
        self._probabilities = dict(probabilities)

    def __repr__(self) -> str:
        return f"AnswerLaw({len(self._probabilities)} outcomes)"

    def outcomes(self) -> Iterator[Answers]:
        """Everything that can be released."""
        return iter(self._probabilities)

    def pmf(self, answers: Iterable[int]) -> float:
        """P[exactly these answers]."""
        return self._probabilities.get(tuple(answers), 0.0)

    def log_pmf(self, answers: Iterable[int]) -> float:
        probability = self.pmf(answers)
        return math.log(probability) if probability > 0 else -math.inf

    @classmethod
    def independent_sorted(cls, single: Iterable[Mapping[int, float]]) -> AnswerLaw:
        """Answers that are drawn independently, one from each law, and put in order."""
        found: defaultdict[Answers, float] = defaultdict(float)
        laws = [list(law.items()) for law in single]
        if math.prod(map(len, laws)) > MOST_OUTCOMES:
            raise too_many_outcomes()
        for outcome in product(*laws):
            found[tuple(sorted(cell for cell, _ in outcome))] += math.prod(p for _, p in outcome)
        return cls(found)


def too_many_outcomes() -> InvalidParameter:
    return InvalidParameter(
        "The grid has too many outcomes to list the law of these quantiles.",
        "Samples are not affected: they are exact on every grid.",
        "Ask for the law with fewer cells, records or quantiles.",
    )
