"""Quantiles from a noisy tree of counts, and where those of the rows lie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flou.arrays import Floats
from flou.domain import Numbers
from flou.guarantee import Guarantee
from flou.joint.estimators.fit import Fit
from flou.joint.estimators.private.private_fit import guarantee_note
from flou.joint.estimators.private.total_noise import TotalNoise
from flou.joint.estimators.summary_table import SummaryTable, provenance_facts
from flou.joint.masking.noise import NoiseShare
from flou.mechanisms.quantiles.tree import Tree, TreeDistribution
from flou.mechanisms.quantiles.tree_consistency import consistent, prefix_variances, variances
from flou.parameters import Number, open_probability
from flou.theory.laplace_sums import HALF, rule, smooth_variance

__all__ = ["PrivateQuantilesFit"]


@dataclass(frozen=True, eq=False)
class PrivateQuantilesFit(Fit):
    """The estimated distribution of the rows over the leaves of a tree."""

    column: str
    tree: Tree
    domain: Numbers
    distribution: TreeDistribution
    share: NoiseShare
    parties: int
    guarantee: Guarantee

    @classmethod
    def of(
        cls,
        *,
        column: str,
        tree: Tree,
        domain: Numbers,
        sums: Sequence[int],
        share: NoiseShare,
        parties: int,
        guarantee: Guarantee,
    ) -> PrivateQuantilesFit:
        """From the opened counts of all nodes, level by level from the top."""
        b, height = tree.branching, tree.height
        starts = np.cumsum([b**level for level in range(1, height)])
        leaves = consistent(np.split(np.array(sums, dtype=np.float64), starts), b, None)
        cumulative = np.concatenate([[0.0], np.cumsum(leaves)])
        variance = TotalNoise(share, parties).variance
        errors = np.sqrt(variance * prefix_variances(b, height, known_total=False))
        found = TreeDistribution(tree.edges(domain.size), cumulative, errors, float(cumulative[-1]))
        return cls(column, tree, domain, found, share, parties, guarantee)

    @property
    def probabilities(self) -> tuple[float, ...]:
        return tuple(float(p) for p in self.tree.probabilities)

    @property
    def n(self) -> int:
        """Rows of all parties, with noise."""
        return round(self.distribution.total)

    @property
    def values(self) -> Floats:
        """A quantile for each probability: the middle of a cell, or a whole number."""
        cells = self.tree.as_given(self.distribution.quantiles(self.tree.ordered))
        return self.domain.decode(cells).astype(np.float64)

    def conf_int(self, level: Number = 0.95) -> Floats:
        """Where the quantiles of the rows, values outside the bounds moved into them, lie: a pair for each.

        With C_i the number of rows below the i-th edge and N all rows, the quantile's leaf j has C_j < p N <= C_(j+1).
        The pair holds all leaves for which neither is refuted. The estimate of C_i - p N has the variance of C_i for a
        known N, plus (i/L - p)^2 times that of N: the two parts are uncorrelated (L leaves).
        """
        reach = rule(float(open_probability("level", level)))
        b, height, edges = self.tree.branching, self.tree.height, self.distribution.edges
        place = np.arange(len(edges)) / (len(edges) - 1)
        noise = smooth_variance(TotalNoise(self.share, self.parties).variance)
        known, total = prefix_variances(b, height, known_total=True), variances(b, height)[0]
        pairs = []
        for p in self.probabilities:
            ahead = self.distribution.cumulative - p * self.distribution.total
            slack = reach * np.sqrt(noise * (known + (place - p) ** 2 * total)) + HALF
            possible = np.flatnonzero((ahead[:-1] <= slack[:-1]) & (ahead[1:] >= -slack[1:]))
            first, last = (possible[0], possible[-1]) if possible.size else (0, len(edges) - 2)
            pairs.append((edges[first], max(edges[last + 1] - 1, edges[first])))
        return self._ends(np.array(pairs))

    def _ends(self, cells: NDArray[np.int64]) -> Floats:
        """The lower end of the first cell and the upper end of the last one."""
        inside = np.minimum(cells, self.domain.size - 1)
        ends = self.domain.places(inside + (0.5 if self.domain.discrete else np.array([0, 1])))
        return np.clip(ends, *self.domain.bounds)

    def summary(self) -> str:
        """A line for each probability."""
        rows = [
            [f"{p:g}", *(f"{number:.6g}" for number in (value, *pair))]
            for p, value, pair in zip(self.probabilities, self.values, self.conf_int(), strict=True)
        ]
        left = [("Column", self.column), ("Noise", self.share.kind)]
        right = [("No. Observations", f"{self.n} (noisy)"), ("Cells", str(self.domain.size))]
        notes = [guarantee_note(self.guarantee, self.share, self.parties)]
        known = provenance_facts(self.provenance, max(self.n, 0))
        return SummaryTable("Private quantiles", left, right, ("value", "[0.025", "0.975]"), rows, known, notes).text()
