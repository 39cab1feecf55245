"""HistogramMethod: walk along the bins of a histogram, and stop after about the wanted number of records.

Law        AboveThreshold on the bins of the public range, from the nearer end: with f_i the records up to bin i (from
           bin i on, for p above 1/2) and p' = min(p, 1 - p), the first bin with f_i - p' n + N_i >= R, where R and N_i
           are independent discrete Laplace of scales 1 / u and 1 / v; the middle cell of the bin, or the last cell of
           the walk where no bin passes; m quantiles are m walks with epsilon / m each, sorted
Guarantee  epsilon-DP where p' u + v and (1 - p') u are at most epsilon / m (add/remove), u + v (substitution)
Why        as AboveThreshold; f_i - p' n rises by 1 - p' in the bins that count a new record and falls by p' in the
           others, so that a bin that passes late has risen as far as those before it
Error      ranks off by about (1 / v) (1 + log(bins / (v n))), and half of what a bin holds
Numerics   exact integers: queries are scaled by the denominator of p
Limits     the error grows with m; data that fill only one bin are not resolved any further
Source     Dwork and Roth (2014); document 001 (3, with its corrections)
Proof      docs/explanation/proofs/many_quantiles.md
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from flou.arrays import Ints
from flou.bits import Bits
from flou.mechanisms.above_threshold import AboveThreshold
from flou.mechanisms.quantiles.answer_law import AnswerLaw
from flou.mechanisms.quantiles.quantile_mechanism import QuantileMechanism
from flou.mechanisms.quantiles.records import Records, equal_parts
from flou.mechanisms.quantiles.targets import Target
from flou.parameters import LARGEST, Number, Relation, integer

__all__ = ["HistogramMethod", "rates"]

BINS = 2**12
MOST_BINS = 2**20
BEGIN = 256  # queries that get their noise at a time, first; then four times as many, and so on


def rates(p: Fraction, epsilon: Fraction, relation: Relation) -> tuple[Fraction, Fraction]:
    """u and v, the inverse scales of the threshold's and the queries' noise, in ranks; p is at most 1/2."""
    if relation == "substitute":
        return epsilon / 2, epsilon / 2
    least = Fraction(1 / (float(p) + float(p) ** (1 / 3))).limit_denominator(10**6) if p else Fraction(1)
    u = min(least, 1 / (1 - p))  # of least variance of N - R, or as large as it may be
    return epsilon * u, epsilon * (1 - p * u)


@dataclass(frozen=True)
class Walk:
    """The search for one quantile, along the bins from an end."""

    probability: Fraction  # from the end where it begins, at most 1/2
    down: bool
    search: AboveThreshold  # the scales; queries and threshold are in units of 1/denominator of a rank

    @classmethod
    def of(cls, p: Fraction, epsilon: Fraction, relation: Relation) -> Walk:
        down = p > Fraction(1, 2)
        q = 1 - p if down else p
        u, v = rates(q, epsilon, relation)
        # f_i up to a bin must reach p n and not less than 1; from a bin on it must exceed (1 - p) n
        threshold = 1 if down or q == 0 else 0
        search = AboveThreshold(
            threshold=threshold,
            sensitivity=q.denominator,
            epsilon=min(u + v, LARGEST),
            split=u / (u + v),
            monotone=True,
        )
        return cls(q, down, search)

    def queries(self, below: Ints) -> Ints:
        """In the order of the walk, from the numbers of records below the edges of the bins."""
        rows = int(below[-1])
        counted = rows - below[-2::-1] if self.down else below[1:]
        return Target(self.probability, rows).ahead(counted)

    def cells(self, edges: Ints) -> Ints:
        """What each bin of the walk answers, and after them the answer where none passes."""
        middles = (edges[:-1] + edges[1:] - 1) // 2
        if self.down:
            return np.append(middles[::-1], 0)
        return np.append(middles, edges[-1] - 1)

    def stop(self, queries: Ints, bits: Bits) -> int:
        """The position of the first query that passes, or their number."""
        level = self.search.threshold + self.search.threshold_noise.sample(bits=bits)
        noise, start, size = self.search.query_noise, 0, BEGIN
        while start < queries.size:
            some = queries[start : start + size]
            passed = np.asarray(some + noise.sample(some.size, bits=bits) >= level, dtype=np.bool_)
            if passed.any():
                return start + int(np.argmax(passed))
            start, size = start + size, 4 * size
        return queries.size


@dataclass(frozen=True, init=False, repr=False)
class HistogramMethod(QuantileMechanism):
    """Quantiles by AboveThreshold on a histogram, one walk for each."""

    bins: int

    def __init__(
        self,
        probabilities: Number | Iterable[Number],
        *,
        epsilon: Number,
        bins: int = BINS,
        relation: Relation = "add-remove",
        unit: str = "row",
    ) -> None:
        """About epsilon n / m ``bins`` are best, where the number of records n is public."""
        super().__init__(probabilities, epsilon=epsilon, relation=relation, unit=unit)
        object.__setattr__(self, "bins", integer("bins", bins, 1, MOST_BINS))

    @cached_property
    def walks(self) -> tuple[Walk, ...]:
        """One for each of the ordered probabilities."""
        ordered = self.ordered
        return tuple(Walk.of(p, self.epsilon / len(ordered), self.relation) for p in ordered)

    def edges(self, cells: int) -> Ints:
        """The first cell of each bin, and the end of the last; a bin holds at least one cell."""
        bins = min(self.bins, cells)
        return equal_parts(cells, bins)

    def answers(self, records: Records, bits: Bits) -> Ints:
        edges = self.edges(records.cells)
        below = records.below_each(edges)
        found = [walk.cells(edges)[walk.stop(walk.queries(below), bits)] for walk in self.walks]
        return np.sort(np.array(found, dtype=np.int64))

    def law(self, records: Records) -> AnswerLaw:
        """The exact law of the ``ordered`` answers, listed; for a few bins and quantiles."""
        edges = self.edges(records.cells)
        below = records.below_each(edges)
        return AnswerLaw.independent_sorted(self._single(walk, edges, below) for walk in self.walks)

    def _single(self, walk: Walk, edges: Ints, below: Ints) -> dict[int, float]:
        law, cells = walk.search.law(walk.queries(below)), walk.cells(edges)
        found: defaultdict[int, float] = defaultdict(float)
        for passed in law.outcomes():
            found[int(cells[passed[0] if passed else -1])] += law.pmf(passed)
        return dict(found)
