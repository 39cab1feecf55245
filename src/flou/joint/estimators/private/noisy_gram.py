"""Least squares from a Gram matrix that contains noise, with errors that contain it, too.

Given      G + E and g + e, E symmetric, all entries on and above the diagonal independent with variance tau^2
Estimate   b = (G + E)^-1 (g + e)
Error      to the first order b - beta = [sampling] + G^-1 (e - E beta), and the covariance of e - E beta is tau^2 M,
             M = (1 + |b|^2) I + b b' - diag(b^2),
           because entry i of E beta is a sum over j of E_ij beta_j, and two of them, i and j, share E_ij alone. So
             V = s^2 G^-1 + tau^2 G^-1 M G^-1,
           with the matrix that was opened in place of G, which is on the safe side: the mean of its inverse is larger
Residuals  c' F c for c = (-b, 1) and the whole matrix F, the response included. Fitting the noise lowers it by
           tau^2 tr(G^-1 M), which is given back; below 0 it counts as 0, and is then far less than the noise: s^2 G^-1
           is about R/(n l) for residuals R and an eigenvalue l, the other part tau^2/l^2, and R of the order of tau
           leaves the first one smaller by tau n/l > tau
Drowned    where the smallest eigenvalue is not above 2 tau sqrt(p), as large as noise alone makes the eigenvalues of a
           symmetric p x p matrix (Wigner's law): b then says nothing, and its errors are infinite
Source     Wang (2018); Evans and King (2023); Fuller (1987) on errors in regressors
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from flou.arrays import Floats

__all__ = ["NoisyGram", "shared_noise"]


def shared_noise(b: Floats) -> Floats:
    """M: the covariance of e - E b, for entries of variance 1."""
    found: Floats = (1 + b @ b) * np.eye(len(b)) + np.outer(b, b) - np.diag(b * b)
    return found


@dataclass(frozen=True, eq=False)
class NoisyGram:
    """An opened matrix of products, the response last; ``noise`` is the variance of each of its entries."""

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
