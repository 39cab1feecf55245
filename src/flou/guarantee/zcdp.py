"""Zero-concentrated differential privacy: D_alpha(P || Q) <= rho alpha for every order alpha > 1.

Composition  rhos add, also when the second question depends on the first answer
Group of k   k^2 rho
Conversion   (epsilon, delta) for every delta at once; see renyi.py
Source       Bun and Steinke (2016); Canonne, Kamath, Steinke (2020)
Proof        docs/explanation/proofs/guarantee.md
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from flou.guarantee import renyi, words
from flou.guarantee.approx import ApproxDP
from flou.guarantee.measure import Guarantee
from flou.parameters import LIMITS, Number, Relation, choice, integer, number, rounded_up

__all__ = ["ZCDP"]

SPOKEN_DELTA = Fraction(1, 10**6)


@dataclass(frozen=True, init=False, repr=False)
class ZCDP(Guarantee):
    """rho-zero-concentrated differential privacy, the natural measure of Gaussian noise."""

    measure = "zcdp"
    parameters = ("rho",)

    def __init__(self, rho: Number, *, relation: Relation = "add-remove", unit: str = "row") -> None:
        self._fill(number("rho", rho), relation=relation, unit=unit)

    @classmethod
    def for_approx(
        cls, epsilon: Number, delta: Number, *, relation: Relation = "add-remove", unit: str = "row"
    ) -> ZCDP:
        """The largest rho whose conversion gives at most (epsilon, delta), rounded down."""
        rho = renyi.rho_for(number("epsilon", epsilon), number("delta", delta))
        return cls._of(rho, relation=relation, unit=unit)

    @property
    def exact_rho(self) -> Fraction:
        return self._exact[0]

    @property
    def rho(self) -> float:
        """Rho as a float, rounded up."""
        return rounded_up(self.exact_rho)

    def times(self, k: int) -> ZCDP:
        """Group privacy: k^2 rho."""
        return self._with(integer("k", k, 1, 10**9) ** 2 * self.exact_rho)

    def to_approx(self, *, delta: Number, method: Literal["renyi", "bun-steinke"] = "renyi") -> ApproxDP:
        """The smallest epsilon that follows at ``delta``: from the best Rényi order, or in closed form.

        ``"bun-steinke"`` is rho + 2 sqrt(rho ln(1/delta)); ``"renyi"`` is always smaller.
        """
        formula = {"renyi": renyi.epsilon_for, "bun-steinke": renyi.epsilon_in_closed_form}
        wanted = number("delta", delta)
        epsilon = formula[choice("method", method, formula)](self.exact_rho, wanted)
        return ApproxDP._of(epsilon, wanted, relation=self.relation, unit=self.unit)

    def delta_for(self, epsilon: Number) -> float:
        """The smallest delta that follows at ``epsilon``, from the best Rényi order, rounded up."""
        return rounded_up(renyi.delta_for(self.exact_rho, number("epsilon", epsilon)))

    def _within(self, budget: Guarantee) -> Guarantee | None:
        if not isinstance(budget, ApproxDP):
            return self._as(type(budget))
        delta = min(budget.exact_delta, LIMITS["delta"][1])
        epsilon = renyi.epsilon_for(self.exact_rho, delta)
        return ApproxDP._of(epsilon, delta, relation=self.relation, unit=self.unit)

    def in_words(self, prior: Number = 0.5, *, false_alarms: Number = 0.05) -> str:
        """What any test can detect, in words, after the conversion at delta = 1e-6."""
        approx = self.to_approx(delta=SPOKEN_DELTA)
        sentence = approx.in_words(prior, false_alarms=false_alarms)
        epsilon = words.rounded(approx.exact_epsilon)
        return f"Read as epsilon = {epsilon} with delta = 1e-6, it says this. {sentence}"
