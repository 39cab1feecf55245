"""Covariance and correlation matrices from one noisy Gram matrix.

Law        see ``gram.py``
Guarantee  that of the price, for the whole matrix
Why        everything is computed from the released Gram matrix
Error      intervals from replays of the noise; for the population, with normal sampling error on top
Numerics   exact integers on a grid of 2^15 cells until the noise is drawn
Limits     sampling error is that of a normal law: on heavy tails and rare events the population's interval is too short
Source     Dwork and others (2006)
Proof      docs/explanation/proofs/gram.md
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from flou.arrays import Floats
from flou.bits import SeededBits
from flou.central.matrices.gram import GramQuestion, NoisyGram, between
from flou.central.price import Given, Price
from flou.central.question import Draft
from flou.parameters import Number
from flou.release import Layout
from flou.release.uncertainty import Interval, NoiseAndSampling

__all__ = ["Correlation", "Covariance", "normal_numbers"]


@dataclass(frozen=True)
class Covariance(GramQuestion):
    """The covariance matrix of several columns."""

    columns: tuple[str, ...]
    price: Price | Number
    statistic = "covariance"
    proof = "gram"

    @classmethod
    def asked(cls, *columns: str, epsilon: Given = None, delta: Given = None, rho: Given = None) -> Self:
        return cls(columns, Price.of(epsilon, delta, rho))

    @property
    def column(self) -> str:  # type: ignore[override]
        return ", ".join(self.columns)

    def axes(self) -> tuple[str, ...]:
        return tuple(self.columns)

    def labels(self) -> tuple[str, ...]:
        return tuple(f"{a} with {b}" for a in self.columns for b in self.columns)

    def draft(self, gram: NoisyGram) -> Draft:
        uncertainty = MatrixUncertainty(gram, correlation=isinstance(self, Correlation))
        return Draft(
            uncertainty.value,
            uncertainty,
            gram.noise.described(),
            self.labels(),
            uncertainty.caution,
            postprocessing=("computed from a released Gram matrix",),
            layout=Layout("matrix", self.columns, self.columns),
        )


@dataclass(frozen=True)
class Correlation(Covariance):
    """The correlation matrix of several columns."""

    statistic = "correlation"


@dataclass(frozen=True, eq=False)
class MatrixUncertainty(NoiseAndSampling):
    """Intervals for the entries of a matrix, flattened row by row."""

    gram: NoisyGram
    correlation: bool

    def _function(self, entries: Floats) -> Floats:
        matrix = self.gram.covariances(entries)
        if not self.correlation:
            half = np.array([axis.half for axis in self.gram.noise.axes])
            return np.asarray((matrix * np.multiply.outer(half, half)).reshape(*matrix.shape[:-2], -1))
        scale = np.sqrt(np.maximum(np.einsum("...ii->...i", matrix), 1e-12))
        found = np.clip(matrix / (scale[..., :, None] * scale[..., None, :]), -1.0, 1.0)
        np.einsum("...ii->...i", found)[...] = 1.0  # of a column with itself, whatever the noise
        return np.asarray(found.reshape(*matrix.shape[:-2], -1))

    @property
    def value(self) -> Floats:
        return self._function(self.gram.entries)

    @property
    def caution(self) -> str:
        variances = np.einsum("...ii->...i", self.gram.covariances(self.gram.replays))
        lost = np.mean(np.any(variances <= 0, axis=-1))
        return (
            "The noise is as large as the variances: more rows or a larger epsilon are needed." if lost > 0.01 else ""
        )

    def _interval(self, level: float, sampling: bool) -> Interval:
        replays = self._function(self.gram.replays)
        low, high = between(replays, level)
        if sampling:
            d = len(self.gram.noise.columns)
            numbers = normal_numbers((len(replays), d, d))
            numbers = np.triu(numbers) + np.swapaxes(np.triu(numbers, 1), 1, 2)  # a pair is the same both ways round
            wider = between(replays + self._sampling() * numbers.reshape(replays.shape), level)
            low, high = np.minimum(low, wider[0]), np.maximum(high, wider[1])  # what holds the rows is held too
        if self.caution and self.correlation:
            low, high = np.full_like(low, -1.0), np.full_like(high, 1.0)
        if self.correlation:
            low, high = np.clip(low, -1, 1), np.clip(high, -1, 1)
            low[:: len(self.gram.noise.columns) + 1] = 1.0  # the diagonal
        return np.minimum(low, self.value), np.maximum(high, self.value)

    def _sampling(self) -> Floats:
        """Standard deviations over samples, as if the columns were normal."""
        n = max(float(self.gram.entries[0]), 2.0)
        d = len(self.gram.noise.columns)
        matrix = self._function(self.gram.entries).reshape(d, d)
        if self.correlation:
            return np.asarray(((1 - matrix**2) / np.sqrt(n)).ravel())
        variance = np.maximum(np.diag(matrix), 0)
        return np.asarray(np.sqrt((np.multiply.outer(variance, variance) + matrix**2) / n).ravel())

    @property
    def grid(self) -> float:
        return max(axis.half / axis.unit if axis.unit > 1 else 0.0 for axis in self.gram.noise.axes)


def normal_numbers(shape: tuple[int, ...]) -> Floats:
    """Standard normal numbers for an interval, the same ones every time: nothing private."""
    from scipy.special import ndtri

    words = SeededBits(f"normal {shape}").words(int(np.prod(shape)))
    return np.asarray(ndtri((words.astype(np.float64) + 0.5) * 2.0**-64).reshape(shape))
