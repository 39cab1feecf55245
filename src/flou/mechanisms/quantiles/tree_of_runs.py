"""A tree of counts over the runs of cells between public edges."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from flou.arrays import Floats, Ints
from flou.bits import Bits
from flou.mechanisms.quantiles.records import Records
from flou.mechanisms.quantiles.runs import Runs
from flou.mechanisms.quantiles.tree import Tree, TreeDistribution

__all__ = ["TreeOfRuns"]


@dataclass(frozen=True, eq=False)
class TreeOfRuns:
    """The price is that of the tree: where the edges lie is public, and a record is in one run."""

    tree: Tree
    edges: Ints  # increasing, from 0 to the number of cells
    below: Floats | None = None  # how many records are expected below each edge, where something is known of that

    def distribution(self, records: Records, bits: Bits) -> TreeDistribution:
        """How many records lie below the edges."""
        found = self.tree.distribution(Runs(records, self.edges), bits)
        expected = None if self.below is None else np.diff(self.below[found.edges])
        return replace(found, edges=self.edges[found.edges], expected=expected)
