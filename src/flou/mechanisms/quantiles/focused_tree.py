"""FocusedTree: a rough tree of counts shows where the quantiles are, and a second tree counts there.

Law        the noisy counts of a ``Tree`` over all cells for a share s = 3/20 of epsilon; then, of a second ``Tree`` for
           the rest of it, over runs of cells whose edges follow from the first (``focus.py``); quantiles are read off
           the second
Guarantee  epsilon-DP for all quantiles together
Why        each tree is as private as its share says, the second one for every place of the edges; shares add up
Error      about sqrt(2 V) h / ((1 - s) epsilon) in ranks under add/remove, twice that under substitution, with V and h
           the variance (``typical_variance``) and the height of the second tree: for 99 quantiles 10 / epsilon, however
           many records there are and however wide the bounds; intervals need no more counts (``standard_errors``)
Numerics   exact noise on integers; what follows is post-processing in floating point
Limits     where many records are equal and the granularity is not public, an answer shows their run and not their
           cell: the run is narrow, but the rank of an answer beside them may be off by half of their number. On
           engines, hundreds of quantiles of a billion rows have edges on coarse cells only, where codes would not
           fit into memory
Source     trees: Hay, Rastogi, Miklau, Suciu (2010); a second look at what matters: as in Li, Hay, Miklau, Wang (2014)
Proof      docs/explanation/proofs/many_quantiles.md
"""

from __future__ import annotations

from fractions import Fraction

from flou.arrays import Ints
from flou.bits import SYSTEM, Bits
from flou.mechanisms.quantiles.focus import expected_below, focused_edges
from flou.mechanisms.quantiles.records import Records
from flou.mechanisms.quantiles.tree import Tree, TreeDistribution, TreeOfRuns, TreeShaped
from flou.mechanisms.quantiles.tree_consistency import best_shape

__all__ = ["FocusedTree"]

FIRST = Fraction(3, 20)  # of epsilon, for the rough tree


class FocusedTree(TreeShaped):
    """Many quantiles, from noisy counts around them; ``branching`` and ``height`` are those of the rough tree."""

    @property
    def first(self) -> Tree:
        """The rough tree."""
        return self._tree(FIRST, self.branching, self.height)

    def _tree(self, share: Fraction, branching: int, height: int) -> Tree:
        return Tree(
            self.ordered,
            epsilon=share * self.epsilon,
            branching=branching,
            height=height,
            relation=self.relation,
            unit=self.guarantee.unit,
        )

    def second(self, rough: TreeDistribution, grain: int = 1) -> TreeOfRuns:
        """What is counted after the rough tree; edges lie on multiples of ``grain`` where that costs nothing."""
        rest = 1 - FIRST
        scale = (2 if self.relation == "substitute" else 1) / float(rest * self.epsilon)
        edges = focused_edges(rough, self.ordered, scale, grain)
        return TreeOfRuns(self._tree(rest, *best_shape(edges.size - 1)), edges, expected_below(rough, edges))

    def distribution(self, records: Records, bits: Bits = SYSTEM) -> TreeDistribution:
        """How many records lie below edges around the quantiles, for the price of the mechanism."""
        return self.second(self.first.distribution(records, bits)).distribution(records, bits)

    def answers(self, records: Records, bits: Bits) -> Ints:
        return self.distribution(records, bits).quantiles(self.ordered)
