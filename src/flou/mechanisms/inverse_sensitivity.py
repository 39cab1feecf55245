"""Inverse sensitivity mechanism: choose outcomes that are few changes away from the truth more often.

Law        P[release = i] proportional to exp(-t length_i), length_i the least number of records to change until the
           exact answer is outcome i
Guarantee  epsilon-DP, with t = epsilon / 2, or t = epsilon when there are two outcomes
Why        one change moves every length by at most one, so it is the exponential mechanism with utility -length; the
           least length is always 0 (the exact answer), which is what makes the sharper exponent right for two outcomes
Error      P[length of the release >= v] <= n exp(-t v); no epsilon/4-DP unbiased mechanism is right more often
Numerics   exact: lengths are integers, t is a rational number
Limits     lengths must be true distances for the stated relation: |length(x) - length(x')| <= 1, and 0 at the answer
Source     Asi and Duchi (2020); documents 000 (6), 001 (4), 003
Proof      docs/explanation/proofs/inverse_sensitivity.md
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from flou.bits import SYSTEM, Bits
from flou.guarantee import PureDP
from flou.laws import WeightedChoice
from flou.mechanisms.exponential import Exponential
from flou.mechanisms.mechanism import Mechanism, integer_vector
from flou.parameters import Number, Relation, number

__all__ = ["InverseSensitivity"]


@dataclass(frozen=True, repr=False)
class InverseSensitivity(Mechanism):
    """One of finitely many outcomes, given how many records must change to reach each of them."""

    epsilon: Fraction
    guarantee: PureDP

    def __init__(self, *, epsilon: Number, relation: Relation = "substitute", unit: str = "row") -> None:
        object.__setattr__(self, "epsilon", number("epsilon", epsilon))
        object.__setattr__(self, "guarantee", PureDP(epsilon, relation=relation, unit=unit))

    def law(self, lengths: ArrayLike) -> WeightedChoice:
        exponential = Exponential(sensitivity=1, epsilon=self.epsilon, utility="regret")
        return exponential.law(np.negative(integer_vector("lengths", lengths)))

    def sample(self, lengths: ArrayLike, *, bits: Bits = SYSTEM) -> int:
        """The position of the outcome that was chosen."""
        return self.law(lengths).sample(bits=bits)

    def best_probability(self, lengths: ArrayLike) -> float:
        """An upper bound on how often any unbiased epsilon-DP mechanism gives the exact answer on these data."""
        vector = integer_vector("lengths", lengths)
        return float(1 / np.sum(np.exp(-2 * float(self.epsilon) * vector)))
