"""A real number between public bounds, on a grid of equal cells.

Rule       code = floor((x - lower) / step), clamped to 0, ..., cells - 1, in steps that cannot be rounded into
           another cell (``rule.py``)
Out        values below and above the bounds, infinities included, fall into the first and the last cell
Missing    NULL, NaN and everything that is not a number (texts are not parsed, dates are not counted) fall
           into the cell of the public value ``missing``
Numerics   a row's code is the same on every engine and in every company, because no step of the rule depends on
           how an engine rounds. Grids of more than about four million cells that are not whole numbers of units have
           no such rule: their codes are plain double operations in NumPy, and engines are not asked for them
Edges      a value that is an edge in decimal (0.6 when step is 0.1) lies in the cell that begins there
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from flou.domain.column import checked_codes
from flou.domain.domain import Numbers
from flou.domain.rule import Cells, Units
from flou.domain.table import checked_bounds, checked_table
from flou.errors import InvalidParameter
from flou.parameters import exact, integer, is_number, plain, shown

__all__ = ["Interval"]

DEFAULT_CELLS = 2**16
MOST_CELLS = 2**52  # the middle of every cell is still a double
EXAMPLE = {"upper": 100, "step": 1, "granularity": 1}
MOST_EDGES = 2**26  # half a gigabyte


@dataclass(frozen=True, slots=True, init=False)
class Interval(Numbers):
    """Real numbers between ``lower`` and ``upper``, cut into ``cells`` cells of width ``step``.

    Give ``cells`` or ``step``; without both, the step is the ``granularity`` of the values when that is
    public (pay in whole euros: 1), and otherwise there are 65536 cells.
    """

    kind: ClassVar[str] = "interval"
    about: ClassVar[str] = "a number between public bounds"
    lines: ClassVar[str] = """\
bounds = []                     # for example [0, 300_000]: values outside count as the nearest bound
# granularity = 1               # optional: pay comes in whole euros
# missing = 0                   # optional: what a missing value counts as; the middle of the bounds otherwise
"""
    declared: ClassVar[tuple[str, ...]] = ("FLOAT", "DOUBLE", "DECIMAL")
    discrete: ClassVar[bool] = False

    lower: float
    upper: float
    cells: int
    step: float = field()
    granularity: float | None = field()
    missing: float
    rule: Cells = field(init=False, repr=False)

    def __init__(
        self,
        lower: float,
        upper: float,
        *,
        cells: int | None = None,
        step: float | None = None,
        granularity: float | None = None,
        missing: float | None = None,
    ) -> None:
        bottom, top = _finite("lower", lower), _finite("upper", upper)
        if not bottom < top or math.isinf(top - bottom):
            raise InvalidParameter(
                f"lower must be below upper by a finite amount, got {shown(lower)} and {shown(upper)}.",
                "Values are clamped to these public bounds, and the noise is proportional to their distance.",
                "Pass bounds that hold for the population, for example lower=0 and upper=100.",
            )
        grain = None if granularity is None else _width("granularity", granularity, top - bottom)
        if step is None and cells is None and grain is not None:
            count, width = _count("granularity", grain, top - bottom), grain
        elif step is None:
            count = DEFAULT_CELLS if cells is None else integer("cells", cells, 1, MOST_CELLS)
            width = (top - bottom) / count
        else:
            width = _width("step", step, top - bottom)
            count = _count("step", width, top - bottom)
            if cells is not None and integer("cells", cells, 1, MOST_CELLS) != count:
                raise InvalidParameter(
                    f"cells must be {count} when step is {shown(step)}, got {shown(cells)}.",
                    "The number of cells follows from their width.",
                    "Pass cells or step, not both.",
                )
        if width < _finest(bottom, top):
            chosen = cells is not None or step is not None or grain is not None
            raise InvalidParameter(
                f"cells must be wider than the rounding of a float, and {count} cells are too many for these bounds.",
                "Two neighbouring cells would have the same edge.",
                "Pass fewer cells or a larger step." if chosen else "Pass bounds that are farther apart, or cells.",
            )
        nothing = bottom + (top - bottom) / 2 if missing is None else _finite("missing", missing)
        if not bottom <= nothing <= top:
            raise InvalidParameter(
                f"missing must lie between lower and upper, got {shown(missing)}.",
                "Rows without a usable value are counted as this public value.",
                f"Pass a number from {plain(bottom)} to {plain(top)}, or leave it out for the middle.",
            )
        decimal = (exact(top) - exact(bottom)) / count if width == (top - bottom) / count else exact(width)
        self._fill(Cells(bottom, top, count, width, nothing, Units.of(bottom, top, count, decimal)), grain)

    def _fill(self, rule: Cells, granularity: float | None) -> None:
        """Give a new interval its fields."""
        values = rule.lower, rule.upper, rule.cells, rule.step, granularity, rule.missing, rule
        for one, value in zip(fields(self), values, strict=True):
            object.__setattr__(self, one.name, value)

    @property
    def units(self) -> Units | None:
        """The rule that is the same on every engine, where such a rule exists."""
        return self.rule.units

    @property
    def bounds(self) -> tuple[float, float]:
        return self.lower, self.upper

    @property
    def interval(self) -> Interval:
        return self

    @property
    def grain(self) -> Fraction | None:
        """As exact as the bounds are, even 1/3 of a unit."""
        many = self._multiples
        return None if many is None else (exact(self.upper) - exact(self.lower)) / (many - 1)

    @property
    def _multiples(self) -> int | None:
        """How many multiples of a public granularity there are from bound to bound, if the bounds are multiples."""
        if self.granularity is None:
            return None
        steps = (self.upper - self.lower) / self.granularity
        return round(steps) + 1 if abs(steps - round(steps)) <= 1e-9 * steps else None

    def possible(self, most: int) -> Interval | None:
        """A cell around each multiple of a public granularity."""
        many = self._multiples
        if many is None or self.granularity is None or many > most:
            return None
        half = self.granularity / 2
        return Interval(self.lower - half, self.upper + half, cells=many, missing=self.missing)

    def binned(self, column: str, bins: int) -> Interval:  # noqa: ARG002  every column has them
        return self.with_cells(bins)

    def named(self, codes: object) -> tuple[str, ...]:
        """From edge to edge."""
        names = [f"{a} to {b}" for a, b in pairwise(self.printed(self.edges()))]
        return tuple(names[code] for code in np.asarray(codes).tolist())

    def with_cells(self, cells: int) -> Interval:
        """The same bounds on another grid."""
        return Interval(self.lower, self.upper, cells=cells, granularity=self.granularity, missing=self.missing)

    def fine(self, bits: int) -> Interval:
        """The same bounds on 2^bits cells, at most 2^31, whose width is a whole number of units (``rule.py``).

        Together the cells are a little wider than the range, by less than 2^(bits - 49) of it: nothing
        between the bounds has to be clipped, and cells after the ``last`` stay empty.
        """
        units = Units.fine(self.lower, self.upper, bits)
        return self._on(replace(self.rule, cells=1 << bits, step=units.step, units=units))

    def coarser(self, bits: int) -> Interval:
        """A grid that has a rule for all engines, with cells that are 2^bits times as wide."""
        return self._on(self.rule.coarser(bits)) if bits else self

    def _on(self, rule: Cells) -> Interval:
        grid = object.__new__(Interval)
        grid._fill(rule, self.granularity)
        return grid

    def decode(self, codes: object) -> NDArray[np.float64]:
        """The middle of each cell."""
        return self.lower + (checked_codes(codes, self.cells).astype(np.float64) + 0.5) * self.step

    def edges(self) -> NDArray[np.float64]:
        """The ``cells + 1`` edges of the grid, the bounds included."""
        if self.cells > MOST_EDGES:
            raise InvalidParameter(
                f"cells must be at most {MOST_EDGES} to list the edges, got {self.cells}.",
                "The list would fill the memory.",
                "Compute lower + code * step for the codes that matter, or use with_cells.",
            )
        edges = self.lower + np.arange(self.cells + 1, dtype=np.float64) * self.step
        edges[-1] = self.upper
        return edges

    def to_dict(self) -> dict[str, Any]:
        """The domain as a TOML table; equal intervals give equal tables, however they were written."""
        table: dict[str, Any] = {"type": "interval", "bounds": [plain(self.lower), plain(self.upper)]}
        if self.granularity is not None:
            table["granularity"] = plain(self.granularity)
        if (self.upper - self.lower) / self.cells == self.step:
            table["cells"] = self.cells
        else:
            table["step"] = plain(self.step)
        table["missing"] = plain(self.missing)
        return table

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> Interval:
        """The domain that a TOML table describes."""
        optional = ("granularity", "cells", "step", "missing")
        settings = checked_table("interval", table, required=("type", "bounds"), optional=optional)
        del settings["type"]
        return cls(*checked_bounds(settings.pop("bounds")), **settings)


def _finite(name: str, value: Any) -> float:
    """A parameter as a finite double; minus zero is zero."""
    try:
        result = float(value) if is_number(value) else math.nan
    except (OverflowError, TypeError, ValueError):
        result = math.nan
    if not math.isfinite(result):
        raise InvalidParameter(
            f"{name} must be a finite number, got {shown(value)}.",
            "It is a public value, and rows are compared with it.",
            f"Pass a finite number, for example {name}={EXAMPLE.get(name, 0)}.",
        )
    return result + 0.0


def most_cells(interval: Interval) -> int:
    """The largest number of cells whose edges are different doubles."""
    span = interval.upper - interval.lower
    return min(MOST_CELLS, math.floor(span / _finest(interval.lower, interval.upper)))


def _finest(lower: float, upper: float) -> float:
    """The width of the narrowest cells whose edges are different doubles."""
    return max(math.ulp(lower), math.ulp(upper), 2.0**-1000)


def _width(name: str, value: Any, span: float) -> float:
    """A width of cells: positive and at most the distance of the bounds."""
    result = _finite(name, value)
    if not 0 < result <= span:
        raise InvalidParameter(
            f"{name} must be positive and at most upper - lower, got {shown(value)}.",
            "It is the width of a cell, and the bounds hold a whole number of cells.",
            f"Pass a smaller positive number, for example {name}={plain(span / 100)}.",
        )
    return result


def _count(name: str, width: float, span: float) -> int:
    """How many cells of this width lie between the bounds: a whole number, up to the rounding of doubles."""
    ratio = Fraction(span) / Fraction(width)
    count = round(ratio)
    if count > MOST_CELLS or abs(ratio - count) > min(Fraction(1, 4), Fraction(count, 10**9)):
        raise InvalidParameter(
            f"{name} must divide upper - lower into at most 2**52 whole cells, got {shown(width)}.",
            "All cells have the same width, and codes stay exact in doubles.",
            f"Move a bound, or pass another width, for example {name}={plain(span / 100)}.",
        )
    return count
