"""The grid on which quantiles are looked for: fine enough for any number of rows, or as coarse as the data are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flou.central.looked_up import Groups, LookedUp
from flou.central.question import Tallier
from flou.domain import Boolean, Categories, Integers, Interval
from flou.errors import InvalidParameter
from flou.mechanisms.quantiles import CellCounts
from flou.summaries.request import LARGEST_CODE, Code
from flou.summaries.rows import Tally

__all__ = ["QuantileGrid"]

FINE = LARGEST_CODE.bit_length() - 1
COARSE = 16  # bits of the first look
ONLY = 20  # bits of the only look, where there is no second one, and of possible values that are looked at one by one
MOST = 26  # bits of all tables of the first look together


@dataclass(frozen=True)
class QuantileGrid:
    """Cells of a column, and how many of their last bits the first look leaves out."""

    column: str
    domain: Interval | Integers | Boolean
    shift: int
    bounds: tuple[float, float]
    granular: bool  # whether a cell holds one possible value only: its middle
    whole: bool  # whether values are whole numbers

    @classmethod
    def of(cls, column: str, domain: Any, groups: int, looks_again: bool) -> QuantileGrid:
        if isinstance(domain, Categories):
            raise InvalidParameter(
                f"Column {column!r} holds categories, which have no order.",
                "A quantile is the value below which a share of the rows lies.",
                "Ask for its histogram, or declare the column as an interval or as integers.",
            )
        room = MOST - (groups - 1).bit_length()
        bounds = (0.0, 1.0) if isinstance(domain, Boolean) else (float(domain.lower), float(domain.upper))
        one_by_one = _possible_values(domain)
        if one_by_one is not None and one_by_one.size <= 1 << min(ONLY, room):
            return cls(column, one_by_one, 0, bounds, True, isinstance(domain, Integers | Boolean))
        if isinstance(domain, Integers):
            missing = float(domain.lower + domain.missing_code)
            domain = Interval(domain.lower - 0.5, domain.upper + 0.5, missing=missing)
        whole = bounds != (domain.lower, domain.upper)
        if not looks_again:
            return cls(column, domain.with_cells(1 << min(ONLY, room)), 0, bounds, False, whole)
        return cls(column, domain.with_cells(LARGEST_CODE), FINE - min(COARSE, room), bounds, False, whole)

    @property
    def cells(self) -> int:
        return self.domain.size

    @property
    def coarse(self) -> Code:
        """What the first look counts: doubles scale exactly by powers of two, so that its cells are runs of cells."""
        if self.shift == 0:
            return Code(self.column, self.domain)
        assert isinstance(self.domain, Interval)
        return Code(self.column, self.domain.with_cells(self.cells >> self.shift))

    def counted(self, counts: NDArray[np.int64]) -> CellCounts:
        """The records behind counts that say everything."""
        held = np.flatnonzero(counts)
        return CellCounts(held, counts[held], cells=self.cells)

    def records(
        self,
        counts: NDArray[np.int64],
        tally: Tallier | None,
        by: Code | None,
        ranks: Callable[[int], list[tuple[int, int]]],
    ) -> Sequence[CellCounts | LookedUp]:
        """The records of each group behind the counts of the first look, a row for each group.

        ``ranks`` tells which ones are likely to be asked for: groups share a second look around them.
        """
        if self.shift == 0 or tally is None:
            return [self.counted(row) for row in counts]

        def look(spans: list[tuple[int, int]]) -> Tally:
            return tally(Code(self.column, self.domain), spans, by)

        groups = Groups(counts, shift=self.shift, cells=self.cells, look=look)
        groups.prepare(ranks)
        return groups.records

    @property
    def _step(self) -> float:
        return self.domain.step if isinstance(self.domain, Interval) else 1.0

    @property
    def rounding(self) -> float:
        """How far the middle of a cell is from a value in it, at the most."""
        return 0.0 if self.granular else self._step / 2

    def _place(self, cells: NDArray[Any], into: float) -> NDArray[np.float64]:
        """The value that lies a part of the way through each cell."""
        start = self.domain.lower if isinstance(self.domain, Interval) else self.bounds[0]
        part = (0.5 if isinstance(self.domain, Interval) else 0.0) if self.granular else into
        values = start + (cells + part) * self._step
        return np.clip(np.round(values) if self.whole else values, *self.bounds)

    def value(self, cells: NDArray[Any]) -> NDArray[np.float64]:
        """What is released for a cell."""
        return self._place(cells, 0.5)

    def lower(self, cells: NDArray[Any]) -> NDArray[np.float64]:
        """The lower end of a cell."""
        return self._place(cells, 0.0)

    def upper(self, cells: NDArray[Any]) -> NDArray[np.float64]:
        """The upper end of a cell."""
        return self._place(cells, 1.0)


def _possible_values(domain: Any) -> Interval | Integers | Boolean | None:
    """A cell for every possible value, where they are known: whole numbers, multiples of a public granularity."""
    if not isinstance(domain, Interval):
        found: Integers | Boolean = domain
        return found
    grain, width = domain.granularity, domain.upper - domain.lower
    if grain is None or abs(width / grain - round(width / grain)) > 1e-9 * (width / grain):
        return None
    ends = (domain.lower - grain / 2, domain.upper + grain / 2)
    return Interval(*ends, cells=round(width / grain) + 1, missing=domain.missing)
