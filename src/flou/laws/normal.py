"""The normal distribution function, from SciPy, imported when first needed: it is most of flou's import time."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from flou.laws.law import Floats

__all__ = ["gauss_legendre", "log_gamma", "log_ndtr", "ndtr", "scaled_erfc"]


def ndtr(x: Any) -> Any:
    """Phi(x), accurate in the lower tail."""
    from scipy.special import ndtr

    return ndtr(x)


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
