"""Records seen through fewer cells: the runs between public edges."""

from __future__ import annotations

import numpy as np

from flou.arrays import Ints
from flou.mechanisms.quantiles.records import Records

__all__ = ["Runs"]


class Runs(Records):
    """The same records, whose code is now the number of the run that holds them; ``edges`` go from 0 to all cells."""

    def __init__(self, records: Records, edges: Ints) -> None:
        self._records, self._edges = records, edges
        self.rows, self.cells = records.rows, edges.size - 1

    def __repr__(self) -> str:
        return f"Runs(cells={self.cells})"

    def ranked(self, first: int, last: int) -> Ints:
        return np.searchsorted(self._edges, self._records.ranked(first, last), side="right").astype(np.int64) - 1

    def below(self, cell: int) -> int:
        return self._records.below(int(self._edges[min(max(cell, 0), self.cells)]))

    def below_each(self, cells: Ints) -> Ints:
        return self._records.below_each(self._edges[np.clip(cells, 0, self.cells)])
