"""The Gram matrix of a private regression: words that one row moves by a known amount, and least squares with noise.

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
from functools import cached_property

import numpy as np

from flou.arrays import Floats
from flou.joint.estimators.likelihood.cholesky import symmetric
from flou.joint.estimators.private.privacy import WordSensitivity
from flou.parameters import Number, Relation, exact

__all__ = ["MOST_ROWS", "GramWords", "OpenedGram", "shared_noise"]

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

    def sensitivity(self, relation: Relation) -> WordSensitivity:
        k, Q, one = self.size, self.longest, self.unit**2 * self.counted
        m = min(self.unit**2, Q)
        if relation == "substitute":  # the number of rows stays
            return WordSensitivity((k - 1) * Q + min(2 * Q, k * m), Q * Q + m * min(Q, k * m - Q), self.length)
        return WordSensitivity((k + 1) * Q // 2 + one, (Q * Q + m * Q) // 2 + one * one, self.length)

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
        full = symmetric(scaled[: len(scaled) - self.counted], self.size)
        return full, float(scaled[-1]) if self.counted else None


def shared_noise(b: Floats) -> Floats:
    """M: the covariance of e - E b, for entries of variance 1."""
    found: Floats = (1 + b @ b) * np.eye(len(b)) + np.outer(b, b) - np.diag(b * b)
    return found


@dataclass(frozen=True, eq=False)
class OpenedGram:
    """An opened matrix of products, the response last; ``noise`` is the variance of each of its entries.

    Given      G + E and g + e, E symmetric, all entries on and above the diagonal independent with variance tau^2
    Estimate   b = (G + E)^-1 (g + e)
    Error      to the first order b - beta = [sampling] + G^-1 (e - E beta); the covariance of e - E beta is tau^2 M,
                 M = (1 + |b|^2) I + b b' - diag(b^2),
               because entry i of E beta is a sum over j of E_ij beta_j, and two of them, i and j, share E_ij alone. So
                 V = s^2 G^-1 + tau^2 G^-1 M G^-1,
               with the opened matrix in place of G, which is on the safe side: the mean of its inverse is larger
    Residuals  c' F c for c = (-b, 1) and the whole matrix F, the response included. Fitting the noise lowers it by
               tau^2 tr(G^-1 M), which is given back; below 0 it counts as 0, and is then far less than the noise:
               s^2 G^-1 is about R/(n l) for residuals R and an eigenvalue l, the other part tau^2/l^2, and R of the
               order of tau leaves the first one smaller by tau n/l > tau
    Drowned    where the smallest eigenvalue is not above 2 tau sqrt(p), as large as noise alone makes eigenvalues of a
               symmetric p x p matrix (Wigner's law): b then says nothing, and its errors are infinite
    Source     Wang (2018); Evans and King (2023); Fuller (1987) on errors in regressors
    """

    matrix: Floats
    rows: float  # as opened, noise included
    noise: float

    @property
    def size(self) -> int:
        """Coefficients."""
        return len(self.matrix) - 1

    @cached_property
    def _eigen(self) -> tuple[Floats, Floats]:
        values, vectors = np.linalg.eigh(self.matrix[:-1, :-1])
        return values, vectors

    @property
    def floor(self) -> float:
        """The largest eigenvalue that noise alone would make."""
        return 2 * math.sqrt(self.noise * self.size)

    @property
    def drowned(self) -> bool:
        return not self._eigen[0][0] > self.floor

    @cached_property
    def inverse(self) -> Floats:
        """Of the regressors' part; where the noise drowns it, of the nearest matrix that noise would not make."""
        values, vectors = self._eigen
        found: Floats = (vectors / np.maximum(values, max(self.floor, 2.0**-40))) @ vectors.T
        return found

    @cached_property
    def coefficients(self) -> Floats:
        found: Floats = self.inverse @ self.matrix[:-1, -1]
        return found

    @cached_property
    def residual_variance(self) -> float:
        """s^2, at least 0."""
        c = np.append(-self.coefficients, 1.0)
        fitted = self.noise * np.trace(self.inverse @ shared_noise(self.coefficients))
        return max(float(c @ self.matrix @ c + fitted), 0.0) / max(self.rows - self.size, 1.0)

    @property
    def sampling(self) -> Floats:
        """What the coefficients' covariance would be without noise."""
        return self.residual_variance * self.inverse

    @property
    def noise_covariance(self) -> Floats:
        """What the noise adds to it."""
        found: Floats = self.noise * self.inverse @ shared_noise(self.coefficients) @ self.inverse
        return found
