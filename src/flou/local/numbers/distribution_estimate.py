"""A distribution estimated from reports by expectation maximisation, and intervals for what is computed from it.

Every iteration raises the likelihood of the reports. Without a stop it ends in spikes that follow the noise of the
reports. So it stops when an iteration gains less than ``GAIN``. With smoothing, each share is averaged with its
neighbours (1/4, 1/2, 1/4) after every iteration; this suits answers that are spread out and blurs those that are not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from flou.arrays import Floats, Ints
from flou.laws.normal import ndtri
from flou.release.uncertainty import Interval as Ends
from flou.release.uncertainty import NoiseAndSampling

__all__ = [
    "DistributionEstimate",
    "DistributionQuantileUncertainty",
    "LinearUncertainty",
    "maximised",
    "response",
    "smoothed",
]

GAIN = 1e-3  # of log-likelihood, in an iteration
MOST = 3000  # iterations


@dataclass(frozen=True, eq=False)
class DistributionEstimate:
    """Shares of groups, their covariances, and how far the estimate moves when it is estimated again from itself."""

    people: int
    shares: Floats
    noise: Floats  # covariance, for these respondents
    total: Floats  # covariance, for the population
    bias: Floats

    @classmethod
    def of(cls, counts: Ints, channel: Floats, *, smooth: bool) -> DistributionEstimate:
        """From counts of reports; ``channel[y, x]`` is the probability of report y given answer x."""
        groups, people = channel.shape[1], int(counts.sum())
        if people == 0:
            nothing = np.zeros((groups, groups))
            return cls(0, np.full(groups, 1 / groups), nothing, nothing, np.zeros(groups))
        shares, iterations = maximised(counts.astype(np.float64), channel, smooth=smooth)
        expected = channel @ shares
        again, _ = maximised(people * expected, channel, smooth=smooth)
        moved = response(shares, channel, iterations, smooth=smooth)
        # The covariance of the shares of reports is diag(r) - r r' over n if the answers are drawn too, and
        # diag(r) - C diag(f) C' over n if they stay, with C the channel and r = C f.
        everything, centre, answers = (moved * expected) @ moved.T, moved @ expected, moved @ channel
        total = everything - np.outer(centre, centre)
        noise = everything - (answers * shares) @ answers.T
        return cls(people, shares, noise / people, total / people, again - shares)

    def half_widths(self, weights: Floats, level: float, sampling: bool) -> Any:
        """Half of the interval of each weighted sum of shares."""
        covariance = self.total if sampling else self.noise
        variance = np.sum((weights @ covariance) * weights, axis=-1)
        return float(ndtri((1 + level) / 2)) * np.sqrt(np.maximum(variance, 0.0)) + np.abs(weights @ self.bias)


@dataclass(frozen=True, eq=False)
class LinearUncertainty(NoiseAndSampling):
    """Weighted sums of shares."""

    estimate: DistributionEstimate
    weights: Floats
    bounds: tuple[float, float]
    cell: float

    @property
    def centre(self) -> Any:
        """The sums of the estimate."""
        return self.weights @ self.estimate.shares

    @property
    def grid(self) -> float:
        return self.cell

    def _interval(self, level: float, sampling: bool) -> Ends:
        half = self.estimate.half_widths(self.weights, level, sampling) if self.estimate.people else np.inf
        low, high = (np.clip(end, *self.bounds) for end in (self.centre - half, self.centre + half))
        return (float(low), float(high)) if np.ndim(low) == 0 else (low, high)


@dataclass(frozen=True, eq=False)
class DistributionQuantileUncertainty(NoiseAndSampling):
    """Quantiles: all places where the interval of the distribution function holds the probability."""

    estimate: DistributionEstimate
    levels: Floats
    edges: Floats
    cell: float

    @property
    def centre(self) -> Floats:
        """The quantiles of the estimate, by interpolation between the edges."""
        return np.interp(self.levels, self._running, self.edges)

    @property
    def grid(self) -> float:
        return self.cell

    @property
    def _running(self) -> Floats:
        return np.concatenate([[0.0], np.cumsum(self.estimate.shares)])

    def _interval(self, level: float, sampling: bool) -> Ends:
        if not self.estimate.people:
            return np.full(self.levels.size, self.edges[0]), np.full(self.levels.size, self.edges[-1])
        below = np.tri(self.edges.size, self.estimate.shares.size, -1)
        half = self.estimate.half_widths(below, level, sampling)
        upper, lower = (np.maximum.accumulate(self._running + side * half) for side in (1, -1))
        low, high = np.interp(self.levels, upper, self.edges), np.interp(self.levels, lower, self.edges)
        return np.minimum(low, self.centre), np.maximum(high, self.centre)


def smoothed(shares: Floats) -> Floats:
    """Each share averaged with its neighbours; at an end, what would move outside stays."""
    around = np.concatenate([shares[:1], shares, shares[-1:]])
    found: Floats = (around[:-2] + 2 * shares + around[2:]) / 4
    return found


def maximised(counts: Floats, channel: Floats, *, smooth: bool, gain: float = GAIN) -> tuple[Floats, int]:
    """The shares of answers from counts of reports, and the number of iterations.

    ``channel[y, x]`` is the probability of report y given answer x.
    """
    shares = np.full(channel.shape[1], 1 / channel.shape[1])
    people, before = counts.sum(), -np.inf
    for done in range(MOST):
        expected = channel @ shares
        likelihood = float(counts @ np.log(expected))
        if abs(likelihood - before) < gain:
            return shares, done
        before = likelihood
        shares = shares * (channel.T @ (counts / expected)) / people
        if smooth:
            shares = smoothed(shares)
    return shares, MOST


def response(shares: Floats, channel: Floats, iterations: int, *, smooth: bool) -> Floats:
    """How the shares after these iterations move with the shares of reports: the delta method.

    One iteration maps f to S (f C'(r / C f)), r the shares of reports and S the smoothing. Near an estimate it is
    linear, with J the derivative in f and R that in r, both taken at r = C f: the answer is (1 + J + ... + J^(k-1)) R.
    """
    expected = channel @ shares
    ratio = channel / expected[:, None]
    now = np.diag(channel.sum(axis=0)) - shares[:, None] * (channel.T @ ratio)
    moved = shares[:, None] * ratio.T
    if smooth:
        now, moved = smoothed(now), smoothed(moved)
    # 1 + J + ... + J^(k-1), binary digit by binary digit of k
    total, power = np.zeros_like(now), np.eye(now.shape[0])
    for digit in f"{max(iterations, 1):b}":
        total, power = total + power @ total, power @ power
        if digit == "1":
            total, power = total + power, power @ now
    found: Floats = total @ moved
    return found
