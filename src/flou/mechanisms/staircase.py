"""Staircase mechanism: add integer noise that falls in steps of one sensitivity.

Law        P[release = y] = a e^(-epsilon level(|y - answer|)), level(i) = floor(i / D) + [i mod D >= r], where D is
           the sensitivity
Guarantee  epsilon-DP for neighbours whose integer answers differ by at most ``sensitivity``
Why        moving by at most D changes the level by at most one: it never falls in i, and level(i + D) = level(i) + 1
Error      E |release - answer| and the variance are finite sums, known in closed form; r minimises one of them
Numerics   exact: integer draws, decisions refined until certain
Limits     one integer answer, never a vector: for vectors use Laplace or Gaussian
Source     Geng and Viswanath (2014); document 002, whose printed density has mass 2 (corrected here)
Proof      docs/explanation/proofs/staircase.md
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from flou.bits import SYSTEM, Bits
from flou.errors import InvalidData
from flou.guarantee import PureDP
from flou.laws import DiscreteStaircase
from flou.mechanisms.additive import Additive
from flou.parameters import Number, Relation

__all__ = ["Staircase"]


@dataclass(frozen=True, repr=False)
class Staircase(Additive):
    """Stepwise integer noise on one integer: less error than Laplace, and the gain grows with epsilon."""

    sensitivity: int
    epsilon: Fraction
    guarantee: PureDP
    noise: DiscreteStaircase

    def __init__(
        self,
        *,
        sensitivity: int,
        epsilon: Number,
        r: int | None = None,
        cost: Literal["absolute", "squared"] = "absolute",
        relation: Relation = "add-remove",
        unit: str = "row",
    ) -> None:
        noise = DiscreteStaircase(sensitivity, epsilon, r=r, cost=cost)
        object.__setattr__(self, "sensitivity", noise.sensitivity)
        object.__setattr__(self, "epsilon", noise.epsilon)
        object.__setattr__(self, "guarantee", PureDP(epsilon, relation=relation, unit=unit))
        object.__setattr__(self, "noise", noise)

    def law(self, answer: int | ArrayLike) -> Any:
        return super().law(_one(answer))

    def sample(self, answer: int | ArrayLike, *, bits: Bits = SYSTEM) -> Any:
        """The answer with exact noise."""
        return super().sample(_one(answer), bits=bits)


def _one(answer: Any) -> Any:
    """Refuse vectors: every coordinate that moves would cost epsilon."""
    if np.ndim(answer) != 0:
        raise InvalidData(
            "The staircase mechanism takes one integer, got a vector.",
            "Its steps protect one coordinate, and each further coordinate would cost epsilon again.",
            "Release the coordinates one by one with a share of epsilon each, or use Laplace.",
        )
    return answer
