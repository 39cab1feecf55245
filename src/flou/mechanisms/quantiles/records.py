"""Records in order, on a public grid: the one summary from which every quantile method works.

A method never needs all records. It needs those whose ranks are near its targets, and how many lie below a cell. An
array answers both after a sort; counts of cells answer both without the rows; an engine answers from a coarse histogram
and finer looks around the targets, nearly always one. The law of a method depends on the records alone, not on who
answers.

Ranks count from 1: ``ranked(1, 1)`` is the smallest record. ``below(c)`` is the number of records in cells 0..c-1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from flou.arrays import Ints
from flou.errors import InvalidData
from flou.parameters import integer

__all__ = ["LARGEST_GRID", "MOST_CELLS", "CellCounts", "Records", "RecordsInRuns", "SortedRecords", "equal_parts"]

MOST_CELLS = 2**40  # of a grid of answers: ranks times cells stay far from 64 bits
LARGEST_GRID = 2**62  # of any records: codes and their differences are 64-bit integers


def equal_parts(cells: int, parts: int) -> Ints:
    """The edges floor(i cells / parts) of parts of a grid, without a product that leaves 64 bits."""
    each, left = divmod(cells, parts)
    place = np.arange(parts + 1, dtype=np.int64)
    edges: Ints = place * each + place * left // parts
    return edges


class Records(ABC):
    """Codes 0..cells-1 of ``rows`` records, in order."""

    rows: int
    cells: int

    @abstractmethod
    def ranked(self, first: int, last: int) -> Ints:
        """The codes with ranks ``first`` to ``last``, both included; ranks below 1 or above ``rows`` do not exist."""

    @abstractmethod
    def below(self, cell: int) -> int:
        """How many records have a code smaller than ``cell``."""

    def below_each(self, cells: Ints) -> Ints:
        """``below`` for each of many cells."""
        return np.array([self.below(cell) for cell in cells.tolist()], dtype=np.int64)

    def prepare(self, spans: Iterable[tuple[int, int]]) -> None:  # noqa: B027 - in memory there is nothing to do
        """Say which ranks will be asked for, so that an engine can fetch them all in one look."""


class SortedRecords(Records):
    """Records in memory."""

    def __init__(self, codes: ArrayLike, *, cells: int, ordered: bool = False) -> None:
        """``ordered`` says that the codes are in increasing order already; it is not checked."""
        self.cells = integer("cells", cells, 1, LARGEST_GRID)
        array = np.asarray(codes)
        if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
            raise _no_codes(array.ndim)
        self._codes = array if ordered else np.sort(array)
        self.rows = int(array.size)
        if self.rows and not 0 <= int(self._codes[0]) <= int(self._codes[-1]) < self.cells:
            raise _outside()

    def __repr__(self) -> str:
        return f"SortedRecords(cells={self.cells})"

    def ranked(self, first: int, last: int) -> Ints:
        return self._codes[max(first - 1, 0) : max(last, 0)].astype(np.int64)

    def below(self, cell: int) -> int:
        if cell <= 0:
            return 0
        if self.rows == 0 or cell > int(self._codes[-1]):
            return self.rows
        return int(np.searchsorted(self._codes, self._codes.dtype.type(cell), side="left"))

    def below_each(self, cells: Ints) -> Ints:
        last = int(self._codes[-1]) if self.rows else -1
        asked = np.clip(cells, 0, max(last, 0)).astype(self._codes.dtype)  # codes of another type would be copied
        found = np.searchsorted(self._codes, asked, side="left").astype(np.int64)
        return np.where(cells > last, self.rows, found)


class CellCounts(Records):
    """Records known by their number in each occupied cell."""

    def __init__(self, codes: ArrayLike, counts: ArrayLike, *, cells: int) -> None:
        """``codes`` are the occupied cells in increasing order, ``counts`` how many records each of them holds."""
        self.cells = integer("cells", cells, 1, LARGEST_GRID)
        held, heights = np.asarray(codes), np.asarray(counts)
        kinds = {held.dtype.kind, heights.dtype.kind}
        if held.ndim != 1 or held.shape != heights.shape or (held.size and not kinds <= {"i", "u"}):
            raise _no_codes(held.ndim)
        self._codes = held.astype(np.int64)
        self._ends = np.concatenate([[0], np.cumsum(heights, dtype=np.int64)])  # records up to and with each cell
        self.rows = int(self._ends[-1])
        inside = self._codes.size == 0 or 0 <= int(self._codes[0]) <= int(self._codes[-1]) < self.cells
        if not inside or np.any(np.diff(self._codes) <= 0) or np.any(heights < 0):
            raise _outside()

    def __repr__(self) -> str:
        return f"CellCounts(cells={self.cells})"

    def ranked(self, first: int, last: int) -> Ints:
        first, last = max(first, 1), min(last, self.rows)
        if first > last:
            return np.zeros(0, dtype=np.int64)
        start = int(np.searchsorted(self._ends, first, side="left")) - 1  # the cell that holds rank ``first``
        stop = int(np.searchsorted(self._ends, last, side="left"))
        ends = np.minimum(self._ends[start + 1 : stop + 1], last)
        heights = np.diff(np.concatenate([[first - 1], ends]))
        return np.repeat(self._codes[start:stop], heights)

    def below(self, cell: int) -> int:
        return int(self._ends[np.searchsorted(self._codes, cell, side="left")])

    def below_each(self, cells: Ints) -> Ints:
        return self._ends[np.searchsorted(self._codes, cells, side="left")]


class RecordsInRuns(Records):
    """The same records, by the number of the run of cells that holds them; public ``edges`` go from 0 to all cells."""

    def __init__(self, records: Records, edges: Ints) -> None:
        self._records, self._edges = records, edges
        self.rows, self.cells = records.rows, edges.size - 1

    def __repr__(self) -> str:
        return f"RecordsInRuns(cells={self.cells})"

    def ranked(self, first: int, last: int) -> Ints:
        return np.searchsorted(self._edges, self._records.ranked(first, last), side="right").astype(np.int64) - 1

    def below(self, cell: int) -> int:
        return self._records.below(int(self._edges[min(max(cell, 0), self.cells)]))

    def below_each(self, cells: Ints) -> Ints:
        return self._records.below_each(self._edges[np.clip(cells, 0, self.cells)])


def _no_codes(dimensions: int) -> InvalidData:
    return InvalidData(
        f"Records must be a vector of integer codes, got something with {dimensions} dimension(s).",
        "Quantiles are computed on a public grid, where no rounding can leak.",
        "Encode the values with a domain first, for example flou.Interval(0, 100).encode(values).",
    )


def _outside() -> InvalidData:
    return InvalidData(
        "Codes of records must lie on the grid, cells in increasing order and counts not below 0.",
        "No answer lies outside of the grid, so a record there could be noticed.",
        "Encode the values with a domain first: it clips them to the grid.",
    )
