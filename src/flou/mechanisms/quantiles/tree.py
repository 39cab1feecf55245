"""Tree of counts: one noisy histogram at every scale, made consistent, answers any number of quantiles.

Law        the counts of all nodes of a complete tree over the public range (the root excepted), each with independent
           discrete Laplace noise of scale h / epsilon (add/remove) or 2 h / epsilon (substitution), h the height;
           quantiles are read off the least-squares estimate of the distribution, evened out and made increasing
Guarantee  epsilon-DP for all quantiles together, and for the whole distribution
Why        on each of the h levels one record is in one node: the counts move by h in L1 norm, or by 2 h
Error      standard error of the number of records below a leaf: ``standard_errors``, at most about
           (h / epsilon) sqrt(h b / 2) in ranks under add/remove, twice that under substitution; inside a leaf the
           records are taken to be spread evenly
Numerics   exact noise on integers; what follows is post-processing in floating point
Limits     data that fill only one leaf are not resolved any further; 2^20 leaves at most
Source     Hay, Rastogi, Miklau, Suciu (2010); Qardaji, Yang, Li (2013) for the branching
Proof      docs/explanation/proofs/many_quantiles.md
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from flou.arrays import Floats, Ints
from flou.bits import SYSTEM, Bits
from flou.errors import InvalidParameter
from flou.laws import Independent
from flou.mechanisms.laplace import Laplace
from flou.mechanisms.quantiles.quantile_mechanism import QuantileMechanism
from flou.mechanisms.quantiles.records import Records, RecordsInRuns, equal_parts
from flou.mechanisms.quantiles.tree_consistency import (
    MOST_LEAVES,
    WIDEST,
    consistent,
    evened,
    increasing,
    prefix_variances,
)
from flou.parameters import Number, Relation, integer

__all__ = ["Tree", "TreeDistribution", "TreeOfRuns", "TreeShaped"]

BRANCHING = 32
HEIGHT = 3


@dataclass(frozen=True)
class TreeDistribution:
    """How many records lie below each edge of the leaves, estimated; ``edges`` go from 0 to the number of cells."""

    edges: Ints
    cumulative: Floats  # the least-squares estimates: unbiased, but not always increasing
    standard_errors: Floats  # of ``cumulative``, exact
    total: float  # of all records: public, or estimated
    branching: int = 2
    noise: float = 0.0  # the variance of the noise in each node
    expected: Floats | None = None  # records in each leaf, where more is known than its width

    @property
    def height(self) -> int:
        """Of the tree."""
        return round(math.log(self.edges.size - 1, self.branching))

    @property
    def increasing(self) -> Floats:
        """The closest increasing estimates between 0 and the total; at worst as far off as ``cumulative`` is."""
        return self._possible(self.cumulative)

    def _possible(self, estimates: Floats) -> Floats:
        return increasing(np.clip(estimates, 0.0, max(self.total, 0.0)))

    @cached_property
    def likely(self) -> Floats:
        """Increasing estimates with less noise, and not free of bias: what the quantiles are read off."""
        sizes = np.diff(self.edges) if self.expected is None else self.expected
        leaves = evened(np.diff(self.cumulative), sizes, self.branching, self.noise)
        return self._possible(np.concatenate([[0.0], np.cumsum(leaves)]))

    def quantiles(self, probabilities: Iterable[Fraction]) -> Ints:
        """A cell for each probability, increasing with it."""
        p = np.array([float(one) for one in probabilities])
        heights, cells = self.likely if self.noise else self.increasing, int(self.edges[-1])
        if not heights[-1] > 0:
            spread: Ints = np.floor(p * (cells - 1)).astype(np.int64)  # without records: as if they were spread evenly
            return spread
        return self.cells_at(p * heights[-1], heights)

    def cells_at(self, wanted: Floats, heights: Floats) -> Ints:
        """The cells below which the ``wanted`` numbers of records lie.

        ``heights`` are the numbers of records below the edges; the records of a leaf are taken to be spread evenly.
        """
        cells = int(self.edges[-1])
        ends = np.searchsorted(heights, np.maximum(wanted, np.nextafter(heights[0], np.inf)), side="left")
        ends = np.clip(ends, 1, heights.size - 1)
        left, right = heights[ends - 1], heights[ends]
        share = np.clip((wanted - left) / np.where(right > left, right - left, 1.0), 0.0, 1.0)
        first, last = self.edges[ends - 1], self.edges[ends]
        inside = first + np.floor(share * (last - first)).astype(np.int64)
        found: Ints = np.minimum(np.minimum(inside, np.maximum(last - 1, first)), cells - 1)
        return found


@dataclass(frozen=True, init=False, repr=False)
class TreeShaped(QuantileMechanism):
    """Mechanisms that count the records of all cells in a tree."""

    branching: int
    height: int

    def __init__(
        self,
        probabilities: Number | Iterable[Number],
        *,
        epsilon: Number,
        branching: int = BRANCHING,
        height: int = HEIGHT,
        relation: Relation = "add-remove",
        unit: str = "row",
    ) -> None:
        """A grid with fewer cells than branching^height leaves gets a tree that is only as high as it needs."""
        super().__init__(probabilities, epsilon=epsilon, relation=relation, unit=unit)
        object.__setattr__(self, "branching", integer("branching", branching, 2, WIDEST))
        object.__setattr__(self, "height", integer("height", height, 1, 20))
        if self.branching**self.height > MOST_LEAVES:
            raise InvalidParameter(
                f"A tree of branching {self.branching} and height {self.height} has more than {MOST_LEAVES} leaves.",
                "Each leaf has its own count and its own noise.",
                "Pass a smaller height, for example branching=32, height=3.",
            )


class Tree(TreeShaped):
    """Quantiles, and the whole distribution, from noisy counts of nested intervals."""

    def levels(self, cells: int) -> int:
        """The height of the tree over this number of cells."""
        return min(self.height, next(h for h in range(1, 64) if self.branching**h >= cells))

    def noise(self, cells: int) -> Laplace:
        """What is added to the counts."""
        moved = self.levels(cells) * (2 if self.relation == "substitute" else 1)
        return Laplace(sensitivity=moved, epsilon=self.epsilon, relation=self.relation, unit=self.guarantee.unit)

    def edges(self, cells: int) -> Ints:
        """The first cell of each leaf, and the end of the last; a leaf may be empty where cells are few."""
        leaves = self.branching ** self.levels(cells)
        return equal_parts(cells, leaves)

    def counts(self, records: Records) -> Ints:
        """The counts of all nodes below the root, level by level from the top."""
        leaves = np.diff(records.below_each(self.edges(records.cells)))
        widths = range(self.levels(records.cells) - 1, -1, -1)
        return np.concatenate([leaves.reshape(-1, self.branching**width).sum(axis=1) for width in widths])

    def law(self, records: Records) -> Independent:
        """The exact law of the noisy counts, from which all else follows."""
        law: Independent = self.noise(records.cells).law(self.counts(records))
        return law

    def distribution(self, records: Records, bits: Bits = SYSTEM) -> TreeDistribution:
        """The whole distribution, for the price of the mechanism."""
        noisy = self.noise(records.cells).sample(self.counts(records), bits=bits)
        return self.estimate(noisy, records.cells, records.rows if self.relation == "substitute" else None)

    def estimate(self, noisy: Ints, cells: int, rows: int | None) -> TreeDistribution:
        """The distribution that noisy counts of the nodes imply; ``rows`` is the number of records, where public."""
        height, b, variance = self.levels(cells), self.branching, self.noise(cells).noise.variance
        starts = np.cumsum([b**level for level in range(1, height)])
        leaves = consistent(np.split(noisy.astype(np.float64), starts), b, rows)
        cumulative = np.concatenate([[0.0], np.cumsum(leaves)])
        errors = np.sqrt(variance * prefix_variances(b, height, known_total=rows is not None))
        total = float(cumulative[-1]) if rows is None else float(rows)
        return TreeDistribution(self.edges(cells), cumulative, errors, total, b, variance)

    def answers(self, records: Records, bits: Bits) -> Ints:
        return self.distribution(records, bits).quantiles(self.ordered)


@dataclass(frozen=True, eq=False)
class TreeOfRuns:
    """A tree of counts over the runs of cells between public edges.

    It costs what the tree costs: the edges are public, and a record is in one run.
    """

    tree: Tree
    edges: Ints  # increasing, from 0 to the number of cells
    below: Floats | None = None  # how many records are expected below each edge, where that is known

    def distribution(self, records: Records, bits: Bits) -> TreeDistribution:
        """How many records lie below the edges."""
        found = self.tree.distribution(RecordsInRuns(records, self.edges), bits)
        expected = None if self.below is None else np.diff(self.below[found.edges])
        return replace(found, edges=self.edges[found.edges], expected=expected)
