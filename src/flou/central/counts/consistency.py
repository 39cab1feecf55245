"""Noisy counts that are known to add up, made to: the closest counts of at least 0 with the public sum.

Law        x_i = max(y_i - s, 0), with the shift s for which they add up to n: the least-squares projection of the noisy
           counts y; s is a fraction with the number of positive x_i as its denominator, so that all of them have the
           same remainder, and the largest are rounded down and the others up until the sum is n
Guarantee  post-processing of the noisy counts and of the public n: it costs nothing
Why        the true counts lie in the set that is projected on, and a projection on a convex set moves no point of the
           set farther away: before rounding the squared error is never larger than without, for every draw
Error      of the released counts at most that of the noisy ones, and rounding adds less than 1 to each
Numerics   exact integers; y is shifted by its largest entry first, and entries n below it are 0 in any case
Proof      docs/explanation/proofs/consistent.md
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["adding_up_to"]


def adding_up_to(total: int, noisy: NDArray[np.int64]) -> NDArray[np.int64]:
    """The closest counts of at least 0 that add up to ``total``, in whole numbers."""
    if total == 0:
        return np.zeros_like(noisy)
    flat = noisy.ravel()
    y = np.maximum(flat - flat.max(), -total)
    order = np.argsort(-y, kind="stable")
    ranks = np.arange(1, y.size + 1)
    sums = np.cumsum(y[order])
    positive = int(np.flatnonzero(ranks * y[order] > sums - total)[-1]) + 1
    whole, left = divmod(int(sums[positive - 1]) - total, positive)
    found = np.zeros_like(flat)
    kept = order[:positive]
    found[kept] = y[kept] - whole
    found[kept[:left]] -= 1  # of the same remainders, the largest counts bear the rounding
    return found.reshape(noisy.shape)
