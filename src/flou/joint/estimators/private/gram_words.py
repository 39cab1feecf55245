"""Sums of products of bounded rows, as integers that one row moves by a known amount.

Rows       v = (z_1, ..., z_k), the response last, each z_i in [-1, 1] and rounded to a multiple of 1/S, S = 2^grid; as
           integers |v_i| <= S. With ``norm`` R, rows longer than R are shrunk towards 0, and cut off so that |v| <= R S
           surely. Without an intercept the rows are counted by one word more, of S^2 a row
Words      the sum of v_i v_j for all i <= j: exact integers, because matrix products of doubles are exact up to 2^53
           and 2^20 rows are multiplied at once
Moved      let a_i = v_i^2, A = sum a_i <= Q = min(k S^2, floor((R S)^2)), a_i <= m = min(S^2, Q). One row moves
             L2, squared  sum_(i<=j) a_i a_j = (A^2 + sum a_i^2)/2 <= (Q^2 + m Q)/2, because sum a_i^2 <= m A;
                          the plain bound on |v|^2, A^2, is nearly twice as much
             L1           sum_(i<=j) |v_i v_j| = ((sum |v_i|)^2 + A)/2 <= (k + 1) Q/2, because (sum |v_i|)^2 <= k A
Replaced   a row v by a row u, b_i = u_i^2, B = sum b_i:
             L2, squared  sum_(i<=j) (v_i v_j - u_i u_j)^2 = (A^2 + B^2 - 2 <v,u>^2 + sum (a_i - b_i)^2)/2, where
                          (a_i - b_i)^2 <= m |a_i - b_i| <= m min(a_i + b_i, 2 m - a_i - b_i): at most
                          Q^2 + m min(Q, k m - Q), see the proof for why A = B = Q is the worst case
             L1           pairs i < j at most (k - 1)(A + B)/2 together, squares max(a_i, b_i):
                          (k - 1) Q + min(2 Q, k m)
Proof      docs/explanation/proofs/joint-noise.md
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from flou.arrays import Floats
from flou.joint.estimators.private.privacy import Sensitivity
from flou.parameters import Number, Relation, exact

__all__ = ["MOST_ROWS", "GramWords"]


MOST_ROWS = 2**40  # of one party
BLOCK = 2**20  # rows whose products are added up exactly: (2^16)^2 2^20 = 2^52
FINEST = 16  # bits of the grid


@dataclass(frozen=True)
class GramWords:
    """Words for ``size`` columns on a grid of 2^-grid; ``counted`` adds a word that counts the rows."""

    size: int
    grid: int
    norm: Fraction | None
    counted: bool

    @classmethod
    def of(cls, size: int, grid: int, norm: Number | None, counted: bool) -> GramWords:
        return cls(size, grid, None if norm is None else exact(norm), counted)

    @property
    def unit(self) -> int:
        """S: the integer that stands for 1."""
        return 1 << self.grid

    @property
    def length(self) -> int:
        return self.size * (self.size + 1) // 2 + self.counted

    @property
    def limit(self) -> int:
        """No word of one party is larger."""
        return MOST_ROWS * self.unit**2

    @property
    def longest(self) -> int:
        """Q: no row, as integers, has a larger square."""
        whole = self.size * self.unit**2
        return whole if self.norm is None else min(whole, math.floor(self.norm**2 * self.unit**2))

    def sensitivity(self, relation: Relation) -> Sensitivity:
        k, Q, one = self.size, self.longest, self.unit**2 * self.counted
        m = min(self.unit**2, Q)
        if relation == "substitute":  # the number of rows stays
            return Sensitivity((k - 1) * Q + min(2 * Q, k * m), Q * Q + m * min(Q, k * m - Q), self.length)
        return Sensitivity((k + 1) * Q // 2 + one, (Q * Q + m * Q) // 2 + one * one, self.length)

    def rows(self, z: Floats) -> Floats:
        """Rows of numbers between -1 and 1 as integers, stored as floats."""
        v: Floats = np.rint(np.clip(z, -1.0, 1.0) * self.unit)
        if self.longest < self.size * self.unit**2:
            square = np.sum(v * v, axis=1)  # exact: integers below 2^53
            long = square > self.longest
            shrink = math.sqrt(self.longest) * (1 - 2.0**-40) / np.sqrt(square[long])
            v[long] = np.trunc(v[long] * shrink[:, None])
        return v

    def sums(self, parts: Iterable[Floats]) -> list[int]:
        """The words of rows that come in parts."""
        upper = np.triu_indices(self.size)
        words, rows = [0] * len(upper[0]), 0
        for z in parts:
            v = self.rows(z)
            rows += len(v)
            for start in range(0, len(v), BLOCK):
                block = v[start : start + BLOCK]
                for place, entry in enumerate((block.T @ block)[upper].tolist()):
                    words[place] += int(entry)
        return [*words, rows * self.unit**2] if self.counted else words

    def matrix(self, sums: Iterable[int]) -> tuple[Floats, float | None]:
        """The opened sums in units of z: the matrix of products, and the number of rows if it was counted."""
        scaled = np.array([float(Fraction(total, self.unit**2)) for total in sums])
        full = np.zeros((self.size, self.size))
        full[np.triu_indices(self.size)] = scaled[: len(scaled) - self.counted]
        return full + np.triu(full, 1).T, float(scaled[-1]) if self.counted else None
