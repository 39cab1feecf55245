"""Intervals for the share of several categories together, from how often reports support each of them.

Law        T is how many of m categories a report supports. Its mean is m q, or m q + d for those who are in one of the
           m, d = p - q; its variance V0 or V1 follows from how the support of two categories goes together
Error      the estimate (mean T - m q) / d is unbiased for the share f of the m categories; n d^2 times its variance is
           f V1 + (1 - f) V0 around the respondents' share, and d^2 f (1 - f) more around the population's
Interval   the score interval of ``support_uncertainty.py``, with V0 and V1 instead of q (1 - q) and p (1 - p)
Why        for a respondent in category x let s be the covariance of the support of x and of another category, and c
           that of two others: V0 = m q (1 - q) + m (m - 1) c, V1 = p (1 - p) + (m - 1) (q (1 - q) + 2 s + (m - 2) c).
           GRR supports one category: s = -p q and c = -q^2. With independent bits both are 0. Subset selection: the
           set is uniform given whether x is in it. Hadamard: s = 0, and the signs of rows u and v have the product of
           row u XOR v: c is 0, or (2 p - 1) / 4 if that is the row of x, and for each u it is so for one v at the most.
           OLH: s = 0, and c is 0 unless u - x and v - x are multiples of each other, then q (p - q); for each u there
           are at most g - 2 such v
Limits     for Hadamard and OLH V0 and V1 are upper bounds, as if every category had as many partners as possible
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flou.local.categories.frequency_oracle import FrequencyOracle
from flou.local.categories.grr import GRR
from flou.local.categories.hadamard import Hadamard
from flou.local.categories.olh import OLH
from flou.local.categories.subset_selection import SubsetSelection
from flou.local.categories.support_uncertainty import score_interval
from flou.release.uncertainty import Interval as Ends
from flou.release.uncertainty import NoiseAndSampling

__all__ = ["MarginUncertainty", "support_variances"]


@dataclass(frozen=True, eq=False)
class MarginUncertainty(NoiseAndSampling):
    """``shares`` are the unbiased estimates; ``outside`` and ``inside`` are V0 / d^2 and V1 / d^2."""

    shares: NDArray[np.float64]
    people: int
    outside: float
    inside: float

    @classmethod
    def of(cls, oracle: FrequencyOracle, shares: NDArray[np.float64], people: int, m: int) -> MarginUncertainty:
        """For sums of m estimates of the oracle each."""
        outside, inside = support_variances(oracle, m)
        return cls(shares, people, outside / oracle.gap**2, inside / oracle.gap**2)

    def _interval(self, level: float, sampling: bool) -> Ends:
        slope = self.inside - self.outside
        return score_interval(self.shares, self.people, level, self.outside, slope, 1.0 if sampling else 0.0)

    @property
    def grid(self) -> float:
        return 0.0


def support_variances(oracle: FrequencyOracle, m: int) -> tuple[float, float]:
    """V0 and V1: of how many of m categories a report supports, for those in none and for those in one of them."""
    p, q = oracle.p, oracle.q
    own, others, partners = _covariances(oracle)
    outside = m * (q * (1 - q) + min(m - 1, partners) * others)
    inside = p * (1 - p) + (m - 1) * (q * (1 - q) + 2 * own + max(min(m - 2, partners), 0) * others)
    return max(outside, 0.0), max(inside, 0.0)


def _covariances(oracle: FrequencyOracle) -> tuple[float, float, int]:
    """s and c, and for how many v at the most a given u has c."""
    p, q, k = oracle.p, oracle.q, oracle.k
    if isinstance(oracle, GRR):
        return -p * q, -q * q, k
    if isinstance(oracle, SubsetSelection):
        omega = oracle.omega
        both = (omega - 1) * (p * (omega - 2) + (1 - p) * omega) / ((k - 1) * max(k - 2, 1))
        return p * ((omega - 1) / (k - 1) - q), both - q * q, k
    if isinstance(oracle, Hadamard):
        return 0.0, (2 * p - 1) / 4, 1
    if isinstance(oracle, OLH):
        return 0.0, q * (p - q), oracle.g - 2
    return 0.0, 0.0, 0  # unary encodings: the bits are independent
