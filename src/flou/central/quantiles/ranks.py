"""Where the ranks of public places lie: noisy counts around quantiles that are public already, and what follows.

Once quantiles are released, edges are laid around them: close together where an interval is likely to end, and farther
apart elsewhere. The records between edges are counted by a tree with noise of a known law, so that for every edge the
number of records below it is known up to a known error. An edge can be the quantile only if that number may be the
wanted one, give or take its error and half a record; the others are ruled out one by one. The interval goes from the
last edge that is ruled out below to the first one that is above.

It holds for all data. Below the p-quantile q of the data the last edge e <= q has less than p n records, and above it
the first edge e > q has at least p n. Each of the two is a single edge. Its count is farther off than intervals allow
with at most half of the error probability; unless that happens for one of them, the interval holds q. For the
population's quantile the number of records below an edge is binomial on top. Nothing is assumed about gaps or ties.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np

from flou.arrays import Floats, Ints
from flou.bits import Bits
from flou.laws import DiscreteLaplace
from flou.laws.normal import binomial_quantile
from flou.mechanisms.quantiles import Records, Tree, TreeDistribution
from flou.mechanisms.quantiles.tree import TreeOfRuns
from flou.mechanisms.quantiles.tree_consistency import best_shape, prefix_variances, typical_variance, variances
from flou.parameters import Relation
from flou.theory.laplace_sums import HALF, rule, smooth_variance

__all__ = ["RankMeasurement", "Ranks", "edges_around"]


FOR_THE_COUNT = Fraction(1, 10)  # of epsilon, where the number of records is not public: it says how dense they are
TYPICAL = 2.0  # standard errors from a quantile to the end of its interval, when edges are laid
STEPS = (
    (0.0, 4.0),
    (1 / 8, 2.0),
    (1 / 2, 2 ** (1 / 3)),
)  # edges grow apart by these factors, from parts of that distance
BEYOND = (3.0, 2.0)  # and from that many times the larger distance by this one


@dataclass(frozen=True)
class Ranks:
    """How many records lie below each edge, estimated."""

    estimate: TreeDistribution
    variances: Floats  # of the numbers below edges, around their shares of the total, as if noise were not discrete
    spare: float  # the variance of the total, 0 where it is public

    @classmethod
    def of(cls, estimate: TreeDistribution, known_total: bool) -> Ranks:
        """What a tree has counted, over all cells or over runs of them."""
        noise, b, height = smooth_variance(estimate.noise), estimate.branching, estimate.height
        spare = 0.0 if known_total else noise * variances(b, height)[0]
        return cls(estimate, noise * prefix_variances(b, height, known_total=True), spare)

    @property
    def edges(self) -> Ints:
        return self.estimate.edges

    @cached_property
    def _shares(self) -> Floats:
        """Of the leaves below each edge."""
        return np.linspace(0.0, 1.0, self.edges.size)

    def interval(self, p: Fraction, level: float, sampling: bool) -> tuple[int, int]:
        """The edges between which the p-quantile lies: of these records, or of what they are a sample of."""
        leaves, total = self.edges.size - 1, self.estimate.total
        ahead = self.estimate.cumulative - float(p) * total
        # squares, because a tree has many edges and every quantile looks at all of them
        off = self._shares - float(p)
        errors = rule(level) * np.sqrt(self.variances + off * off * self.spare) + HALF
        beyond = ahead * ahead - errors * errors
        lower, upper = _order_statistics(float(p), total, level) if sampling else (0.0, 0.0)
        first = (ahead >= 0) | (beyond <= lower * lower)
        last = (ahead <= 0) | (beyond <= upper * upper)
        low = int(np.argmax(first)) - 1 if first.any() else leaves - 1
        high = leaves + 1 - int(np.argmax(last[::-1])) if last.any() else 1
        start, end = int(self.edges[max(low, 0)]), int(self.edges[min(high, leaves)])
        return start, end


@dataclass(frozen=True)
class RankMeasurement:
    """A tree of counts around public quantiles, at a price for one change of the records."""

    epsilon: Fraction
    relation: Relation

    def measure(
        self, records: Records, answers: Ints, probabilities: tuple[Fraction, ...], grain: int, bits: Bits
    ) -> Ranks:
        """``answers`` are public, in increasing order; edges fall on multiples of ``grain`` where that is no loss."""
        if self.relation == "substitute":
            rows, epsilon = records.rows, self.epsilon
        else:
            rows = records.rows + int(DiscreteLaplace(1 / (FOR_THE_COUNT * self.epsilon)).draw(1, bits)[0])
            epsilon = (1 - FOR_THE_COUNT) * self.epsilon
        error = TYPICAL * _deviation(self._tree(64 * len(probabilities), epsilon))
        edges = edges_around(answers, probabilities, max(rows, 1), error, records.cells, grain)
        counted = TreeOfRuns(self._tree(edges.size - 1, epsilon), edges)
        return Ranks.of(counted.distribution(records, bits), self.relation == "substitute")

    def _tree(self, runs: int, epsilon: Fraction) -> Tree:
        """The tree over this number of runs whose counts err least."""
        branching, height = best_shape(runs)
        return Tree(Fraction(1, 2), epsilon=epsilon, relation=self.relation, branching=branching, height=height)


def edges_around(
    answers: Ints, probabilities: tuple[Fraction, ...], rows: int, error: float, cells: int, grain: int
) -> Ints:
    """Where records are counted, laid by what is public: the answers, and how far in ranks intervals are likely to go.

    Records are expected to lie evenly between neighbouring answers; where they do not, edges are still near enough that
    an interval ends at most a few times too far.
    """
    known = dict(zip(answers.tolist(), map(float, probabilities), strict=True))  # equal answers count once
    found = {0, cells}
    for (before, p), (after, q) in pairwise([(-1, 0.0), *known.items(), (cells, 1.0)]):
        start, width = before + 1, after - before - 1
        for_a_rank = width / max((q - p) * rows, 1.0)
        both = before >= 0 and after < cells  # two answers meet in the middle
        for answered, sign, origin, share in ((before >= 0, 1, start, p), (after < cells, -1, after, q)):
            if not answered:
                continue
            sampling = TYPICAL * math.sqrt(share * (1 - share) * rows)
            near, far = for_a_rank * error, for_a_rank * math.hypot(error, sampling)
            for distance in (0, *_distances(near, far, width / 2 if both else width)):
                place = origin + sign * distance
                if distance >= grain:  # outwards, to the next multiple
                    place = sign * (-(-sign * place // grain) * grain)
                found.add(min(max(place, start), after))
    return np.array(sorted(found), dtype=np.int64)


def _distances(near: float, far: float, most: float) -> list[int]:
    """From one cell to ``most``, in steps that are smallest where intervals are likely to end."""
    found, distance = [], 1.0
    while distance < most:
        found.append(round(distance))
        if distance > BEYOND[0] * far:
            distance *= BEYOND[1]
        else:
            distance *= next(factor for part, factor in reversed(STEPS) if distance >= part * near)
    return found


def _deviation(tree: Tree) -> float:
    """The standard error of a count, on average over the edges."""
    moved = tree.height * (2 if tree.relation == "substitute" else 1)
    return math.sqrt(typical_variance(tree.branching, tree.height) * DiscreteLaplace(moved / tree.epsilon).variance)


def _order_statistics(p: float, total: float, level: float) -> tuple[float, float]:
    """How far below and above p n the number of records below the population's quantile can be."""
    rows = max(round(total), 0)
    tail = (1 - level) / 2
    low, high = binomial_quantile(tail, rows, p), binomial_quantile(1 - tail, rows, p)
    return max(p * rows - low, 0.0), max(high - p * rows, 0.0)
