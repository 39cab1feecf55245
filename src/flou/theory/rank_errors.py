"""How far from their ranks private quantiles fall, where records are spread evenly around them.

One quantile of exponent t is off by a two-sided geometric number of ranks. Of m quantiles drawn jointly, whose law
falls with t times the sum of the deviations of the m + 1 gaps, the errors are a walk of two-sided geometric steps from
0 to 0: the error of the j-th is that of a bridge, P(d) proportional to g_j(d) g_(m+1-j)(d), g_k the law of k steps.

Where one gap between records is much wider than its neighbours, quantiles fall into it more often than these laws say.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from flou.laws.normal import ndtr

__all__ = ["RankErrors"]

FINE = 0.02  # steps of the grid of ranks, in units of 1/t


class RankErrors:
    """The error in ranks of the ``place``-th of ``quantiles`` drawn jointly with exponent ``rate`` a rank."""

    def __init__(self, rate: float, place: int = 1, quantiles: int = 1) -> None:
        self._unit = max(1.0, math.floor(FINE / rate))  # ranks in a step of the grid
        steps = rate * self._unit
        reach = math.ceil((30 + 8 * math.sqrt(quantiles)) / steps)
        frequencies = np.fft.rfftfreq(2 * reach) * 2 * np.pi
        ratio = math.exp(-steps)
        step = (1 - ratio) ** 2 / (1 - 2 * ratio * np.cos(frequencies) + ratio**2)  # its characteristic function
        if quantiles == 1:  # a single exponential mechanism, not a bridge of two gaps
            weights = np.fft.irfft(step)
        else:
            before, after = (np.maximum(np.fft.irfft(step**k), 0) for k in (place, quantiles + 1 - place))
            weights = before * after
        law = np.maximum(np.fft.fftshift(weights), 0.0)
        self._law: NDArray[np.float64] = law / law.sum()
        self._ranks = (np.arange(law.size) - reach) * self._unit

    @property
    def mean_absolute(self) -> float:
        """How many ranks it is off on average."""
        return float(np.dot(self._law, np.abs(self._ranks)))

    def reach(self, tail: float, spread: float = 0.0) -> float:
        """The number of ranks that the error exceeds, to one side, with at most this probability.

        ``spread`` is the standard deviation of a normal error on top, such as that of sampling.
        """
        if spread == 0:
            above = np.cumsum(self._law[::-1])[::-1]  # P(error >= rank)
            return float(self._ranks[np.flatnonzero(above > tail)[-1]] + self._unit)
        low, high = 0.0, float(self._ranks[-1]) + 40 * spread
        while high - low > self._unit / 4:
            middle = (low + high) / 2
            exceeded = float(np.dot(self._law, ndtr((self._ranks - middle) / spread))) > tail
            low, high = (middle, high) if exceeded else (low, middle)
        return high
