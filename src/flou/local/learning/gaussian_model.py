"""Gaussian classes: the prior of each class, and the mean and the variance of each feature within it.

Features are taken as independent and normal within a class (naive Bayes). ``fitted`` is the estimate of greatest
likelihood from plain rows, the same as scikit-learn's GaussianNB with its 1e-9 of the largest variance added.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flou.arrays import Floats

__all__ = ["GaussianModel", "probabilities"]


SMOOTHING = 1e-9


@dataclass(frozen=True, eq=False)
class GaussianModel:
    """``priors`` of the classes; ``means`` and ``variances`` with a row for each class."""

    priors: Floats
    means: Floats
    variances: Floats

    @classmethod
    def fitted(cls, rows: Floats, labels: NDArray[np.int64], classes: int) -> GaussianModel:
        """From rows without noise, or from rows whose noise is to be ignored; a class without rows has prior 0."""
        counts = np.bincount(labels, minlength=classes)
        extra = SMOOTHING * float(rows.var(axis=0).max())
        means, variances = np.zeros((classes, rows.shape[1])), np.ones((classes, rows.shape[1]))
        for code in np.flatnonzero(counts):
            mine = rows[labels == code]
            means[code], variances[code] = mine.mean(axis=0), mine.var(axis=0) + extra
        return cls(counts / labels.size, means, np.where(variances > 0, variances, 1.0))

    def scores(self, rows: Floats) -> Floats:
        """The logarithm of prior times density, a column for each class."""
        with np.errstate(divide="ignore"):  # a class without rows
            priors = np.log(self.priors)
        away = (rows[:, None, :] - self.means) ** 2 / self.variances
        found: Floats = priors - 0.5 * (np.log(2 * np.pi * self.variances).sum(axis=1) + away.sum(axis=2))
        return found


def probabilities(scores: Floats) -> Floats:
    """Scores as probabilities of the classes."""
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    found: Floats = weights / weights.sum(axis=1, keepdims=True)
    return found
