"""Vector Duchi: one bit for each of several numbers, all in one report.

Law        every number is rounded to an end of its range at random, in proportion, which gives signs v in {-1, 1}^d;
           the report t in {-1, 1}^d has weight 1 if t . v > 0 and weight b = e^-epsilon otherwise
Guarantee  epsilon-DP for all numbers of one person together, in one report
Why        the number T of t with t . v > 0 is the same for all v, so P[t | v] is 1 / Z or b / Z with Z = T + b (2^d -
           T) for all; rounding does not depend on the report, and mixtures keep the ratio
Error      E t_j = k v_j with k = (1 - b) c / Z, c = C(d - 1, (d - 1) / 2) for odd d and C(d - 1, d / 2) for even d;
           t_j / k is unbiased, with the variance 1 / k^2 - u_j^2
Numerics   exact: a coin enclosed as finely as needed, binomial weights as whole numbers, and uniform integers
Limits     at most 60 numbers; ``SampledMeans`` usually has less variance. Ties t . v = 0, which exist for even d,
           belong to the less likely side. With half spaces that both hold them the loss is ln(1 + e^epsilon)
Source     Duchi, Jordan, Wainwright (2018), corrected for even d
Proof      docs/explanation/proofs/local_numbers.md
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flou.arrays import Ints
from flou.bits import SYSTEM, Bits
from flou.laws import Bernoulli
from flou.laws.enclosure import affine, constant, exp_minus, quotient
from flou.laws.tabulated import Tabulated
from flou.local.aggregate import Aggregate
from flou.local.numbers.mean_randomiser import ReportMoments, nothing
from flou.local.numbers.vector import VectorRandomiser
from flou.local.randomiser import whole_numbers
from flou.parameters import integer
from flou.release import Release

__all__ = ["VectorDuchi"]

MOST_TABULATED = 12


class VectorDuchi(VectorRandomiser):
    """``domains``: a list of intervals, integers or pairs of bounds; ``names``: what the numbers are called."""

    name = "vector Duchi"
    _most = 60

    @property
    def _ahead(self) -> int:
        """T: how many t agree with v in more than half of the entries."""
        return sum(math.comb(self.d, agreeing) for agreeing in range(self.d // 2 + 1, self.d + 1))

    @property
    def _favoured(self) -> Bernoulli:
        """The coin that says whether t . v > 0."""
        ahead = self._ahead
        total = affine(exp_minus(self.epsilon), times=2**self.d - ahead, plus=ahead)
        return Bernoulli(quotient(constant(Fraction(ahead)), total))

    @property
    def shrinkage(self) -> float:
        """k: E t_j = k v_j."""
        middle = math.comb(self.d - 1, self.d // 2)
        return -math.expm1(-self.epsilon) * middle / self._ahead * self._favoured.p

    def variance(self, number: int = 0) -> float:
        """n times the largest variance of the estimated mean of a number."""
        low, high = self.domain.domains[number].decode([0, self.domain.domains[number].size - 1])
        return float(high - low) ** 2 / 4 / self.shrinkage**2

    def law(self, answer: Sequence[int]) -> Tabulated:
        """Of the report read as a binary number, the first bit counting least; for up to 12 numbers."""
        integer("the number of domains", self.d, 2, MOST_TABULATED)
        code = np.array([list(answer)])
        ends = np.array([int(c) / (domain.size - 1) for c, domain in zip(answer, self.domain.domains, strict=True)])
        signs = 2 * (np.arange(2**self.d)[:, None] >> np.arange(self.d) & 1) - 1
        weights = np.where(signs @ signs.T > 0, 1.0, math.exp(-self.epsilon))
        rounded = np.prod(np.where(signs > 0, ends, 1 - ends), axis=1)

        def draw(size: int, bits: Bits) -> Ints:
            reports: NDArray[Any] = self.sample(np.repeat(code, size, axis=0), bits=bits)
            found: Ints = reports @ (1 << np.arange(self.d))
            return found

        return Tabulated(weights @ rounded / weights[0].sum(), draw)

    def sample(self, answer: Ints, *, bits: Bits = SYSTEM) -> NDArray[Any]:
        people = answer.shape[0]
        agreeing = self._agreeing(people, bits)
        reports = np.empty((people, self.d), dtype=np.int64)
        for j, domain in enumerate(self.domain.domains):
            end = bits.below(domain.size - 1, people) < answer[:, j]
            # Which entries agree: of the d - j that are left, each set of ``agreeing`` ones is equally likely.
            agrees = bits.below(self.d - j, people) < agreeing
            agreeing -= agrees
            reports[:, j] = end == agrees
        return reports

    def _agreeing(self, people: int, bits: Bits) -> Ints:
        """In how many entries t and v agree."""
        favoured, half = self._favoured.draw(people, bits) == 1, self.d // 2
        ways = [math.comb(self.d, agreeing) for agreeing in range(self.d + 1)]
        ahead, behind = np.cumsum(ways[half + 1 :]), np.cumsum(ways[: half + 1])
        more = half + 1 + np.searchsorted(ahead, bits.below(int(ahead[-1]), people), side="right")
        less = np.searchsorted(behind, bits.below(int(behind[-1]), people), side="right")
        return np.where(favoured, more, less).astype(np.int64)

    def checked(self, reports: ArrayLike) -> NDArray[Any]:
        return whole_numbers(reports, 1, (self.d,))

    @property
    def tallies(self) -> int:
        return self.d

    def tally(self, reports: NDArray[Any]) -> Ints:
        found: Ints = reports.sum(axis=0).astype(np.int64)
        return found

    def possible(self, people: int, sums: Ints) -> bool:
        return bool(np.all((sums >= 0) & (sums <= people)))

    def estimated(self, aggregate: Aggregate) -> Release:
        people, bound = aggregate.people, 1 / self.shrinkage
        found = [nothing(bound**2)] * self.d
        if people:
            means = [bound * ((2 * int(ones) - people) / people) for ones in aggregate.sums]
            totals = [bound**2 - min(mean**2, 1.0) for mean in means]
            found = [ReportMoments(people, mean, total, total) for mean, total in zip(means, totals, strict=True)]
        return self._means(aggregate, found)
