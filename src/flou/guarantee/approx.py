"""Approximate differential privacy: P(S) <= exp(epsilon) Q(S) + delta for every set S of answers.

Composition  epsilons add and deltas add, also when the second question depends on the first answer
Group of k   (k epsilon, delta (exp(k epsilon) - 1) / (exp(epsilon) - 1)), at most delta = 1
Source       Dwork, Kenthapadi, McSherry, Mironov, Naor (2006)
Proof        docs/explanation/proofs/guarantee.md
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from flou.errors import InvalidParameter
from flou.guarantee import words
from flou.guarantee.measure import Guarantee
from flou.parameters import Number, Relation, exact, integer, number, open_probability, rounded_up

__all__ = ["ApproxDP"]


@dataclass(frozen=True, init=False, repr=False)
class ApproxDP(Guarantee):
    """(epsilon, delta)-differential privacy."""

    measure = "approx"
    parameters = ("epsilon", "delta")

    def __init__(self, epsilon: Number, delta: Number, *, relation: Relation = "add-remove", unit: str = "row") -> None:
        self._fill(number("epsilon", epsilon), number("delta", delta), relation=relation, unit=unit)

    def _fill(self, *values: Fraction, relation: Relation, unit: str) -> None:
        epsilon, delta = values
        super()._fill(epsilon, min(delta, Fraction(1)), relation=relation, unit=unit)

    @property
    def exact_epsilon(self) -> Fraction:
        return self._exact[0]

    @property
    def exact_delta(self) -> Fraction:
        return self._exact[1]

    @property
    def epsilon(self) -> float:
        """Epsilon as a float, rounded up."""
        return rounded_up(self.exact_epsilon)

    @property
    def delta(self) -> float:
        """Delta as a float, rounded up."""
        return rounded_up(self.exact_delta)

    def times(self, k: int) -> ApproxDP:
        """Group privacy: (k epsilon, delta times the sum of exp(j epsilon) for j < k)."""
        k = integer("k", k, 1, 10**9)
        return self._with(k * self.exact_epsilon, self.exact_delta * growth(self.exact_epsilon, k))

    def to_approx(self, *, delta: Number) -> ApproxDP:
        """The same epsilon with a delta that is at least as large."""
        wanted = number("delta", delta)
        if wanted < self.exact_delta:
            raise InvalidParameter(
                f"delta must be at least {self.delta}, the delta of this guarantee.",
                "From (epsilon, delta) alone nothing follows for a smaller delta.",
                f"Pass delta={self.delta} or more, or convert the zCDP guarantee that it came from.",
            )
        return self._with(self.exact_epsilon, wanted)

    def in_words(self, prior: Number = 0.5, *, false_alarms: Number = 0.05) -> str:
        """What any test can detect, in words; ``prior`` plays no part, since delta may fail for anyone."""
        open_probability("prior", prior)
        alarms = open_probability("false_alarms", false_alarms)
        return words.detected(self.exact_epsilon, self.exact_delta, alarms, self.relation, self.unit)


def growth(epsilon: Fraction, k: int) -> Fraction:
    """The sum of exp(j epsilon) for j = 0 ... k-1, rounded up; a value above exp(600) caps any delta.

    It equals exp((k-1) epsilon) (1 - exp(-k epsilon)) / (1 - exp(-epsilon)). The two exponents are at most
    600 where they matter and carry a relative error of 2^-53, so exp and expm1 are off by less than
    600 * 2^-53 < 7e-14 and a few units in the last place; 1e-12 covers that, the division and the decimal.
    """
    if k == 1:
        return Fraction(1)
    if epsilon == 0:
        return Fraction(k)
    if (k - 1) * epsilon > 600:
        return Fraction(10) ** 300
    ratio = math.expm1(-float(min(k * epsilon, Fraction(1000)))) / math.expm1(-float(min(epsilon, Fraction(1000))))
    return exact(math.exp(float((k - 1) * epsilon)) * ratio * (1 + 1e-12))
