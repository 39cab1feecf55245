"""Symmetric matrices taken apart with the same rounding on every machine.

Parties repeat the coordinator's arithmetic and refuse a question that differs from theirs. Libraries for linear algebra
round differently from machine to machine; the sums and products of single numbers below do not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from flou.arrays import Floats

__all__ = ["Cholesky", "dot", "symmetric"]


LEAST = 2.0**-46  # of its diagonal entry is left of a pivot, or the matrix counts as singular


def dot(a: Floats, b: Floats) -> float:
    """An inner product whose sum is rounded once."""
    return math.fsum((a * b).tolist())


def symmetric(triangle: Floats, size: int) -> Floats:
    """The matrix with these entries on and above the diagonal, row by row."""
    upper = np.zeros((size, size))
    upper[np.triu_indices(size)] = triangle
    full: Floats = upper + np.triu(upper, 1).T
    return full


@dataclass(frozen=True)
class Cholesky:
    """A positive definite matrix as L D L', L with a unit diagonal."""

    lower: Floats
    pivots: Floats

    @classmethod
    def of(cls, matrix: Floats) -> Cholesky | None:
        """The factors, or None when the matrix is not clearly positive definite."""
        lower, pivots, known = _eliminated(matrix)
        return cls(lower, pivots) if known == len(matrix) else None

    @classmethod
    def dependent(cls, matrix: Floats) -> int | None:
        """The first column that is a combination of those before it, if there is one."""
        known = _eliminated(matrix)[2]
        return known if known < len(matrix) else None

    def solve(self, right: Floats) -> Floats:
        """The solution of matrix @ x = right, for a vector or for columns."""
        x = np.array(right, dtype=np.float64).reshape(len(self.pivots), -1)
        for k in range(len(x)):
            x[k + 1 :] -= self.lower[k + 1 :, k, None] * x[k]
        x /= self.pivots[:, None]
        for k in reversed(range(len(x))):
            x[:k] -= self.lower[k, :k, None] * x[k]
        return x.reshape(np.shape(right))

    def inverse(self) -> Floats:
        found = self.solve(np.eye(len(self.pivots)))
        return (found + found.T) / 2


def _eliminated(matrix: Floats) -> tuple[Floats, Floats, int]:
    """L, D, and how many columns were independent of each other."""
    size = len(matrix)
    rest, lower, pivots = matrix.copy(), np.eye(size), np.empty(size)
    for k in range(size):
        pivots[k] = rest[k, k]
        if not LEAST * matrix[k, k] < pivots[k] < math.inf:
            return lower, pivots, k
        lower[k + 1 :, k] = rest[k + 1 :, k] / pivots[k]
        rest[k + 1 :, k + 1 :] -= lower[k + 1 :, k, None] * rest[None, k, k + 1 :]
    return lower, pivots, size
