"""Linear discriminant from reports: class means and one covariance of all features, as a logistic model.

Law        each person reports label and bins of two features, a pair picked at random, with all of epsilon
Guarantee  epsilon-DP for all features and the label of one person together, in one report
Why        as for ``naive_bayes.py``: label and both bins are one category, and which pair is asked for is public chance
Model      with Gaussian classes of one covariance S the log-odds of two classes are linear: coefficients S^-1 (mean_1 -
           mean_0), as logistic regression would find them on such data
Error      correlations are shrunk towards 0 by what is known of their noise: by 1 - sum of variances / sum of squares,
           or to 0. With few people it is naive Bayes with one variance, with many the full discriminant
Numerics   reports are counted exactly; estimates are floats. The correlations are made positive definite
Limits     d features have d (d - 1) / 2 pairs: below some hundred people a pair, ``NaiveBayes`` is as good
Source     Fisher (1936); the shrinkage is that of James and Stein (1961)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from flou.arrays import Floats
from flou.local.learning.classifier import Classifier
from flou.local.learning.labelled_bins import Joint, LabelledBins
from flou.local.learning.naive_bayes import LEAST_WIDTH, class_moments, priors_of

__all__ = ["Geometry", "LinearDiscriminant", "geometry_of"]

LEAST_EIGENVALUE = 0.1


class LinearDiscriminant(Classifier):
    """Learns from reports about the label and two features of each person; a logistic model."""

    together: ClassVar[int] = 2

    def _learn(self, joints: list[Joint]) -> None:
        geometry = geometry_of(self.questions, joints)
        self.coef_ = geometry.means @ geometry.inverse
        self.intercept_ = np.log(priors_of(joints)) - 0.5 * np.sum(self.coef_ * geometry.means, axis=1)

    def log_scores(self, numbers: Floats) -> Floats:
        found: Floats = numbers @ self.coef_.T + self.intercept_
        return found


@dataclass(frozen=True, eq=False)
class Geometry:
    """Class means, standard deviations within classes, and the correlations there as eigenvalues and eigenvectors."""

    means: Floats
    deviations: Floats
    values: Floats
    vectors: Floats

    @property
    def inverse(self) -> Floats:
        """The inverse of the covariance."""
        found: Floats = (self.vectors / self.values) @ self.vectors.T / np.outer(self.deviations, self.deviations)
        return found


def geometry_of(questions: LabelledBins, joints: list[Joint]) -> Geometry:
    """What reports about pairs of features say, with correlations shrunk by what is known of their noise."""
    d = len(questions.features)
    people, means, spreads = np.zeros(d), np.zeros((questions.classes, d)), np.zeros(d)
    for joint in joints:
        for place, j in enumerate(joint.features):
            share, mean, within = class_moments(joint.shares.sum(axis=2 - place), questions.edges(j), questions.cell(j))
            people[j] += joint.people
            means[:, j] += joint.people * mean
            spreads[j] += joint.people * float(share @ within / share.sum())
    least = [LEAST_WIDTH * float(np.diff(questions.edges(j)).mean()) for j in range(d)]
    count = np.maximum(people, 1)
    means, deviations = means / count, np.sqrt(np.maximum(spreads / count, np.square(least)))
    deviations[people == 0] = 1.0
    found, noise = np.zeros((d, d)), 0.0
    for joint in joints:
        i, j = joint.features
        middles = [(edges[1:] + edges[:-1]) / 2 for edges in map(questions.edges, (i, j))]
        # The products of deviations from the class means, for every label and pair of bins.
        away = [(middle - means[:, [k]]) / deviations[k] for middle, k in zip(middles, (i, j), strict=True)]
        weights = away[0][:, :, None] * away[1][:, None, :]
        found[i, j] = found[j, i] = np.sum(weights * joint.shares)
        noise += 2 * float(np.sum(weights**2 * joint.variances))
    kept = max(0.0, 1 - noise / max(float(np.sum(found**2)), noise))
    correlations = np.eye(d) + np.clip(kept * found, -0.95, 0.95)
    values, vectors = np.linalg.eigh(correlations)
    return Geometry(means, deviations, np.maximum(values, LEAST_EIGENVALUE), vectors)
