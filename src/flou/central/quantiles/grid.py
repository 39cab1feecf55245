"""The grid on which quantiles are looked for: fine enough for any number of rows, or as coarse as the data are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from flou.central.quantiles.second_look import Groups, LookedUp
from flou.domain import Domain, Numbers, require_numbers
from flou.domain.interval import most_cells
from flou.mechanisms.quantiles import CellCounts
from flou.parameters import exact
from flou.release.digits import last_place, place_of
from flou.summaries.request import LARGEST_CODE, Code
from flou.summaries.rows import Spans, Tally

__all__ = ["QuantileGrid"]

Tallier: TypeAlias = Callable[[Code, Spans, Code | None], Tally]  # a second look at the rows

FINE = LARGEST_CODE.bit_length() - 1
COARSE = 15  # bits of the first look: one more takes DuckDB longer than it saves in the second
ONLY = 20  # bits of the only look, where there is no second one, and of possible values that are looked at one by one
LEGIBLE = 100  # parts of the range that print distinguishes, however wide an interval is
MOST = 26  # bits of all tables of the first look together


@dataclass(frozen=True)
class QuantileGrid:
    """Cells of a column, and how many of their last bits the first look leaves out."""

    column: str
    numbers: Numbers  # as declared
    domain: Numbers  # the cells
    shift: int
    granular: bool  # whether a cell holds one possible value only: its middle

    @classmethod
    def of(cls, column: str, domain: Domain, groups: int, looks_again: bool) -> QuantileGrid:
        why = "A quantile is the value below which a share of the rows lies."
        numbers = require_numbers(column, domain, "order", why)
        room = MOST - (groups - 1).bit_length()
        one_by_one = numbers.possible(1 << min(ONLY, room))
        if one_by_one is not None:
            return cls(column, numbers, one_by_one, 0, True)
        around = numbers.interval
        bits = min(FINE if looks_again else min(ONLY, room), most_cells(around).bit_length() - 1)
        shift = max(bits - min(COARSE, room), 0) if looks_again else 0
        return cls(column, numbers, around.fine(bits), shift, False)

    @property
    def bounds(self) -> tuple[float, float]:
        return self.numbers.bounds

    @property
    def whole(self) -> bool:
        """Whether values are whole numbers."""
        return self.numbers.whole

    @cached_property
    def grain(self) -> Fraction | None:
        """The public granularity: answers and ends of intervals are multiples of it, or else whole numbers."""
        return None if self.whole else self.numbers.grain

    @property
    def cells(self) -> int:
        return self.domain.size

    @property
    def coarse(self) -> Code:
        """What the first look counts: runs of cells, by the same rule."""
        return Code(self.column, self.domain.interval.coarser(self.shift) if self.shift else self.domain)

    def counted(self, counts: NDArray[np.int64]) -> CellCounts:
        """The records behind counts that say everything."""
        held = np.flatnonzero(counts)
        return CellCounts(held, counts[held], cells=self.cells)

    def records(
        self,
        counts: NDArray[np.int64],
        tally: Tallier,
        by: Code | None,
        ranks: Callable[[int], list[tuple[int, int]]],
    ) -> tuple[Sequence[CellCounts | LookedUp], Callable[[list[NDArray[np.int64]]], None] | None]:
        """The records of each group behind the counts of the first look, a row for each group; and how to look again.

        ``ranks`` tells which ones are likely to be asked for: groups share a second look around them, or one at cells
        of each of them that are known later.
        """
        if self.shift == 0:
            return [self.counted(row) for row in counts], None

        def look(spans: list[tuple[int, int]]) -> Tally:
            return tally(Code(self.column, self.domain), spans, by)

        groups = Groups(counts, shift=self.shift, cells=self.cells, look=look)
        groups.prepare(ranks)
        return groups.records, groups.look_at

    @property
    def rounding(self) -> float:
        """How far what is released for a cell is from a value in it, at the most."""
        if self.granular or (self.grain is not None and self.domain.step < self.grain / 2):
            return 0.0
        return self.domain.step / 2 + float(self.grain or 0) / 2

    @property
    def places(self) -> tuple[int | None, int | None]:
        """Powers of ten: quantiles are nearer than their intervals tell, and lie on multiples of a granularity."""
        low, high = self.bounds
        finest = 0 if self.whole else None if self.grain is None else last_place(low, float(self.grain))
        return place_of((high - low) / LEGIBLE), finest

    def _place(self, cells: NDArray[Any], into: float) -> NDArray[np.float64]:
        """The value that lies a part of the way through each cell, or the possible one next to it."""
        values = self.domain.places(cells + (0.5 if self.granular else into))
        return np.clip(np.round(values) if self.whole else self._on_grain(values, self.bounds[0]), *self.bounds)

    def value(self, cells: NDArray[Any]) -> NDArray[np.float64]:
        """What is released for a cell."""
        return self._place(cells, 0.5)

    def lower(self, cells: NDArray[Any]) -> NDArray[np.float64]:
        """The lower end of a cell."""
        return self._place(cells, 0.0)

    def upper(self, cells: NDArray[Any]) -> NDArray[np.float64]:
        """The upper end of a cell."""
        return self._place(cells, 1.0)

    def _on_grain(self, values: NDArray[np.float64], start: float) -> NDArray[np.float64]:
        """The multiples of the granularity, counted from ``start``, nearest to values: as the decimals that they are.

        Ends of intervals move to the nearest as well: rounding keeps the order, so that what lies between two places
        lies between their multiples after rounding, and a multiple stays what it is.
        """
        if self.grain is None:
            return values
        origin, multiples = exact(start), np.round((values - start) / float(self.grain)).tolist()
        return np.array([float(origin + int(k) * self.grain) for k in multiples], dtype=np.float64)

    def apart(self, low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
        """How far apart values are: 0.7 - 0.1 is 0.6, where tenths are public, and no double beside it."""
        return self._on_grain(high - low, 0.0)
