"""IndExp: several quantiles, each drawn independently with a share of epsilon, then sorted.

Law        m independent answers of ``GridInverseSensitivity`` (or ``QExp``) with epsilon_0 each, sorted
Guarantee  epsilon-DP with epsilon_0 = epsilon / m; with a delta, (epsilon, delta)-DP with the largest epsilon_0 that
           the optimal composition of bounded-range mechanisms or their zCDP allows; epsilon-DP where that is no larger
Why        answers that do not look at each other compose; sorting only looks at the answers
Error      that of one quantile at epsilon_0: ranks off by about 2 m / epsilon, or by about 6 sqrt(m) / epsilon at
           delta = 1e-6
Numerics   exact draws; epsilon_0 is rounded down to a decimal, after a check with 80 digits
Limits     the price grows with m, that of RecExp with log m: a baseline, best for two or three quantiles
Source     Dong, Durfee, Rogers (2020); Gillenwater, Joseph, Kulesza (2021); document 000 (4.2)
Proof      docs/explanation/proofs/quantiles.md
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, TypeAlias

import numpy as np

from flou.arrays import Ints
from flou.bits import Bits
from flou.guarantee import ApproxDP
from flou.mechanisms.quantiles.answer_law import MOST_OUTCOMES, AnswerLaw, too_many_outcomes
from flou.mechanisms.quantiles.grid_inverse_sensitivity import GridInverseSensitivity
from flou.mechanisms.quantiles.q_exp import QExp
from flou.mechanisms.quantiles.quantile_mechanism import QuantileMechanism
from flou.mechanisms.quantiles.records import Records
from flou.mechanisms.quantiles.single import SingleQuantile
from flou.parameters import Number, Relation, choice, number
from flou.theory.bounded_range import largest_epsilon

__all__ = ["IndExp"]

Scores: TypeAlias = Literal["inverse-sensitivity", "rank"]
PARTS: dict[str, type[SingleQuantile]] = {"inverse-sensitivity": GridInverseSensitivity, "rank": QExp}


@dataclass(frozen=True, init=False, repr=False)
class IndExp(QuantileMechanism):
    """Several quantiles, independently; give ``delta`` for a larger share each."""

    scores: Scores
    delta: Fraction | None
    epsilon_each: Fraction = field(repr=False)

    def __init__(
        self,
        probabilities: Number | Iterable[Number],
        *,
        epsilon: Number,
        delta: Number | None = None,
        scores: Scores = "inverse-sensitivity",
        relation: Relation = "add-remove",
        unit: str = "row",
    ) -> None:
        super().__init__(probabilities, epsilon=epsilon, relation=relation, unit=unit)
        count = len(self.ordered)
        each = self.epsilon / count
        allowed = None if delta is None else number("delta", delta)
        if delta is not None and allowed is not None:
            each = largest_epsilon(count, self.epsilon, allowed)
            if each > self.epsilon / count:
                object.__setattr__(self, "guarantee", ApproxDP(epsilon, delta, relation=relation, unit=unit))
        object.__setattr__(self, "scores", choice("scores", scores, PARTS))
        object.__setattr__(self, "delta", allowed)
        object.__setattr__(self, "epsilon_each", each)

    @property
    def parts(self) -> tuple[SingleQuantile, ...]:
        """The mechanisms of the ordered probabilities, one for each."""
        part = PARTS[self.scores]
        return tuple(part(p, epsilon=self.epsilon_each, relation=self.relation) for p in self.ordered)

    def law(self, records: Records) -> AnswerLaw:
        """The exact law of the ``ordered`` answers, listed; for a few cells and quantiles."""
        if records.cells ** len(self.ordered) > MOST_OUTCOMES:
            raise too_many_outcomes()
        cells = np.arange(records.cells)
        single = (part.law(records).pmf(cells).tolist() for part in self.parts)
        return AnswerLaw.independent_sorted(dict(enumerate(law)) for law in single)

    def answers(self, records: Records, bits: Bits) -> Ints:
        levels = [part.levels(records.rows) for part in self.parts]
        reaches = [one.reach(records.cells) for one in levels]
        records.prepare([(one.rank - reach, one.rank + reach) for one, reach in zip(levels, reaches, strict=True)])
        return np.sort([one.sample(records, bits) for one in levels])
