"""What everybody is asked in the benchmark of local randomisers, and how estimates are scored.

One of 128 categories a person, with unequal shares (the j-th in proportion to 1/j), at epsilon = 1. NumPy only.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["EPSILON", "K", "answers", "counted", "rates", "squared_error", "theory", "unbiased"]

K, EPSILON = 128, 1.0


def answers(people: int) -> NDArray[np.int64]:
    """The same ones in every run, as codes from 0 to 127."""
    weights = 1 / np.arange(1, K + 1)
    return np.random.default_rng(7).choice(K, people, p=weights / weights.sum())


def rates(method: str, g: int | None = None) -> tuple[float, float]:
    """P[a report supports one's own category] and P[it supports another one], as the literature has them."""
    e = math.exp(EPSILON)
    if method == "grr":
        return e / (e + K - 1), 1 / (e + K - 1)
    if method == "oue":
        return 1 / 2, 1 / (e + 1)
    if method == "olh":
        assert g is not None
        return e / (e + g - 1), 1 / g
    if method == "subset":
        size = max(1, round(K / (e + 1)))
        p = size * e / (size * e + K - size)
        return p, (p * (size - 1) + (1 - p) * size) / (K - 1)
    return e / (e + 1), 1 / 2  # Hadamard response


def theory(method: str, g: int | None = None) -> float:
    """n times the mean squared error of unbiased estimates: the variances of all categories add up to this times K."""
    p, q = rates(method, g)
    return (p * (1 - p) + (K - 1) * q * (1 - q)) / (K * (p - q) ** 2)


def unbiased(support: Any, people: int, p: float, q: float) -> NDArray[np.float64]:
    """Shares from the number of reports that support each category."""
    return (np.asarray(support) / people - q) / (p - q)


def counted(reports: Any) -> NDArray[np.float64]:
    """Shares from GRR's reports, for a library that makes reports and does not estimate."""
    return unbiased(np.bincount(reports, minlength=K), len(reports), *rates("grr"))


def squared_error(estimate: Callable[[NDArray[np.int64]], Any], people: int, releases: int) -> Callable[[], float]:
    """n times the mean squared error, over all categories of many collections from the same people."""
    given = answers(people)
    exact = np.bincount(given, minlength=K) / people

    def ask() -> float:
        errors = [np.mean((np.asarray(estimate(given)) - exact) ** 2) for _ in range(releases)]
        return people * float(np.mean(errors))

    return ask
