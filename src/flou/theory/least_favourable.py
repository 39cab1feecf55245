"""Least favourable samples: how far chance can carry a sum of bounded rows, where only two moments of them are known.

Statement  n independent rows in [0, top] have mean m; the released moments say that their mean is about c and their
           variance about v. A sum far above n m (or below, with both ends exchanged) has two explanations:
           - luck: rows near the top came more often than they should. Of all rows of mean m and variance v, those that
             take two values only, m - v/(top - m) and top, have the sum S with the largest E(S - x)^2 over S > x, for
             every x (Bentkus 2004, after Hoeffding 1963 and Bennett 1962)
           - blindness: some rows near 0 were not seen. To move the mean from c to m takes c - m of them, which raises
             the variance by at most (c - m) c; the least favourable rows take the values 0 and m + v/m
           m is held if either of them makes the sum no surprise; the variance is never more than m (top - m).
           Totals of a Poisson number of rows are the same with n = infinity: the jumps are Poisson
Why        truth values have no other law with this mean: for them the two are the binomial law itself, and what is
           held is the interval of Clopper and Pearson, with the noise inside. With rows that do not vary at all it is
           the rule of three. With many rows it is the normal interval, raised by about z^2 top / (2 n)
Numerics   probabilities are summed over jumps up to a variance of 25 of their number (60 for truth values); beyond,
           they are normal with the skewness corrected (Cornish and Fisher); the noise is continuous
Limits     luck and blindness are thought of one at a time, and v is an estimate; what that leaves is measured in
           docs/explanation/coverage.md
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from flou.arrays import Floats
from flou.laws import Law
from flou.theory.tails import surprise

__all__ = ["beyond", "holds_mean", "holds_total"]

Sample: TypeAlias = tuple[Any, Any]

EXACT, WHOLE = 25.0, 60.0  # the variance of a number of jumps up to which they are summed over; of whole numbers
FAR, FURTHER = 7, 12  # deviations, and jumps more, beyond which a number of jumps has a probability below 1e-11
TERMS = 2**16  # probabilities that are held at once


def holds_mean(
    noise: Law,
    weights: Floats,
    *,
    rows: Any,
    found: tuple[Any, Any],
    top: Any,
    candidate: Any,
    seen: Any,
    tail: float,
    whole: bool = False,
) -> NDArray[np.bool_]:
    """Whether the sum of rows less the candidate comes as far out as ``seen`` with at least this probability.

    ``found`` are the mean and the variance of the rows as released; ``whole`` rows are 0 or ``top`` and nothing else.
    """
    mean, variance = found
    lucky = candidate < mean
    near, other = np.where(lucky, top - candidate, candidate), np.where(lucky, candidate, top - candidate)
    cap, missing = near * other, np.abs(candidate - mean) * np.where(lucky, mean, top - mean)
    above = np.where(lucky, seen, -seen)
    if whole:
        return beyond(noise, weights, rows, rows * cap, near, above, whole=True) >= tail
    luck, blindness = (rows * np.minimum(cap, variance), near), (rows * np.minimum(cap, variance + missing), -other)
    return _either(noise, weights, rows, luck, blindness, above, tail)


def holds_total(
    noise: Law,
    weights: Floats,
    *,
    found: tuple[Any, Any],
    bounds: tuple[float, float],
    candidate: Any,
    tail: float,
    whole: bool = False,
) -> NDArray[np.bool_]:
    """The same for a total of a Poisson number of rows; ``found`` are the total and the sum of squares as released."""
    total, squares = found
    lower, upper = bounds
    lucky, above = candidate < total, np.abs(total - candidate)
    up, down = max(upper, 0.0), max(-lower, 0.0)
    near, other = np.where(lucky, up, down), np.where(lucky, down, up)
    # rows of one sign: the mean of their squares is at most the largest of them times the mean
    cap = np.inf if lower < 0 < upper else np.abs(candidate) * max(abs(lower), abs(upper))
    if whole:  # rows are 0 or 1: jumps go up by one, whatever was seen
        return beyond(noise, weights, np.inf, cap, np.where(lucky, up, -up), above, whole=True) >= tail
    luck, blindness = (np.minimum(cap, squares), near), (np.minimum(cap, squares + above * other), -other)
    return _either(noise, weights, np.inf, luck, blindness, above, tail)


def _either(
    noise: Law, weights: Floats, rows: Any, luck: Sample, blindness: Sample, above: Any, tail: float
) -> NDArray[np.bool_]:
    """Whether one of two samples, each a variance and a jump, makes ``above`` no surprise."""
    held = beyond(noise, weights, rows, *luck, above) >= tail
    open_ = ~held
    weights = np.broadcast_to(weights, (*held.shape, weights.shape[-1]))[open_]
    parts = (np.broadcast_to(part, held.shape)[open_] for part in (rows, *blindness, above))
    held[open_] = beyond(noise, weights, *parts) >= tail
    return held


def beyond(
    noise: Law, weights: Floats, rows: Any, variance: Any, jump: Any, seen: Any, *, whole: bool = False
) -> Floats:
    """P(S + weighted noises >= seen), S a sum of rows with two values, of mean 0 and of this variance in all.

    A row jumps seldom, by ``jump`` (up, or down where that is negative), and makes up for it by a small step in the
    other direction otherwise; where ``jump`` is 0 the sum is normal. Infinitely many rows make Poisson jumps. ``whole``
    sums are known to be multiples of the jumps. Weights on a last axis; everything else is broadcast.
    """
    shape = np.broadcast_shapes(*(np.shape(part) for part in (rows, variance, jump, seen, weights[..., 0])))
    n, w, j, x = (np.broadcast_to(part, shape).ravel().astype(np.float64) for part in (rows, variance, jump, seen))
    weights = np.broadcast_to(weights, (*shape, weights.shape[-1])).reshape(-1, weights.shape[-1])
    size = np.abs(j)
    with np.errstate(divide="ignore", invalid="ignore"):
        back = np.where((w > 0) & (size > 0), w / (n * size), 0.0)
        both = size + back
        spread = np.where(w > 0, w / both**2, 0.0)  # the variance of the number of jumps
    smooth = (size == 0) | (spread > (WHOLE if whole else EXACT)) | ~np.isfinite(both)
    result = np.empty(x.size)
    if smooth.any():
        skew = (np.sign(j) * (size - back))[smooth]
        less = both[smooth] / 2 if whole else 0.0
        result[smooth] = _normal(noise, weights[smooth], w[smooth], skew, x[smooth] - less)
    few = np.flatnonzero(~smooth)
    few = few[np.argsort(spread[few], kind="stable")]  # alike together, so that no sum is longer than need be
    while few.size:
        most = TERMS // (2 * math.ceil(FAR * math.sqrt(spread[few[min(few.size, 256) - 1]])) + FURTHER)
        part, few = few[:most], few[most:]
        k, p = _jumps(n[part], w[part], size[part], spread[part])
        height = np.sign(j[part])[:, None] * (k * both[part, None] - (w[part] / size[part])[:, None])
        result[part] = np.sum(p * _above(noise, weights[part, None, :], np.zeros(1), x[part, None] - height), axis=1)
    return result.reshape(shape)


def _jumps(n: Floats, variance: Floats, size: Floats, spread: Floats) -> tuple[Floats, Floats]:
    """The numbers of jumps that matter, and their probabilities: binomial, or Poisson where n is infinite."""
    odds = variance / (n * size**2)  # of a jump; p / (1 - p)
    expected = np.where(np.isinf(n), variance / size**2, np.where(np.isinf(n), 1.0, n) * odds / (1 + odds))
    reach = math.ceil(FAR * math.sqrt(float(np.max(spread))) + FURTHER)
    k = np.maximum(np.floor(expected) - reach, 0.0)[:, None] + np.arange(2 * reach + 1)
    left = np.maximum(n[:, None] - k, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        step = np.where(np.isinf(left), expected[:, None], left * odds[:, None]) / (k + 1)  # p(k + 1) / p(k)
        log_p = np.concatenate([np.zeros((k.shape[0], 1)), np.cumsum(np.log(step[:, :-1]), axis=1)], axis=1)
        p = np.exp(log_p - np.max(log_p, axis=1, keepdims=True))
    return k, p / np.sum(p, axis=1, keepdims=True)


def _normal(noise: Law, weights: Floats, variance: Floats, skew: Floats, seen: Floats) -> Floats:
    """The same where jumps are many: normal, with the places moved so that the third moment is right.

    ``skew`` is the third moment over the variance. With g = a sixth of the skewness of the sum and the noise together,
    the place z of a normal variable stands for z + g (z^2 - 1).
    """
    deviation = np.sqrt(variance + noise.variance * np.sum(weights**2, axis=-1))
    deviation = np.maximum(deviation, 1e-100)  # so that its cube is not zero
    g, place = variance * skew / deviation**3 / 6, seen / deviation
    root = np.sqrt(np.maximum(1 + 4 * g * (place + g), 0.0))
    place = 2 * (place + g) / (1 + root)  # (root - 1) / (2 g), without a division by 0
    return _above(noise, weights, np.sqrt(variance), place * deviation)


def _above(noise: Law, weights: Floats, tau: Floats, seen: Floats) -> Floats:
    """P(noise + normal >= seen), which is half of both sides."""
    both = surprise(noise, weights, tau, seen)
    return np.where(seen > 0, both / 2, 1 - both / 2)
