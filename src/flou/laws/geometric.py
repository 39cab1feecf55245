"""Geometric law: how many steps an exponential time lasts.

Law      P(K >= k) = e^(-k / scale), k = 0, 1, 2, ...
Sampler  floor(-scale ln U), decided exactly. A large scale is split: with a block of B = 2^s values,
         K = B Q + R where Q is geometric of scale/B and R, independent of it, has P(R = r) proportional
         to e^(-r / scale) on 0..B-1 (the exponential has no memory). R is a uniform integer kept with
         probability e^(-r / scale), which is almost 1 because B is small next to the scale.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from flou.arrays import Ints
from flou.bits import Bits
from flou.laws.decide import coins, tail_index
from flou.laws.enclosure import exp_minus
from flou.laws.law import Law, as_integers, in_chunks
from flou.parameters import Number, number

__all__ = ["DIRECT", "Geometric", "split_geometric"]

DIRECT = 2**30  # up to this scale one logarithm decides nearly always; above it the scale is split
ALMOST_ONE = np.uint64(2**64 - 2**36)


def split_geometric(scale: Fraction, size: int, bits: Bits) -> Ints:
    """Geometric draws of a scale above ``DIRECT``, as block and remainder."""
    shift = (math.floor(scale) // DIRECT).bit_length()
    blocks = Geometric(scale / 2**shift).draw(size, bits)
    rest = bits.below(2**shift, size)
    pending = np.arange(size)
    while pending.size:
        # every r < 2^shift <= scale / 2^29 is kept with probability above 1 - 2^-28: few words need a look
        words = bits.words(pending.size)
        looked = np.flatnonzero(words >= ALMOST_ONE)
        pending, words = pending[looked], words[looked]
        r = rest[pending]
        exact = [exp_minus(k / scale) for k in r.tolist()]
        kept = coins(words, np.exp(r / -float(scale)), 2.0**-48, exact.__getitem__, bits)
        pending = pending[~kept]
        rest[pending] = bits.below(2**shift, pending.size)
    return (blocks << shift) + rest


@dataclass(frozen=True, repr=False)
class Geometric(Law):
    """P(K >= k) = e^(-k / scale) on 0, 1, 2, ..."""

    scale: Fraction

    def __init__(self, scale: Number) -> None:
        object.__setattr__(self, "scale", number("scale", scale))

    @property
    def _rate(self) -> float:
        return float(1 / self.scale)

    def log_pmf(self, k: ArrayLike) -> Any:
        k = as_integers(k)
        return np.where(k >= 0, math.log(-math.expm1(-self._rate)) - self._rate * k, -np.inf)[()]

    def sf(self, k: ArrayLike) -> Any:
        return np.exp(-self._rate * (np.maximum(as_integers(k), -1) + 1.0))[()]

    def cdf(self, k: ArrayLike) -> Any:
        return -np.expm1(-self._rate * (np.maximum(as_integers(k), -1) + 1.0))[()]

    @property
    def mean(self) -> float:
        return math.exp(-self._rate) / -math.expm1(-self._rate)

    @property
    def variance(self) -> float:
        return math.exp(-self._rate) / math.expm1(-self._rate) ** 2

    @property
    def mean_absolute(self) -> float:
        return self.mean

    def draw(self, size: int, bits: Bits) -> Ints:
        if self.scale > DIRECT:
            return in_chunks(size, lambda count: split_geometric(self.scale, count, bits))

        def tail(k: int) -> Any:
            return exp_minus(k / self.scale)

        scale = float(self.scale)
        return in_chunks(size, lambda count: tail_index(bits.words(count), scale, 0.0, tail, bits))
