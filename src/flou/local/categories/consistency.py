"""Consistent shares: none is negative, and they add up to 1.

Unbiased estimates of shares scatter around the truth on both sides, so those of rare categories are negative half of
the time. Two methods make a table that can be published. Both are post-processing and cost nothing.

simplex   the nearest point, in squared distance, among all tables of shares: the same number is taken off every share,
          and what falls below 0 becomes 0. It is never farther from the truth than the unbiased estimate is
mle       for reports that name one category: the shares under which the reports are most likely, in closed form
Source    Held, Wolfe, Crowder (1974); Wang, Lopuhaa-Zwakenberg, Li, Skoric, Li (2020)
Proof     docs/explanation/proofs/frequency_oracles.md
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from flou.arrays import Floats

__all__ = ["CONSISTENT", "Consistent", "most_likely_shares", "nearest_shares"]

Consistent: TypeAlias = Literal["none", "simplex", "mle"]

CONSISTENT = {
    "none": "none",
    "simplex": "nearest non-negative shares that add up to 1; the intervals are those of the unbiased estimates",
    "mle": "most likely non-negative shares that add up to 1; the intervals are those of the unbiased estimates",
}


def nearest_shares(shares: Floats) -> Floats:
    """The table of shares nearest to an estimate."""
    below = shares - shares.max()  # a common shift changes nothing; the largest is now 0 and always stays
    falling = np.sort(below)[::-1]
    # With m shares left, each gives up (their sum - 1) / m; m is the largest number for which the least of them stays.
    excess = (np.cumsum(falling) - 1) / np.arange(1, shares.size + 1)
    taken = excess[np.flatnonzero(falling > excess)[-1]]
    return _scaled(np.maximum(below - taken, 0.0))


def most_likely_shares(counts: NDArray[np.int64], background: float) -> Floats:
    """The shares f that maximise sum_y c_y log(background + f_y), for reports of y with probability ~ background + f_y.

    At the maximum c_y / (background + f_y) is the same number, mu, for all f_y > 0, and at most mu for the others: so
    f_y = max(0, c_y / mu - background), where mu makes them add up to 1.
    """
    falling: Any = np.sort(counts)[::-1].astype(np.float64)
    # With m shares left, mu = (sum of their counts) / (1 + m background); a share stays while c_m > mu background.
    mu = np.cumsum(falling) / (1 + background * np.arange(1, counts.size + 1))
    kept = np.flatnonzero(falling > mu * background)
    if not kept.size:
        return np.full(counts.size, 1 / counts.size)
    return _scaled(np.maximum(counts / mu[kept[-1]] - background, 0.0))


def _scaled(shares: Floats) -> Floats:
    """The same shares without the last rounding error of their sum."""
    scaled: Floats = shares / shares.sum()
    return scaled
