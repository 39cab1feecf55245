"""Distribution function of a column: the share of rows up to a value, for all values at once, by group if asked.

Law        noisy counts of a tree over the public range (``mechanisms/quantiles/tree.py``), made consistent and
           increasing, divided by the number of rows where it is public and by the estimated one elsewhere
Guarantee  epsilon-DP for the whole function; of all groups together, because a row is in one of them
Why        a tree is epsilon-DP for one changed record; a unit of several changes buys each at a part of epsilon
Error      at each edge of a leaf the noise is a sum of Laplace noises of exact variance (``band.py``)
Numerics   exact integers until the noise is drawn
Limits     a leaf is a ten-thousandth of the range, or one possible value where these are fewer, and coarser in many
           groups; inside a leaf the function lies between its two ends, and where is not known. Values on an edge are
           above it, so that at x this is the share of rows below x; of whole numbers and truth values, and of
           multiples of a public granularity that are few enough to be listed, it is the share up to and with x
Source     Hay, Rastogi, Miklau, Suciu (2010)
Proof      docs/explanation/proofs/many_quantiles.md
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from flou.central.price import EpsilonQuestion
from flou.central.quantiles.band import EcdfBand
from flou.central.quantiles.grid import QuantileGrid
from flou.central.question import Curator, Draft, Prepared, PublicFacts
from flou.domain import require_numbers
from flou.domain.interval import most_cells
from flou.mechanisms.quantiles import Tree
from flou.mechanisms.quantiles.tree_consistency import prefix_variances
from flou.parameters import Number, integer, number
from flou.summaries.request import Counts

__all__ = ["POINTS", "Ecdf"]

POINTS = 100
BRANCHING = 10  # so that the edges are round numbers where the bounds are
TALLEST = 4
MOST_LEAVES = 2**22  # of the trees of all groups together


@dataclass(frozen=True)
class Ecdf(EpsilonQuestion):
    """The distribution function of a column, shown at up to ``points`` points and known between them."""

    column: str
    epsilon: Number
    points: int = POINTS
    by: str | None = None
    statistic: str = "ecdf"
    proof = "many_quantiles"

    @classmethod
    def asked(cls, by: str | None, column: str, *, points: int = POINTS, epsilon: Number) -> Ecdf:
        return cls(column, epsilon, points, by)

    def tree(self, facts: PublicFacts, grid: QuantileGrid) -> Tree:
        """What is released, of every group; where the number of rows is not public, substitution is two changes."""
        public = facts.known_rows is not None and self.by is None
        branching, height = _shape(grid.cells, self._most(facts)) if grid.granular else (BRANCHING, TALLEST)
        return Tree(
            Fraction(1, 2),
            epsilon=number("epsilon", self.epsilon) / (1 if public else facts.changes),
            branching=branching,
            height=height,
            relation="substitute" if public else "add-remove",
        )

    def _most(self, facts: PublicFacts) -> int:
        """Leaves of one tree: a power of ten, the smaller the more groups there are."""
        room = max(MOST_LEAVES // facts.groups(self.by), 1)
        return max(int(10**height) for height in range(1, TALLEST + 1) if 10**height <= max(room, 10))

    def grid(self, facts: PublicFacts) -> QuantileGrid:
        """One look is enough: the cells are those of the leaves, or the possible values."""
        why = "A distribution function is the share of rows up to a value."
        numbers = require_numbers(self.column, facts.domain(self.column), "order", why)
        grid = QuantileGrid.of(self.column, numbers, facts.groups(self.by), False)
        if grid.granular:
            return grid
        around = grid.domain.interval
        fitting = 10 ** (len(str(most_cells(around))) - 1)  # a power of ten, as the others are
        return replace(grid, domain=around.with_cells(min(self._most(facts), fitting)))

    def prepare(self, facts: PublicFacts) -> Prepared:
        points, grid = integer("points", self.points, 2, 2**12), self.grid(facts)
        tree = self.tree(facts, grid)
        by = () if self.by is None else (facts.code(self.by),)
        groups = None if self.by is None else facts.labels(self.by)
        scale = float(tree.noise(grid.cells).noise.scale)

        def answer(found: list[Any], curator: Curator) -> Draft:
            drawn = [
                tree.distribution(grid.counted(row), curator.bits) for row in np.atleast_2d(found[0])
            ]  # group by group, each with noise of its own
            band = EcdfBand(tree, drawn, grid, points, groups)
            return Draft(
                value=band.value,
                uncertainty=band,
                mechanism={
                    "name": "distribution function, tree of counts",
                    "noise": f"discrete Laplace of scale {scale:g} rows on every node",
                    "tree": f"branching {tree.branching}, height {tree.levels(grid.cells)}",
                    "grid": f"{grid.cells} cells",
                    "sampler": "exact",
                    "random_source": facts.random_source,
                },
                labels=band.labels,
                note=band.note,
                postprocessing=("least squares over the tree", "increasing", "as shares of the rows"),
                keys={} if self.by is None else {"group_keys": "public", "column": self.by},
            )

        entries = len(groups or [""]) * min(points, grid.cells)
        return Prepared(facts.pure(self.epsilon), (Counts((*by, grid.coarse)),), answer, entries)


@lru_cache(maxsize=64)
def _shape(cells: int, most: int) -> tuple[int, int]:
    """Branching and height of the most accurate tree whose leaves are the cells; of ten branches if these are many."""
    if cells > most + most // 10:  # from 0 to 100 there are 10,001 hundredths
        return BRANCHING, len(str(most)) - 1
    shapes = {(max(2, _root(cells, height)), height) for height in range(1, TALLEST + 1)}

    def error(shape: tuple[int, int]) -> float:
        return float(shape[1] ** 2 * np.mean(prefix_variances(*shape, known_total=False)))

    return min(sorted(shapes), key=error)


def _root(cells: int, height: int) -> int:
    """The smallest branching of a tree of this height that has a leaf for every cell."""
    branching: int = max(round(float(cells) ** (1 / height)) - 1, 1)
    while int(branching**height) < cells:
        branching += 1
    return branching
