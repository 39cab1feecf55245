"""Score and information: no row moves them farther than claimed, at any point, and each row stands for itself."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from flou.joint.estimators.private.logistic_words import FREE, LogisticWords, probabilities
from joint.estimators.private.noised import farthest

GOLDEN = (1 + 5**0.5) / 2


def every_row(words, b):
    """What all rows of a coarse grid add, for both responses."""
    z = np.array(list(itertools.product([-1.0, -0.6, 0.0, 0.5, 1.0], repeat=words.size)))
    return [words.sums([(row[None, :], np.array([y]))], b) for row in z for y in (0.0, 1.0)]


@pytest.mark.parametrize("relation", ["add-remove", "substitute"])
@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize("pure", [False, True])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_no_row_moves_the_words_farther_than_claimed(size, pure, counted, relation):
    """At points near and far from 0, and at absurd ones, in the norm that the noise is made for."""
    words = LogisticWords(size, 12, pure, counted)
    claim = words.sensitivity(relation)
    rng = np.random.default_rng(size)
    found = []
    for scale in (0, 0.5, 1, 2, 4, 1e300):
        b = (rng.normal(size=size) * scale).tolist()
        found.append(farthest(every_row(words, b), relation))
    l1, l2_squared = np.max(found, axis=0)
    assert l1 <= claim.l1
    assert l2_squared <= claim.l2_squared
    reached = l1 / claim.l1 if pure else l2_squared / claim.l2_squared
    if relation == "add-remove":
        assert reached > 0.95
    elif size == 3:  # two rows that are both all wrong, and differ in all but one regressor
        assert reached > 0.6


@pytest.mark.parametrize("size", [1, 4, 9])
def test_the_information_is_free_and_no_more_of_it_would_be(size):
    """Over all errors q the squared norm stays below p; with a weight a tenth larger it does not."""
    q = np.linspace(0, 1, 10001)

    def largest(weight):
        return np.max(size * q**2 + weight**2 * (size**2 + size) / 2 * q**2 * (1 - q) ** 2)

    weight = LogisticWords(size, 12, False, False).weight
    assert largest(weight) <= size * (1 + 1e-12)
    assert largest(weight * 1.1) > size * 1.001
    assert float(FREE) < GOLDEN**5 < float(FREE) + 1e-3


@pytest.mark.parametrize("size", [1, 4, 9])
def test_the_pure_weight_costs_an_eighth(size):
    """Over all errors q the L1 norm stays below 9/8 p; with a weight a tenth larger it does not."""
    q = np.linspace(0, 1, 10001)

    def largest(weight):
        return np.max(size * q + weight * (size**2 + size) / 2 * q * (1 - q))

    weight = LogisticWords(size, 12, True, False).weight
    assert largest(weight) <= 9 / 8 * size * (1 + 1e-12)
    assert largest(weight * 1.1) > 9 / 8 * size


def test_each_row_is_the_same_wherever_it_stands():
    """Shuffled, cut and repeated rows add up to the same integers."""
    rng = np.random.default_rng(1)
    z, y = rng.uniform(-1, 1, (1003, 3)), rng.integers(0, 2, 1003).astype(float)
    words, b = LogisticWords(3, 24, False, True), [0.3, -1.7, 0.01]
    alone = [words.sums([(z[i : i + 1], y[i : i + 1])], b) for i in range(len(y))]
    total = [sum(column) for column in zip(*alone, strict=True)]
    order = rng.permutation(len(y))
    assert words.sums([(z, y)], b) == total
    assert words.sums([(z[order], y[order])], b) == total
    assert words.sums([(z[:501], y[:501]), (z[501:], y[501:])], b) == total


def test_sums_are_the_derivatives_of_the_likelihood():
    """Opened without noise, they are the score, the information and the number of rows."""
    rng = np.random.default_rng(2)
    z, y, b = rng.uniform(-1, 1, (2000, 3)), rng.integers(0, 2, 2000).astype(float), np.array([0.5, -1, 2])
    words = LogisticWords(3, 24, False, True)
    score, information, rows = words.opened(words.sums([(z, y)], b.tolist()))
    pi = 1 / (1 + np.exp(-z @ b))
    np.testing.assert_allclose(score, z.T @ (y - pi), atol=1e-3)
    np.testing.assert_allclose(information, (z * (pi * (1 - pi))[:, None]).T @ z, atol=1e-3)
    assert rows == 2000


def test_the_table_of_probabilities_is_close_and_stays_between_0_and_1():
    """Within 2e-8 of the function, everywhere, at infinity as well."""
    eta = np.concatenate([np.linspace(-45, 45, 200_001), [-1e308, 1e308, -np.inf, np.inf]])
    with np.errstate(over="ignore"):
        exact = 1 / (1 + np.exp(-eta))
    found = probabilities(eta)
    assert np.max(np.abs(found - exact)) < 2e-8
    assert found.min() >= 0
    assert found.max() <= 1
