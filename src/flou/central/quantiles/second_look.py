"""Records in order behind any engine: a coarse histogram first, and a finer look around the ranks that matter.

The first pass counts the cells of a coarse grid. They tell in which coarse cells the wanted ranks lie; these are
counted on the fine grid, in one more pass. It sees more than was wanted: all of a small table, and otherwise enough
ranks on both sides, across gaps and beyond atoms, for a window of ranks that is four times as wide. What a method
asks for later is near what it asked for first, so that one such pass is nearly always all. Another one is made for
what lies elsewhere: for a cell far from all targets that was drawn and has to be judged, which is rare. Groups share
every pass.

What is answered is exactly what a sort would answer, whatever was seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from flou.arrays import Booleans, Ints
from flou.mechanisms.quantiles import Records

__all__ = ["Groups", "Look", "LookedUp"]

Spans: TypeAlias = list[tuple[int, int]]
Look: TypeAlias = Callable[[Spans], tuple[Ints, Ints]]
LookAtAll: TypeAlias = Callable[[Spans], tuple[Ints, Ints, Ints]]

ROOM = 1 << 15  # codes: a table that has no more of them is seen at once


class LookedUp(Records):
    """Fine codes 0..cells-1, of which ``counts`` tells how many fall into each run of 2^shift.

    ``look(spans)`` returns the occupied fine codes in the spans (first included, last not), in order, and their counts.
    Where all records have at most ``room`` codes, the first look sees all of them.
    """

    def __init__(self, counts: NDArray[np.int64], *, shift: int, cells: int, look: Look, room: int = ROOM) -> None:
        self.cells, self._shift, self._look = cells, shift, look
        self._ends: Ints = np.zeros(counts.size + 1, dtype=np.int64)  # records below each coarse cell
        np.cumsum(counts, out=self._ends[1:])
        self.rows = int(self._ends[-1])
        self._small = int(np.minimum(counts, 1 << shift).sum()) <= room
        self._seen: Booleans = counts == 0  # nothing to see in an empty cell
        self._fine: Ints = np.zeros(0, dtype=np.int64)  # the occupied codes in what was seen,
        self._heights: Ints = np.zeros(0, dtype=np.int64)  # how many records each of them has,
        self._after: Ints = np.zeros(1, dtype=np.int64)  # and, from the second on, how many lie up to and with it

    def __repr__(self) -> str:
        return f"LookedUp(cells={self.cells})"

    def prepare(self, spans: Iterable[tuple[int, int]]) -> None:
        wanted = list(spans)
        if not all(self._seen[self._coarse(*span)].all() for span in wanted):
            self._see(self._around(wanted))

    def ranked(self, first: int, last: int) -> Ints:
        first, last = max(first, 1), min(last, self.rows)
        if first > last:
            return np.zeros(0, dtype=np.int64)
        self.prepare([(first, last)])
        start, stop = np.searchsorted(self._after[1:], [first, last], side="left")  # the codes that hold the two
        after = np.clip(self._after[start : stop + 2], first - 1, last)
        return np.repeat(self._fine[start : stop + 1], after[1:] - after[:-1])

    def below(self, cell: int) -> int:
        return int(self.below_each(np.array([cell], dtype=np.int64))[0])

    def below_each(self, cells: Ints) -> Ints:
        asked = np.minimum(np.maximum(cells, 0), self.cells)
        coarse = asked >> self._shift
        if spans := self._inside(asked):
            self._see(self._around(spans, wider=0))
        # the last code below the cell lies in the same coarse cell, or there is none in it
        found: Ints = np.maximum(self._ends[coarse], self._after[np.searchsorted(self._fine, asked)])
        return found

    def _inside(self, cells: Ints) -> Spans:
        """The ranks in coarse cells that were not seen yet, and that these cells do not begin but lie in."""
        coarse = cells >> self._shift
        coarse = coarse[cells > coarse << self._shift]
        coarse = coarse[~self._seen[coarse]]
        return [(a + 1, b) for a, b in np.stack([self._ends[coarse], self._ends[coarse + 1]], axis=1).tolist()]

    def _coarse(self, first: int, last: int) -> slice:
        """The coarse cells that hold these ranks."""
        first, last = max(first, 1), min(last, self.rows)
        if first > last:
            return slice(0, 0)
        start, stop = np.searchsorted(self._ends, [first, last], side="left").tolist()
        return slice(start - 1, stop)

    def _around(self, spans: Iterable[tuple[int, int]], wider: int = 3) -> Booleans:
        """The coarse cells that hold these ranks, and others on both sides: in any case the next occupied ones.

        ``wider`` is how many times half of their number of ranks are taken beyond the cells that hold them.
        """
        asked = list(spans)
        if asked and self._small:
            return np.ones_like(self._seen)
        found = np.zeros_like(self._seen)
        for first, last in asked:
            part = self._coarse(first, last)
            if part.stop > part.start:
                more = wider * (last - first + 1) // 2
                found[self._coarse(int(self._ends[part.start]) - more, int(self._ends[part.stop]) + 1 + more)] = True
        return found

    def _see(self, wanted: Booleans) -> None:
        """One look at all wanted coarse cells that were not seen yet."""
        new = np.flatnonzero(wanted & ~self._seen)
        if new.size:
            self._learn(new, *self._look(_spans(new, self._ends, self._shift, self.cells)))

    def _told(self, wanted: Booleans, codes: Ints, heights: Ints) -> None:
        """What all of the wanted coarse cells hold, some of which may have been seen."""
        new = wanted & ~self._seen
        if new.any():
            held = new[codes >> self._shift]
            self._learn(np.flatnonzero(new), codes[held], heights[held])

    def _learn(self, new: Ints, codes: Ints, heights: Ints) -> None:
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

    It returns groups, occupied codes and their counts, in order. Whoever looks, all groups learn from it.
    """

    def __init__(self, counts: Ints, *, shift: int, cells: int, look: LookAtAll, room: int = ROOM) -> None:
        self._look, self._shift, self._cells = look, shift, cells
        self._ends = np.concatenate([[0], np.cumsum(counts.sum(axis=0))])
        self.records = [
            LookedUp(row, shift=shift, cells=cells, look=self._look_at(group), room=room // len(counts))
            for group, row in enumerate(counts)
        ]

    def _look_at(self, group: int) -> Look:
        def look(spans: Spans) -> tuple[Ints, Ints]:
            return self._shared(spans, group)

        return look

    def _shared(self, spans: Spans, asked: int) -> tuple[Ints, Ints]:
        """What one group asked for; the others learn from it."""
        groups, codes, heights = self._look(spans)
        parts = np.searchsorted(groups, np.arange(len(self.records) + 1)).tolist()
        if len(self.records) > 1:
            seen = np.zeros(self._ends.size - 1, dtype=np.bool_)
            for first, last in spans:
                seen[first >> self._shift : -(-last >> self._shift)] = True
            for group, one in enumerate(self.records):
                if group != asked:
                    part = slice(parts[group], parts[group + 1])
                    one._told(seen, codes[part], heights[part])
        own = slice(parts[asked], parts[asked + 1])
        return codes[own], heights[own]

    def prepare(self, ranks: Callable[[int], Spans]) -> None:
        """One look for all groups, around the ranks that each of them is likely to be asked for, by its rows."""
        if len(self.records) > 1:  # one alone looks by itself, when it knows what it needs
            self._see([one._around(ranks(one.rows)) for one in self.records])

    def look_at(self, cells: list[Ints]) -> None:
        """One look for all groups, at what lies below these cells of each of them."""
        self._see([one._around(one._inside(asked), 0) for one, asked in zip(self.records, cells, strict=True)])

    def _see(self, wanted: list[Booleans]) -> None:
        near = np.zeros(self._ends.size - 1, dtype=np.bool_)
        for one, mask in zip(self.records, wanted, strict=True):
            near |= mask & ~one._seen
        cells = np.flatnonzero(near)
        if cells.size:
            own = self._shared(_spans(cells, self._ends, self._shift, self._cells), 0)
            self.records[0]._told(near, *own)


def _spans(new: Ints, ends: Ints, shift: int, cells: int) -> Spans:
    """Some coarse cells as spans of fine ones; those with no records in between make one span."""
    apart = np.flatnonzero(ends[new[1:]] > ends[new[:-1] + 1])
    first, last = new[np.concatenate([[0], apart + 1])], new[np.concatenate([apart, [-1]])] + 1
    spans = np.minimum(np.stack([first, last], axis=1) << shift, cells)
    return [(a, b) for a, b in spans.tolist()]
