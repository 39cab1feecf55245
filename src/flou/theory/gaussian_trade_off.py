"""The exact trade-off of epsilon and delta for Gaussian noise.

Statement  Gaussian noise of standard deviation sigma on an answer of L2 sensitivity D is (epsilon, delta)-DP if
           and only if delta >= Phi(h - x) - e^epsilon Phi(-h - x), where x = epsilon sigma / D and
           h = D / (2 sigma); the right side falls as sigma grows
Numerics   with R(t) = (1 - Phi(t)) / phi(t), which falls, phi(h + x) e^epsilon = phi(x - h), so the right side is
           phi(x - h) (R(x - h) - R(x + h)) = phi(x - h) times the integral of 1 - t R(t) over [x - h, x + h]:
           a sum of positive terms, accurate to about 1e-12 where the difference would cancel. The sigma that is
           found is then enlarged by 1e-9.
Source     Balle and Wang (2018); the classic rule: Dwork and Roth (2014), theorem A.1, for epsilon below 1
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np

from flou.arrays import Floats
from flou.laws.normal import gauss_legendre, log_ndtr, scaled_erfc

__all__ = ["analytic_sigma", "classic_sigma", "delta_of_gaussian"]

SAFETY = 1 + 1e-9


def _one_minus_t_mills(t: Floats) -> Floats:
    """1 - t R(t): directly, or for large t by its series 1/t^2 - 3/t^4 + 15/t^6 - ..."""
    direct = 1 - t * math.sqrt(math.pi / 2) * scaled_erfc(t / math.sqrt(2))
    v = 1 / np.maximum(t, 1.0) ** 2
    series = v * (1 - v * (3 - v * (15 - v * (105 - v * (945 - v * 10395)))))
    return np.asarray(np.where(t > 60, series, direct))


def delta_of_gaussian(ratio: float, epsilon: float) -> float:
    """The least delta for noise of ``ratio`` = sigma / sensitivity at ``epsilon``."""
    x, h = epsilon * ratio, 0.5 / ratio
    if h > 1:  # no cancellation: the two probabilities are far apart
        first, second = float(log_ndtr(h - x)), epsilon + float(log_ndtr(-h - x))
        return math.exp(first) * -math.expm1(second - first)
    nodes, weights = gauss_legendre(32)
    integral = h * float(np.dot(weights, _one_minus_t_mills(x + h * nodes)))
    return math.exp(-((x - h) ** 2) / 2) / math.sqrt(2 * math.pi) * integral


@lru_cache(maxsize=256)
def analytic_sigma(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The least sigma, for sensitivity 1, that gives (epsilon, delta)-DP; rounded up."""
    e, wanted = float(epsilon), float(delta)
    low, high = 1e-4, 1e20  # ratios: the guarantee fails at the first and holds at the second
    while high / low > 1 + 1e-13:
        middle = math.sqrt(low * high)
        if delta_of_gaussian(middle, e) > wanted:
            low = middle
        else:
            high = middle
    return Fraction(high * SAFETY)


def classic_sigma(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The classic sqrt(2 ln(1.25 / delta)) / epsilon, for sensitivity 1 and epsilon below 1; rounded up."""
    return Fraction(math.sqrt(2 * math.log(1.25 / float(delta))) * SAFETY) / epsilon
