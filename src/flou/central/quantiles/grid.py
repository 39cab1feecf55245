"""The grid on which quantiles are looked for: fine enough for any number of rows, or as coarse as the data are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from flou.central.quantiles.second_look import Groups, LookedUp
from flou.domain import Boolean, Categories, Integers, Interval
from flou.domain.interval import most_cells
from flou.errors import InvalidParameter
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
LEGIBLE = 100  # parts of the range that are told apart in print, however wide an interval is
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
    grain: Fraction | None = None  # the public granularity: answers and ends of intervals are multiples of it

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
        one_by_one = _possible_values(domain, 1 << min(ONLY, room))
        if one_by_one is not None:
            return cls(column, one_by_one, 0, bounds, True, isinstance(domain, Integers | Boolean), _grain(domain))
        if isinstance(domain, Integers):
            missing = float(domain.lower + domain.missing_code)
            domain = Interval(domain.lower - 0.5, domain.upper + 0.5, missing=missing)
        whole = bounds != (domain.lower, domain.upper)
        bits = min(FINE if looks_again else min(ONLY, room), most_cells(domain).bit_length() - 1)
        shift = max(bits - min(COARSE, room), 0) if looks_again else 0
        return cls(column, domain.fine(bits), shift, bounds, False, whole, _grain(domain))

    @property
    def cells(self) -> int:
        return self.domain.size

    @property
    def coarse(self) -> Code:
        """What the first look counts: runs of cells, by the same rule."""
        if self.shift == 0:
            return Code(self.column, self.domain)
        assert isinstance(self.domain, Interval)
        return Code(self.column, self.domain.coarser(self.shift))

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
    def _step(self) -> float:
        return self.domain.step if isinstance(self.domain, Interval) else 1.0

    @property
    def rounding(self) -> float:
        """How far what is released for a cell is from a value in it, at the most."""
        if self.granular or (self.grain is not None and self._step < self.grain / 2):
            return 0.0
        return self._step / 2 + float(self.grain or 0) / 2

    @property
    def places(self) -> tuple[int | None, int | None]:
        """Powers of ten: quantiles are nearer than their intervals tell, and lie on multiples of a granularity."""
        low, high = self.bounds
        finest = 0 if self.whole else None if self.grain is None else last_place(low, float(self.grain))
        return place_of((high - low) / LEGIBLE), finest

    def _place(self, cells: NDArray[Any], into: float) -> NDArray[np.float64]:
        """The value that lies a part of the way through each cell, or the possible one next to it."""
        start = self.domain.lower if isinstance(self.domain, Interval) else self.bounds[0]
        part = (0.5 if isinstance(self.domain, Interval) else 0.0) if self.granular else into
        values = start + (cells + part) * self._step
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


def _multiples(domain: Any) -> int | None:
    """How many multiples of a public granularity there are from bound to bound, if these are some."""
    if not isinstance(domain, Interval) or domain.granularity is None:
        return None
    steps = (domain.upper - domain.lower) / domain.granularity
    return round(steps) + 1 if abs(steps - round(steps)) <= 1e-9 * steps else None


def _grain(domain: Any) -> Fraction | None:
    """The public granularity, if the bounds fit it: as exact as they are, 1/3 of a unit too."""
    many = _multiples(domain)
    return None if many is None else (exact(domain.upper) - exact(domain.lower)) / (many - 1)


def _possible_values(domain: Any, most: int) -> Interval | Integers | Boolean | None:
    """A cell for every possible value, where they are known and not too many: whole numbers, multiples."""
    if not isinstance(domain, Interval):
        found: Integers | Boolean = domain
        return found if found.size <= most else None
    many, grain = _multiples(domain), domain.granularity
    if many is None or grain is None or many > most:
        return None
    return Interval(domain.lower - grain / 2, domain.upper + grain / 2, cells=many, missing=domain.missing)
