"""Logistic regression from reports: its coefficients, on rows that are normal within classes and on others."""

from __future__ import annotations

import numpy as np
import pytest

import flou
from flou.bits import SeededBits
from flou.local import LinearDiscriminant, LogisticRegression
from flou.local.learning.logistic_regression import _fitted, _lattice, _placed
from local.two_classes import FEATURES, two_classes

SKEWED = {"a": flou.Interval(0, 6), "b": flou.Boolean(), "c": flou.Interval(0, 8)}
COEFFICIENTS = np.array([1.2, 1.5, -0.8])


def skewed(people: int, seed: int = 0):
    """Waiting times and a yes-or-no, and labels whose log-odds are linear in them."""
    generator = np.random.default_rng(seed)
    a = np.minimum(generator.exponential(size=people), 6)
    b = generator.random(people) < 0.3
    c = np.minimum(0.5 * a + generator.exponential(size=people), 8)
    rows = np.stack([a, b, c], axis=1)
    return rows, generator.random(people) < 1 / (1 + np.exp(1.5 - rows @ COEFFICIENTS))


def surprise(classifier, rows, label) -> float:
    """The mean of -log of the probability of what happened."""
    return -float(np.mean(np.log(classifier.predict_proba(rows)[np.arange(len(label)), label.astype(int)])))


def test_skewed_features_are_not_taken_for_normal():
    """Coefficients and probabilities are nearer to the right ones than the discriminant's."""
    rows, label = skewed(200_000)
    others, truth = skewed(20_000, seed=1)
    both = [
        kind(SKEWED, flou.Boolean(), epsilon=3, bins=6).fit(rows, label, bits=SeededBits(1))
        for kind in (LogisticRegression, LinearDiscriminant)
    ]
    ours, theirs = (np.abs(one.coef_[1] - one.coef_[0] - COEFFICIENTS) for one in both)
    assert ours.max() < 0.5
    assert theirs.max() > 1
    assert surprise(both[0], others, truth) < surprise(both[1], others, truth) - 0.01
    assert both[0].score(others, truth) >= both[1].score(others, truth)


def test_normal_classes_give_the_discriminant():
    """Where the discriminant is right, the direction is the same and so are the predictions."""
    rows, label = two_classes(200_000)
    others, truth = two_classes(20_000, seed=1)
    logistic, linear = (
        kind(FEATURES, flou.Boolean(), epsilon=3, bins=6).fit(rows, label, bits=SeededBits(2))
        for kind in (LogisticRegression, LinearDiscriminant)
    )
    ours, theirs = (one.coef_[1] - one.coef_[0] for one in (logistic, linear))
    assert ours / np.linalg.norm(ours) == pytest.approx(theirs / np.linalg.norm(theirs), abs=0.05)
    assert ours == pytest.approx(theirs, rel=0.25)
    assert logistic.score(others, truth) == pytest.approx(linear.score(others, truth), abs=0.01)


def test_several_classes():
    """Three ordered classes are told apart, and probabilities add up to 1."""
    generator = np.random.default_rng(0)
    label = generator.integers(0, 3, 30_000)
    rows = generator.normal(size=(30_000, 2)) + 2 * label[:, None] - 2
    features = {"x": flou.Interval(-6, 6), "y": flou.Interval(-6, 6)}
    learner = LogisticRegression(features, flou.Integers(0, 2), epsilon=4, bins=6)
    learner.fit(rows, label, bits=SeededBits(6))
    assert learner.predict([[-4, -4], [0, 0], [4, 4]]).tolist() == [0, 1, 2]
    assert learner.predict_proba(rows).sum(axis=1) == pytest.approx(1)
    assert learner.coef_.shape == (3, 2)


def test_noise_alone_teaches_nothing():
    """Where epsilon is next to nothing the coefficients stay near 0, and are the same for the same reports."""
    rows, label = two_classes(500)
    learner = LogisticRegression(FEATURES, flou.Boolean(), epsilon=0.01)
    reports = learner.randomise(rows, label, bits=SeededBits(3))
    first = learner.fit_reports(reports).predict_proba(rows)
    assert np.ptp(first[:, 0]) < 0.1
    assert np.array_equal(learner.fit_reports(reports).predict_proba(rows), first)


def test_the_fit_is_the_most_likely_one():
    """The slope of the penalised likelihood of two classes, written out independently, is 0 there and only there."""
    rows, label = skewed(2000)
    design = np.concatenate([np.ones((2000, 1)), rows], axis=1)
    found = _fitted(design, label.astype(np.int64), np.full(2000, 1 / 2000), 2, 0.01)
    assert found[0] == pytest.approx(-found[1])

    def slope(odds):
        kept = 0.01 / 2 * np.array([0, 1, 1, 1]) * odds  # half of the squares of w / 2 and of -w / 2
        return design.T @ (label - 1 / (1 + np.exp(-design @ odds))) / 2000 - kept

    assert slope(found[1] - found[0]) == pytest.approx(np.zeros(4), abs=1e-5)
    assert np.abs(slope(1.1 * (found[1] - found[0]))).max() > 1e-3


def test_made_up_rows_have_the_shares_they_should():
    """The lattice is even, and bins get their shares; empty ones get nothing."""
    normal = _lattice(2048, 3)
    assert normal.mean(axis=0) == pytest.approx(np.zeros(3), abs=1e-9)
    assert np.corrcoef(normal.T) == pytest.approx(np.eye(3), abs=1e-9)
    shares, edges = np.array([0.0, 0.5, 0.0, 0.3, 0.2, 0.0]), np.arange(7.0)
    for column in normal.T:
        placed = _placed(column, shares, edges)
        assert np.histogram(placed, edges)[0] / 2048 == pytest.approx(shares, abs=0.01)
    straight = np.diff([0.0, 0.158655, 0.5, 0.841345, 1.0])
    middle = np.abs(normal[:, 0]) < 0.99
    assert _placed(normal[:, 0], straight, np.array([-2.0, -1, 0, 1, 2]))[middle] == pytest.approx(
        normal[middle, 0], abs=1e-4
    )
