"""What every law of flou can say about itself.

A law is a probability distribution on the integers. It knows its probabilities, tails, quantiles and
moments (floats, accurate to about 1e-12 relative), and it can be sampled, exactly: no float rounding ever
changes the probability of an outcome. Draws are 64-bit integers: at the largest scale that is allowed, 2^50, a draw
beyond them has a probability of e^-8192 and would wrap around.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike

from flou.arrays import Ints
from flou.bits import SYSTEM, Bits
from flou.errors import InvalidParameter
from flou.laws.decide import CHUNK
from flou.parameters import described, integer, open_probability, shown

__all__ = ["Law", "Shape", "Shifted", "as_integers", "in_chunks"]

Shape: TypeAlias = int | tuple[int, ...]

LARGEST_SAMPLE = 2**40


def as_integers(k: ArrayLike) -> Ints:
    """The points at which a law is evaluated, as integers; fractions are refused."""
    array = np.asarray(k)
    if array.dtype.kind not in "iub" and not (
        array.dtype.kind == "f" and bool(np.all(np.isfinite(array))) and bool(np.all(array == np.floor(array)))
    ):
        raise InvalidParameter(
            f"A law on the integers was asked about {shown(k)}.",
            "It gives probabilities to integers only.",
            "Pass an integer or an array of integers.",
        )
    return array.astype(np.int64)


def in_chunks(size: int, draw: Callable[[int], Ints]) -> Ints:
    """``size`` draws, made a cache-sized chunk at a time."""
    if size <= CHUNK:
        return draw(size)
    result = np.empty(size, dtype=np.int64)
    for start in range(0, size, CHUNK):
        stop = min(start + CHUNK, size)
        result[start:stop] = draw(stop - start)
    return result


class Law(ABC):
    """A probability law on the integers."""

    def __repr__(self) -> str:
        return described(self)

    @property
    def centre(self) -> int:
        """The point from which ``mean_absolute`` measures: 0 for noise, the answer for a release."""
        return 0

    @abstractmethod
    def log_pmf(self, k: ArrayLike) -> Any:
        """log P(K = k)."""

    @abstractmethod
    def sf(self, k: ArrayLike) -> Any:
        """P(K > k)."""

    @abstractmethod
    def cdf(self, k: ArrayLike) -> Any:
        """P(K <= k)."""

    @property
    @abstractmethod
    def mean(self) -> float:
        """E K."""

    @property
    @abstractmethod
    def variance(self) -> float:
        """E (K - E K)^2."""

    @property
    @abstractmethod
    def mean_absolute(self) -> float:
        """E |K - centre|."""

    @abstractmethod
    def draw(self, size: int, bits: Bits) -> Ints:
        """``size`` exact draws; :meth:`sample` is the comfortable way in."""

    def pmf(self, k: ArrayLike) -> Any:
        """P(K = k)."""
        return np.exp(self.log_pmf(k))

    @property
    def standard_deviation(self) -> float:
        return math.sqrt(self.variance)

    def quantile(self, p: ArrayLike) -> Any:
        """The least k with P(K <= k) >= p, for p strictly between 0 and 1."""
        array = np.asarray(p)
        found = [self._quantile(float(open_probability("p", q))) for q in array.ravel().tolist()]
        return found[0] if array.ndim == 0 else np.array(found, dtype=np.int64).reshape(array.shape)

    def _quantile(self, p: float) -> int:
        def reached(k: int) -> bool:
            return bool(self.cdf(k) >= p) if p <= 0.5 else bool(self.sf(k) <= 1 - p)

        middle = round(self.mean)
        step = max(1, math.ceil(self.standard_deviation))
        low, high = middle - 1, middle
        while reached(low):
            low, step = low - step, 2 * step
        while not reached(high):
            high, step = high + step, 2 * step
        while high - low > 1:
            between = (low + high) // 2
            low, high = (low, between) if reached(between) else (between, high)
        return high

    def interval(self, level: float = 0.95) -> tuple[int, int]:
        """The central interval that holds K with probability at least ``level``, both ends included."""
        tail = (1 - float(open_probability("level", level))) / 2
        return self._quantile(tail), self._quantile(1 - tail)

    @overload
    def sample(self, size: None = None, *, bits: Bits = SYSTEM) -> int: ...
    @overload
    def sample(self, size: Shape, *, bits: Bits = SYSTEM) -> Ints: ...
    def sample(self, size: Shape | None = None, *, bits: Bits = SYSTEM) -> int | Ints:
        """One exact draw, or an array of independent ones."""
        if size is None:
            return int(self.draw(1, bits)[0])
        shape = size if isinstance(size, tuple) else (size,)
        count = math.prod(integer("size", length, 0, LARGEST_SAMPLE) for length in shape)
        return self.draw(count, bits).reshape(shape)


@dataclass(frozen=True, slots=True, repr=False)
class Shifted(Law):
    """A law moved by an integer: what an additive mechanism releases."""

    law: Law
    by: int

    def __repr__(self) -> str:
        return f"Shifted({self.law}, by=...)"  # the answer before noise is not for printing

    @property
    def centre(self) -> int:
        return self.by

    def _back(self, k: ArrayLike) -> Any:
        # Python integers never overflow; arrays wrap around as the release itself would
        return int(k) - self.by if isinstance(k, int | np.integer) else as_integers(k) - self.by

    def log_pmf(self, k: ArrayLike) -> Any:
        return self.law.log_pmf(self._back(k))

    def sf(self, k: ArrayLike) -> Any:
        return self.law.sf(self._back(k))

    def cdf(self, k: ArrayLike) -> Any:
        return self.law.cdf(self._back(k))

    @property
    def mean(self) -> float:
        return self.law.mean + self.by

    @property
    def variance(self) -> float:
        return self.law.variance

    @property
    def mean_absolute(self) -> float:
        return self.law.mean_absolute

    def _quantile(self, p: float) -> int:
        return self.law._quantile(p) + self.by

    def draw(self, size: int, bits: Bits) -> Ints:
        wrapped = (self.by + 2**63) % 2**64 - 2**63  # as the sum itself would wrap
        return self.law.draw(size, bits) + np.int64(wrapped)
