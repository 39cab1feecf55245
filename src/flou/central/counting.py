"""What a noisy count says: about the rows that were counted, and about the rate at which such rows come.

For the data the interval is that of the exact noise. For the population a count is Poisson (rows come and go), or
binomial where the number of rows is public; the interval holds every rate at which the noisy count is no surprise in
either direction. Noisy counts are first moved to what is possible. So near 0, and near all rows, a surprise can come
from one side only, and that side has the whole error probability: the interval is shorter and loses nothing.

Counts that were moved so that they add up are reported beside the noisy ones from which all intervals come: where the
moved count lies outside of its interval, that is stretched to hold it too, and loses no truth that it held.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flou.central.price import width_of
from flou.laws import Law
from flou.laws.normal import log_gamma
from flou.release import Uncertainty
from flou.release.uncertainty import Interval
from flou.theory.noise_and_sampling import Spread

__all__ = ["CountUncertainty"]

SMALL = 2000  # variances of counts, and widths of noises, up to which probabilities are summed over exactly


@dataclass(frozen=True, eq=False)
class CountUncertainty(Uncertainty):
    """Intervals for noisy counts, from any law of integer noise."""

    noisy: NDArray[np.int64]
    noise: Law
    rows: int | None  # of which the counts are a part, where that is public
    grouped: bool = True
    value: NDArray[np.int64] | None = None  # what was released, where it is not the noisy counts

    def data(self, level: float) -> Interval:
        y = self._possible
        high = y + self.noise.interval(level)[1] if self.rows is None else self.rows - self._least(self.rows - y, level)
        return self._shaped(self._least(y, level), high)

    def population(self, level: float) -> Interval:
        distinct, places = np.unique(self._possible, return_inverse=True)  # many bins, few different counts
        rates = np.array([self._rates(int(y), level) for y in distinct.tolist()]).reshape(-1, 2)
        ends = rates[places.reshape(self.noisy.shape)]
        return self._shaped(ends[..., 0], ends[..., 1])

    @property
    def _possible(self) -> NDArray[np.int64]:
        return np.clip(self.noisy, 0, self.rows)

    def _least(self, y: NDArray[np.int64], level: float) -> NDArray[np.int64]:
        """The least count at which y is not surprisingly large."""
        far, near = self.noise.interval(level)[1], self.noise.quantile(level)
        if self.rows is not None and self.rows <= 2 * far:
            return np.maximum(y - far, 0)
        one_sided = np.maximum(y - near, 0)  # the answer, if no y is surprisingly small at this count
        return np.where(one_sided <= far, one_sided, np.maximum(y - far, far + 1))

    def _shaped(self, low: NDArray[Any], high: NDArray[Any]) -> Interval:
        if self.value is not None:
            low, high = np.minimum(low, self.value), np.maximum(high, self.value)
        return (low, high) if self.grouped else (float(low.ravel()[0]), float(high.ravel()[0]))

    @property
    def grid(self) -> float:
        return 0.0

    def _rates(self, y: int, level: float) -> tuple[float, float]:
        tail = (1 - level) / 2
        most = float(self.rows) if self.rows is not None else math.inf
        start, step = float(y), max(4 * self._width, 4 * math.sqrt(max(y, 1)), 4.0)

        def too_large(rate: float) -> bool:
            p = self._at_least(y, rate)
            return p < tail or (p < 2 * tail and self._one_sided(rate, tail) == "below")

        def too_small(rate: float) -> bool:
            p = self._at_most(y, rate)
            return p < tail or (p < 2 * tail and self._one_sided(rate, tail) == "above")

        return _crossing(too_large, start, -step, 0.0), _crossing(too_small, start, step, most)

    def _one_sided(self, rate: float, tail: float) -> str:
        """The side of a rate on which no count is a surprise, not even 0 or all rows: the other one has both tails."""
        below = self._at_most(0, rate) >= tail
        above = self.rows is not None and self._at_least(self.rows, rate) >= tail
        return "" if below == above else "below" if below else "above"

    @property
    def _width(self) -> float:
        return width_of(self.noise)

    def _variance(self, rate: float) -> float:
        """Of the count over samples: Poisson, or binomial."""
        return rate if self.rows is None else rate * max(1 - rate / max(self.rows, 1), 0.0)

    def _is_smooth(self, rate: float) -> bool:
        return max(self._variance(rate), self._width) > SMALL

    def _at_least(self, y: int, rate: float) -> float:
        """P(count + noise >= y) when the expected count is ``rate``."""
        if self._is_smooth(rate):
            return self._spread(rate).above(y - 0.5 - rate)
        k, p = self._counts(rate)
        return float(np.dot(p, self.noise.sf(y - k - 1)))

    def _at_most(self, y: int, rate: float) -> float:
        if self._is_smooth(rate):
            return self._spread(rate).above(rate - y - 0.5)
        k, p = self._counts(rate)
        return float(np.dot(p, self.noise.cdf(y - k)))

    def _spread(self, rate: float) -> Spread:
        return Spread.of(self.noise, [1.0], math.sqrt(self._variance(rate)))

    def _counts(self, rate: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The counts that matter and their probabilities."""
        rows, reach = self.rows, math.ceil(10 * math.sqrt(self._variance(rate)) + 30)
        k = np.arange(max(0, math.floor(rate) - reach), math.floor(rate) + reach + 1)
        if rate == 0:
            return k, (k == 0).astype(np.float64)
        if rows is None:
            return k, np.exp(k * math.log(rate) - rate - log_gamma(k + 1.0))
        k = k[k <= rows]
        if rate >= rows:
            return k, (k == rows).astype(np.float64)
        choose = log_gamma(rows + 1.0) - log_gamma(k + 1.0) - log_gamma(rows - k + 1.0)
        return k, np.exp(choose + k * math.log(rate / rows) + (rows - k) * math.log1p(-rate / rows))


def _crossing(surprised: Any, start: float, step: float, limit: float) -> float:
    """Walk from a rate that is no surprise until it is one, and bisect; stop at the limit."""
    inside, outside = start, start + step
    while not surprised(outside := max(outside, limit) if step < 0 else min(outside, limit)):
        if outside == limit:
            return limit
        inside, outside, step = outside, outside + 2 * step, 2 * step
    for _ in range(16):
        middle = (inside + outside) / 2
        inside, outside = (inside, middle) if surprised(middle) else (middle, outside)
    return inside
