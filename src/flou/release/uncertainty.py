"""What is known about the error of a release: intervals for the data at hand, and for the population behind it."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["LEVEL", "Certain", "Curve", "Interval", "NoiseAndSampling", "Uncertainty", "accuracy_of", "half_width"]

Bound: TypeAlias = float | NDArray[Any]
Interval: TypeAlias = tuple[Bound, Bound]
LEVEL = 0.95  # of the intervals that certificates and pictures show


@dataclass(frozen=True, eq=False)
class Curve:
    """An increasing function as it is drawn: points, values, and two bands that hold at all points together."""

    name: str  # of the group; empty where there is only one curve
    places: NDArray[Any]
    values: NDArray[Any]
    data: tuple[NDArray[Any], NDArray[Any]]
    population: tuple[NDArray[Any], NDArray[Any]]
    jumps: bool  # whether it stays the same between two points; otherwise it lies between their values


class Uncertainty(ABC):
    """Intervals from the exact law of the noise; for the population, from noise and sampling together."""

    @abstractmethod
    def data(self, level: float) -> Interval:
        """Where the same statistic of these very rows lies (after clamping to the public bounds)."""

    @abstractmethod
    def population(self, level: float) -> Interval:
        """Where the statistic of the population lies, if the rows are independent draws from it."""

    def together(self, level: float, entries: int, of: str) -> Interval:
        """Intervals of all entries of a vector that hold together: by Bonferroni, where nothing better is known."""
        each = 1 - (1 - level) / entries
        return self.data(each) if of == "data" else self.population(each)

    def curves(self, level: float) -> tuple[Curve, ...]:
        """The entries as functions, a curve for each group; nothing where they are none."""
        del level
        return ()

    @property
    def places(self) -> tuple[int | None, int | None]:
        """The coarsest and the finest power of ten that values are worth writing to, where their intervals mislead."""
        return None, None

    @property
    @abstractmethod
    def grid(self) -> float:
        """How far rounding to the public grid can have moved the value, at the most."""


@dataclass(frozen=True, eq=False)
class Certain(Uncertainty):
    """A value about which there is nothing to be uncertain: it is public, or was chosen after the noise."""

    value: Bound

    def data(self, level: float) -> Interval:
        del level
        return self.value, self.value

    def population(self, level: float) -> Interval:
        return self.data(level)

    @property
    def grid(self) -> float:
        return 0.0


class NoiseAndSampling(Uncertainty):
    """An uncertainty whose two intervals are one computation, with the sampling error left out or put in."""

    @abstractmethod
    def _interval(self, level: float, sampling: bool) -> Interval:
        """The interval from the noise, and from sampling too if asked for."""

    def data(self, level: float) -> Interval:
        return self._interval(level, sampling=False)

    def population(self, level: float) -> Interval:
        return self._interval(level, sampling=True)


def accuracy_of(uncertainty: Uncertainty) -> dict[str, Any]:
    """Half the widths of 95 % intervals, by cause; of vectors the largest. No bound at all is written as None."""
    noise, total = half_width(uncertainty.data(LEVEL)), half_width(uncertainty.population(LEVEL))
    parts = {"noise": noise, "sampling": sampling_part(noise, total), "total": total}
    known = {name: part if math.isfinite(part) else None for name, part in parts.items()}
    return {"level": LEVEL, **known, "grid": uncertainty.grid}


def half_width(interval: Interval) -> float:
    """Of the widest entry; what is too wide for a double is infinite."""
    low, high = (np.asarray(end, dtype=float) for end in interval)
    with np.errstate(over="ignore"):
        return float(np.max(high - low) / 2)


def sampling_part(noise: float, total: float) -> float:
    """What sampling adds to the noise; NaN where the noise drowns everything, or squares are too large for doubles."""
    between = total * total - noise * noise
    return math.sqrt(max(between, 0.0)) if math.isfinite(between) else math.nan
