"""Quantiles with differential privacy for every row: one round of noisy counts at every scale.

Opened     the counts of all nodes, the root excepted, of a tree over a grid between public bounds, each with the noise
           of all parties: b + b^2 + ... + b^h numbers for a branching of b and a height of h
Guarantee  of the noise of ``honest`` parties on counts of which one row moves one by 1 on each of h levels: h in L1
           norm and in squared L2 norm, so that each level spends the same part; twice that where a row is replaced
Answer     counts are made to add up (least squares), and quantiles are read off the increasing distribution closest to
           them, see ``mechanisms/quantiles/tree.py``: any number of quantiles for the same cost, none above the next
Error      the number of rows below an edge less p times all rows has a known variance at every edge. The interval holds
           every leaf at whose two edges it may have the signs that the quantile's leaf has, by a normal law
Clamped    values are moved into the bounds; rows with a missing value are left out
Proof      docs/explanation/proofs/joint-noise.md
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flou.arrays import Floats
from flou.domain import Domain, Integers, Interval, Numbers, Schema, require_numbers
from flou.guarantee import Guarantee
from flou.joint.estimators.distribution.distribution import MOST_ROWS, limits
from flou.joint.estimators.fit import Fit
from flou.joint.estimators.party_rows import PartyRows
from flou.joint.estimators.private.privacy import TERMS, PrivacyTerms, PrivateProgram, WordSensitivity
from flou.joint.estimators.private.private_fit import guarantee_note
from flou.joint.estimators.private.row_by_row import RowByRow
from flou.joint.estimators.program import Ask, Opened
from flou.joint.estimators.summary_table import SummaryTable
from flou.joint.masking.noise import NoiseShare
from flou.mechanisms.quantiles.records import CellCounts
from flou.mechanisms.quantiles.tree import Tree, TreeDistribution
from flou.mechanisms.quantiles.tree_consistency import consistent, prefix_variances, variances
from flou.parameters import Number, Relation, checked_text, integer, open_probability
from flou.theory.laplace_sums import HALF, rule, smooth_variance

__all__ = ["PrivateQuantiles", "PrivateQuantilesFit"]


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
        variance = share.total(parties)
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
        noise = smooth_variance(self.share.total(self.parties))
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
        known = self._provenance_facts(max(self.n, 0))
        return SummaryTable("Private quantiles", left, right, ("value", "[0.025", "0.975]"), rows, known, notes).text()


CELLS, MOST_CELLS = 2**12, 2**16
BRANCHING = 16


class PrivateQuantiles(PrivateProgram):
    """Quantiles of a column from a noisy tree of counts, with intervals for those of the rows."""

    estimator = "private quantiles"
    _required, _optional = ("column", "probabilities", "bounds", "honest"), ("whole", "cells", "branching", *TERMS[1:])

    def __init__(
        self,
        column: str,
        probabilities: Any = (0.25, 0.5, 0.75),
        bounds: tuple[float, float] | None = None,
        *,
        honest: int,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        cells: int | None = None,
        whole: bool = False,
        branching: int = BRANCHING,
        schema: Any = None,
        noise: str = "auto",
        relation: Relation = "add-remove",
    ) -> None:
        """Bounds, or what a schema says of the column; with ``whole`` every whole number between them is a cell."""
        self.column = checked_text("column", column)
        if schema is not None and bounds is None:
            bounds, whole, cells = _declared(column, Schema.of(schema)[column], cells)
        self.whole = whole is True
        self.domain = _grid(bounds, self.whole, cells)
        self.tree = _tree(probabilities, integer("branching", branching, 2, 2**8), self.domain.size)
        self.privacy = PrivacyTerms.of(
            honest=honest, epsilon=epsilon, delta=delta, rho=rho, noise=noise, relation=relation
        )
        self.share = self.privacy.share(self.sensitivity)

    @property
    def sensitivity(self) -> WordSensitivity:
        moved = self.tree.height * (2 if self.privacy.relation == "substitute" else 1)
        return WordSensitivity(moved, moved, self.scalars)

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def scalars(self) -> int:
        return sum(self.tree.branching**level for level in range(1, self.tree.height + 1))

    def next(self, opened: Sequence[Opened]) -> Ask | None:
        return None if opened else Ask("tree", self.scalars, MOST_ROWS, {}, self.share)

    def words(self, ask: Ask, rows: PartyRows) -> list[int]:  # noqa: ARG002  there is one question
        counts = np.zeros(self.domain.size, dtype=np.int64)
        for batch in RowByRow(rows).batches(self.columns):
            counts += np.bincount(self._codes(batch[self.column]), minlength=len(counts))
        held = np.flatnonzero(counts)
        found: list[int] = self.tree.counts(CellCounts(held, counts[held], cells=len(counts))).tolist()
        return found

    def _codes(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        return self.domain.encode(np.rint(values) if self.whole else values)

    def result(self, opened: Sequence[Opened]) -> PrivateQuantilesFit:
        last = opened[-1]
        return PrivateQuantilesFit.of(
            column=self.column,
            tree=self.tree,
            domain=self.domain,
            sums=last.sums,
            share=self.share,
            parties=len(last.parties),
            guarantee=self.guarantee,
        )

    def terms(self) -> dict[str, Any]:
        return {
            "column": self.column,
            "probabilities": [float(p) for p in self.tree.probabilities],
            "bounds": [self.domain.lower, self.domain.upper],
            "whole": self.whole,
            "cells": None if self.whole else self.domain.size,
            "branching": self.tree.branching,
            **self.privacy.to_dict(),
        }


def _declared(column: str, domain: Domain, cells: int | None) -> tuple[tuple[float, float], bool, int | None]:
    """Bounds, whether all whole numbers between them are cells, and how many cells there are otherwise."""
    why = "A quantile is the least value that a share of the rows does not exceed."
    numbers = require_numbers(column, domain, "order", why)
    if numbers.whole and numbers.size <= MOST_CELLS:
        return numbers.bounds, True, None
    return numbers.interval.bounds, False, min(numbers.size, CELLS) if cells is None else cells


def _grid(bounds: Any, whole: bool, cells: int | None) -> Interval | Integers:
    if not whole:
        return Interval(*limits(bounds), cells=integer("cells", CELLS if cells is None else cells, 2, MOST_CELLS))
    lower, upper = (int(end) if float(end).is_integer() else end for end in limits(bounds))
    grid = Integers(lower, upper)  # type: ignore[arg-type]  # which refuses what is not whole
    integer("The number of cells", grid.size, 2, MOST_CELLS)
    return grid


def _tree(probabilities: Any, branching: int, cells: int) -> Tree:
    """The least tree with a leaf for each cell; its counts and edges are used, and none of its noise."""
    height = next(height for height in range(1, 64) if branching**height >= cells)
    return Tree(probabilities, epsilon=1, branching=branching, height=height)
