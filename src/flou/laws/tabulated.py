"""A law on 0..n-1 given by its table of probabilities, with its own sampler."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from flou.arrays import Floats, Ints
from flou.bits import Bits
from flou.laws.law import Law, as_integers

__all__ = ["Tabulated"]


class Tabulated(Law):
    """P(K = i) = probabilities[i]; ``draw`` must follow the same law, exactly."""

    def __init__(self, probabilities: Floats, draw: Callable[[int, Bits], Ints]) -> None:
        self.probabilities = probabilities
        self._draw = draw

    def __repr__(self) -> str:
        return f"Tabulated({self.probabilities.size} outcomes)"

    def pmf(self, k: ArrayLike) -> Any:
        k = as_integers(k)
        inside = (k >= 0) & (k < self.probabilities.size)
        return np.where(inside, self.probabilities[np.where(inside, k, 0)], 0.0)[()]

    def log_pmf(self, k: ArrayLike) -> Any:
        with np.errstate(divide="ignore"):
            return np.log(self.pmf(k))

    def cdf(self, k: ArrayLike) -> Any:
        running = np.concatenate([[0.0], np.cumsum(self.probabilities[:-1]), [1.0]])
        return running[np.clip(as_integers(k) + 1, 0, self.probabilities.size)]

    def sf(self, k: ArrayLike) -> Any:
        return 1 - self.cdf(k)

    @property
    def mean(self) -> float:
        return float(np.dot(np.arange(self.probabilities.size), self.probabilities))

    @property
    def variance(self) -> float:
        return float(np.dot((np.arange(self.probabilities.size) - self.mean) ** 2, self.probabilities))

    @property
    def mean_absolute(self) -> float:
        return self.mean

    def draw(self, size: int, bits: Bits) -> Ints:
        return self._draw(size, bits)
