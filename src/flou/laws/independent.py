"""Independent coordinates: the joint law of a vector that was noised entry by entry."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from flou.arrays import Floats, Ints
from flou.bits import SYSTEM, Bits
from flou.laws.law import Law, Shifted, as_integers
from flou.parameters import open_probability

__all__ = ["Independent"]


@dataclass(frozen=True, eq=False)
class Independent:
    """A vector ``centre`` plus independent draws of the law ``noise``."""

    noise: Law
    centre: Ints = field(repr=False)  # the answer before noise is not for printing

    def __getitem__(self, i: int) -> Law:
        """The law of one coordinate."""
        return Shifted(self.noise, int(self.centre[i]))

    def __len__(self) -> int:
        return len(self.centre)

    def log_pmf(self, k: ArrayLike) -> Any:
        """log P(release = k) for a vector k, or for each row of a matrix."""
        return np.sum(self.noise.log_pmf(as_integers(k) - self.centre), axis=-1)

    def pmf(self, k: ArrayLike) -> Any:
        """P(release = k)."""
        return np.exp(self.log_pmf(k))

    def cdf(self, k: ArrayLike) -> Any:
        """P(every coordinate of the release <= that of k)."""
        return np.prod(self.noise.cdf(as_integers(k) - self.centre), axis=-1)

    @property
    def mean(self) -> Floats:
        return self.noise.mean + self.centre.astype(np.float64)

    @property
    def variance(self) -> Floats:
        return np.full(len(self), self.noise.variance)

    @property
    def standard_deviation(self) -> Floats:
        return np.sqrt(self.variance)

    @property
    def mean_absolute(self) -> Floats:
        return np.full(len(self), self.noise.mean_absolute)

    def quantile(self, p: float) -> Ints:
        """The quantile of every coordinate."""
        return np.int64(self.noise.quantile(p)) + self.centre

    def interval(self, level: float = 0.95, *, simultaneous: bool = False) -> tuple[Ints, Ints]:
        """An interval for every coordinate; ``simultaneous`` ones hold all coordinates at once."""
        each = float(open_probability("level", level))
        low, high = self.noise.interval(each ** (1 / len(self)) if simultaneous else each)
        return self.centre + low, self.centre + high

    def sample(self, size: int | None = None, *, bits: Bits = SYSTEM) -> Ints:
        """One exact draw, or one a row."""
        shape = (len(self),) if size is None else (size, len(self))
        return self.centre + self.noise.sample(shape, bits=bits)
