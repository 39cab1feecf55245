"""Real numbers as words: integers on a public grid.

Rule       word = x * 2^f, rounded to the nearest integer, halves to the even one; exactly, whatever x is
Error      at most 2^(-f-1) for one number, and parties * 2^(-f-1) for a sum over parties: words are added exactly
Range      |x| <= bound; what lies outside is refused, never moved
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from flou.errors import InvalidData

__all__ = ["FixedPoint"]


@dataclass(frozen=True)
class FixedPoint:
    """Multiples of 2^-fraction between -bound and bound."""

    fraction: int
    bound: int

    @property
    def limit(self) -> int:
        """No word is larger than this in size."""
        return self.bound << self.fraction

    def holds(self, numbers: NDArray[np.float64]) -> bool:
        """Whether all numbers are finite and within the bound."""
        return bool(np.all(np.abs(numbers) <= float(self.bound)))

    def words(self, numbers: Iterable[float | Fraction]) -> list[int]:
        """The words of one party; sums of values outside what was agreed on are refused."""
        try:
            words = [round(Fraction(number) * (1 << self.fraction)) for number in numbers]
        except (OverflowError, ValueError):  # infinite, or not a number
            words = [self.limit + 1]
        if any(abs(word) > self.limit for word in words):
            raise InvalidData(
                "A sum of this party's rows is too large for the agreed words.",
                f"Words hold numbers up to {float(self.bound):.3g} in size.",
                "Look for rows with values of an unusual size, or agree on other units.",
            )
        return words

    def numbers(self, sums: Sequence[int]) -> NDArray[np.float64]:
        """The floats nearest to opened sums."""
        return np.array([total / (1 << self.fraction) for total in sums], dtype=np.float64)

    def fractions(self, sums: Sequence[int]) -> list[Fraction]:
        """Opened sums, exactly."""
        return [Fraction(total, 1 << self.fraction) for total in sums]

    def error(self, parties: int) -> Fraction:
        """The largest error of a sum over this many parties because of rounding."""
        return Fraction(parties, 1 << (self.fraction + 1))
