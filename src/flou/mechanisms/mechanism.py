"""What every mechanism has: a guarantee, an exact law, and draws from that law."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from flou.arrays import Ints
from flou.bits import SYSTEM, Bits
from flou.errors import InvalidData
from flou.guarantee import Guarantee
from flou.parameters import described

__all__ = ["Mechanism", "integer_vector"]


class Mechanism(ABC):
    """A random function of a summary of the data, with a proved guarantee and a known law."""

    guarantee: Guarantee  # what one release costs, for the stated neighbours

    def __repr__(self) -> str:
        call = described(self, hide=("guarantee", "noise"))
        return f"{call[:-1]}, relation={self.guarantee.relation!r})"

    @abstractmethod
    def law(self, summary: Any) -> Any:
        """The exact distribution of the release, given the summary."""

    @abstractmethod
    def sample(self, summary: Any, *, bits: Bits = SYSTEM) -> Any:
        """One release: a draw from exactly ``law(summary)``."""


def integer_vector(name: str, values: ArrayLike) -> Ints:
    """A non-empty vector of integers; errors state its type and shape, never a value."""
    array = np.asarray(values)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "iu":
        kind = "one value" if array.ndim == 0 else f"{array.ndim} dimension(s)"
        raise InvalidData(
            f"{name} must be an integer or a non-empty vector of integers, got {kind} of type {array.dtype}.",
            "Privacy is proved on a grid of integers, where no rounding can leak.",
            "Encode the values with a domain first, for example flou.Interval(0, 100).encode(values).",
        )
    clamped: Ints = np.minimum(array, 2**63 - 1).astype(np.int64)  # moves no two unsigned numbers further apart
    return clamped
