"""Piecewise: a number near the answer, in a window that moves in proportion to the answer.

Law        codes 0..s; reports 0..M-1, M = w + a s; the window of code i is a i, ..., a i + w - 1; each report in it has
           probability 1 / Z, each other one b / Z, b = e^-epsilon, Z = w + b (M - w)
Guarantee  epsilon-DP for one person's number, in one report
Why        all windows have w cells, so the ratio of two probabilities is 1, e^epsilon or e^-epsilon
Error      with v = 2 y - (M - 1) and u = 2 i / s - 1, E v = (1 - b) w a s u / Z exactly, so that v Z / ((1 - b) w a s)
           is unbiased; its variance is A u^2 + C, A = b M / ((1 - b) w), largest at the two ends
Choice     w is the whole number of the least variance at the ends. The published one, near a s e^(-epsilon / 2), is too
           wide for that when epsilon is large (0.241 instead of 0.162 at 4). a > 1 refines small grids
Numerics   exact: a coin enclosed as finely as needed, and a uniform integer
Limits     below epsilon = 1.3 one bit (``Duchi``) has less variance; ``Designed`` has less than both
Source     Wang, Xiao, Yang et al. (2019)
Proof      docs/explanation/proofs/local_numbers.md
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

from numpy.typing import NDArray

from flou.arrays import Ints
from flou.local.aggregate import Aggregate
from flou.local.numbers.mean_randomiser import (
    MeanRandomiser,
    ReportMoments,
    mean_of_squares,
    nothing,
    possible_squares,
    spread,
    sums_of_squares,
)
from flou.local.numbers.number_randomiser import Scale
from flou.local.numbers.window_randomiser import WindowRandomiser
from flou.parameters import Number, choice, integer

__all__ = ["Piecewise", "least"]

FINE = 2**12  # steps of the window, at least: coarser ones would add variance of their own


class Piecewise(WindowRandomiser, MeanRandomiser):
    """A window whose place is a linear function of the number, on a grid of reports that is wider than the answers'."""

    name = "piecewise"

    def __init__(
        self,
        domain: Scale,
        *,
        epsilon: Number,
        width: Literal["best", "published"] | int = "best",
        unit: str = "person",
    ) -> None:
        super().__init__(domain, epsilon=epsilon, unit=unit)
        if isinstance(width, str):
            choice("width", width, ("best", "published"))
            best = least(lambda w: sum(self.coefficients(w)), 1, self.travel)
            width = best if width == "best" else max(1, round(self.travel * math.exp(-self.epsilon / 2)))
        self.width = integer("width", width, 1, self.travel)  # w: how many reports a window holds

    @property
    def stride(self) -> int:
        """a: by how many reports the window moves from a code to the next."""
        return -(-FINE // self.steps)

    @property
    def travel(self) -> int:
        """a s: by how many reports the window moves from the first code to the last."""
        return self.stride * self.steps

    @property
    def cells(self) -> int:
        return self.width + self.travel

    def parameters(self) -> dict[str, Any]:
        return {**super().parameters(), "width": self.width, "stride": self.stride}

    def window(self, codes: Ints) -> tuple[Ints, Ints]:
        start = codes * self.stride
        return start, start + self.width

    def _scale(self, width: int) -> float:
        """Z / ((1 - b) w a s)."""
        travel, b = self.travel, math.exp(-self.epsilon)
        return (width + b * travel) / (-math.expm1(-self.epsilon) * width * travel)

    def coefficients(self, width: int) -> tuple[float, float]:
        """A and C of the variance A u^2 + C."""
        travel, b, rise = self.travel, math.exp(-self.epsilon), -math.expm1(-self.epsilon)
        cells, total = width + travel, width + b * travel
        inside, everything = width * (width**2 - 1) / 3, cells * (cells**2 - 1) / 3
        return b * cells / (rise * width), self._scale(width) ** 2 * (rise * inside + b * everything) / total

    def unit_variance(self, position: float) -> float:
        slope, constant = self.coefficients(self.width)
        return slope * position**2 + constant

    @property
    def worst_position(self) -> float:
        return 1.0

    @property
    def tallies(self) -> int:
        return 3

    def tally(self, reports: NDArray[Any]) -> Ints:
        return sums_of_squares(reports)

    def possible(self, people: int, sums: Ints) -> bool:
        return possible_squares(people, sums, self.cells - 1)

    def moments(self, aggregate: Aggregate) -> ReportMoments:
        if aggregate.people == 0:
            return nothing(self.unit_variance(1.0))
        mean, square = mean_of_squares(aggregate.sums, aggregate.people, self.cells - 1)
        scale, (slope, constant) = self._scale(self.width), self.coefficients(self.width)
        mean, square = scale * mean, scale**2 * square
        noise = slope * spread(square, 1 + slope, constant, mean) + constant
        return ReportMoments(aggregate.people, mean, noise, max(square - min(mean**2, 1.0), noise))


def least(cost: Callable[[int], float], low: int, high: int) -> int:
    """The place of the least cost, for a cost that falls and then rises."""
    while low < high:
        middle = (low + high) // 2
        if cost(middle + 1) < cost(middle):
            low = middle + 1
        else:
            high = middle
    return low
