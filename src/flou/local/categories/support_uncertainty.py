"""Intervals for shares, from how many reports support each category.

Law        a category of share f has support in a report with probability q + f d, d = p - q
Error      the variance of the share in support is v(f) / n with v(f) = q (1 - q) + f (p (1 - p) - q (1 - q)) around the
           respondents' own share, as each of them is a coin p or q; drawing respondents from a population adds
           d^2 f (1 - f), and the sum is m (1 - m), m = q + f d
Interval   all f in [0, 1] with (r - q - f d)^2 <= z^2 v(f) / n, r the share in support: the score interval, which is
           Wilson's for m in a population. It holds for rare categories and small samples, where an estimate plus or
           minus its own standard error does not
Limits     one by one, not all together. Support rarer than chance gives an interval that ends at 0, or is only 0
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flou.laws.normal import ndtri
from flou.release.uncertainty import Interval as Ends
from flou.release.uncertainty import NoiseAndSampling

__all__ = ["SupportUncertainty", "score_interval"]


@dataclass(frozen=True, eq=False)
class SupportUncertainty(NoiseAndSampling):
    """``support`` out of ``people`` reports; numbers, or one for each category.

    ``subsampling`` is the part of the sampling variance that belongs to the respondents' interval too: 0 where every
    report speaks about every category, 1 - m/n where only m random ones of n respondents were asked about it.
    """

    support: NDArray[np.int64]
    people: Any
    p: Any
    q: Any
    gap: Any  # p - q, without cancellation
    subsampling: Any = 0.0

    def _interval(self, level: float, sampling: bool) -> Ends:
        share = (self.support / np.maximum(self.people, 1) - self.q) / self.gap
        rest, d2 = self.q * (1 - self.q), self.gap**2
        slope = self.gap * (1 - self.p - self.q)  # p (1 - p) - q (1 - q)
        return score_interval(share, self.people, level, rest / d2, slope / d2, 1.0 if sampling else self.subsampling)

    @property
    def grid(self) -> float:
        return 0.0


def score_interval(share: Any, people: Any, level: float, rest: Any, slope: Any, part: Any) -> Ends:
    """All f in [0, 1] with (share - f)^2 <= z^2 (rest + f slope + part f (1 - f)) / people."""
    z2 = float(ndtri((1 + level) / 2)) ** 2 / np.maximum(people, 1)
    # f^2 (1 + part z2) - 2 f middle + share^2 - z2 rest <= 0
    middle = share + z2 * (slope + part) / 2
    first = 1 + part * z2
    width = np.sqrt(np.maximum(middle**2 - first * (share**2 - z2 * rest), 0.0))
    low, high = np.clip((middle - width) / first, 0.0, 1.0), np.clip((middle + width) / first, 0.0, 1.0)
    nothing = np.broadcast_to(np.asarray(people) == 0, low.shape)
    return np.where(nothing, 0.0, low), np.where(nothing, 1.0, high)
