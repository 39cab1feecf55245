"""Generalised randomised response: report the true category, or any of the others, at random.

Law        P[report = y | answer = x] = e^epsilon / (e^epsilon + k - 1) if y = x, and 1 / (e^epsilon + k - 1) otherwise
Guarantee  epsilon-DP for one person's answer
Why        the ratio of any two of these probabilities is 1, e^epsilon or e^-epsilon
Error      with p and q the two probabilities, (share of reports y - q) / (p - q) is unbiased for the share of y
Numerics   exact: one coin enclosed as finely as needed, and a uniform integer
Limits     for many categories other randomisers have less variance
Source     Kairouz, Bonawitz, Ramage (2016); document 002
Proof      docs/explanation/proofs/randomised_response.md
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from flou.arrays import Ints
from flou.bits import SYSTEM, Bits
from flou.guarantee import PureDP
from flou.laws import Bernoulli, WeightedChoice
from flou.laws.enclosure import affine, constant, exp_minus, quotient
from flou.mechanisms.mechanism import Mechanism, integer_vector
from flou.parameters import Number, integer, number

__all__ = ["GeneralisedRandomisedResponse"]


@dataclass(frozen=True, repr=False)
class GeneralisedRandomisedResponse(Mechanism):
    """One of ``k`` categories, coded 0..k-1, reported truthfully with a known probability."""

    k: int
    epsilon: Fraction
    guarantee: PureDP

    def __init__(self, *, k: int, epsilon: Number, unit: str = "person") -> None:
        object.__setattr__(self, "k", integer("k", k, 2, 2**31))
        object.__setattr__(self, "epsilon", number("epsilon", epsilon))
        object.__setattr__(self, "guarantee", PureDP(epsilon, relation="substitute", unit=unit))

    @property
    def keep(self) -> Bernoulli:
        """The coin that decides whether the report is the answer: 1 / (1 + (k - 1) e^-epsilon)."""
        total = affine(exp_minus(self.epsilon), times=self.k - 1, plus=1)
        return Bernoulli(quotient(constant(Fraction(1)), total))

    @property
    def p(self) -> float:
        """P[report = answer]."""
        return self.keep.p

    @property
    def q(self) -> float:
        """P[report = y] for each other category y."""
        return self.keep.q / (self.k - 1)

    def law(self, answer: int) -> WeightedChoice:
        exponents = np.ones(self.k, dtype=np.int64)
        exponents[min(max(int(answer), 0), self.k - 1)] = 0
        return WeightedChoice(exponents, rate=self.epsilon)

    def sample(self, answer: int | ArrayLike, *, bits: Bits = SYSTEM) -> Any:
        """The report of one person, or of each person of a vector; codes outside 0..k-1 are clamped."""
        if np.ndim(answer) == 0:
            return int(self._sample(np.array([int(answer)]), bits)[0])  # type: ignore[arg-type]
        return self._sample(integer_vector("answer", answer), bits)

    def _sample(self, answers: Ints, bits: Bits) -> Ints:
        truth = np.clip(answers, 0, self.k - 1)
        other = bits.below(self.k - 1, truth.size)
        other += other >= truth  # uniform on the k - 1 other categories
        return np.where(self.keep.draw(truth.size, bits) == 1, truth, other)
