"""Smooth inverse sensitivity: one quantile, when an answer within a given distance is as good as the exact one.

Law        P[cell c] proportional to exp(-t s), s the least score of inverse sensitivity within ``radius`` cells:
           s = max(0, k - le(c + radius), lt(c - radius) - k + 1) with k = ceil(p n) under substitution, and
           s = max(0, p n - le(c + radius), lt(c - radius) - p n) under add/remove
Guarantee  epsilon-DP with t = epsilon / 2 under substitution, and QExp's t under add/remove
Why        ranks of the cells c + radius and c - radius move as the ranks of c do
Error      2 radius + 1 cells or more score 0, so the answer is within ``radius`` of the quantile unless all of them
           together weigh less than the others: P[s > v] <= cells / (2 radius + 1) exp(-t v) away from the bounds
Numerics   exact integers; see ``levels.py``
Limits     one quantile; the radius is public and must not be read off the data
Source     Asi and Duchi (2020); document 001 (4.2)
Proof      docs/explanation/proofs/quantiles.md
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from flou.arrays import Ints
from flou.mechanisms.quantiles.levels import Levels, Pieces
from flou.mechanisms.quantiles.records import MOST_CELLS, Records
from flou.mechanisms.quantiles.single import SingleQuantile
from flou.mechanisms.quantiles.targets import Target
from flou.parameters import Number, Relation, integer

__all__ = ["SmoothInverseSensitivity"]


@dataclass(frozen=True, init=False, repr=False)
class SmoothInverseSensitivity(SingleQuantile):
    """One quantile; a cell scores as the best one within ``radius`` cells of it."""

    radius: int

    def __init__(
        self,
        probabilities: Number | Iterable[Number],
        *,
        epsilon: Number,
        radius: int = 0,
        relation: Relation = "add-remove",
        unit: str = "row",
    ) -> None:
        super().__init__(probabilities, epsilon=epsilon, relation=relation, unit=unit)
        object.__setattr__(self, "radius", integer("radius", radius, 0, MOST_CELLS))

    @cached_property
    def rate(self) -> Fraction:
        return self.epsilon / 2 if self.relation == "substitute" else super().rate

    def score(self, target: Target, lt: Ints, le: Ints) -> Ints:
        low, high = target.beyond(le), -target.beyond(lt)
        if self.relation == "substitute":
            low, high = target.rank - le, lt - target.rank + 1
        scores: Ints = np.maximum(np.maximum(low, high), 0)
        return scores

    def levels(self, rows: int) -> Levels:
        target = Target(self.probability, rows)
        unit = 1 if self.relation == "substitute" else target.unit
        return _Smooth(
            lambda lt, le: self.score(target, lt, le), self.rate / unit, target.rank, unit, radius=self.radius
        )


@dataclass(frozen=True)
class _Smooth(Levels):
    """Scores that look ``radius`` cells to both sides.

    Ranks beyond the window are not needed: where c + radius lies above it, le is at least the target's rank, where
    c - radius lies below it, lt is less, and neither matters for a score that is at least 0.
    """

    radius: int = 0

    def true_score(self, cell: int, records: Records) -> int:
        lt, le = records.below(cell - self.radius), records.below(cell + self.radius + 1)
        return int(self.score(np.array([lt]), np.array([le]))[0])

    def _cut(self, held: Ints, after: Ints, cells: int) -> Pieces:
        first, last = max(int(held[0]) - self.radius, 0), min(int(held[-1]) + self.radius + 1, cells)
        edges = np.concatenate([[0], held - self.radius, held + self.radius + 1])
        starts = np.unique(edges[(edges >= 0) & (edges < cells)])
        lengths = np.diff(np.append(starts, cells))
        le = after[np.searchsorted(held, starts + self.radius, side="right")]
        lt = after[np.searchsorted(held, starts - self.radius, side="left")]
        return Pieces(lengths, self.score(lt, le), first, last)
