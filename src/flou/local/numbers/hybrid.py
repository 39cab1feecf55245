"""Hybrid: one bit or a window, by a coin that does not depend on the answer.

Law        with probability b M / Z the report of ``Duchi``, otherwise that of ``Piecewise``, with M reports, w of them
           in a window, b = e^-epsilon, Z = w + b (M - w); which of the two it is can be seen. Where Duchi's alone has
           less variance (epsilon below about 0.6) it is always Duchi's
Guarantee  epsilon-DP for one person's number, in one report
Why        the coin is the same for all answers, and both reports are epsilon-DP
Error      unbiased, being a mixture of unbiased reports; the variance is the mixture of theirs. The window's grows with
           u^2, the bit's falls with it, and at this coin the two cancel: it is the same for all answers
Choice     w is that of the least variance; published is w near a s e^(-epsilon / 2), where the coin is e^(-epsilon / 2)
Numerics   exact: all coins are enclosed as finely as needed
Limits     whether a report is a bit or a window is visible; ``Designed`` has less variance up to epsilon = 8 or so
Source     Wang, Xiao, Yang et al. (2019)
Proof      docs/explanation/proofs/local_numbers.md
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from flou.arrays import Ints
from flou.bits import SYSTEM, Bits
from flou.laws import Bernoulli
from flou.laws.enclosure import affine, exp_minus, quotient
from flou.laws.tabulated import Tabulated
from flou.local.aggregate import Aggregate
from flou.local.numbers.duchi import Duchi
from flou.local.numbers.mean_randomiser import MeanRandomiser, ReportMoments, nothing
from flou.local.numbers.number_randomiser import Scale
from flou.local.numbers.piecewise import Piecewise, least
from flou.parameters import Number, choice

__all__ = ["Hybrid"]


class Hybrid(MeanRandomiser):
    """Reports 0 and 1 are the bit's; those of the window follow."""

    name = "hybrid"

    def __init__(
        self,
        domain: Scale,
        *,
        epsilon: Number,
        width: Literal["best", "published"] = "best",
        unit: str = "person",
    ) -> None:
        super().__init__(domain, epsilon=epsilon, unit=unit)
        self.duchi = Duchi(self.domain, epsilon=epsilon, unit=unit)  # makes a report when the coin shows 1
        self.piecewise = Piecewise(self.domain, epsilon=epsilon, width="published", unit=unit)  # and when it shows 0
        if choice("width", width, ("best", "published")) == "best":
            best = least(self._constant, 1, self.piecewise.travel)
            self.piecewise = Piecewise(self.domain, epsilon=epsilon, width=best, unit=unit)

    def _constant(self, width: int) -> float:
        """The variance with windows of this width, whatever the answer."""
        slope, constant = self.piecewise.coefficients(width)
        return (constant + slope * self.duchi.bound**2) / (1 + slope)

    @cached_property
    def coin(self) -> Bernoulli:
        """1: the report is one bit."""
        b, windows = exp_minus(self.epsilon), self.piecewise
        if self._constant(windows.width) >= self.duchi.unit_variance(0.0):
            return Bernoulli(1)
        total = affine(b, times=windows.travel, plus=windows.width)
        return Bernoulli(quotient(affine(b, times=windows.cells), total))

    def _mixture(self, share: float, position: float) -> float:
        one, other = self.duchi.unit_variance(position), self.piecewise.unit_variance(position)
        return share * one + (1 - share) * other

    def parameters(self) -> dict[str, Any]:
        return {**self.piecewise.parameters(), "bit": self.coin.p}

    def law(self, answer: int) -> Tabulated:
        near = self.piecewise.law(answer).pmf(np.arange(self.cells - 2))
        bit = self.duchi.law(answer).pmf([0, 1])
        code = np.array([int(answer)])
        return Tabulated(
            np.concatenate([self.coin.p * bit, self.coin.q * near]),
            lambda size, bits: self.sample(np.repeat(code, size), bits=bits),
        )

    def sample(self, answer: Ints, *, bits: Bits = SYSTEM) -> NDArray[Any]:
        one = self.coin.draw(answer.size, bits) == 1
        result = np.empty(answer.size, dtype=np.int64)
        result[one] = self.duchi.sample(answer[one], bits=bits)
        result[~one] = 2 + self.piecewise.sample(answer[~one], bits=bits)
        return result

    @property
    def cells(self) -> int:
        return 2 if self.coin.p == 1 else 2 + self.piecewise.cells

    @property
    def tallies(self) -> int:
        return 2 + self.piecewise.tallies

    def tally(self, reports: NDArray[Any]) -> Ints:
        near = reports[reports >= 2] - 2
        ones = np.count_nonzero(reports == 1)
        return np.concatenate([[near.size, ones], self.piecewise.tally(near)]).astype(np.int64)

    def possible(self, people: int, sums: Ints) -> bool:
        near, ones = int(sums[0]), int(sums[1])
        return 0 <= near <= people and 0 <= ones <= people - near and self.piecewise.possible(near, sums[2:])

    def unit_variance(self, position: float) -> float:
        return self._mixture(self.coin.p, position)

    @property
    def worst_position(self) -> float:
        middle = self.duchi.worst_position
        return max((middle, 1.0), key=self.unit_variance)

    def moments(self, aggregate: Aggregate) -> ReportMoments:
        if aggregate.people == 0:
            return nothing(self.unit_variance(self.worst_position))
        near = Aggregate._of(self.piecewise, int(aggregate.sums[0]), aggregate.sums[2:])
        bits = Aggregate._of(self.duchi, aggregate.people - near.people, aggregate.sums[1:2])
        parts = [one for one in (self.piecewise.moments(near), self.duchi.moments(bits)) if one.people]
        mean = math.fsum(one.people * one.mean for one in parts) / aggregate.people
        square = math.fsum(one.people * (one.total + min(one.mean**2, 1.0)) for one in parts) / aggregate.people
        noise = self._noise(parts[0], mean)
        return ReportMoments(aggregate.people, mean, noise, max(square - min(mean**2, 1.0), noise))

    def _noise(self, part: ReportMoments, mean: float) -> float:
        """The variance at the u^2 that the windows' reports show; without any, at the square of the mean."""
        at_end, in_middle = self.piecewise.unit_variance(1.0), self.piecewise.unit_variance(0.0)
        seen = self.coin.p < 1
        square = (part.noise - in_middle) / (at_end - in_middle) if seen else min(mean**2, 1.0)
        return self.unit_variance(math.sqrt(min(max(square, 0.0), 1.0)))
