"""The common refinement of several grids of one column: one place per row, from which its cell in each grid follows.

Rule       with c_1 < ... < c_m the doubles at which the cell of some grid changes, the place of a number is how many
           of them it reaches, 0 to m; what is missing has the place m + 1
Why        cells never decrease as numbers grow, so that all of them are constant from c_i up to c_(i+1): at place i
           the cells are those of c_i, at place 0 the first ones, and at the last place those of what is missing
Numerics   cuts are exact doubles, by bisection with the grid's own rule; a place takes comparisons only
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from flou.domain import Domain
from flou.domain.rule import Cells, Rule
from flou.summaries.edges import edges
from flou.summaries.request import Code

__all__ = ["Refinement", "merged", "most_places"]

FEW_CELLS = 8  # of a grid whose cells take no more comparisons than its rule takes steps
MOST_PLACES = 1 << 9


@dataclass(frozen=True)
class Refinement:
    """A column, cut wherever one of several grids is cut."""

    column: str
    grids: tuple[Domain | Rule, ...]

    @cached_property
    def cuts(self) -> tuple[float, ...]:
        return tuple(sorted({cut for grid in self.grids for cut in _cuts(grid.rule)}))

    @property
    def size(self) -> int:
        """How many places there are."""
        return len(self.cuts) + 2

    def cells(self, grid: Domain | Rule) -> NDArray[np.int64]:
        """The cell in one of the grids, for every place."""
        return np.append(grid.encode(np.array([-np.inf, *self.cuts])), grid.missing_code)


def merged(keys: Iterable[Code]) -> list[tuple[Code, ...]]:
    """The keys, where small grids of one column are replaced by their refinement."""
    groups: dict[object, list[Code]] = {}
    for key in keys:
        small = isinstance(key.rule, Cells) and key.rule.cells <= FEW_CELLS
        groups.setdefault(key.column if small else key, []).append(key)
    together = [tuple(group) for group in groups.values() if most_places(group) <= MOST_PLACES]
    return together + [(key,) for group in groups.values() if most_places(group) > MOST_PLACES for key in group]


def most_places(group: Iterable[Code]) -> int:
    """A bound on the places of a refinement, without a search for its cuts."""
    return 2 + sum(key.domain.size - 1 for key in group)


@lru_cache(maxsize=1024)
def _cuts(grid: Rule) -> tuple[float, ...]:
    """The smallest double of each cell except the first."""
    return tuple(edges(grid, np.arange(1, grid.size)))
