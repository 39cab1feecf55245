"""Records in order behind any engine: a coarse histogram first, and a finer look around the ranks that matter.

The first pass counts the cells of a coarse grid. They tell in which coarse cells the wanted ranks lie, and only these
and their neighbours are counted on the fine grid, all of them in one more pass. What is answered is exactly what a sort
would answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from flou.mechanisms.quantiles import Records

__all__ = ["Groups", "Look", "LookedUp"]

Integers: TypeAlias = NDArray[np.int64]
Look: TypeAlias = Callable[[list[tuple[int, int]]], tuple[Integers, Integers]]
LookAtAll: TypeAlias = Callable[[list[tuple[int, int]]], tuple[Integers, Integers, Integers]]


class LookedUp(Records):
    """Fine codes 0..cells-1, of which ``counts`` tells how many fall into each run of 2^shift.

    ``look(spans)`` returns the occupied fine codes in the spans (first included, last not), in order, and their counts.
    """

    def __init__(self, counts: NDArray[np.int64], *, shift: int, cells: int, look: Look) -> None:
        self.cells, self._shift, self._look = cells, shift, look
        self._ends: Integers = np.zeros(counts.size + 1, dtype=np.int64)  # records below each coarse cell
        np.cumsum(counts, out=self._ends[1:])
        self.rows = int(self._ends[-1])
        self._seen = counts == 0  # nothing to see in an empty cell
        self._fine: Integers = np.zeros(0, dtype=np.int64)  # the occupied codes in what was seen,
        self._heights: Integers = np.zeros(0, dtype=np.int64)  # how many records each of them has,
        self._after: Integers = np.zeros(1, dtype=np.int64)  # and, from the second on, how many lie up to and with it

    def __repr__(self) -> str:
        return f"LookedUp(cells={self.cells})"

    def prepare(self, spans: Iterable[tuple[int, int]]) -> None:
        wanted = [np.arange(part.start, part.stop) for part in (self._coarse(*span) for span in spans)]
        if wanted:
            self._see(np.concatenate(wanted))

    def ranked(self, first: int, last: int) -> Integers:
        first, last = max(first, 1), min(last, self.rows)
        if first > last:
            return np.zeros(0, dtype=np.int64)
        part = self._coarse(first, last)
        self._see(np.arange(part.start, part.stop))
        start, stop = np.searchsorted(self._after[1:], [first, last], side="left")  # the codes that hold the two
        after = np.clip(self._after[start : stop + 2], first - 1, last)
        return np.repeat(self._fine[start : stop + 1], after[1:] - after[:-1])

    def below(self, cell: int) -> int:
        return int(self.below_each(np.array([cell], dtype=np.int64))[0])

    def below_each(self, cells: Integers) -> Integers:
        asked = np.minimum(np.maximum(cells, 0), self.cells)
        coarse = asked >> self._shift
        self._see(coarse[asked > coarse << self._shift])  # the others begin a coarse cell
        # the last code below the cell lies in the same coarse cell, or there is none in it
        found: Integers = np.maximum(self._ends[coarse], self._after[np.searchsorted(self._fine, asked)])
        return found

    def _coarse(self, first: int, last: int) -> slice:
        """The coarse cells that hold these ranks."""
        first, last = max(first, 1), min(last, self.rows)
        if first > last:
            return slice(0, 0)
        start, stop = np.searchsorted(self._ends, [first, last], side="left").tolist()
        return slice(start - 1, stop)

    def _see(self, wanted: Integers) -> None:
        """One look at all wanted coarse cells, if some were not seen yet, and at those next to them: what is asked
        later is near what was answered. Those with nothing in between make one span.
        """
        if bool(np.all(self._seen[wanted])):
            return
        near = np.zeros(self._seen.size + 2, dtype=np.bool_)
        for side in (0, 1, 2):
            near[wanted + side] = True
        new = np.flatnonzero(near[1:-1] & ~self._seen)
        apart = np.flatnonzero(self._ends[new[1:]] > self._ends[new[:-1] + 1])  # records lie between the two
        first, last = new[np.concatenate([[0], apart + 1])], new[np.concatenate([apart, [-1]])] + 1
        spans = np.minimum(np.stack([first, last], axis=1) << self._shift, self.cells)
        self._learn(new, *self._look([(int(a), int(b)) for a, b in spans.tolist()]))

    def _learn(self, new: Integers, codes: Integers, heights: Integers) -> None:
        """What the coarse cells hold that were not seen yet."""
        merged = np.concatenate([self._fine, codes])
        order = np.argsort(merged, kind="stable")
        self._fine, self._heights = merged[order], np.concatenate([self._heights, heights])[order]
        self._seen[new] = True
        coarse = self._fine >> self._shift
        sums = np.concatenate([[0], np.cumsum(self._heights)])
        inside = sums[1:] - sums[np.searchsorted(self._fine, coarse << self._shift)]
        self._after = np.concatenate([[0], np.minimum(self._ends[coarse] + inside, self._ends[coarse + 1])])


class Groups:
    """The records of several groups, a row of ``counts`` each; ``look`` sees all of them at once.

    It returns groups, occupied codes and their counts, in order.
    """

    def __init__(self, counts: Integers, *, shift: int, cells: int, look: LookAtAll) -> None:
        self._look, self._shift, self._cells = look, shift, cells
        self.records = [
            LookedUp(row, shift=shift, cells=cells, look=self._look_at(group)) for group, row in enumerate(counts)
        ]

    def _look_at(self, group: int) -> Look:
        def look(spans: list[tuple[int, int]]) -> tuple[Integers, Integers]:
            groups, codes, heights = self._look(spans)
            held = groups == group
            return codes[held], heights[held]

        return look

    def prepare(self, ranks: Callable[[int], list[tuple[int, int]]]) -> None:
        """One look for all groups, around the ranks that each of them is likely to be asked for, by its rows."""
        if len(self.records) == 1:
            return  # it looks by itself, when it knows what it needs
        near = np.zeros(self.records[0]._seen.size, dtype=np.bool_)
        for one in self.records:
            for span in ranks(one.rows):
                part = one._coarse(*span)
                near[max(part.start - 1, 0) : part.stop + 1] |= part.stop > part.start
        cells = np.flatnonzero(near)
        if not cells.size:
            return
        apart = np.flatnonzero(np.diff(cells) > 1)
        first, last = cells[np.concatenate([[0], apart + 1])], cells[np.concatenate([apart, [-1]])] + 1
        spans = np.minimum(np.stack([first, last], axis=1) << self._shift, self._cells)
        groups, codes, heights = self._look([(int(a), int(b)) for a, b in spans.tolist()])
        ends = np.searchsorted(groups, np.arange(len(self.records) + 1))
        for one, start, stop in zip(self.records, ends[:-1].tolist(), ends[1:].tolist(), strict=True):
            one._learn(cells, codes[start:stop], heights[start:stop])
