"""The normal distribution and its kin, from SciPy, imported when first needed: it is most of flou's import time."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from flou.arrays import Floats

__all__ = ["binomial_quantile", "gauss_legendre", "log_gamma", "log_ndtr", "ndtr", "ndtri", "scaled_erfc"]


def ndtr(x: Any) -> Any:
    """Phi(x), accurate in the lower tail."""
    from scipy.special import ndtr

    return ndtr(x)


def ndtri(p: Any) -> Any:
    """The x with Phi(x) = p."""
    from scipy.special import ndtri

    return ndtri(p)


def binomial_quantile(tail: float, n: int, p: float) -> int:
    """The smallest k with P(Binomial(n, p) <= k) >= tail."""
    from scipy.special import bdtr

    low, high = -1, n  # P(<= low) < tail <= P(<= high)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if bdtr(middle, n, p) >= tail else (middle, high)
    return high


def log_ndtr(x: Any) -> Any:
    """log Phi(x)."""
    from scipy.special import log_ndtr

    return log_ndtr(x)


def scaled_erfc(x: Any) -> Any:
    """exp(x^2) erfc(x)."""
    from scipy.special import erfcx

    return erfcx(x)


@lru_cache(maxsize=16)
def gauss_legendre(n: int) -> tuple[Floats, Floats]:
    """Nodes and weights on [-1, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(n)
    return nodes, weights


def log_gamma(x: Any) -> Any:
    """log Gamma(x)."""
    from scipy.special import gammaln

    return gammaln(x)
