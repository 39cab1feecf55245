"""What a noisy count says: about the rows that were counted, and about the rate at which such rows come.

For the data the interval is that of the exact noise. For the population a count is Poisson (rows come and go), or
binomial where the number of rows is public; the interval holds every rate at which the released count, noise included,
is no surprise in either direction.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flou.laws import DiscreteLaplace
from flou.laws.normal import log_gamma
from flou.release import Uncertainty
from flou.release.uncertainty import Interval
from flou.theory.noise_and_sampling import Spread

__all__ = ["CountUncertainty"]

SMALL = 2000  # below it, counts and noises are summed over exactly; above it they are normal enough


@dataclass(frozen=True, eq=False)
class CountUncertainty(Uncertainty):
    """Intervals for released counts with discrete Laplace noise."""

    released: NDArray[np.int64]
    noise: DiscreteLaplace
    rows: int | None  # of which the counts are a part, where that is public
    grouped: bool = True

    def data(self, level: float) -> Interval:
        low, high = self.noise.interval(level)
        return self._shaped(np.maximum(self.released - high, 0), np.maximum(self.released - low, 0))

    def population(self, level: float) -> Interval:
        ends = np.array([self._rates(int(y), level) for y in self.released.ravel().tolist()]).reshape(-1, 2)
        return self._shaped(ends[:, 0].reshape(self.released.shape), ends[:, 1].reshape(self.released.shape))

    def _shaped(self, low: NDArray[Any], high: NDArray[Any]) -> Interval:
        return (low, high) if self.grouped else (float(low.ravel()[0]), float(high.ravel()[0]))

    @property
    def grid(self) -> float:
        return 0.0

    def _rates(self, y: int, level: float) -> tuple[float, float]:
        tail = (1 - level) / 2
        most = float(self.rows) if self.rows is not None else math.inf
        step = max(4 * float(self.noise.scale), 4 * math.sqrt(max(y, 1)), 4.0)
        low = _crossing(lambda rate: self._at_least(y, rate) < tail, max(y, 0.0), -step, 0.0)
        high = _crossing(lambda rate: self._at_most(y, rate) < tail, max(y, 0.0), step, most)
        return low, high

    def _at_least(self, y: int, rate: float) -> float:
        """P(count + noise >= y) when the expected count is ``rate``."""
        if max(y, rate, float(self.noise.scale)) > SMALL:
            return self._spread(rate).above(y - rate)
        k, p = _counts(rate, self.rows)
        return float(np.dot(p, self.noise.sf(y - k - 1)))

    def _at_most(self, y: int, rate: float) -> float:
        if max(y, rate, float(self.noise.scale)) > SMALL:
            return self._spread(rate).above(rate - y)
        k, p = _counts(rate, self.rows)
        return float(np.dot(p, self.noise.cdf(y - k)))

    def _spread(self, rate: float) -> Spread:
        share = 0.0 if self.rows is None else min(rate / max(self.rows, 1), 1.0)
        return Spread([float(self.noise.scale)], math.sqrt(max(rate * (1 - share), 0.0)))


def _counts(rate: float, rows: int | None) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The counts that matter and their probabilities: Poisson, or binomial."""
    reach = math.ceil(10 * math.sqrt(rate) + 30)
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
    for _ in range(30):
        middle = (inside + outside) / 2
        inside, outside = (inside, middle) if surprised(middle) else (middle, outside)
    return inside
