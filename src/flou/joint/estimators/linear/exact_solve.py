"""Gram and Schmidt on an exact Gram matrix: coefficients, inverse and residuals of least squares without rounding.

Rule      from the sums of products of columns x_1, ..., x_p follow numbers w_kj with w_kk = 1 such that the vectors
          r_k = sum_{j <= k} w_kj x_j are orthogonal; d_k = |r_k|^2 is what the columns before x_k cannot explain of it.
          The last row holds minus the coefficients of the regression of x_p on the others, and d_p is its residual
          sum of squares; the inverse of the Gram matrix of the first columns is the sum of w_k' w_k / d_k
Exactness up to 40 columns by elimination without fractions (Bareiss 1968), in integers: all results are the
          exact rational numbers, and a column is dependent on others exactly if its d_k is zero. Beyond that in fixed
          point with 640 bits after the point, where a column counts as dependent if d_k is below 2^-320 of its square
Limits    a column also counts as dependent if d_k is not above ``tolerance``, for sums that were rounded, or not above
          2^-``precision`` of its own square, for columns that were
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Dependent", "Orthogonal", "orthogonalised"]


EXACT_UP_TO = 40
POINT = 640


class Dependent(Exception):
    """A column is a combination of those before it."""

    def __init__(self, place: int) -> None:
        super().__init__(place)
        self.place = place


@dataclass(frozen=True)
class Orthogonal:
    """The rows w_k of the rule, each up to its own place, the squares d_k, and the products of r_k with the last x."""

    rows: tuple[tuple[Fraction, ...], ...]
    squares: tuple[Fraction, ...]
    products: tuple[Fraction, ...]

    @property
    def coefficients(self) -> tuple[Fraction, ...]:
        """Of the regression of the last column on the others."""
        return tuple(-weight for weight in self.rows[-1][:-1])

    @property
    def residual(self) -> Fraction:
        """The sum of squares that the others do not explain of the last column."""
        return self.squares[-1]


def orthogonalised(gram: Sequence[Sequence[int]], *, tolerance: int = 0, precision: int | None = None) -> Orthogonal:
    """Orthogonalise columns of which these are the sums of products; all but the last must be independent."""
    matrix = np.array([list(row) for row in gram], dtype=object).reshape(len(gram), len(gram))
    least = [max(tolerance, 0 if precision is None else row[k] >> precision) for k, row in enumerate(gram)]
    return _bareiss(matrix, least) if len(gram) <= EXACT_UP_TO + 1 else _fixed_point(matrix, least)


def _bareiss(left: NDArray[Any], least: Sequence[int]) -> Orthogonal:
    """Elimination in integers: after step k every entry is a minor of the matrix, so the divisions leave no rest."""
    size = len(left)
    right = np.zeros((size, size), dtype=object)  # below the diagonal, on which the leading minor stands
    rows, squares, products = [], [], []
    before = 1  # the leading minor
    for k in range(size):
        minor = left[k, k]
        if minor <= least[k] * before and k < size - 1:
            raise Dependent(k)
        right[k, k] = before
        rows.append(tuple(Fraction(entry, before) for entry in right[k, : k + 1]))
        squares.append(Fraction(minor, before))
        products.append(Fraction(left[k, -1], before))
        rest, done = slice(k + 1, size), slice(0, k + 1)
        column = left[rest, k : k + 1]
        left[rest, rest] = (minor * left[rest, rest] - column * left[k : k + 1, rest]) // before
        right[rest, done] = (minor * right[rest, done] - column * right[k : k + 1, done]) // before
        before = minor
    return Orthogonal(tuple(rows), tuple(squares), tuple(products))


def _fixed_point(left: NDArray[Any], least: Sequence[int]) -> Orthogonal:
    """The same with columns scaled to a length of about one, in integers times 2^-POINT."""
    size = len(left)
    halves = [(int(left[k, k]).bit_length() + 1) // 2 for k in range(size)]
    one = 1 << POINT
    scaled = np.array(
        [[(int(left[i, j]) << POINT) >> (halves[i] + halves[j]) for j in range(size)] for i in range(size)],
        dtype=object,
    )
    right = np.array([[one * (i == j) for j in range(size)] for i in range(size)], dtype=object)
    rows, squares, products = [], [], []
    for k in range(size):
        square = Fraction(int(scaled[k, k]), one) * 4 ** halves[k]
        if (scaled[k, k] <= 1 << (POINT // 2) or square <= least[k]) and k < size - 1:
            raise Dependent(k)
        rows.append(
            tuple(Fraction(int(right[k, j]), one) * Fraction(2) ** (halves[k] - halves[j]) for j in range(k + 1))
        )
        squares.append(max(square, Fraction(0)))
        products.append(Fraction(int(scaled[k, -1]) << (halves[k] + halves[-1]), one))
        rest, done = slice(k + 1, size), slice(0, k + 1)
        factors = (scaled[rest, k : k + 1] << POINT) // scaled[k, k]
        scaled[rest, rest] -= (factors * scaled[k : k + 1, rest]) >> POINT
        right[rest, done] -= (factors * right[k : k + 1, done]) >> POINT
    return Orthogonal(tuple(rows), tuple(squares), tuple(products))
