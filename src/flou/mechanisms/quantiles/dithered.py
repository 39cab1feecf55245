"""Records without ties: each record gets a random place in its cell, drawn when it is first needed.

A record's place depends on no other record: neighbours before the dither are neighbours after it.
Places are drawn for whole cells, and kept. A cell that holds a crowd is halved first, as often as needed: of k records
the number in the lower half is the sum of k fair bits, and only the halves that are looked at are drawn further.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

import numpy as np

from flou.arrays import Ints
from flou.bits import Bits
from flou.mechanisms.quantiles.records import Records

__all__ = ["Dithered", "Part"]

CROWD = 4096  # more records than these in one cell are not all drawn
SLICE = 1 << 20  # bytes of fair bits counted at a time


class Dithered(Records):
    """The records on a grid ``places`` times finer, ``places`` a power of two."""

    def __init__(self, records: Records, places: int, bits: Bits) -> None:
        self.rows, self.cells = records.rows, records.cells * places
        self.base, self.places, self._bits = records, places, bits
        self._starts: list[int] = []  # runs of records that were drawn, by rank from 0: where they begin,
        self._runs: list[Ints] = []  # and their codes on the fine grid, in order
        self._crowds: dict[int, _Crowd] = {}

    def __repr__(self) -> str:
        return f"Dithered(cells={self.cells})"

    def prepare(self, spans: Iterable[tuple[int, int]]) -> None:
        self.base.prepare(spans)

    def below(self, cell: int) -> int:
        return int(self.below_each(np.array([cell], dtype=np.int64))[0])

    def below_each(self, cells: Ints) -> Ints:
        asked = np.clip(cells, 0, self.cells)
        coarse = asked // self.places
        ends = self.base.below_each(np.concatenate([coarse, np.minimum(coarse + 1, self.base.cells)])).reshape(2, -1)
        found = (self._below(*one) for one in zip(asked.tolist(), *ends.tolist(), strict=True))
        return np.fromiter(found, dtype=np.int64, count=asked.size)

    def _below(self, cell: int, before: int, after: int) -> int:
        """``below`` of one cell, from the records before and up to the coarse cell that it lies in."""
        coarse, place = divmod(cell, self.places)
        if place == 0:
            return before
        if after - before > CROWD:
            return before + self._crowd(coarse, after - before).below(place)
        return before + int(np.searchsorted(self._run(before, after), cell, side="left"))

    def ranked(self, first: int, last: int) -> Ints:
        first, last = max(first, 1), min(last, self.rows)
        if first > last:
            return np.zeros(0, dtype=np.int64)
        codes = self.base.ranked(first, last)
        whole = self.base.below_each(codes[[0, -1]] + np.array([0, 1]))  # whole cells, also at the two ends
        start, stop = whole.tolist()
        if stop - start <= CROWD:
            return self._run(start, stop)[first - 1 - start : last - start]
        steps = np.flatnonzero(codes[1:] != codes[:-1]) + 1
        seen = codes[np.concatenate([[0], steps])]
        begins = np.concatenate([[start], first - 1 + steps, [stop]])
        parts = []
        for i in np.flatnonzero(np.diff(begins) > CROWD).tolist():
            before, after = int(begins[i]), int(begins[i + 1])
            a, b = max(before, first - 1), min(after, last)
            crowd = self._crowd(int(seen[i]), after - before)
            parts += [
                self._run(start, before),
                crowd.ranked(a - before, b - before) + int(seen[i]) * self.places,
            ]
            start = after
        parts.append(self._run(start, stop))
        result = np.concatenate(parts)
        skipped = 0 if begins[1] - begins[0] > CROWD else first - 1 - int(begins[0])
        return result[skipped : skipped + last - first + 1]

    def _crowd(self, coarse: int, size: int) -> _Crowd:
        if coarse not in self._crowds:
            self._crowds[coarse] = _Crowd(size, self.places, self._bits)
        return self._crowds[coarse]

    def _run(self, start: int, stop: int) -> Ints:
        """The fine codes with ranks from ``start`` to before ``stop``, counted from 0: whole cells, none a crowd."""
        if start >= stop:
            return np.zeros(0, dtype=np.int64)
        i = bisect_left(self._starts, start + 1) - 1  # the last run that begins at or before the start
        if i < 0 or self._starts[i] + self._runs[i].size < start:
            i += 1
        parts, at, begin, j = [], start, start, i
        while j < len(self._starts) and self._starts[j] <= stop:
            begin = min(begin, self._starts[j])
            parts += [self._drawn(at, self._starts[j]), self._runs[j]]
            at = max(at, self._starts[j] + self._runs[j].size)
            j += 1
        parts.append(self._drawn(at, stop))
        if j - i != 1 or at < stop or begin < self._starts[i]:
            self._starts[i:j], self._runs[i:j] = [begin], [np.concatenate(parts)]
        return self._runs[i][start - begin : stop - begin]

    def _drawn(self, start: int, stop: int) -> Ints:
        if start >= stop:
            return np.zeros(0, dtype=np.int64)
        codes = self.base.ranked(start + 1, stop) * self.places + self._bits.below(self.places, stop - start)
        codes.sort()
        return codes


class _Crowd:
    """``size`` records at independent uniform places 0..places-1, in order, drawn where they are looked at."""

    def __init__(self, size: int, places: int, bits: Bits) -> None:
        self.size, self._places, self._bits = size, places, bits
        self._codes: Ints | None = None
        self._halves: tuple[_Crowd, _Crowd] | None = None

    def ranked(self, start: int, stop: int) -> Ints:
        """The places with ranks from ``start`` to before ``stop``, counted from 0."""
        start, stop = max(start, 0), min(stop, self.size)
        if start >= stop:
            return np.zeros(0, dtype=np.int64)
        if self._places == 1:
            return np.zeros(stop - start, dtype=np.int64)
        if self.size <= CROWD:
            return self._small()[start:stop]
        low, high = self._split()
        upper = high.ranked(start - low.size, stop - low.size) + self._places // 2
        return np.concatenate([low.ranked(start, stop), upper])

    def below(self, place: int) -> int:
        if place <= 0 or place >= self._places:
            return 0 if place <= 0 else self.size
        if self.size <= CROWD:
            return int(np.searchsorted(self._small(), place, side="left"))
        low, high = self._split()
        half = self._places // 2
        return low.below(place) if place <= half else low.size + high.below(place - half)

    def _small(self) -> Ints:
        if self._codes is None:
            self._codes = np.sort(self._bits.below(self._places, self.size))
        return self._codes

    def _split(self) -> tuple[_Crowd, _Crowd]:
        if self._halves is None:
            lower, half = fair_sum(self.size, self._bits), self._places // 2
            self._halves = _Crowd(lower, half, self._bits), _Crowd(self.size - lower, half, self._bits)
        return self._halves


def fair_sum(count: int, bits: Bits) -> int:
    """The sum of this number of fair bits."""
    whole, rest = divmod(count, 8)
    total = bits.integer(rest).bit_count() if rest else 0
    for start in range(0, whole, SLICE):
        total += int(np.bitwise_count(bits.take(min(SLICE, whole - start))).sum(dtype=np.int64))
    return total


class Part(Records):
    """Some records by rank, from 0, on some of the cells: both from the first to before the last.

    They must lie in these cells; other records there belong to other parts.
    """

    def __init__(self, records: Records, ranks: tuple[int, int], cells: tuple[int, int]) -> None:
        self._records = records
        self._start, self._stop = ranks
        self._first = cells[0]
        self.rows, self.cells = self._stop - self._start, cells[1] - cells[0]

    def __repr__(self) -> str:
        return f"Part(cells={self.cells})"

    def ranked(self, first: int, last: int) -> Ints:
        first, last = max(first, 1), min(last, self.rows)
        if first > last:
            return np.zeros(0, dtype=np.int64)
        return self._records.ranked(self._start + first, self._start + last) - self._first

    def prepare(self, spans: Iterable[tuple[int, int]]) -> None:
        self._records.prepare([(first + self._start, last + self._start) for first, last in spans])

    def below(self, cell: int) -> int:
        return int(self.below_each(np.array([cell], dtype=np.int64))[0])

    def below_each(self, cells: Ints) -> Ints:
        found: Ints = np.clip(self._records.below_each(self._first + cells), self._start, self._stop) - self._start
        return found
