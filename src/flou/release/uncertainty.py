"""What is known about the error of a release: intervals for the data at hand, and for the population behind it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, TypeAlias

from numpy.typing import NDArray

__all__ = ["Interval", "NoiseAndSampling", "Uncertainty"]

Bound: TypeAlias = float | NDArray[Any]
Interval: TypeAlias = tuple[Bound, Bound]


class Uncertainty(ABC):
    """Intervals from the exact law of the noise; for the population, from noise and sampling together."""

    @abstractmethod
    def data(self, level: float) -> Interval:
        """Where the same statistic of these very rows lies (after clamping to the public bounds)."""

    @abstractmethod
    def population(self, level: float) -> Interval:
        """Where the statistic of the population lies, if the rows are independent draws from it."""

    @property
    @abstractmethod
    def grid(self) -> float:
        """How far rounding to the public grid can have moved the value, at the most."""


class NoiseAndSampling(Uncertainty):
    """An uncertainty whose two intervals are one computation, with the sampling error left out or put in."""

    @abstractmethod
    def _interval(self, level: float, sampling: bool) -> Interval:
        """The interval from the noise, and from sampling too if asked for."""

    def data(self, level: float) -> Interval:
        return self._interval(level, sampling=False)

    def population(self, level: float) -> Interval:
        return self._interval(level, sampling=True)
