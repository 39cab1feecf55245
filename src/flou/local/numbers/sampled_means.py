"""Sampled means: each person reports a few of several numbers, chosen at random, and those well.

Law        a set of m of the d numbers, all sets equally likely; each number of it is reported by a randomiser of means
           at epsilon / m. m = max(1, min(d, floor(epsilon / 2.5))) unless told otherwise
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
from functools import reduce
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flou.arrays import Ints
from flou.bits import SYSTEM, Bits
from flou.errors import InvalidData
from flou.laws.tabulated import Tabulated
from flou.local.aggregate import Aggregate
from flou.local.certify import certified
from flou.local.numbers.mean_of import mean_of
from flou.local.numbers.mean_randomiser import MeanRandomiser, MeanUncertainty, Moments
from flou.local.numbers.scale import Scale
from flou.local.numbers.vector import Vector, names_of
from flou.local.randomiser import Randomiser, whole_numbers
from flou.parameters import Number, integer
from flou.release import Layout, Release

__all__ = ["SampledMeans"]

MOST_NUMBERS = 1000
LARGEST_REPORT = 2**31


class SampledMeans(Randomiser):
    """``domains``: a list of intervals, integers or pairs of bounds; a report has ``m`` rows (number, report)."""

    name = "sampled means"
    proof = "local_numbers"
    domain: Vector

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
        super().__init__(Vector(domains), epsilon=epsilon, unit=unit)
        self.d = integer("the number of domains", len(self.domain.domains), 2, MOST_NUMBERS)
        self.m = max(1, min(self.d, int(self.epsilon * 2 / 5))) if m is None else integer("m", m, 1, self.d)
        self.names = names_of(names, self.d)
        share = self.epsilon / self.m
        self.randomisers = tuple(mean_of(one, epsilon=share, method=method, unit=unit) for one in self.domain.domains)

    def parameters(self) -> dict[str, Any]:
        parts = [{"name": one.name, **one.parameters()} for one in self.randomisers]
        return {"epsilon": str(self.epsilon), "domain": self.domain.to_dict(), "m": self.m, "randomisers": parts}

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
        told = np.zeros(people, dtype=np.int64)
        for j, randomiser in enumerate(self.randomisers):
            # Of the d - j numbers that are left, each set of m - told ones is equally likely.
            chosen = np.flatnonzero(bits.below(self.d - j, people) < self.m - told)
            reports[chosen, told[chosen], 0] = j
            reports[chosen, told[chosen], 1] = randomiser.sample(answer[chosen, j], bits=bits)
            told[chosen] += 1
        return reports

    def checked(self, reports: ArrayLike) -> NDArray[Any]:
        array = whole_numbers(reports, LARGEST_REPORT, (self.m, 2))
        which = array[:, :, 0]
        if np.any(which >= self.d) or np.any(np.diff(which, axis=1) <= 0):
            raise InvalidData(
                f"Each report must be about {self.m} different numbers of {self.d}, in order.",
                "Anything else was not made by this randomiser, and would spoil the sums.",
                "Check that the reports belong to this question, and refuse the batch if they do not.",
            )
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

    def _parts(self, sums: Ints) -> list[tuple[MeanRandomiser, int, Ints]]:
        """For each number its randomiser, how many reported it, and its sums."""
        found, start = [], 0
        for randomiser in self.randomisers:
            stop = start + 1 + randomiser.tallies
            found.append((randomiser, int(sums[start]), sums[start + 1 : stop]))
            start = stop
        return found

    def possible(self, people: int, sums: Ints) -> bool:
        parts = self._parts(sums)
        counted = all(0 <= count <= people for _, count, _ in parts)
        together = sum(count for _, count, _ in parts) == self.m * people
        return counted and together and all(one.possible(count, mine) for one, count, mine in parts)

    def estimated(self, aggregate: Aggregate) -> Release:
        found = []
        for randomiser, count, sums in self._parts(aggregate.sums):
            mine = Aggregate(randomiser)
            mine.people, mine.sums = count, sums
            told = randomiser.moments(mine)
            # Those who did not report the number are estimated by those who did: sampling without replacement.
            unasked = (1 - self.m / self.d) * (told.total - told.noise) if mine.people else 0.0
            found.append(Moments(told.people, told.mean, told.noise + unasked, told.total))
        uncertainty = MeanUncertainty.of(found, list(self.domain.domains))
        return certified(self, aggregate, "means", uncertainty.centre, uncertainty, self.names, layout=Layout("units"))
