"""Pure differential privacy: P(S) <= exp(epsilon) Q(S) for every set S of answers.

Composition  epsilons add, also when the second question depends on the first answer
Group of k   k epsilon
Conversion   epsilon^2/2-zCDP, exact; or epsilon tanh(epsilon/2)-zCDP, which randomised response attains
Source       Dwork, McSherry, Nissim, Smith (2006); Bun and Steinke (2016); Steinke (2024)
Proof        docs/explanation/proofs/guarantee.md
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from flou.guarantee import renyi, words
from flou.guarantee.approx import ApproxDP
from flou.guarantee.measure import G, Guarantee
from flou.guarantee.zcdp import ZCDP
from flou.parameters import Number, Relation, choice, integer, number, open_probability, rounded_up

__all__ = ["PureDP"]


@dataclass(frozen=True, init=False, repr=False)
class PureDP(Guarantee):
    """epsilon-differential privacy."""

    measure = "pure"
    parameters = ("epsilon",)

    def __init__(self, epsilon: Number, *, relation: Relation = "add-remove", unit: str = "row") -> None:
        self._fill(number("epsilon", epsilon), relation=relation, unit=unit)

    @property
    def exact_epsilon(self) -> Fraction:
        return self._exact[0]

    @property
    def epsilon(self) -> float:
        """Epsilon as a float, rounded up."""
        return rounded_up(self.exact_epsilon)

    def times(self, k: int) -> PureDP:
        """Group privacy: k epsilon."""
        return self._with(integer("k", k, 1, 10**9) * self.exact_epsilon)

    def to_zcdp(self, *, method: Literal["bun-steinke", "tight"] = "bun-steinke") -> ZCDP:
        """The zCDP guarantee that follows: epsilon^2/2 exactly, or the smallest rho, rounded up.

        ``"tight"`` is epsilon tanh(epsilon/2): 8 % less at epsilon = 1, 40 % less at 3.
        """
        choice("method", method, ("bun-steinke", "tight"))
        rho = renyi.rho_of_pure(self.exact_epsilon) if method == "tight" else self.exact_epsilon**2 / 2
        return ZCDP._of(rho, relation=self.relation, unit=self.unit)

    def to_approx(self, *, delta: Number) -> ApproxDP:
        """The same epsilon, with any delta."""
        return ApproxDP._of(self.exact_epsilon, number("delta", delta), relation=self.relation, unit=self.unit)

    if TYPE_CHECKING:  # beside another measure, a pure guarantee is seen as one of that measure

        def __add__(self, other: G) -> G: ...

    def _as(self, measure: type[Guarantee]) -> Guarantee | None:
        if measure is ZCDP:
            return self.to_zcdp()
        if measure is ApproxDP:
            return ApproxDP._of(self.exact_epsilon, Fraction(0), relation=self.relation, unit=self.unit)
        return super()._as(measure)

    def in_words(self, prior: Number = 0.5, *, false_alarms: Number = 0.05) -> str:
        """How sure an observer can become who knows every other row; ``false_alarms`` plays no part."""
        open_probability("false_alarms", false_alarms)
        return words.surer(self.exact_epsilon, open_probability("prior", prior), self.relation, self.unit)
