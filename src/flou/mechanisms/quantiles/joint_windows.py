"""What a joint draw looks at: gaps between targets, and the records whose ranks are near them.

An answer in a cell has a rank, the number of records up to the cell, and a deviation: its rank minus its target.
Several answers cost rate x (|first deviation| + sum |change of the deviation from one answer to the next| + |change at
the end|).

Each answer has a window: the ranks whose deviations lie between -lower and upper. Cells beyond it make two lumps, one
on each side, whose deviations count as -lower and upper. Moving deviations into [-lower, upper] never makes a change
between two of them larger, so that a lump never costs more than the cells in it.

Any window is right, but lumps that outweigh their windows are drawn and refused, and each has to be looked up. Windows
inside a crowd, all of whose records were moved to places of one cell, are narrow next to all other cells: there, as in
gaps and between bounds that are far too wide, they are made as wide as it takes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from flou.arrays import Ints
from flou.mechanisms.quantiles.dithered import Dithered
from flou.mechanisms.quantiles.records import Records

__all__ = ["Gaps", "Windows"]

RARE = 20.0  # lumps have about e^-20 of all weight


@dataclass(frozen=True)
class Gaps:
    """Targets in increasing order, the place where all records end, and the price of one rank."""

    targets: tuple[Fraction, ...]
    end: Fraction
    rate: Fraction

    @cached_property
    def widths(self) -> tuple[Fraction, ...]:
        """How many records are wanted between one target and the next, from the start to the last target."""
        return tuple(b - a for a, b in pairwise((Fraction(0), *self.targets)))

    def score(self, ranks: Sequence[int], rows: int) -> Fraction:
        """How many ranks the numbers of records between answers are off, in total."""
        deviations = [Fraction(0), *(r - q for r, q in zip(ranks, self.targets, strict=True)), rows - self.end]
        return sum((abs(b - a) for a, b in pairwise(deviations)), Fraction(0))


class Windows:
    """The intervals of cells between records, near the targets; the lumps beyond.

    Interval i holds the cells of rank i, from record i up to before record i + 1. Empty ones are left out: ``ranks``,
    ``starts`` and ``lengths`` tell the others. Window j of answer j is ``slices[j]`` of them.
    """

    def __init__(self, gaps: Gaps, records: Records, reach: int) -> None:
        self.records, rows = records, records.rows
        if isinstance(records, Dithered):
            reach = max(reach, _enough(gaps, records, reach))
        shift = rows - gaps.end  # the deviation at the end lies between the bounds, as 0 does at the start
        self.lower, self.upper = reach + max(0, math.ceil(-shift)), reach + max(0, math.ceil(shift))
        firsts = [max(0, math.ceil(target - self.lower)) for target in gaps.targets]
        lasts = [min(rows, math.floor(target + self.upper)) for target in gaps.targets]
        spans = _merged(zip(firsts, lasts, strict=True))
        records.prepare([(max(first, 1), min(last + 1, rows)) for first, last in spans])
        edges = [self._edges(first, last) for first, last in spans]
        ranks = np.concatenate([np.arange(first, last + 1) for first, last in spans])
        starts = np.concatenate([part[:-1] for part in edges])
        ends = np.concatenate([part[1:] for part in edges])
        left, right = np.searchsorted(ranks, firsts), np.searchsorted(ranks, lasts)
        self.below = [int(cells) for cells in starts[left]]  # cells in the lump below each window
        self.above = [records.cells - int(cells) for cells in ends[right]]
        full = np.flatnonzero(ends > starts)
        self.ranks: Ints = ranks[full]
        self.starts: Ints = starts[full]
        self.lengths: Ints = (ends - starts)[full]
        begins, stops = np.searchsorted(full, left), np.searchsorted(full, right, side="right")
        self.slices = [slice(int(a), int(b)) for a, b in zip(begins, stops, strict=True)]
        self.whole = not any(self.below) and not any(self.above)

    def _edges(self, first: int, last: int) -> Ints:
        """Where the intervals ``first`` to ``last`` begin, and where the last one ends."""
        rows: Any = self.records.ranked(max(first, 1), last + 1)
        return np.concatenate([[0] * (first == 0), rows, [self.records.cells] * (last == self.records.rows)]).astype(
            np.int64
        )


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans of ranks in order, of which those that meet are one."""
    found: list[tuple[int, int]] = []
    for first, last in spans:
        if found and first <= found[-1][1] + 1:
            found[-1] = (found[-1][0], last)
        else:
            found.append((first, last))
    return found


def _enough(gaps: Gaps, records: Records, reach: int) -> int:
    """A reach at which lumps are likely to be negligible, by how many cells lie next to each target.

    Answers in a lump can be in any cell; answers near their targets in about as many as lie within 1/rate ranks. k
    answers in a lump gain the product of these ratios over k!, and lose e^(-rate x reach) on the way there and back.
    """
    rows, rate = records.rows, float(gaps.rate)
    if rows == 0:
        return reach
    near = [
        (max(math.floor(target - 1 / gaps.rate), 0), min(math.ceil(target + 1 / gaps.rate), rows))
        for target in gaps.targets
    ]
    wide = ((max(0, math.floor(target - reach)), min(rows, math.ceil(target + reach))) for target in gaps.targets)
    records.prepare([(max(first, 1), min(last + 1, rows)) for first, last in _merged(wide)])
    cells = []
    for first, last in near:
        start = int(records.ranked(first, first)[0]) if 1 <= first <= rows else 0
        end = int(records.ranked(last + 1, last + 1)[0]) if 0 <= last < rows else records.cells
        cells.append(max(end - start, 1))
    gains = np.sort(math.log(records.cells) - np.log(np.array(cells, dtype=np.float64)))[::-1]
    answers = np.arange(1, gains.size + 1)
    gain = float(np.max(np.cumsum(gains) - np.cumsum(np.log(answers))))
    return math.ceil(min((gain + RARE) / (2 * rate), max(float(rows), float(gaps.end)))) + 1
