"""Expectation maximisation: the distribution of answers that makes the reports seen the most likely.

Every iteration raises the likelihood. Left alone it ends in spikes that follow the noise of the reports; it is stopped
when an iteration gains less than ``GAIN``, and with smoothing each share is averaged with its neighbours (1/4, 1/2,
1/4) after every iteration, which suits answers that are spread out and blurs those that are not.
"""

from __future__ import annotations

import numpy as np

from flou.arrays import Floats

__all__ = ["maximised", "response", "smoothed"]


GAIN = 1e-3  # of log-likelihood, in an iteration
MOST = 3000  # iterations


def smoothed(shares: Floats) -> Floats:
    """Each share averaged with its neighbours; what would leave at an end stays there."""
    around = np.concatenate([shares[:1], shares, shares[-1:]])
    found: Floats = (around[:-2] + 2 * shares + around[2:]) / 4
    return found


def maximised(counts: Floats, channel: Floats, *, smooth: bool, gain: float = GAIN) -> tuple[Floats, int]:
    """The shares of answers from counts of reports, and after how many iterations.

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
    """How the shares after so many iterations move with the shares of reports: the delta method.

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
