"""Records in order behind any engine: a coarse histogram first, and a finer look around the ranks that matter.

The first pass counts the cells of a coarse grid. They tell in which coarse cells the wanted ranks lie, and only these
are counted on the fine grid, all of them in one more pass. What is answered is exactly what a sort would answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from flou.mechanisms.quantiles import CellCounts, Records

__all__ = ["Look", "LookedUp"]

Integers: TypeAlias = NDArray[np.int64]
Look: TypeAlias = Callable[[list[tuple[int, int]]], tuple[Integers, Integers]]


class LookedUp(Records):
    """Fine codes 0..cells-1, of which ``counts`` tells how many fall into each run of 2^shift.

    ``look(spans)`` returns the occupied fine codes in the spans (first included, last not), in order, and their counts.
    """

    def __init__(self, counts: NDArray[np.int64], *, shift: int, cells: int, look: Look) -> None:
        self.cells, self._shift, self._look = cells, shift, look
        self._counts = counts
        self._ends = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        self.rows = int(self._ends[-1])
        self._seen = counts == 0  # nothing to see in an empty cell
        self._fine: Integers = np.zeros(0, dtype=np.int64)
        self._heights: Integers = np.zeros(0, dtype=np.int64)

    def __repr__(self) -> str:
        return f"LookedUp(cells={self.cells})"

    def prepare(self, spans: Iterable[tuple[int, int]]) -> None:
        wanted = np.zeros(self._counts.size, dtype=np.bool_)
        for first, last in spans:
            wanted[self._coarse(first, last)] = True
        self._see(wanted)

    def ranked(self, first: int, last: int) -> Integers:
        first, last = max(first, 1), min(last, self.rows)
        if first > last:
            return np.zeros(0, dtype=np.int64)
        part = self._coarse(first, last)
        self.prepare([(first, last)])
        before = int(self._ends[part.start])
        return self._counted(part).ranked(first - before, last - before)

    def below(self, cell: int) -> int:
        return int(self.below_each(np.array([cell], dtype=np.int64))[0])

    def below_each(self, cells: Integers) -> Integers:
        asked = np.clip(cells, 0, self.cells)
        coarse = asked >> self._shift
        starts = coarse << self._shift
        wanted = np.zeros(self._counts.size, dtype=np.bool_)
        wanted[coarse[asked > starts]] = True  # the others begin a coarse cell
        self._see(wanted)
        heights = np.concatenate([[0], np.cumsum(self._heights)])
        inside = heights[np.searchsorted(self._fine, asked)] - heights[np.searchsorted(self._fine, starts)]
        found: Integers = self._ends[coarse] + inside
        return found

    def _coarse(self, first: int, last: int) -> slice:
        """The coarse cells that hold these ranks."""
        first, last = max(first, 1), min(last, self.rows)
        if first > last:
            return slice(0, 0)
        start, stop = np.searchsorted(self._ends, [first, last], side="left")
        return slice(int(start) - 1, int(stop))

    def _counted(self, part: slice) -> CellCounts:
        """What was seen in these coarse cells."""
        a, b = np.searchsorted(self._fine, [part.start << self._shift, part.stop << self._shift])
        return CellCounts(self._fine[a:b], self._heights[a:b], cells=self.cells)

    def _see(self, wanted: NDArray[np.bool_]) -> None:
        """One look at all wanted coarse cells that were not seen yet; those with nothing in between make one span."""
        new = np.flatnonzero(wanted & ~self._seen)
        if not new.size:
            return
        apart = np.flatnonzero(self._ends[new[1:]] > self._ends[new[:-1] + 1])  # records lie between the two
        first, last = new[np.concatenate([[0], apart + 1])], new[np.concatenate([apart, [-1]])] + 1
        spans = np.minimum(np.stack([first, last], axis=1) << self._shift, self.cells)
        codes, heights = self._look([(int(a), int(b)) for a, b in spans.tolist()])
        merged = np.concatenate([self._fine, codes])
        order = np.argsort(merged, kind="stable")
        self._fine, self._heights = merged[order], np.concatenate([self._heights, heights])[order]
        self._seen = self._seen | wanted
