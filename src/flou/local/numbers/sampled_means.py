"""Sampled means: each person reports a few of several numbers, chosen at random, with little noise.

Law        a set of m of the d numbers, all sets equally likely; each number of it is reported by a randomiser of means
           at epsilon / m. m = max(1, min(d, floor(epsilon / 2.5))) by default
Guarantee  epsilon-DP for all numbers of one person together, in one report
Why        which numbers are reported does not depend on them, and m reports at epsilon / m each add up to epsilon
Error      a mean is estimated from those who reported the number, n m / d of them on average: it is unbiased, and its
           variance is that of the randomiser, plus the spread of the answers for the respondents not asked
Numerics   exact: sets and reports are drawn exactly, and sums are whole numbers
Limits     who reported which number is visible; the answers are not
Source     Wang, Xiao, Yang et al. (2019), with the number of reports counted instead of expected
Proof      docs/explanation/proofs/local_numbers.md
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flou.arrays import Ints
from flou.bits import SYSTEM, Bits
from flou.laws.tabulated import Tabulated
from flou.local.aggregate import Aggregate
from flou.local.numbers.mean_of import mean_of
from flou.local.numbers.mean_randomiser import ReportMoments
from flou.local.numbers.number_randomiser import Scale
from flou.local.numbers.vector import VectorRandomiser
from flou.local.randomiser import malformed, whole_numbers
from flou.parameters import Number, integer
from flou.release import Release

__all__ = ["SampledMeans"]

LARGEST_REPORT = 2**31


class SampledMeans(VectorRandomiser):
    """``domains``: a list of intervals, integers or pairs of bounds; a report has ``m`` rows (number, report)."""

    name = "sampled means"
    _most = 1000

    def __init__(
        self,
        domains: Sequence[Scale],
        *,
        epsilon: Number,
        m: int | None = None,
        method: str = "auto",
        names: Sequence[str] | None = None,
        unit: str = "person",
    ) -> None:
        super().__init__(domains, epsilon=epsilon, names=names, unit=unit)
        self.m = max(1, min(self.d, int(self.epsilon * 2 / 5))) if m is None else integer("m", m, 1, self.d)
        share = self.epsilon / self.m
        self.randomisers = tuple(mean_of(one, epsilon=share, method=method, unit=unit) for one in self.domain.domains)

    def parameters(self) -> dict[str, Any]:
        parts = [{"name": one.name, **one.parameters()} for one in self.randomisers]
        return {**super().parameters(), "m": self.m, "randomisers": parts}

    def variance(self, number: int = 0) -> float:
        """n times the largest variance of the estimated mean of a number, for respondents who all have the same."""
        return self.randomisers[number].variance() * self.d / self.m

    def law(self, answer: Sequence[int]) -> Tabulated:
        """Of the reports in the order of their sets of numbers, and in a set of their reports; for small grids."""
        codes = np.array([list(answer)])
        laws = [
            one.law(int(code)).pmf(np.arange(one.cells)) for one, code in zip(self.randomisers, answer, strict=True)
        ]
        sets = list(combinations(range(self.d), self.m))
        parts = [reduce(np.multiply.outer, [laws[j] for j in chosen]) for chosen in sets]
        starts = dict(zip(sets, np.cumsum([0] + [part.size for part in parts]).tolist(), strict=False))

        def place(report: Ints) -> int:
            chosen = tuple(report[:, 0].tolist())
            shape = tuple(laws[j].size for j in chosen)
            return int(starts[chosen]) + int(np.ravel_multi_index(tuple(report[:, 1].tolist()), shape))

        def draw(size: int, bits: Bits) -> Ints:
            return np.array([place(one) for one in self.sample(np.repeat(codes, size, axis=0), bits=bits)])

        return Tabulated(np.concatenate([part.ravel() for part in parts]) / comb(self.d, self.m), draw)

    def sample(self, answer: Ints, *, bits: Bits = SYSTEM) -> NDArray[Any]:
        people = answer.shape[0]
        reports = np.empty((people, self.m, 2), dtype=np.int64)
        done = np.zeros(people, dtype=np.int64)
        for j, randomiser in enumerate(self.randomisers):
            # Of the d - j numbers that are left, each set of m - done numbers is equally likely.
            chosen = np.flatnonzero(bits.below(self.d - j, people) < self.m - done)
            reports[chosen, done[chosen], 0] = j
            reports[chosen, done[chosen], 1] = randomiser.sample(answer[chosen, j], bits=bits)
            done[chosen] += 1
        return reports

    def checked(self, reports: ArrayLike) -> NDArray[Any]:
        array = whole_numbers(reports, LARGEST_REPORT, (self.m, 2))
        which = array[:, :, 0]
        if np.any(which >= self.d) or np.any(np.diff(which, axis=1) <= 0):
            raise malformed(f"Each report must be about {self.m} different numbers of {self.d}, in order.")
        for j, randomiser in enumerate(self.randomisers):
            randomiser.checked(array[which == j][:, 1])
        return array

    @property
    def tallies(self) -> int:
        return sum(1 + randomiser.tallies for randomiser in self.randomisers)

    def tally(self, reports: NDArray[Any]) -> Ints:
        parts: list[Any] = []
        for j, randomiser in enumerate(self.randomisers):
            mine = reports[reports[:, :, 0] == j][:, 1]
            parts += [[mine.size], randomiser.tally(mine)]
        return np.concatenate(parts).astype(np.int64)

    def _parts(self, sums: Ints) -> list[tuple[int, Ints]]:
        """For each number how many people reported it, and its sums."""
        parts = np.split(sums, np.cumsum([1 + randomiser.tallies for randomiser in self.randomisers])[:-1])
        return [(int(part[0]), part[1:]) for part in parts]

    def possible(self, people: int, sums: Ints) -> bool:
        parts = self._parts(sums)
        counted = all(0 <= count <= people for count, _ in parts)
        together = sum(count for count, _ in parts) == self.m * people
        each = zip(self.randomisers, parts, strict=True)
        return counted and together and all(randomiser.possible(*part) for randomiser, part in each)

    def _moments(self, aggregate: Aggregate) -> list[ReportMoments]:
        """What the reports about each number say about those who made them."""
        each = zip(self.randomisers, self._parts(aggregate.sums), strict=True)
        return [randomiser.moments(Aggregate._of(randomiser, *part)) for randomiser, part in each]

    def estimated(self, aggregate: Aggregate) -> Release:
        found = []
        for asked in self._moments(aggregate):
            # Those who did not report the number are estimated by those who did: sampling without replacement.
            unasked = (1 - self.m / self.d) * (asked.total - asked.noise) if asked.people else 0.0
            found.append(replace(asked, noise=asked.noise + unasked))
        return self._means(aggregate, found)
