"""Linear regression from one noisy Gram matrix, with errors that contain the noise.

Law        see ``gram.py``: the response and the regressors, D = (p + 2)(p + 3)/2 noisy entries for p regressors
Guarantee  that of the price, in total
Why        the coefficients are computed from the released Gram matrix alone
Error      replays of the noise through the same formula; for the population, with the classical sampling error on top.
           Where replays lose the rank of the matrix the noise drowns the signal, and the interval is the whole line
Numerics   exact integers on a grid of 2^15 cells until the noise is drawn
Limits     values are clamped to their bounds, and the coefficients are those of the clamped columns
Source     Wang (2018); Evans and King (2023) on correcting for known noise
Proof      docs/explanation/proofs/gram.md
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from flou.arrays import Floats
from flou.central.matrices.covariance import normal_numbers
from flou.central.matrices.gram import GramQuestion, NoisyGram, between
from flou.central.price import Given, Price
from flou.central.question import Draft
from flou.parameters import Number
from flou.release import Layout
from flou.release.uncertainty import Interval, NoiseAndSampling

__all__ = ["Regression"]

LOST = 0.01  # of the replays may lose their rank before the interval gives up
CAUTION = 0.5  # deviations of its noise by which the residual variance is raised


@dataclass(frozen=True)
class Regression(GramQuestion):
    """Least squares of a response on regressors, with an intercept."""

    response: str
    regressors: tuple[str, ...]
    price: Price | Number
    statistic = "regression"
    proof = "gram"

    @classmethod
    def asked(
        cls, response: str, *regressors: str, epsilon: Given = None, delta: Given = None, rho: Given = None
    ) -> Self:
        return cls(response, regressors, Price.of(epsilon, delta, rho))

    @property
    def column(self) -> str:  # type: ignore[override]
        return f"{self.response} on {', '.join(self.regressors)}"

    def axes(self) -> tuple[str, ...]:
        return (*self.regressors, self.response)

    def labels(self) -> tuple[str, ...]:
        return "intercept", *self.regressors

    def draft(self, gram: NoisyGram) -> Draft:
        done = ("least squares from a released Gram matrix",)
        uncertainty, layout = RegressionUncertainty(gram), Layout("coefficients", names=self.labels())
        note = "The noise drowns the regressors: more rows or a larger epsilon are needed." if uncertainty.lost else ""
        return Draft(uncertainty.value, uncertainty, gram.noise.described(), self.labels(), note, done, layout=layout)


@dataclass(frozen=True, eq=False)
class RegressionUncertainty(NoiseAndSampling):
    """Intervals for the coefficients, in the units of the columns."""

    gram: NoisyGram

    def _solved(self, entries: Floats) -> tuple[Floats, NDArray[np.bool_], Floats, Floats]:
        """Coefficients in units of z, whether the matrix has its rank, its inverse, and the residual variance."""
        full = self.gram.matrix(entries)
        left, right = full[..., :-1, :-1], full[..., :-1, -1]
        values, vectors = np.linalg.eigh(left)
        sound = values[..., 0] > 0
        safe = np.maximum(values, 1e-9 * np.maximum(np.abs(values[..., -1:]), 1e-100))
        inverse = (vectors / safe[..., None, :]) @ np.swapaxes(vectors, -1, -2)
        beta = np.einsum("...ij,...j->...i", inverse, right)
        n = np.maximum(full[..., 0, 0], left.shape[-1] + 1.0)
        left_over = full[..., -1, -1] - np.einsum("...i,...i->...", beta, right)
        return beta, sound, inverse, np.maximum(left_over, 0.0) / (n - left.shape[-1])

    @cached_property
    def _released(self) -> tuple[Floats, NDArray[np.bool_], Floats, Floats]:
        return self._solved(self.gram.entries)

    @cached_property
    def _replayed(self) -> tuple[Floats, NDArray[np.bool_], Floats, Floats]:
        return self._solved(self.gram.replays)

    def _in_units(self, beta: Floats) -> Floats:
        *regressors, response = self.gram.noise.axes
        slopes = beta[..., 1:] * response.half / np.array([axis.half for axis in regressors])
        shift = np.einsum("...i,i->...", slopes, np.array([axis.middle for axis in regressors]))
        intercept = response.middle + response.half * beta[..., 0] - shift
        return np.concatenate([intercept[..., None], slopes], axis=-1)

    @property
    def value(self) -> Floats:
        return self._in_units(self._released[0])

    @property
    def lost(self) -> bool:
        """Whether the noise drowns the signal."""
        return bool(np.mean(~self._replayed[1]) > LOST or not self._released[1])

    def _interval(self, level: float, sampling: bool) -> Interval:
        if self.lost:
            whole = np.full(self.value.shape, np.inf)
            return -whole, whole
        beta = self._replayed[0]
        if sampling:
            _, _, inverse, variance = self._released
            cautious = float(variance + CAUTION * np.std(self._replayed[3]))
            root = np.linalg.cholesky(inverse * max(cautious, 1e-12))
            sampled = between(self._in_units(beta + normal_numbers(beta.shape) @ root.T), level)
            low, high = between(self._in_units(beta), level)
            return np.minimum(low, sampled[0]), np.maximum(high, sampled[1])  # what holds the rows is held too
        return between(self._in_units(beta), level)

    @property
    def grid(self) -> float:
        return max(axis.half / axis.unit if axis.unit > 1 else 0.0 for axis in self.gram.noise.axes)
