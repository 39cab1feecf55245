"""Poisson draws, exact for any rational mean up to 2^59.

Law      P(k) = e^-mean mean^k / k!, k = 0, 1, 2, ...
Sampler  with m = floor(mean), the mode, and f(k) = ln(k!/m!) - (k - m) ln(mean) >= 0, P(k) is proportional to e^-f(k).
         A discrete Laplace draw y of scale t = floor(sqrt(m)) + 1 proposes k = m + y, kept with probability
         e^(-f(k) + |y|/t - M) if k >= 0, decided exactly. About three in four are kept when the mean is large.
Why      M = 1/t + (m + 1) / (2 t^2 (1 - 1/(3t))) is at least |y|/t - f(k), so that this is a probability:
         for j = y > 0 and x = m + 1, f(m+j) >= sum_{0<i<j} ln(1 + i/x) >= x g((j-1)/x), g(w) = (1+w) ln(1+w) - w, whose
         conjugate is sup_w (w/t - g(w)) = e^(1/t) - 1 - 1/t <= 1 / (2 t^2 (1 - 1/(3t)));
         for j = -y > 0, f(m-j) >= sum_{i<j} -ln(1 - i/m) >= j (j-1) / (2m), so j/t - f(m-j) is at most
         m (1/t + 1/(2m))^2 / 2 = m/(2t^2) + 1/(2t) + 1/(8m), and 1/(8m) <= 1/(2t)
Small    a mean below 1 has its mode at 0: y is geometric of scale 1 and M = max(mean, 2 mean - 0.69), since
         k - f(k) = k (1 + ln(mean)) - ln k! <= k mean - ln k!, which is largest at k = 0, 1 or 2
Numerics f in floats is [ln k! - k ln k + k] + [k ln(k/mean) - (k - mean)], less the same at m; the second bracket, the
         deviance, is a series in (k - mean)/(k + mean) near the mean, so that nothing cancels (Loader 2000). Where the
         exponent is at most 45, it is off by less than 2^-40; else logarithms.py decides.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from flou.arrays import Floats, Ints
from flou.bits import Bits
from flou.laws.decide import coins
from flou.laws.discrete_laplace import DiscreteLaplace
from flou.laws.enclosure import Enclosure, exp_minus
from flou.laws.geometric import Geometric
from flou.laws.law import Law, in_chunks
from flou.laws.logarithms import log, log_factorial

__all__ = ["draw_poisson"]

OVERSHOOT = 1.03
NEAR = 0.25  # |k - mean| below this part of k + mean: the series is used
_ODD = 1.0 / np.arange(33, 1, -2)  # 1/33, ..., 1/5, 1/3
_SMALL = np.array([math.lgamma(k + 1) - (k * math.log(k) - k if k else 0) for k in range(16)])


def draw_poisson(mean: Fraction, size: int, bits: Bits) -> Ints:
    """``size`` exact draws of the Poisson law."""
    mode = math.floor(mean)
    t = math.isqrt(mode) + 1
    proposal: Law = DiscreteLaplace(t) if mode else Geometric(1)
    most = Fraction(1, t) + Fraction(mode + 1, 2 * t * t) / (1 - Fraction(1, 3 * t))
    if mode == 0:
        most = max(mean, 2 * mean - Fraction(69, 100))
    shift = float(_minus_log(np.zeros(1, dtype=np.int64), mode, mean)[0] - float(most))
    kept_share = math.exp(shift) * float(proposal.pmf(0))

    def draw(count: int) -> Ints:
        kept = np.empty(0, dtype=np.int64)
        while kept.size < count:
            y = proposal.draw(math.ceil(OVERSHOOT * (count - kept.size) / kept_share) + 8, bits)
            y = y[y >= -mode]
            approximate = np.exp(shift - _minus_log(y, mode, mean) + np.abs(y) / t)

            def keep(i: int, y: Ints = y) -> Enclosure:
                return _keep(int(y[i]), mode, mean, most - Fraction(abs(int(y[i])), t))

            heads = coins(bits.words(y.size), approximate, 2.0**-40, keep, bits)
            kept = np.concatenate([kept, y[heads]])
        return kept[:count] + np.int64(mode)

    return in_chunks(size, draw)


def _minus_log(y: Ints, mode: int, mean: Fraction) -> Floats:
    """-log P(mode + y)."""
    mu, away = float(mean), y - float(mean - mode)
    k = (y + np.int64(mode)).astype(np.float64)
    x = np.maximum(k, 16.0)
    inverse = 1 / (x * x)
    series = (((inverse / -1680 + 1 / 1260) * inverse - 1 / 360) * inverse + 1 / 12) / x
    shape = np.where(k < 16, _SMALL[np.minimum(k, 15).astype(np.int64)], np.log(2 * math.pi * x) / 2 + series)
    v = away / (k + mu)
    square = v * v
    rest = np.zeros_like(v)
    for odd in _ODD:
        rest = (rest + odd) * square
    near = v * (away + 2 * k * rest)
    far = k * np.log(np.maximum(k, 1.0) / mu) - away
    deviance: Floats = np.where(np.abs(v) < NEAR, near, far)
    return shape + deviance


def _keep(y: int, mode: int, mean: Fraction, more: Fraction) -> Enclosure:
    """The number e^-(f(mode + y) + more)."""

    def enclose(precision: int) -> tuple[int, int]:
        work = precision + y.bit_length() + 8
        upper, lower = log_factorial(mode + y, work), log_factorial(mode, work)
        powers = sorted(y * end for end in log(mean, work))
        scaled = more * 2**work
        low = max(0, upper[0] - lower[1] - powers[1] + math.floor(scaled))  # the exponent itself is not negative
        high = upper[1] - lower[0] - powers[0] + math.ceil(scaled)
        unit = 1 << work
        return exp_minus(Fraction(high, unit))(precision)[0], exp_minus(Fraction(low, unit))(precision)[1]

    return enclose
