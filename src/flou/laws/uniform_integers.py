"""Uniform law on the integers from lower to upper, both included.

Law      P(K = k) = 1 / (upper - lower + 1)
Sampler  a word scaled to the range; the words that would favour some values are drawn again (``bits.py``)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from flou.arrays import Ints
from flou.bits import Bits
from flou.errors import InvalidParameter
from flou.laws.law import Law, as_integers
from flou.parameters import integer

__all__ = ["UniformIntegers"]


@dataclass(frozen=True)
class UniformIntegers(Law):
    """Every integer of a range with the same probability."""

    lower: int
    upper: int

    def __post_init__(self) -> None:
        integer("lower", self.lower, -(2**62), 2**62)
        integer("upper", self.upper, -(2**62), 2**62)
        if self.lower > self.upper:
            raise InvalidParameter(
                f"lower must not exceed upper, got {self.lower} and {self.upper}.",
                "An empty range has no uniform law.",
                "Swap the two bounds.",
            )

    @property
    def size(self) -> int:
        return self.upper - self.lower + 1

    def log_pmf(self, k: ArrayLike) -> Any:
        k = as_integers(k)
        return np.where((self.lower <= k) & (k <= self.upper), -np.log(float(self.size)), -np.inf)[()]

    def sf(self, k: ArrayLike) -> Any:
        return ((self.upper - np.clip(as_integers(k), self.lower - 1, self.upper)) / self.size)[()]

    def cdf(self, k: ArrayLike) -> Any:
        return ((np.clip(as_integers(k), self.lower - 1, self.upper) - self.lower + 1) / self.size)[()]

    @property
    def mean(self) -> float:
        return (self.lower + self.upper) / 2

    @property
    def variance(self) -> float:
        return (self.size**2 - 1) / 12

    @property
    def mean_absolute(self) -> float:
        """E |K|."""
        low, high = sorted((abs(self.lower), abs(self.upper)))
        if self.lower <= 0 <= self.upper:
            return (low * (low + 1) + high * (high + 1)) / 2 / self.size
        return abs(self.mean)

    def draw(self, size: int, bits: Bits) -> Ints:
        return bits.below(self.size, size) + np.int64(self.lower)
