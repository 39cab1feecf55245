"""Duchi: one bit, more likely to be 1 the larger the number.

Law        codes 0..s; P[report = 1 | code = i] = (i + (s - i) b) / (s (1 + b)), b = e^-epsilon
Guarantee  epsilon-DP for one person's number, in one report
Why        each of the two probabilities lies between b / (1 + b) and 1 / (1 + b), the values at the two ends
Error      on the scale from -1 to 1 a report stands for B or -B, B = (e^epsilon + 1) / (e^epsilon - 1); its variance is
           B^2 - u^2, at most B^2
Numerics   exact: the number is rounded to an end at random (a uniform integer), and the end is reported through a
           coin enclosed as finely as needed
Limits     the variance does not fall below 1 however large epsilon is; above about 1.3 others are better. One bit
           shows nothing of the spread of the answers, so intervals for the respondents are as wide as the population's
Source     Duchi, Jordan, Wainwright (2018)
Proof      docs/explanation/proofs/local_numbers.md
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flou.arrays import Ints
from flou.bits import SYSTEM, Bits
from flou.laws import Bernoulli
from flou.laws.enclosure import affine, exp_minus, quotient
from flou.local.aggregate import Aggregate
from flou.local.numbers.mean_randomiser import MeanRandomiser, ReportMoments, nothing
from flou.local.randomiser import truth

__all__ = ["Duchi"]


class Duchi(MeanRandomiser):
    """One bit a number."""

    name = "Duchi"

    @property
    def bound(self) -> float:
        """B: a report stands for B or -B on the scale from -1 to 1."""
        return 1 / math.tanh(self.epsilon / 2)

    def law(self, answer: int) -> Bernoulli:
        code = min(max(int(answer), 0), self.steps)
        total = affine(exp_minus(self.epsilon), times=self.steps, plus=self.steps)
        return Bernoulli(quotient(affine(exp_minus(self.epsilon), times=self.steps - code, plus=code), total))

    def sample(self, answer: Ints, *, bits: Bits = SYSTEM) -> NDArray[Any]:
        codes = np.clip(answer, 0, self.steps)
        end = bits.below(self.steps, codes.size) < codes
        kept = truth(self.epsilon).draw(codes.size, bits) == 1
        report: NDArray[Any] = np.equal(end, kept).astype(np.int64)
        return report

    @property
    def cells(self) -> int:
        return 2

    @property
    def tallies(self) -> int:
        return 1

    def tally(self, reports: NDArray[Any]) -> Ints:
        return np.array([reports.sum()], dtype=np.int64)

    def possible(self, people: int, sums: Ints) -> bool:
        return 0 <= int(sums[0]) <= people

    def unit_variance(self, position: float) -> float:
        return self.bound**2 - position**2

    @property
    def worst_position(self) -> float:
        return 0.0 if self.steps % 2 == 0 else 1 / self.steps

    def moments(self, aggregate: Aggregate) -> ReportMoments:
        people = aggregate.people
        if people == 0:
            return nothing(self.bound**2)
        mean = self.bound * ((2 * int(aggregate.sums[0]) - people) / people)
        total = self.bound**2 - min(mean**2, 1.0)
        return ReportMoments(people, mean, total, total)
