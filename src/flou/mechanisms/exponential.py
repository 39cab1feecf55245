"""Exponential mechanism: choose one of finitely many outcomes, and better outcomes more often.

Law        P[release = i] proportional to exp(t utility_i)
Guarantee  epsilon-DP when no utility moves by more than ``sensitivity`` between neighbours, with
           t = epsilon / (2 sensitivity); t = epsilon / sensitivity when all utilities move the same way
           (utility="monotone"), or when there are two outcomes and ``sensitivity`` bounds how far the distance to
           the best utility moves (utility="regret")
Why        log P_i = t u_i - log sum exp(t u_j): the first term moves by t sensitivity, the second by as much at most,
           and in opposite directions when the utilities all move the same way; two outcomes, see the proof
Error      P[utility of the release <= best - v] <= n exp(-t v), n the number of outcomes: ``shortfall``
Numerics   exact: utilities are integers, t is a rational number, doubtful choices are refined
Limits     utility="regret" sharpens nothing beyond two outcomes
Source     McSherry and Talwar (2007); document 003
Proof      docs/explanation/proofs/exponential.md
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

from numpy.typing import ArrayLike

from flou.bits import SYSTEM, Bits
from flou.guarantee import PureDP
from flou.laws import WeightedChoice
from flou.mechanisms.mechanism import Mechanism, integer_vector
from flou.parameters import Number, Relation, choice, integer, number, open_probability

__all__ = ["UTILITIES", "Exponential", "Utility"]

Utility: TypeAlias = Literal["any", "monotone", "regret"]
UTILITIES = ("any", "monotone", "regret")


@dataclass(frozen=True, repr=False)
class Exponential(Mechanism):
    """One of finitely many outcomes, given their integer utilities; the release is its position."""

    sensitivity: Fraction
    epsilon: Fraction
    utility: Utility
    guarantee: PureDP

    def __init__(
        self,
        *,
        sensitivity: Number,
        epsilon: Number,
        utility: Utility = "any",
        relation: Relation = "add-remove",
        unit: str = "row",
    ) -> None:
        object.__setattr__(self, "sensitivity", number("sensitivity", sensitivity))
        object.__setattr__(self, "epsilon", number("epsilon", epsilon))
        object.__setattr__(self, "utility", choice("utility", utility, UTILITIES))
        object.__setattr__(self, "guarantee", PureDP(epsilon, relation=relation, unit=unit))

    def rate(self, outcomes: int) -> Fraction:
        """The exponent t for a (public) number of outcomes."""
        sharp = self.utility == "monotone" or (self.utility == "regret" and outcomes == 2)
        return self.epsilon / (self.sensitivity if sharp else 2 * self.sensitivity)

    def law(self, utilities: ArrayLike) -> WeightedChoice:
        vector = integer_vector("utilities", utilities)
        return WeightedChoice(~vector, rate=self.rate(vector.size))  # ~u = -1 - u: the order of -u, without overflow

    def sample(self, utilities: ArrayLike, *, bits: Bits = SYSTEM) -> int:
        """The position of the outcome that was chosen."""
        return self.law(utilities).sample(bits=bits)

    def shortfall(self, outcomes: int, *, beta: float) -> float:
        """How far below the best the utility of the release may fall, except with probability beta."""
        rate = float(self.rate(integer("outcomes", outcomes, 1, 2**60)))
        return math.log(outcomes / float(open_probability("beta", beta))) / rate
