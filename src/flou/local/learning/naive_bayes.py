"""Gaussian naive Bayes from reports: priors, means and variances of the classes, with the randomisers' noise taken out.

Law        each person reports label and bin of one feature, picked at random, with all of epsilon, see
           ``labelled_bins.py``
Guarantee  epsilon-DP for all features and the label of one person together, in one report
Why        which feature is asked for does not depend on the person; label and bin together are one category, randomised
           by a frequency oracle at epsilon; of the other features nothing is said
Error      shares of (label, bin) have the oracle's variance with n / d people. Means and variances are those of the
           bins' middles, less (width^2 - cell^2) / 12 (Sheppard), so that a feature is known to a fraction of a bin
Numerics   reports are counted exactly; estimates are floats
Limits     ``variances="shared"`` (one variance of a feature for all classes) needs far fewer people than ``"own"``
Source     flou; Sheppard (1898)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from flou.arrays import Floats
from flou.domain import Domain, Numbers
from flou.local.learning.classifier import Classifier
from flou.local.learning.labelled_bins import Joint
from flou.parameters import Number, choice

__all__ = ["GaussianModel", "NaiveBayes", "class_moments", "priors_of", "within_classes"]

LEAST_SHARE = 0.02  # of a class: below, its means would be divided by next to nothing
LEAST_WIDTH = 0.2  # of a bin: no standard deviation is smaller
SMOOTHING = 1e-9


@dataclass(frozen=True, eq=False)
class GaussianModel:
    """``priors`` of the classes; ``means`` and ``variances`` with a row for each class.

    Features are taken as independent and normal within a class.
    """

    priors: Floats
    means: Floats
    variances: Floats

    @classmethod
    def fitted(cls, rows: Floats, labels: NDArray[np.int64], classes: int) -> GaussianModel:
        """From plain rows, or from rows whose noise is to be ignored; a class without rows has prior 0.

        The estimate of greatest likelihood, as scikit-learn's GaussianNB makes it: with 1e-9 of the largest variance
        added to each variance.
        """
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


class NaiveBayes(Classifier):
    """Learns from reports about the label and one feature of each person."""

    def __init__(
        self,
        features: Mapping[str, Numbers],
        label: Domain,
        *,
        epsilon: Number,
        bins: int = 4,
        variances: Literal["shared", "own"] = "shared",
    ) -> None:
        super().__init__(features, label, epsilon=epsilon, bins=bins)
        self.variances: Literal["shared", "own"] = choice("variances", variances, ("shared", "own"))

    def _learn(self, joints: list[Joint]) -> None:
        shape = (self.questions.classes, len(self.features))
        # A feature that nobody reported says nothing: the same mean for every class, and a variance of 1.
        means, variances = np.zeros(shape), np.ones(shape)
        for joint in joints:
            (j,) = joint.features
            share, means[:, j], within = class_moments(joint.shares, self.questions.edges(j), self.questions.cell(j))
            own = within if self.variances == "own" else np.full(shape[0], share @ within / share.sum())
            least = LEAST_WIDTH * np.diff(self.questions.edges(j)).mean()
            variances[:, j] = np.maximum(own, least**2)
        self.model_ = GaussianModel(priors_of(joints), means, variances)

    def log_scores(self, numbers: Floats) -> Floats:
        return self.model_.scores(numbers)


def priors_of(joints: list[Joint]) -> Floats:
    """The shares of the classes, from the reports to all questions: unbiased ones, averaged, none below a small one."""
    people = np.array([joint.people for joint in joints], dtype=np.float64)
    each = np.array([joint.raw.reshape(joint.raw.shape[0], -1).sum(axis=1) for joint in joints])
    shares = np.maximum(people @ each / people.sum(), LEAST_SHARE)
    found: Floats = shares / shares.sum()
    return found


def class_moments(shares: Floats, edges: Floats, cell: float) -> tuple[Floats, Floats, Floats]:
    """Share, mean and variance of each class, from the shares of labels (rows) and bins (columns).

    A bin's width counts as the spread of equally likely values that are a ``cell`` apart: none, if there is only one.
    """
    middles, widths = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
    total, inside = within_classes(shares)
    mean = inside @ middles
    variance = inside @ middles**2 - mean**2 - inside @ (widths**2 - cell**2) / 12
    return total, mean, variance


def within_classes(shares: Floats) -> tuple[Floats, Floats]:
    """The share of each class, and those of the bins within it, which add up to 1."""
    total = np.maximum(shares.sum(axis=1), LEAST_SHARE)
    rest = (total - shares.sum(axis=1)) / shares.shape[1]  # what a rare class lacks is spread over all bins
    return total, (shares + rest[:, None]) / total[:, None]
