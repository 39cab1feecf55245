"""Noisy counts of disjoint sets of rows: the noise for all of them together, and what they say.

A unit is in as many sets as it has rows, so that the noise is that of a vector whose rows have norm 1 (``price.py``).

What a noisy count says about the rows that were counted, and about the rate at which such rows come:

For the data the interval is that of the exact noise. For the population a count is Poisson (rows come and go), or
binomial where the number of rows is public; the interval holds every rate at which the noisy count is no surprise in
either direction. Noisy counts are first moved to what is possible. So near 0, and near all rows, a surprise can come
from one side only, and that side has the whole error probability: the interval is shorter and loses nothing.

Counts that were moved so that they add up are reported beside the noisy ones from which all intervals come: where the
moved count lies outside of its interval, that is stretched to hold it too, and loses no truth that it held.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flou.arrays import Floats
from flou.bits import Bits
from flou.central.price import PricedNoise, width_of
from flou.central.question import Draft
from flou.laws import Law
from flou.laws.normal import log_gamma, ndtri
from flou.release import Layout, Uncertainty
from flou.release.uncertainty import Interval
from flou.theory.tails import surprise

__all__ = ["CountUncertainty", "adding_up_to", "noisy_counts", "possible"]

SMALL = 2000  # variances of counts, and widths of noises, up to which probabilities are summed over exactly
FAR = 7  # deviations beyond which a count has a probability of 1e-11
TOGETHER = 128  # counts whose rates are searched at once: enough for speed, few enough for the cache
HALVINGS = 10
TABLE = 2**13  # of factorials: more than any Poisson count that is summed over


def noisy_counts(
    counts: NDArray[Any], noise: PricedNoise, bits: Bits, *, labels: tuple[str, ...], by: str, layout: Layout
) -> Draft:
    """Draw the noise, and make the counts add up where their sum is public.

    Where it is public how many rows there are, every one of them must be in one of the sets.
    """
    facts, mechanism = noise.facts, noise.mechanism
    noisy = mechanism.sample(counts.astype(np.int64).ravel(), bits=bits).reshape(counts.shape)
    if facts.known_rows is None:
        value, postprocessing = np.clip(noisy, 0, facts.table_rows), possible(facts.table_rows)
        uncertainty = CountUncertainty(value, mechanism.noise, facts.table_rows)
    else:
        value = adding_up_to(facts.known_rows, noisy)
        postprocessing = "moved to the closest whole numbers from 0 that add up to the public number of rows"
        uncertainty = CountUncertainty(noisy, mechanism.noise, facts.known_rows, value=value)
    return Draft(
        value=value,
        uncertainty=uncertainty,
        mechanism=noise.described(grid="whole rows"),
        labels=labels,
        postprocessing=(postprocessing,),
        keys={"group_keys": "public", "column": by},
        layout=layout,
    )


def possible(rows: int | None) -> str:
    """How a count is moved to what is possible, in words."""
    return "not below zero" if rows is None else "not below zero, and not above the public number of all rows"


def adding_up_to(total: int, noisy: NDArray[np.int64]) -> NDArray[np.int64]:
    """The closest counts of at least 0 that add up to ``total``, in whole numbers.

    Law        x_i = max(y_i - s, 0), with the shift s for which they add up to n: the least-squares projection of the
               noisy counts y; s is a fraction with the number of positive x_i as its denominator, so that all of them
               have the same remainder, and the largest are rounded down and the others up until the sum is n
    Guarantee  post-processing of the noisy counts and of the public n: it costs nothing
    Why        the true counts lie in the set that is projected on, and a projection on a convex set moves no point of
               the set farther away: before rounding the squared error is never larger than without, for every draw
    Error      of the released counts at most that of the noisy ones, and rounding adds less than 1 to each
    Numerics   exact integers; y is shifted by its largest entry first, and entries n below it are 0 in any case
    Proof      docs/explanation/proofs/consistent.md
    """
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
        parts = [self._rates(distinct[i : i + TOGETHER], level) for i in range(0, distinct.size, TOGETHER)]
        low, high = np.hstack(parts)[:, places.reshape(self.noisy.shape)] if parts else np.zeros((2, *self.noisy.shape))
        return self._shaped(low, high)

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

    def _rates(self, y: NDArray[np.int64], level: float) -> Floats:
        """The lower and the upper ends for several counts, searched for together."""
        tail, most = (1 - level) / 2, math.inf if self.rows is None else float(self.rows)
        sampled = ndtri(1 - tail) * np.sqrt(self._variance(np.maximum(y, 1.0)))
        reach = np.hypot(sampled, self.noise.interval(level)[1] + 1.0)  # about how far the ends are
        counts, side = np.concatenate([y, y]), np.repeat([-1, 1], y.size)
        limit = np.where(side < 0, 0.0, most)

        def surprised(rate: Floats) -> NDArray[np.bool_]:
            p = self._beyond(counts, rate, side)
            far = np.sqrt((self._variance(rate) + self.noise.variance) / tail)  # Chebyshev: the limits are a surprise
            near = (rate <= far) | (rate >= most - far)
            result, doubtful = p < tail, np.flatnonzero(near & (p >= tail) & (p < 2 * tail))
            result[doubtful] = self._one_sided(rate[doubtful], tail) == -side[doubtful]
            return np.asarray(result)

        return _crossing(surprised, counts.astype(np.float64), np.concatenate([-reach, reach]), limit).reshape(2, -1)

    def _one_sided(self, rate: Floats, tail: float) -> NDArray[np.int64]:
        """The side of a rate on which no count is a surprise, so that the other one has both tails.

        1 where not even 0 is a surprise, -1 where not even all rows are, 0 where that holds for both or for none.
        """
        below = self._beyond(np.zeros(rate.size, dtype=np.int64), rate, np.ones(rate.size)) >= tail
        if self.rows is None:
            return below.astype(np.int64)
        above = self._beyond(np.full(rate.size, self.rows), rate, -np.ones(rate.size)) >= tail
        return below.astype(np.int64) - above

    @property
    def _width(self) -> float:
        return width_of(self.noise)

    def _variance(self, rate: Floats) -> Floats:
        """Of the count over samples: Poisson, or binomial."""
        return rate if self.rows is None else rate * np.maximum(1 - rate / max(self.rows, 1), 0.0)

    def _beyond(self, y: NDArray[np.int64], rate: Floats, side: NDArray[Any]) -> Floats:
        """P(count + noise >= y) where the side is -1, P(count + noise <= y) where it is 1, for symmetric noise."""
        variance = self._variance(rate)
        smooth = np.maximum(variance, self._width) > SMALL
        result = np.empty(rate.size)
        if smooth.any():
            w = side[smooth] * (rate[smooth] - y[smooth]) - 0.5
            both = surprise(self.noise, np.ones((w.size, 1)), np.sqrt(variance[smooth]), w)
            result[smooth] = np.where(w < 0, 1 - both / 2, both / 2)
        few = ~smooth
        if few.any():
            k, p = self._counts(rate[few])
            result[few] = np.sum(p * self.noise.sf(side[few, None].astype(np.int64) * (k - y[few, None]) - 1), axis=1)
        return result

    def _counts(self, rate: Floats) -> tuple[NDArray[np.int64], Floats]:
        """The counts that matter and their probabilities, a row for every rate."""
        rows, reach = self.rows, math.ceil(FAR * math.sqrt(float(np.max(self._variance(rate)))) + 30)
        k = np.floor(rate).astype(np.int64)[:, None] + np.arange(-reach, reach + 1)
        possible = k >= 0 if rows is None else (k >= 0) & (k <= rows)
        held, rate = np.where(possible, k, 0), rate[:, None]
        known = (rate > 0) if rows is None else (rate > 0) & (rate < rows)  # otherwise there is one count, the rate
        mean = np.where(known, rate, 0.5)
        if rows is None:
            log_p = held * np.log(mean) - mean - _log_factorial(held)
        else:
            choose = log_gamma(rows + 1.0) - _log_factorial(held) - _log_factorial(rows - held)
            share = mean / max(rows, 1)
            log_p = choose + held * np.log(share) + (rows - held) * np.log1p(-share)
        return k, np.where(possible, np.where(known, np.exp(log_p), k == rate), 0.0)


def _log_factorial(k: NDArray[np.int64]) -> Floats:
    """log k!, from a table where that has all of them."""
    return np.asarray(_table()[k] if int(k.max()) < TABLE else log_gamma(k + 1.0))


@cache
def _table() -> Floats:
    return np.asarray(log_gamma(np.arange(1.0, TABLE + 1)))


def _crossing(surprised: Callable[[Floats], NDArray[np.bool_]], start: Floats, reach: Floats, limit: Floats) -> Floats:
    """Walk from rates that are no surprise until they are, and halve; stop at the limits.

    ``reach`` says about how far that is. The answer is rounded outwards, by less than a thousandth of it as a rule.
    """

    def within(rate: Floats) -> Floats:
        return np.where(reach < 0, np.maximum(rate, limit), np.minimum(rate, limit))

    inside, step, outside = start, reach, within(start + 1.25 * reach)
    while True:
        on = ~surprised(outside)
        inside = np.where(on, outside, inside)
        on &= outside != limit
        if not on.any():
            break
        step = np.where(on, 2 * step, step)
        outside = within(np.where(on, outside + step, outside))
    middle = within(start + 0.75 * reach)
    for _ in range(HALVINGS):
        middle = np.where((inside <= middle) == (middle <= outside), middle, (inside + outside) / 2)
        far = surprised(middle)
        inside, outside = np.where(far, inside, middle), np.where(far, middle, outside)
        middle = (inside + outside) / 2
    return outside
