"""How much weight all beginnings of a path have: the sums from which joint quantiles are drawn.

A path says which interval of cells (see ``joint_windows.py``) each answer lies in. Its weight is
e^(-rate score) x product of length^k / k! over the intervals that hold k answers: the number of ways to place the
answers there, in order. Written for the logarithms of sums over all beginnings of paths:

    entry[j]   the j-th answer is the first one in its interval, or lump (its length not counted yet)
    total[j]   the j-th answer is in this interval, whichever of them came first
    longer[j]  the part of ``total`` with more than ``runs`` answers in the interval

Two-sided exponentials make each row a few running sums, all of positive terms. Sums are never too small (up to a proved
rounding error, ``slack``); they may be too large: ``longer`` counts 1/k! as runs!^-1 (runs + 1)^(runs - k), and lumps
ignore the order of answers. What is drawn from them is a proposal; ``joint_path.py`` makes it exact.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np

from flou.arrays import Floats, Ints
from flou.mechanisms.quantiles.joint_windows import Gaps, Windows
from flou.mechanisms.quantiles.log_sums import running, sliding, up_to
from flou.mechanisms.quantiles.log_sums import total as sum_of

__all__ = ["LOWER", "UPPER", "Tables"]

LOWER, UPPER = 0, 1  # the two lumps

_NONE = -math.inf
_add = np.logaddexp


class Tables:
    """Logarithms of sums over beginnings of paths, row by row."""

    def __init__(self, gaps: Gaps, windows: Windows, runs: int) -> None:
        self.gaps, self.windows = gaps, windows
        self.answers = len(gaps.targets)
        self.runs = min(runs, self.answers)
        self.rate = float(gaps.rate)
        self._wholes: Ints = np.array([math.floor(target) for target in gaps.targets])
        self._rests: Floats = np.array([float(target - math.floor(target)) for target in gaps.targets])
        self.end = float(windows.records.rows - gaps.end)
        self.edges = np.array([-windows.lower, windows.upper], dtype=np.float64)  # deviations of the lumps
        self.lengths: Floats = np.log(windows.lengths.astype(np.float64))
        self.factorials: Floats = np.cumsum(np.log(np.maximum(np.arange(self.answers + 2), 1)))
        with np.errstate(divide="ignore"):
            self.lumps: Floats = np.log(np.array([windows.below, windows.above], dtype=np.float64))
        self.entry: list[Floats] = []
        self.total: list[Floats] = []
        self.longer: list[Floats] = []
        self.lump_entry: Floats = np.full((2, self.answers), _NONE)
        self.lump_total: Floats = np.full((2, self.answers), _NONE)
        for j in range(self.answers):
            self._enter(j)
            self._stay(j)

    def deviations(self, j: int) -> Floats:
        """Of the intervals in window j."""
        found: Floats = (self.windows.ranks[self.windows.slices[j]] - self._wholes[j]) - self._rests[j]
        return found

    def deviation(self, j: int, rank: int) -> float:
        """Of one rank."""
        return float(rank - int(self._wholes[j])) - float(self._rests[j])

    def inside(self, first: int | Ints, last: int) -> Any:
        """The log of e^(-rate score) of answers ``first`` to ``last`` that all share one interval."""
        wholes, rests = self._wholes[last] - self._wholes[first], self._rests[last] - self._rests[first]
        return -self.rate * (wholes + rests)

    # Rows

    def _enter(self, j: int) -> None:
        here = self.deviations(j)
        if j == 0:
            entry, lumps = -self.rate * np.abs(here), -self.rate * np.abs(self.edges)
        else:
            entry, lumps = self._next(j, here)
        self.entry.append(entry)
        self.lump_entry[:, j] = np.where(self.lumps[:, j] > _NONE, lumps, _NONE)

    def _next(self, j: int, here: Floats) -> tuple[Floats, Floats]:
        """From the intervals and lumps of answer j - 1 into later intervals of answer j, and into its lumps."""
        windows, rate = self.windows, self.rate
        before, after = windows.ranks[windows.slices[j - 1]], windows.ranks[windows.slices[j]]
        there, total = self.deviations(j - 1), self.total[j - 1]
        least, most = self.lump_total[:, j - 1] - rate * np.abs(self.edges)
        width = math.ceil(self.gaps.widths[j])
        # at least as many records between the two answers as wanted: sums from below, the lower lump first
        falling = running(np.concatenate([[least], total + rate * there]))
        entry = falling[up_to(before, after - max(width, 1))] - rate * here
        # fewer than wanted, but at least one: sums from above, the upper lump first, or over a stretch of ranks
        rising = running(np.concatenate([[most], (total - rate * there)[::-1]]))[::-1]
        if width > 1 and before.size and after.size and before[-1] >= after[0]:
            near = sliding(before, total - rate * there, after - (width - 1), width - 1)
            entry = _add(entry, _add(near, most) + rate * here)
        elif width > 1:
            entry = _add(entry, rising[up_to(before, after - width)] + rate * here)
        elif most > _NONE:
            entry = _add(entry, most + rate * here)
        return entry, np.array([rising[0] + rate * self.edges[LOWER], falling[-1] - rate * self.edges[UPPER]])

    def _stay(self, j: int) -> None:
        lengths, here = self.lengths[self.windows.slices[j]], self.windows.slices[j]
        total = self.entry[j] + lengths
        most = min(self.runs, j + 1)
        if most > 2 and self.windows.slices[j - most + 1] == here:  # all in one go
            every = np.arange(1, most + 1)[:, None]
            shared = self.inside(j + 1 - every, j)
            entries = np.array(self.entry[j - most + 1 : j + 1])[::-1]
            total = _add.reduce(entries + (every * lengths + (shared - self.factorials[every])), axis=0)
            most = 1
        for k in range(2, most + 1):
            size = self.windows.slices[j - k + 1].stop - here.start  # intervals that are in both windows
            if size <= 0:
                break
            total[:size] = _add(total[:size], self.run(j, k, slice(0, size)))
        longer: Floats = np.broadcast_to(_NONE, lengths.shape)  # nothing, and no memory for it
        size = self.windows.slices[j - self.runs].stop - here.start if j >= self.runs else 0
        if size > 0:
            longer = np.full(lengths.size, _NONE)
            longer[:size] = self.stretched(j, slice(0, size))
            total[:size] = _add(total[:size], longer[:size])
        self.total.append(total)
        self.longer.append(longer)
        for side in (LOWER, UPPER):
            if self.lumps[side, j] > _NONE:
                self.lump_total[side, j] = sum_of(self.lump_runs(side, j))

    def run(self, j: int, k: int, some: slice) -> Floats:
        """``total`` of exactly k answers, for some of the intervals in window j that are in window j - k + 1 too."""
        first = j - k + 1
        skip = self.windows.slices[j].start - self.windows.slices[first].start
        entry = self.entry[first][some.start + skip : some.stop + skip]
        lengths = self.lengths[self.windows.slices[j]][some]
        found: Floats = entry + (k * lengths + (self.inside(first, j) - self.factorials[k]))
        return found

    def stretched(self, j: int, some: slice) -> Floats:
        """``longer``, for some of the intervals in window j that are in window j - 1 too."""
        skip = self.windows.slices[j].start - self.windows.slices[j - 1].start
        earlier = slice(some.start + skip, some.stop + skip)
        lengths = self.lengths[self.windows.slices[j]][some]
        sums = self.longer[j - 1][earlier].copy()
        stop = self.windows.slices[j - self.runs].stop - self.windows.slices[j - 1].start  # of runs that may begin
        known = slice(earlier.start, min(earlier.stop, stop))
        if known.start < known.stop:
            size = known.stop - known.start
            sums[:size] = _add(sums[:size], self.run(j - 1, self.runs, known))
        found: Floats = sums + (lengths + (self.inside(j - 1, j) - math.log(self.runs + 1)))
        return found

    def lump_runs(self, side: int, j: int) -> Floats:
        """``lump_total`` for each answer that may have been the first in the lump; order counts inside of it."""
        first = np.arange(j + 1)
        k = j + 1 - first
        largest = self.lumps[side, j] if side == LOWER else self.lumps[side, : j + 1]
        return self.lump_entry[side, : j + 1] + (k * largest - self.factorials[k])

    # Bounds

    @cached_property
    def last(self) -> Floats:
        """The log weights of whole paths, by where the last answer lies: intervals, then the two lumps."""
        j = self.answers - 1
        ends = self.total[j] - self.rate * np.abs(self.deviations(j) - self.end)
        return np.append(ends, self.lump_total[:, j] - self.rate * np.abs(self.edges - self.end))

    @cached_property
    def largest(self) -> float:
        """A bound for the size of all finite numbers in the tables, and of all terms of their sums."""
        rows = (*self.entry, *self.total, *self.longer, *self.lump_entry, *self.lump_total)
        found = max((_size(row) for row in rows if row.size and row.strides != (0,)), default=0.0)
        span = float(self.edges[1] - self.edges[0]) + 1
        return found + 4 * self.rate * span + 2 * self.answers * (45 + math.log(self.answers + 2))

    @cached_property
    def log_bound(self) -> float:
        """The logarithm of C: no path weighs more than C times the probability with which it is proposed."""
        return sum_of(self.last) + (2 * self.answers + 2) * self.slack()

    def slack(self) -> float:
        """How much too small the logarithm of a sum may be, for one answer: see the proof."""
        widest = max(row.size for row in self.entry) + self.answers + 2
        return (4 * widest + 64) * (self.largest + 2) * 2.0**-50 + widest**2 * 2.0**-59


def _size(row: Floats) -> float:
    """The largest absolute value of what is finite."""
    least, most = float(np.min(row)), float(np.max(row))
    if least == _NONE:
        least = float(np.min(row, where=row > _NONE, initial=0.0))
    return max(abs(least), abs(most)) if most > _NONE else 0.0
