"""How far a weighted sum of many independent Laplace noises, and a normal, strays: in its own standard deviations.

Statement  S = sum of w_i L_i + N, L_i independent Laplace of variance v (or discrete Laplace of the same scale), N an
           independent normal, |w_i| <= 1, and r <= Var(S) / v. With probability ``level`` at least,
           |S| <= ``reach(level, r)`` standard deviations, the smaller of two:
           rule   the larger of the normal quantile and the Laplace one, log(1 / (1 - level)) / sqrt(2)
           bound  the t with 2 exp(-I(t)) = 1 - level, I(t) = m t + r log(1 - m^2 / (2 r)), m the best exponent
Why        rule   a Laplace variable is a normal of random variance, hence so is S; one noise alone is Laplace, very
                  many are normal, and what lies between was computed and stays below (a test repeats that)
           bound  Chernoff: log E exp(m S) <= -r log(1 - m^2 / (2 r)) for S of variance 1, because -log(1 - u) / u
                  increases; for discrete noise (cosh m - 1) / (cosh a - 1) <= m^2 / a^2 for m <= a = 1 / scale
Limits     the rule for discrete noise needs half a unit more (``HALF``), and the variance of the noise of the same
           scale that is not discrete (``smooth_variance``), because |L| + 1/2 is what lies above a discrete noise:
           where noise is mostly 0, its own variance says next to nothing about its tails
Proof      docs/explanation/proofs/many_quantiles.md
"""

from __future__ import annotations

import math

import numpy as np

from flou.arrays import Floats
from flou.laws.normal import ndtri

__all__ = ["HALF", "reach", "rule", "smooth_variance"]

HALF = 0.5


def reach(level: float, terms: Floats) -> Floats:
    """So many standard deviations; ``terms`` is r, one number for each sum."""
    return np.minimum(rule(level), _chernoff(math.log(2 / (1 - level)), np.maximum(terms, 1.0)))


def rule(level: float) -> float:
    """Standard deviations that are enough for any such sum: one noise alone, very many, and what lies between."""
    return max(float(-ndtri((1 - level) / 2)), math.log(1 / (1 - level)) / math.sqrt(2))


def smooth_variance(variance: float) -> float:
    """Of the Laplace noise that has the scale of a discrete one with this variance; more, by at most a sixth.

    The variance of discrete noise of scale b is 1 / (2 sinh(1 / 2b)^2), that of the other 2 b^2.
    """
    return 0.5 / math.asinh(math.sqrt(0.5 / variance)) ** 2 if variance > 0 else 0.0


def _chernoff(wanted: float, r: Floats) -> Floats:
    """The t at which I(t) = wanted, rounded up."""
    low = np.zeros_like(r)
    high = math.sqrt(2 * wanted) + wanted * np.sqrt(2 / r)  # Bernstein: I is at least as large there
    for _ in range(50):
        t = (low + high) / 2
        m = (np.sqrt(1 + 2 * t**2 / r) - 1) * r / np.maximum(t, 1e-300)
        enough = m * t + r * np.log1p(-np.minimum(m**2 / (2 * r), 1 - 1e-16)) >= wanted
        low, high = np.where(enough, low, t), np.where(enough, t, high)
    return high
