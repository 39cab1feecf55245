"""Discrete Laplace mechanism: add two-sided geometric noise to integers.

Law        P[release = y] = product over coordinates of tanh(a/2) exp(-a |y_i - answer_i|), a = epsilon / sensitivity
Guarantee  epsilon-DP for neighbours whose answers differ by at most ``sensitivity`` in L1 norm
Why        sum |y_i - answer'_i| - sum |y_i - answer_i| <= sensitivity, so the probabilities of any y differ by a
           factor of at most exp(a * sensitivity) = exp(epsilon)
Error      for each coordinate, P[|release - answer| >= t] = 2 exp(-a t) / (1 + exp(-a)) for t = 1, 2, ...
Numerics   exact: the scale sensitivity / epsilon is a rational number, decisions are refined until certain
Limits     scales up to 2^50; running time depends (very slightly) on the noise, not for adversarial timing
Source     Dwork, McSherry, Nissim, Smith (2006); Ghosh, Roughgarden, Sundararajan (2012); documents 000 (2), 003
Proof      docs/explanation/proofs/laplace.md
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from flou.guarantee import PureDP
from flou.laws import DiscreteLaplace
from flou.mechanisms.additive import Additive
from flou.parameters import Number, Relation, number

__all__ = ["Laplace"]


@dataclass(frozen=True, repr=False)
class Laplace(Additive):
    """Integer noise of scale sensitivity / epsilon on integers of a grid."""

    sensitivity: Fraction
    epsilon: Fraction
    guarantee: PureDP
    noise: DiscreteLaplace

    def __init__(
        self, *, sensitivity: Number, epsilon: Number, relation: Relation = "add-remove", unit: str = "row"
    ) -> None:
        object.__setattr__(self, "sensitivity", number("sensitivity", sensitivity))
        object.__setattr__(self, "epsilon", number("epsilon", epsilon))
        object.__setattr__(self, "guarantee", PureDP(epsilon, relation=relation, unit=unit))
        object.__setattr__(self, "noise", DiscreteLaplace(self.sensitivity / self.epsilon))
