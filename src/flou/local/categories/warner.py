"""Warner's randomised response: yes or no, randomised by the respondent's own coin.

Law        P[report = 1 | answer = 1] = p and P[report = 1 | answer = 0] = q
Guarantee  epsilon-DP for one person's answer, in one report; with p and q given, epsilon = max |log(p / q)|,
           |log((1 - p) / (1 - q))|, rounded up
Why        these are the only two ratios of probabilities
Error      (mean of reports - q) / (p - q) is unbiased for the share of ones: 2 mean - 1/2 for p = 3/4 and q = 1/4
Numerics   exact coins: p and q are rational, or enclosed as finely as needed
Limits     two categories; the cost is for one report, and a second report costs the same again
Source     Warner (1965); documents 002, 003 (whose printed estimator 2 mean - 1 should be 2 mean - 1/2)
Proof      docs/explanation/proofs/randomised_response.md
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flou.arrays import Floats, Ints
from flou.bits import SYSTEM, Bits
from flou.errors import InvalidParameter
from flou.laws import Bernoulli
from flou.local.aggregate import Aggregate
from flou.local.categories.consistency import nearest_shares
from flou.local.categories.frequency_oracle import Answers, FrequencyOracle
from flou.local.categories.support_uncertainty import SupportUncertainty
from flou.mechanisms import RandomisedResponse
from flou.parameters import Number, exact

__all__ = ["Warner"]


class Warner(FrequencyOracle):
    """Two categories, coded 0 and 1; pass ``epsilon``, or the probabilities ``p`` and ``q`` of reporting 1."""

    name = "Warner"
    proof = "randomised_response"

    def __init__(
        self,
        categories: Answers = 2,
        *,
        epsilon: Number | None = None,
        p: Number | None = None,
        q: Number | None = None,
        unit: str = "person",
    ) -> None:
        self.mechanism = RandomisedResponse(epsilon=epsilon, p=p, q=q, unit=unit)
        loss = self.mechanism.guarantee.exact_epsilon
        super().__init__(categories, epsilon=loss, unit=unit)
        if self.k != 2:
            raise InvalidParameter(
                f"A question for Warner has two answers, got {self.k} categories.",
                "The coin chooses between yes and no.",
                "Pass two categories, or use GRR.",
            )
        self.coin = None if p is None or q is None else (exact(p), exact(q))  # as given; None with epsilon

    def parameters(self) -> dict[str, Any]:
        given = {} if self.coin is None else {"p": str(self.coin[0]), "q": str(self.coin[1])}
        return {**super().parameters(), **given}

    @property
    def p(self) -> float:
        return self.mechanism.p

    @property
    def q(self) -> float:
        return self.mechanism.q

    @property
    def gap(self) -> float:
        return math.tanh(float(self.epsilon) / 2) if self.coin is None else float(self.coin[0] - self.coin[1])

    @property
    def report_bits(self) -> int:
        return 1

    def law(self, answer: int) -> Bernoulli:
        return self.mechanism.law(answer)

    def sample(self, answer: Ints, *, bits: Bits = SYSTEM) -> NDArray[Any]:
        codes = self.codes(answer)
        found: NDArray[Any] = self.mechanism.sample(codes, bits=bits) if codes.size else codes
        return found

    def shares(self, aggregate: Aggregate) -> Floats:
        if aggregate.people == 0:
            return np.full(2, 0.5)
        ones = (float(aggregate.sums[1]) / aggregate.people - self.q) / self.gap
        return np.array([1 - ones, ones])

    def most_likely(self, aggregate: Aggregate) -> Floats:
        return nearest_shares(self.shares(aggregate))  # the likelihood has one peak: cut at 0 and 1

    def uncertainty(self, aggregate: Aggregate) -> SupportUncertainty:
        # A report of 0 supports category 0, with probability 1 - q for those in it and 1 - p for the others.
        yes, no = np.array([1 - self.q, self.p]), np.array([1 - self.p, self.q])
        return SupportUncertainty(aggregate.sums.copy(), aggregate.people, yes, no, self.gap)
