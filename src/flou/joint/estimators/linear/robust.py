"""Covariances that hold when the errors' variance differs between rows or when errors are alike within clusters.

Rule     with orthonormal combinations z of the regressors and residuals e, the covariance is T' M T, where M is
         HC0 to HC3   the sum of z z' e^2 w; w = 1, n/(n-k), 1/(1-h), 1/(1-h)^2 with the leverage h = z'z
         cluster      the sum over clusters of u u' with u = sum of z e, times G/(G-1) (n-1)/(n-k)
Opened   HC, and clusters within a party: the k(k+1)/2 sums M over all parties (and the number of clusters), nothing
         about any one row, cluster or party. Clusters that may span parties: the k sums u of each declared cluster over
         all parties, because products of such sums cannot be added up; whoever sees the result then knows u, which for
         a cluster of a single row is that row's residual times its regressors
Numerics z and e come from means that are taken off first, and are of the size of one; words have 60 fractional bits
Source   MacKinnon and White (1985); Liang and Zeger (1986)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flou.arrays import Floats
from flou.errors import InvalidData
from flou.joint.estimators.linear.exact_gram import from_upper
from flou.joint.estimators.linear.linear_sums import LinearSums

__all__ = [
    "HC",
    "Standardised",
    "cluster_meat",
    "cluster_scores",
    "correction",
    "heteroscedastic_meat",
    "meat_limit",
    "opened_meat",
    "opened_scores",
    "score_words",
    "second_round",
]


HC = ("HC0", "HC1", "HC2", "HC3")
BITS = 60
LEAST = 2.0**-30  # one minus the leverage, from which on HC2 and HC3 are defined


def second_round(sums: LinearSums) -> dict[str, Any]:
    """The public numbers with which a party turns its rows into z and e: columns, what to take off, and weights."""
    weights = np.zeros((len(sums.kept) + 1, len(sums.kept) + 1))
    weights[:-1, :-1] = sums.directions
    weights[-1] = sums.residual_direction
    shift = np.zeros(len(weights))
    if sums.has_intercept and not sums.groups:
        # A combination that is orthogonal to the constant has mean zero. With rounded means taken off, its constant is
        # what the rounding has left.
        shift[1:] = [float(mean) for mean in sums.means[1:]]
        left = np.array([float(Fraction(rounded) - mean) for rounded, mean in zip(shift, sums.means, strict=True)])
        weights[1:, 0] = weights[1:, 1:] @ left[1:]
    return {"columns": list(sums.kept), "shift": shift.tolist(), "weights": weights.tolist()}


class Standardised:
    """From regressors and responses to z and e."""

    def __init__(self, parameters: Mapping[str, Any], means: Sequence[Fraction] | None) -> None:
        """``means`` are this party's, of all regressors and the response, where it takes them off."""
        self.columns = list(parameters["columns"])
        self._weights = np.array(parameters["weights"])
        self._high = np.array(parameters["shift"])
        self._low = np.zeros(len(self._weights))
        if means is not None:
            taken = [means[j] for j in (*self.columns, -1)]
            self._high = np.array([float(mean) for mean in taken])
            self._low = np.array([float(mean - Fraction(float(mean))) for mean in taken])

    def __call__(self, regressors: Floats, response: Floats) -> tuple[Floats, Floats]:
        rows = np.column_stack([regressors[:, self.columns], response])
        turned = ((rows - self._high) - self._low) @ self._weights.T
        return turned[:, :-1], turned[:, -1]


def meat_limit(rows: int) -> int:
    """No word of the second round is larger, because sum z_j z_k <= 1 and e^2 w <= rows * 2^30."""
    return 2 * max(rows, 1) << (30 + BITS)


def _words(values: Floats) -> list[int]:
    return [int(value) for value in np.rint(np.ldexp(values, BITS)).ravel()]


def meat_words(meat: Floats) -> list[int]:
    """The entries on and above the diagonal."""
    return _words(meat[np.triu_indices(len(meat))])


def heteroscedastic_meat(kind: str, batches: Iterable[tuple[Floats, Floats]], size: int, base: float) -> list[int]:
    """One party's sum of z z' e^2 w; ``base`` is the leverage that each row has besides z'z."""
    meat = np.zeros((size, size))
    for z, e in batches:
        weights = e * e
        if kind in ("HC2", "HC3"):
            left = 1 - base - np.einsum("ij,ij->i", z, z)
            free = z.any(axis=1)  # a row that is alone at its party has no part in the slopes
            if np.any(left[free] < LEAST):
                raise InvalidData(
                    f"A row determines a coefficient alone, and {kind} divides by one minus its leverage.",
                    "Then the covariance is not defined.",
                    "Use HC1, or leave out the regressor that only one row has.",
                )
            weights = np.where(free, weights / np.where(free, left, 1.0) ** (1 if kind == "HC2" else 2), 0.0)
        meat += (z * weights[:, None]).T @ z
    return meat_words(meat)


def cluster_scores(batches: Iterable[tuple[Floats, Floats, NDArray[Any]]]) -> dict[Any, Floats]:
    """The sum of z e over the rows of each cluster; a batch comes with the name of each row's cluster."""
    scores: dict[Any, Floats] = {}
    for z, e, names in batches:
        found, place = np.unique(names, return_inverse=True)
        sums = np.zeros((len(found), z.shape[1]))
        np.add.at(sums, place, z * e[:, None])
        for name, score in zip(found.tolist(), sums, strict=True):
            scores[name] = scores.get(name, 0.0) + score
    return scores


def cluster_meat(scores: dict[Any, Floats], size: int) -> list[int]:
    """One party's sum of u u', and how many clusters it has."""
    stacked = np.array(list(scores.values())).reshape(len(scores), size)
    return [*meat_words(stacked.T @ stacked), len(scores)]


def score_words(scores: dict[Any, Floats], levels: int, size: int) -> list[int]:
    """One party's u of each declared cluster."""
    made = np.zeros((levels, size))
    for place, score in scores.items():
        made[place] = score
    return _words(made)


def opened_meat(words: Sequence[int], size: int) -> Floats:
    """The symmetric matrix that was opened."""
    return np.array([[math.ldexp(word, -BITS) for word in row] for row in from_upper(words, size)])


def opened_scores(words: Sequence[int], size: int) -> tuple[Floats, int]:
    """The sum of u u' over the clusters, and how many of them have rows."""
    scores = np.array([math.ldexp(word, -BITS) for word in words]).reshape(-1, size)
    return scores.T @ scores, int(np.count_nonzero(scores.any(axis=1)))


def correction(kind: str, sums: LinearSums, clusters: int | None) -> float:
    """What the covariance is multiplied by for small samples."""
    if kind == "HC1":
        return sums.rows / sums.df_resid if sums.df_resid else math.nan
    if kind == "cluster":
        if clusters is None or clusters < 2 or sums.df_resid == 0:
            return math.nan
        return clusters / (clusters - 1) * (sums.rows - 1) / sums.df_resid
    return 1.0
