"""How far one unit can move a vector of integers: in L1 norm for Laplace noise, in L2 norm for Gaussian noise.

The lemma behind most statistics: let every row add a vector whose L1 norm is at most B and whose entries lie in an
interval of length B that contains 0 (entries of at least 0 that add up to at most B do). Then a unit of up to r rows
moves the sum

    by at most r B in L1 and in L2 norm, if the unit is added or removed;
    by at most 2 r B in L1 and sqrt(2) r B in L2 norm, if its rows are replaced by up to r others.

For the last bound, each entry moves by at most r B, and |x|_2^2 <= |x|_1 |x|_largest. Two rows at two corners of the
simplex attain all of them. Proof: docs/explanation/proofs/sensitivity.md
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from flou.central.public_facts import PublicFacts

__all__ = ["Sensitivity", "root"]


@dataclass(frozen=True)
class Sensitivity:
    """Bounds for both norms; the second is kept as a square, so that it stays exact."""

    l1: Fraction | int
    l2_squared: Fraction | int

    @classmethod
    def of_rows(cls, norm: int, facts: PublicFacts) -> Sensitivity:
        """By the lemma, for rows of L1 norm at most ``norm``."""
        rows = facts.rows_per_unit
        corners = 2 if facts.schema.relation == "substitute" else 1
        return cls(corners * rows * norm, corners * (rows * norm) ** 2)

    @property
    def l2(self) -> Fraction:
        """The L2 norm, rounded up where it is no fraction."""
        return root(Fraction(self.l2_squared))

    def times(self, factor: int) -> Sensitivity:
        """Of the same vector in finer units."""
        return Sensitivity(factor * self.l1, factor**2 * self.l2_squared)


def root(square: Fraction) -> Fraction:
    """The square root: exact where it is a fraction, and otherwise too large by less than 2^-63 of it."""
    top, bottom = math.isqrt(square.numerator), math.isqrt(square.denominator)
    if top * top == square.numerator and bottom * bottom == square.denominator:
        return Fraction(top, bottom)
    shift = max(0, 66 - (square.numerator.bit_length() - square.denominator.bit_length()) // 2)
    return Fraction(math.isqrt((square.numerator << 2 * shift) // square.denominator) + 1, 1 << shift)
