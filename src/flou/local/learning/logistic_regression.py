"""Logistic regression from reports: the coefficients of greatest likelihood under what reports tell of the rows.

Law        each person reports label and bins of two features, a pair picked at random, with all of epsilon
Guarantee  epsilon-DP for all features and the label of one person together, in one report
Why        the same reports as for ``linear_discriminant.py``
Model      log-odds are linear in the features. The rows are replaced by made-up ones that have, within each class, the
           estimated shares of all bins of every feature and the estimated correlations (a Gaussian copula, one for all
           classes); their weighted likelihood is maximised by Newton's method
Error      as for the discriminant; a penalty of |coefficients|^2 / 2 over the number of people whose clean answers
           would be as noisy as these reports keeps it finite, and near the priors where reports say next to nothing
Numerics   the made-up rows are a lattice, without randomness: the same reports give the same coefficients
Limits     where classes are normal with one covariance the discriminant has the same coefficients and less variance;
           this is for features that are skewed, bounded or yes-or-no. What three features do together is not seen, and
           where in a bin a class lies is not either: wide bins make coefficients too small, however many report
Source     flou; for copulas Nelsen (2006), for the lattice Richtmyer (1951)
"""

from __future__ import annotations

from itertools import count

import numpy as np
from numpy.typing import NDArray

from flou.domain import Interval
from flou.laws.normal import ndtr, ndtri
from flou.local.learning.classifier import Floats
from flou.local.learning.gaussian_model import probabilities
from flou.local.learning.labelled_bins import Joint
from flou.local.learning.linear_discriminant import LinearDiscriminant, geometry_of
from flou.local.learning.naive_bayes import priors_of, within_classes

__all__ = ["LogisticRegression"]

ROWS = 4096  # made up, for all classes together
LEAST = 16  # for each class and coefficient
STEPS = 50
CLOSE = 1e-9
ANCHOR = 1e-6  # a penalty for intercepts, too small to matter: it fixes what all classes could share
SMALLEST = 1e-300


class LogisticRegression(LinearDiscriminant):
    """Learns from reports about the label and two features of each person."""

    def _learn(self, joints: list[Joint]) -> None:
        d, classes = len(self.features), self.questions.classes
        geometry = geometry_of(self.questions, joints)
        each = max(ROWS // classes, LEAST * (d + 1))
        normal = _lattice(each, d) @ geometry.root.T
        rows = np.empty((classes, each, d))
        for j, domain in enumerate(self.features.values()):
            for c, shares in enumerate(self._bins(joints, j)):
                placed = _placed(normal[:, j], shares, self.questions.edges(j))
                rows[c, :, j] = placed if isinstance(domain, Interval) else np.rint(placed)
        centre, spread = geometry.means.mean(axis=0), geometry.deviations
        design = np.concatenate([np.ones((classes, each, 1)), (rows - centre) / spread], axis=2)
        weights = np.repeat(priors_of(joints) / each, each)
        # People whose clean answers would be as noisy: their shares have variances that add up to 1 / people at most.
        worth = sum(1 / float(joint.variances.sum()) for joint in joints)
        found = _fitted(design.reshape(-1, d + 1), np.repeat(np.arange(classes), each), weights, classes, 1 / worth)
        self.coef_ = found[:, 1:] / spread
        self.intercept_ = found[:, 0] - self.coef_ @ centre

    def _bins(self, joints: list[Joint], feature: int) -> Floats:
        """The shares of a feature's bins within each class, from all questions that are about it."""
        total = np.zeros((self.questions.classes, self.questions.sizes[feature]))
        for joint in joints:
            if feature in joint.features:
                total += joint.people * joint.shares.sum(axis=2 - joint.features.index(feature))
        asked = float(total.sum())
        return within_classes(total / asked if asked else np.full_like(total, 1 / total.size))[1]


def _placed(normal: Floats, shares: Floats, edges: Floats) -> Floats:
    """Normal numbers as values with these shares of bins: linear in a bin, uniform in one that has no inner end."""
    running = np.minimum(np.concatenate([[0.0], np.cumsum(shares[:-1]), [1.0]]), 1.0)
    ends = ndtri(running)
    bins = np.searchsorted(ends[1:-1], normal)
    low, high = ends[bins], ends[bins + 1]
    inner = np.isfinite(low) & np.isfinite(high)
    low, high = np.where(inner, low, running[bins]), np.where(inner, high, running[bins + 1])
    part = (np.where(inner, normal, ndtr(normal)) - low) / np.maximum(high - low, SMALLEST)
    found: Floats = edges[bins] + np.clip(part, 0.0, 1.0) * np.diff(edges)[bins]
    return found


def _lattice(rows: int, d: int) -> Floats:
    """Points that fill the cube evenly, as normal numbers, with the mean 0, the variance 1 and correlations of 0."""
    primes: list[int] = []
    while len(primes) < d:  # whose roots are far from all fractions
        after = primes[-1] + 1 if primes else 2
        primes.append(next(n for n in count(after) if all(n % prime for prime in primes)))
    places = (0.5 + np.outer(np.arange(1, rows + 1), np.sqrt(primes))) % 1.0
    normal = ndtri(np.clip(places, 0.5 / rows, 1 - 0.5 / rows))
    away = normal - normal.mean(axis=0)
    found: Floats = np.linalg.solve(np.linalg.cholesky(away.T @ away / rows), away.T).T
    return found


def _fitted(design: Floats, labels: NDArray[np.int64], weights: Floats, classes: int, penalty: float) -> Floats:
    """A row of coefficients for each class, the intercept first: the maximum of a concave function."""
    width = design.shape[1]
    truth = np.eye(classes)[labels]
    ridge = np.full(width, penalty)
    ridge[0] = ANCHOR
    found = np.zeros((classes, width))

    def height(coefficients: Floats) -> float:
        scores = design @ coefficients.T
        top = scores.max(axis=1, keepdims=True)
        log = ((scores - top) * truth).sum(axis=1) - np.log(np.exp(scores - top).sum(axis=1))
        return float(weights @ log - np.sum(ridge * coefficients**2) / 2)

    for _ in range(STEPS):
        p = probabilities(design @ found.T)
        slope = (weights[:, None] * (truth - p)).T @ design - ridge * found
        curvature = np.zeros((classes, width, classes, width))
        for a in range(classes):
            for b in range(classes):
                mass = weights * p[:, a] * ((a == b) - p[:, b])
                curvature[a, :, b, :] = (design * mass[:, None]).T @ design
        flat = curvature.reshape(classes * width, -1) + np.diag(np.tile(ridge, classes))
        step = np.linalg.solve(flat, slope.ravel()).reshape(classes, width)
        length, before = 1.0, height(found)
        while length > CLOSE and height(found + length * step) < before:
            length /= 2
        found = found + length * step
        if np.abs(step).max() < CLOSE:
            break
    return found
