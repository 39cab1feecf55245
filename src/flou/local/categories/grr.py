"""GRR: report the own category or, at random, any of the others.

Law        P[report = y | answer = x] = e^epsilon / (e^epsilon + k - 1) if y = x, and 1 / (e^epsilon + k - 1) otherwise
Guarantee  epsilon-DP for one person's answer, in one report
Why        the ratio of any two of these probabilities is 1, e^epsilon or e^-epsilon
Error      see ``frequency_oracle.py``; n times the variance is (k - 2 + e^epsilon) / (e^epsilon - 1)^2 for rare answers
Numerics   exact: one coin enclosed as finely as needed, and a uniform integer
Limits     with more than 3 e^epsilon + 2 categories other oracles have less variance
Source     Kairouz, Bonawitz, Ramage (2016); document 002
Proof      docs/explanation/proofs/randomised_response.md
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

from numpy.typing import NDArray

from flou.arrays import Floats, Ints
from flou.bits import SYSTEM, Bits
from flou.laws import WeightedChoice
from flou.local.aggregate import Aggregate
from flou.local.categories.consistency import most_likely_shares
from flou.local.categories.frequency_oracle import FrequencyOracle
from flou.mechanisms import GeneralisedRandomisedResponse

__all__ = ["GRR", "gap_of_choice"]


class GRR(FrequencyOracle):
    """One of k categories: the true one with probability p, each other one with probability q."""

    name = "GRR"
    proof = "randomised_response"

    @cached_property
    def mechanism(self) -> GeneralisedRandomisedResponse:
        """What draws a report."""
        return GeneralisedRandomisedResponse(k=self.k, epsilon=self.epsilon, unit=self.guarantee.unit)

    @property
    def p(self) -> float:
        return self.mechanism.p

    @property
    def q(self) -> float:
        return self.mechanism.q

    @property
    def gap(self) -> float:
        return gap_of_choice(self.k, float(self.epsilon))

    @property
    def report_bits(self) -> int:
        return (self.k - 1).bit_length()

    def law(self, answer: int) -> WeightedChoice:
        return self.mechanism.law(answer)

    def sample(self, answer: Ints, *, bits: Bits = SYSTEM) -> NDArray[Any]:
        codes = self.codes(answer)
        found: NDArray[Any] = self.mechanism.sample(codes, bits=bits) if codes.size else codes
        return found

    @property
    def _covariances(self) -> tuple[float, float, int]:
        return -self.p * self.q, -self.q * self.q, self.k  # a report supports one category

    def most_likely(self, aggregate: Aggregate) -> Floats:
        return most_likely_shares(aggregate.sums, self.q / self.gap)


def gap_of_choice(k: int, epsilon: float) -> float:
    """p - q of one out of k: (e^epsilon - 1) / (e^epsilon + k - 1)."""
    return -math.expm1(-epsilon) / (1 + (k - 1) * math.exp(-epsilon))
