"""Numbers in their order as whole numbers 0, ..., size - 1: multiples of a public grain, or every float there is.

Grain      code = rint((x - lower) / grain); the value of a code is lower + code * grain, rounded once. Encoding never
           swaps two values, so that the quantile of codes is the code of the quantile
Floats     a positive double read as an integer grows with its value; a negative one is minus the integer of its
           opposite. Both zeros have code 0, and two doubles are equal when their codes are
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["FloatGrid", "GrainGrid", "OrderedGrid"]

MAGNITUDE = 0x7FFFFFFFFFFFFFFF


class OrderedGrid(Protocol):
    """Values in their order."""

    @property
    def size(self) -> int: ...

    @property
    def grain(self) -> float:
        """How far apart two values are, 0 for all floats."""
        ...

    def codes(self, values: NDArray[np.float64]) -> tuple[NDArray[np.uint64], int, int]:
        """The codes of the values between the bounds, and how many lie below and above."""
        ...

    def value(self, code: int) -> float: ...


@dataclass(frozen=True)
class GrainGrid:
    """The multiples of ``step`` from ``lower`` on, up to the first that is not below ``upper``."""

    lower: Fraction
    upper: Fraction
    step: Fraction

    @property
    def size(self) -> int:
        return math.ceil((self.upper - self.lower) / self.step) + 1

    @property
    def grain(self) -> float:
        return float(self.step)

    def codes(self, values: NDArray[np.float64]) -> tuple[NDArray[np.uint64], int, int]:
        lower, upper = float(self.lower), float(self.upper)
        below, above = values < lower, values > upper
        places = np.rint((values[~(below | above)] - lower) / float(self.step))
        return np.clip(places, 0, self.size - 1).astype(np.uint64), int(below.sum()), int(above.sum())

    def value(self, code: int) -> float:
        return float(self.lower + code * self.step)


@dataclass(frozen=True)
class FloatGrid:
    """Every double from ``lower`` to ``upper``, infinities included."""

    lower: float = -math.inf
    upper: float = math.inf
    grain: float = 0.0

    @property
    def size(self) -> int:
        return _order(self.upper) - _order(self.lower) + 1

    def codes(self, values: NDArray[np.float64]) -> tuple[NDArray[np.uint64], int, int]:
        below, above = values < self.lower, values > self.upper
        bits = values[~(below | above)].view(np.int64)
        signed = np.where(bits < 0, -(bits & MAGNITUDE), bits).view(np.uint64)
        first = np.uint64(_order(self.lower) % 2**64)
        return signed - first, int(below.sum()), int(above.sum())  # modulo 2^64, and the difference is below it

    def value(self, code: int) -> float:
        signed = code + _order(self.lower)
        (magnitude,) = struct.unpack("<d", struct.pack("<q", abs(signed)))
        return float(-magnitude if signed < 0 else magnitude)


def _order(value: float) -> int:
    (bits,) = struct.unpack("<q", struct.pack("<d", value))
    return int(-(bits & MAGNITUDE) if bits < 0 else bits)
