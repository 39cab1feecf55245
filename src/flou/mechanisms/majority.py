"""Majority vote: which of two answers most people gave.

Law        P[release = 1] = 1 / (1 + exp(-s)), where s is, with d = ones - zeros and c how far one vote moves d (2 under
           substitution, 1 under add/remove):
             exponential          s = epsilon d / c
             logistic             s = epsilon (d - 1) / c + epsilon, the document's p(k + r) for every r, not symmetric
             inverse-sensitivity  s = +- epsilon times the number of votes to change until the majority turns
           and version="geometric" releases whether d + noise is positive, the noise being c times a discrete Laplace
           draw: P[release = 1] = P[d + c Z > 0]
Guarantee  epsilon-DP
Why        exponential and logistic: the log-odds move by epsilon; inverse sensitivity: two outcomes; geometric: Laplace
Error      P[wrong] is the law itself; of all that err as often on both sides of the turn, geometric errs least
Numerics   exact coins for numbers enclosed as finely as needed
Limits     the exact majority is 1 when ones > zeros, and 0 otherwise (ties included)
Source     document 003; Ghosh, Roughgarden, Sundararajan (2012) for the geometric version
Proof      docs/explanation/proofs/majority.md
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

from flou.bits import SYSTEM, Bits
from flou.guarantee import PureDP
from flou.laws import Bernoulli
from flou.laws.enclosure import Enclosure, affine, constant, exp_minus, quotient
from flou.mechanisms.mechanism import Mechanism
from flou.parameters import Number, Relation, choice, number

__all__ = ["Majority"]

Version: TypeAlias = Literal["geometric", "exponential", "logistic", "inverse-sensitivity"]
VERSIONS = ("geometric", "exponential", "logistic", "inverse-sensitivity")
ONE = Fraction(1)


@dataclass(frozen=True, repr=False)
class Majority(Mechanism):
    """The answer of the majority, 0 or 1, given the votes (ones, zeros)."""

    epsilon: Fraction
    version: Version
    guarantee: PureDP

    def __init__(
        self,
        *,
        epsilon: Number,
        version: Version = "geometric",
        relation: Relation = "add-remove",
        unit: str = "row",
    ) -> None:
        object.__setattr__(self, "epsilon", number("epsilon", epsilon))
        object.__setattr__(self, "version", choice("version", version, VERSIONS))
        object.__setattr__(self, "guarantee", PureDP(epsilon, relation=relation, unit=unit))

    @property
    def _step(self) -> int:
        return 2 if self.guarantee.relation == "substitute" else 1

    def law(self, votes: tuple[int, int]) -> Bernoulli:
        lead, step = int(votes[0]) - int(votes[1]), self._step
        if self.version == "exponential":
            return Bernoulli(_logistic(self.epsilon * lead / step))
        if self.version == "logistic":
            return Bernoulli(_logistic(self.epsilon * (Fraction(lead - 1, step) + 1)))
        # votes to change until the other answer leads: lead - step k <= 0, or lead + step k >= 1
        turns = -(-lead // step) if lead > 0 else -((lead - 1) // step)
        wrong = (
            _wrong_geometric(self.epsilon, turns) if self.version == "geometric" else _logistic(-self.epsilon * turns)
        )
        return Bernoulli(affine(wrong, times=-1, plus=1) if lead > 0 else wrong)

    def sample(self, votes: tuple[int, int], *, bits: Bits = SYSTEM) -> int:
        """0 or 1."""
        return self.law(votes).sample(bits=bits)


def _logistic(s: Fraction) -> Enclosure:
    """1 / (1 + e^-s)."""
    power = exp_minus(abs(s))
    return quotient(constant(ONE) if s >= 0 else power, affine(power, plus=1))


def _wrong_geometric(epsilon: Fraction, turns: int) -> Enclosure:
    """P[Z >= turns] for a discrete Laplace Z of scale 1/epsilon: e^(-epsilon turns) / (1 + e^-epsilon)."""
    return quotient(exp_minus(epsilon * turns), affine(exp_minus(epsilon), plus=1))
