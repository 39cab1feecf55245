"""The mean of numbers from reports whose values have it as their expectation.

Law        each randomiser's own; a report stands for a number, whose expectation given the answer is the answer
Guarantee  each randomiser's own
Error      the mean of these numbers is unbiased. Around the mean of the respondents' answers its variance is the mean
           of their ``variance`` over n; around the population's mean it is the variance of one report over n
Numerics   reports are whole numbers; they and their squares are summed exactly, and rounding comes last
Limits     answers are codes: those of an interval stand for the middle of their cell. Intervals use the normal law
Proof      docs/explanation/proofs/local_numbers.md
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flou.arrays import Ints
from flou.domain import Numbers
from flou.laws.normal import ndtri
from flou.local.aggregate import Aggregate
from flou.local.certify import certified
from flou.local.numbers.number_randomiser import NumberRandomiser, Scale, ends, half_a_cell, numbers_of
from flou.parameters import Number
from flou.release import Release
from flou.release.uncertainty import Interval as Ends
from flou.release.uncertainty import NoiseAndSampling

__all__ = ["MeanRandomiser", "ReportMoments", "UnbiasedMeanUncertainty", "sums_of_squares"]

LOW = (1 << 20) - 1


@dataclass(frozen=True)
class ReportMoments:
    """What reports say, on the scale where the codes go from -1 to 1."""

    people: int
    mean: float  # of the answers, without bias
    noise: float  # the mean variance of a report, given the answer
    total: float  # the variance of a report


class MeanRandomiser(NumberRandomiser):
    """``domain``: an interval, integers, or a pair of bounds."""

    def __init__(self, domain: Scale, *, epsilon: Number, unit: str = "person") -> None:
        super().__init__(numbers_of(domain), epsilon=epsilon, unit=unit)

    @abstractmethod
    def unit_variance(self, position: float) -> float:
        """The variance of a report's number, for an answer at this position between -1 and 1, the two ends."""

    @abstractmethod
    def moments(self, aggregate: Aggregate) -> ReportMoments:
        """Mean and variances on the scale from -1 to 1."""

    @property
    @abstractmethod
    def worst_position(self) -> float:
        """Where the variance is largest."""

    @property
    def steps(self) -> int:
        """How many steps lead from the first code to the last."""
        return self.domain.size - 1

    def variance(self, value: float | None = None) -> float:
        """n times the variance of the estimate if all respondents have this value; by default the largest variance."""
        low, high = ends(self.domain)
        position = self.worst_position if value is None else 2 * (value - low) / (high - low) - 1
        return self.unit_variance(position) * ((high - low) / 2) ** 2

    def estimated(self, aggregate: Aggregate) -> Release:
        uncertainty = UnbiasedMeanUncertainty.of([self.moments(aggregate)], [self.domain])
        return certified(self, aggregate, "mean", float(uncertainty.centre[0]), uncertainty.single())


@dataclass(frozen=True, eq=False)
class UnbiasedMeanUncertainty(NoiseAndSampling):
    """Normal intervals around unbiased means, cut at the ends of the domain."""

    centre: NDArray[np.float64]
    people: NDArray[np.int64]
    noise: NDArray[np.float64]
    total: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    cell: float
    alone: bool = False

    @classmethod
    def of(cls, moments: list[ReportMoments], domains: list[Numbers]) -> UnbiasedMeanUncertainty:
        """The same in the units of the domains."""
        low, high = np.array([ends(domain) for domain in domains]).T
        half = (high - low) / 2
        return cls(
            centre=low + half * (1 + np.array([each.mean for each in moments])),
            people=np.array([each.people for each in moments]),
            noise=half**2 * np.array([each.noise for each in moments]),
            total=half**2 * np.array([each.total for each in moments]),
            lower=low,
            upper=high,
            cell=max(map(half_a_cell, domains)),
        )

    @property
    def grid(self) -> float:
        return self.cell

    def single(self) -> UnbiasedMeanUncertainty:
        """The same for one number instead of a vector."""
        return UnbiasedMeanUncertainty(**{**vars(self), "alone": True})

    def _interval(self, level: float, sampling: bool) -> Ends:
        variance = self.total if sampling else self.noise
        half = float(ndtri((1 + level) / 2)) * np.sqrt(variance / np.maximum(self.people, 1))
        half = np.where(self.people == 0, np.inf, half)
        low, high = (np.clip(end, self.lower, self.upper) for end in (self.centre - half, self.centre + half))
        return (float(low[0]), float(high[0])) if self.alone else (low, high)


def sums_of_squares(reports: Ints) -> Ints:
    """The sums of y, of the low 20 bits of y^2 and of its other bits, for y below 2^20: within 64 bits for 2^40 y."""
    squares = reports * reports
    return np.array([reports.sum(), (squares & LOW).sum(), (squares >> 20).sum()], dtype=np.int64)


def possible_squares(people: int, sums: Ints, largest: int) -> bool:
    """Whether ``people`` numbers y from 0 to ``largest`` can have these ``sums_of_squares``."""
    first, low, high = (int(part) for part in sums)
    second = low + (high << 20)
    within = 0 <= first <= people * largest and 0 <= low <= people * LOW and high >= 0
    return within and first**2 <= people * second and second <= largest * first


def mean_of_squares(sums: Ints, people: int, shift: int) -> tuple[float, float]:
    """The mean of 2 y - shift and that of its square, from ``sums_of_squares``, each rounded once."""
    first, low, high = (int(part) for part in sums)
    second = low + (high << 20)
    mean = (2 * first - people * shift) / people
    square = (4 * second - 4 * shift * first + people * shift**2) / people
    return mean, square


def spread(square: float, slope: float, constant: float, mean: float) -> float:
    """The mean u^2 of the answers, from E[report^2 | u] = slope u^2 + constant, between mean^2 and 1."""
    return min(max((square - constant) / slope, min(mean**2, 1.0)), 1.0)


def nothing(worst: float) -> ReportMoments:
    """The moments of an empty set of reports."""
    return ReportMoments(people=0, mean=0.0, noise=worst, total=math.inf)
