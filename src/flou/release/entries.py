"""A release line by line, ready to be shown: label, value, both intervals, and the digits worth reading."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from flou.release.digits import DOWN, UP, place_of, written
from flou.release.uncertainty import Interval

if TYPE_CHECKING:
    from flou.release.release import Release

__all__ = ["Entry", "entries", "worth_drawing"]

Pair = tuple[float, float]
VAGUE = 20  # times as wide as the usual interval


@dataclass(frozen=True)
class Entry:
    """One number of a release, with its intervals for these rows and for the population."""

    label: str
    value: Any
    data: Pair
    population: Pair
    place: int | None

    @property
    def text(self) -> str:
        """The value with the digits worth reading."""
        return written(self.value, self.place)

    def between(self, pair: Pair) -> str:
        """An interval, rounded outwards."""
        if all(math.isnan(end) for end in pair):
            return ""
        return f"{written(pair[0], self.place, DOWN)} to {written(pair[1], self.place, UP)}"

    @property
    def texts(self) -> tuple[str, str, str]:
        """The value, its interval for these rows, and its interval for the population."""
        return self.text, self.between(self.data), self.between(self.population)

    @property
    def is_number(self) -> bool:
        """Whether it can be drawn: a text has no place on an axis."""
        value = self.value
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)

    @property
    def numbers(self) -> list[float]:
        """All that has to fit on an axis."""
        return [x for x in (self.value, *self.data, *self.population) if self.is_number and math.isfinite(x)]


def entries(release: Release, level: float = 0.95) -> list[Entry]:
    """Every number of a release; all of them are rounded to the same place."""
    values = np.atleast_1d(np.asarray(release.value, dtype=object)).ravel().tolist()
    labels = (release.title,) if release.labels is None else release.labels
    data, population = (_pairs(release.interval(level, of=of), len(values)) for of in ("data", "population"))
    widths = [high - low for low, high in data if high > low]
    place = min((found for width in widths if (found := place_of(width)) is not None), default=None)
    coarsest, finest = release.uncertainty.places
    if place is not None and coarsest is not None:
        place = min(place, coarsest)
    if finest is not None:
        place = finest if place is None else max(place, finest)
    if all(isinstance(value, int) for value in values):
        place = 0
    return [Entry(*line, place) for line in zip(labels, values, data, population, strict=True)]


def worth_drawing(lines: Sequence[Entry]) -> list[float]:
    """The numbers that an axis should hold; a group about which next to nothing is known squeezes no other."""
    drawn = [line for line in lines if line.is_number]
    widths = sorted(width for line in drawn if math.isfinite(width := line.data[1] - line.data[0]))
    usual = widths[len(widths) // 2] if widths else math.inf
    known = [line for line in drawn if not line.data[1] - line.data[0] > VAGUE * usual]
    return [number for line in known or drawn for number in line.numbers]


def _pairs(interval: Interval, count: int) -> list[Pair]:
    low, high = ([_number(x) for x in np.ravel(np.asarray(end, dtype=object)).tolist()] for end in interval)
    pairs = list(zip(low, high, strict=True))
    return pairs * count if len(pairs) == 1 else pairs


def _number(end: Any) -> float:
    return float(end) if isinstance(end, int | float) else math.nan
