"""A picture as it is described: panels with two axes each, and marks on them in the units of the axes.

A description holds public values only, and says nothing about pixels and colours beyond what kind of thing a mark is.
Both back ends (``matplotlib.py``, ``svg.py``) draw the same description.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal, TypeAlias

from flou.render.axis import Lanes, Scale

__all__ = [
    "BandMark",
    "BarMark",
    "BoxMark",
    "CellMark",
    "IntervalMark",
    "LineMark",
    "Mark",
    "Of",
    "Panel",
    "Picture",
    "PointMark",
    "RuleMark",
]

Of: TypeAlias = Literal["data", "population"]
Pair: TypeAlias = tuple[float, float]
Numbers: TypeAlias = tuple[float, ...]
WIDE = 720  # pixels of a picture, but on a phone
SHADE = 0.45  # of the darkest cell: a text on it can still be read
BESIDE = 4  # panels side by side, at the most


@dataclass(frozen=True)
class BarMark:
    """A rectangle from zero to a value; ``told`` is what it says when it is pointed at."""

    x: Pair
    y: Pair
    told: str = ""


@dataclass(frozen=True)
class PointMark:
    """A released value."""

    x: float
    y: float
    told: str = ""


@dataclass(frozen=True)
class IntervalMark:
    """From ``low`` to ``high``, across at ``at``, or upright there; an end that is not on the axis is an arrow."""

    low: float
    high: float
    at: float
    of: Of
    upright: bool = False

    def ends(self, axis: Scale) -> list[tuple[float, int]]:
        """Where the ends lie, and whether they have a cap (0) or an arrow, down (-1) or up (1).

        An interval beyond the axis has one arrow; one that is not known has no ends.
        """
        if math.isnan(self.low) or math.isnan(self.high):
            return []
        both = ((self.low, -1, self.low > axis.high), (self.high, 1, self.high < axis.low))
        return [(axis.clamped(end), 0 if axis.holds(end) else way) for end, way, gone in both if not gone]


@dataclass(frozen=True)
class LineMark:
    """A function, from point to point."""

    x: Numbers
    y: Numbers

    @classmethod
    def steps(cls, x: Sequence[float], y: Sequence[float]) -> LineMark:
        """From each point on, its value, up to the next point."""
        return cls(_twice(x)[1:], _twice(y)[:-1])


@dataclass(frozen=True)
class BandMark:
    """What lies between two functions."""

    x: Numbers
    low: Numbers
    high: Numbers
    of: Of

    @classmethod
    def steps(cls, x: Sequence[float], low: Sequence[float], high: Sequence[float], of: Of, *, jumps: bool) -> BandMark:
        """Around steps. A function that does not jump lies, up to the next point, below its upper end there."""
        upper = high if jumps else [*high[1:], high[-1]]
        return cls(_twice(x)[1:], _twice(low)[:-1], _twice(upper)[:-1], of)


@dataclass(frozen=True)
class BoxMark:
    """A box with whiskers around its middle: five numbers, from the lowest on, in a lane."""

    five: tuple[float, float, float, float, float]
    at: float
    half: float  # its height, halved
    told: str = ""


@dataclass(frozen=True)
class CellMark:
    """A cell of a matrix: a number with its interval as texts, and a shade from -1 to 1."""

    x: int
    y: int
    text: str
    between: str
    shade: float
    told: str = ""


@dataclass(frozen=True)
class RuleMark:
    """A line across all lanes, at a number that matters."""

    x: float


Mark: TypeAlias = BarMark | PointMark | IntervalMark | LineMark | BandMark | BoxMark | CellMark | RuleMark


@dataclass(frozen=True)
class Panel:
    """Two axes and what is drawn on them; the marks that come first lie behind the others."""

    x: Scale | Lanes
    y: Scale | Lanes
    marks: tuple[Mark, ...]
    title: str = ""
    tall: float = 240.0  # pixels, where the upright axis is one of numbers

    @property
    def height(self) -> float:
        """What the marks need, in pixels."""
        return self.y.pitch * len(self.y.names) if isinstance(self.y, Lanes) else self.tall


@dataclass(frozen=True)
class Picture:
    """All panels, what their marks mean, and the whole in words."""

    title: str
    description: str  # for those who do not see it
    panels: tuple[Panel, ...]
    key: tuple[tuple[str, str], ...]  # marks, by name, and their meaning
    caption: str = ""
    note: str = ""  # what is not drawn
    least: float = 160.0  # pixels that a panel needs from left to right

    def columns(self, width: float) -> int:
        """How many panels lie side by side on ``width`` pixels; the rows are about equally full."""
        many = len(self.panels)
        fitting = min(max(int(width // self.least), 1), BESIDE, many)
        return math.ceil(many / math.ceil(many / fitting))


def _twice(numbers: Sequence[float]) -> Numbers:
    return tuple(chain.from_iterable((x, x) for x in numbers))
