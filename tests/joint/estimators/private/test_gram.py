"""Sums of products are exact, and no row moves them farther than is claimed: every row of tiny grids is tried."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from flou.joint.estimators.private.gram import GramWords, OpenedGram, shared_noise
from joint.estimators.private.noised import farthest

RELATIONS = ["add-remove", "substitute"]


def every_row(gram, points=None):
    """What each point of the grid adds: all of them, or those of a list."""
    grid = np.arange(-gram.unit, gram.unit + 1) / gram.unit
    z = np.array(list(itertools.product(grid if points is None else points, repeat=gram.size)))
    return [gram.sums([row[None, :]]) for row in z]


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize(("size", "grid"), [(2, 2), (2, 3), (3, 1), (4, 0)])
def test_no_row_moves_the_words_farther_than_claimed(size, grid, counted, relation):
    """Over all points of the grid, and without a norm the claim is attained, so that a smaller one is refused."""
    gram = GramWords.of(size, grid, None, counted)
    l1, l2_squared = farthest(every_row(gram), relation)
    claim = gram.sensitivity(relation)
    assert l1 <= claim.l1
    assert l2_squared <= claim.l2_squared
    if relation == "add-remove":
        assert (l1, l2_squared) == (claim.l1, claim.l2_squared)
    elif size in (2, 4):  # rows of ±1 at right angles exist
        assert l2_squared == claim.l2_squared


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("norm", [0.3, 0.8, 1.0, 1.2, 1.4, 5.0])
@pytest.mark.parametrize(("size", "grid"), [(2, 3), (3, 2)])
def test_clipped_rows_move_the_words_no_farther_than_claimed(size, grid, norm, relation):
    """For norms below 1, between, and above the longest row, the claim holds and is not above that without a norm."""
    gram = GramWords.of(size, grid, norm, False)
    l1, l2_squared = farthest(every_row(gram), relation)
    claim, plain = gram.sensitivity(relation), GramWords.of(size, grid, None, False).sensitivity(relation)
    assert l1 <= claim.l1 <= plain.l1
    assert l2_squared <= claim.l2_squared <= plain.l2_squared
    if norm**2 < size / 2:
        assert claim.l2_squared < plain.l2_squared / 2


@pytest.mark.parametrize("relation", RELATIONS)
def test_the_bound_for_clipped_rows_is_nearly_attained(relation):
    """On a fine grid some row comes within two percent, so a bound that is three percent smaller is refused."""
    gram = GramWords.of(3, 5, 1.0, False)
    points = [-1.0, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0, 0.577, -0.577]
    _, l2_squared = farthest(every_row(gram, points), relation)
    assert 0.98 * gram.sensitivity(relation).l2_squared <= l2_squared <= gram.sensitivity(relation).l2_squared


def test_the_claim_beats_the_plain_one():
    """|v|^4 would be nearly twice as much."""
    gram = GramWords.of(8, 16, None, False)
    assert gram.sensitivity("add-remove").l2_squared == 36 * gram.unit**4
    assert gram.longest**2 == 64 * gram.unit**4
    assert gram.sensitivity("substitute").l2_squared == 64 * gram.unit**4


@pytest.mark.parametrize("norm", [None, 0.9])
def test_rows_that_are_no_rows_of_the_grid_keep_the_bounds(norm):
    """Values beyond 1, which rounding may bring, are moved back, and the integer norm is below the claim."""
    gram = GramWords.of(3, 16, norm, False)
    z = np.random.default_rng(3).normal(size=(5000, 3)) * 2
    v = gram.rows(z)
    assert np.array_equal(v, np.floor(v))
    assert np.abs(v).max() <= gram.unit
    assert np.sum(v * v, axis=1).max() <= gram.longest
    if norm is None:
        np.testing.assert_allclose(v / gram.unit, np.clip(z, -1, 1), atol=2.0**-17)
    else:
        short = np.sum(np.clip(z, -1, 1) ** 2, axis=1) < norm**2 * 0.99
        np.testing.assert_allclose(v[short] / gram.unit, z[short], atol=2.0**-17)


def test_sums_are_exact_however_rows_are_cut():
    """Parts of any size give the integers of Python."""
    gram = GramWords.of(2, 16, None, True)
    z = np.random.default_rng(5).uniform(-1, 1, size=(3000, 2))
    v = [[int(entry) for entry in row] for row in gram.rows(z).tolist()]
    expected = [sum(row[i] * row[j] for row in v) for i in range(2) for j in range(i, 2)]
    for cuts in ([], [1, 2, 2999], [1500]):
        assert gram.sums(np.split(z, cuts)) == [*expected, 3000 * gram.unit**2]
    matrix, rows = gram.matrix(gram.sums([z]))
    np.testing.assert_allclose(matrix, z.T @ z, rtol=1e-4)
    assert rows == 3000


def test_the_covariance_of_the_noise_is_exact():
    """Averaged over all signs of noise of size 1, (e - E b)(e - E b)' is M, and M is not diagonal."""
    b = np.array([2.0, -0.5])
    total = np.zeros((2, 2))
    for e1, e2, diagonal, shared, last in itertools.product((-1, 1), repeat=5):
        error = np.array([e1, e2]) - np.array([[diagonal, shared], [shared, last]]) @ b
        total += np.outer(error, error)
    np.testing.assert_allclose(shared_noise(b), total / 32)
    assert not np.allclose(np.diag(np.diag(total / 32)), total / 32)


def test_without_noise_it_is_least_squares():
    """Coefficients, covariance and residual variance are the textbook's."""
    rng = np.random.default_rng(1)
    X = np.column_stack([np.ones(500), rng.uniform(-1, 1, (500, 2))])
    y = X @ [0.1, 0.5, -0.2] + rng.normal(size=500) * 0.1
    V = np.column_stack([X, y])
    gram = OpenedGram(V.T @ V, 500.0, 0.0)
    b, rest, *_ = np.linalg.lstsq(X, y)
    np.testing.assert_allclose(gram.coefficients, b, rtol=1e-9)
    assert gram.residual_variance == pytest.approx(rest[0] / 497)
    np.testing.assert_allclose(gram.sampling, rest[0] / 497 * np.linalg.inv(X.T @ X), rtol=1e-9)
    assert not np.any(gram.noise_covariance)
    assert not gram.drowned


def test_the_error_of_many_draws_is_the_one_that_is_told():
    """Coefficients of the same matrix with fresh noise spread as V says, not half and not twice as much."""
    rng = np.random.default_rng(2)
    p, tau, draws = 4, 20.0, 4000
    root = rng.uniform(-1, 1, (3000, p))
    y = root @ [0.5, -1.0, 0.0, 0.3] + rng.normal(size=3000) * 0.2
    V = np.column_stack([root, y])
    F = V.T @ V
    upper = np.triu_indices(p + 1)
    found, told = [], []
    for _ in range(draws):
        E = np.zeros_like(F)
        E[upper] = tau * rng.normal(size=len(upper[0]))
        gram = OpenedGram(F + E + np.triu(E, 1).T, 3000.0, tau**2)
        found.append(gram.coefficients)
        told.append(np.diag(gram.noise_covariance))
    ratio = np.var(found, axis=0) / np.mean(told, axis=0)
    assert np.all((ratio > 0.9) & (ratio < 1.1))


@pytest.mark.parametrize("rows", [0.0, -50.0, 100.0])
def test_a_drowned_matrix_says_so(rows):
    """Noise alone, or a matrix that is not even positive: no exception, everything finite, and drowned."""
    rng = np.random.default_rng(3)
    noise = rng.normal(size=(5, 5)) * 30
    gram = OpenedGram(noise + noise.T + np.eye(5) * max(rows, 0), rows, 1800.0)
    assert gram.drowned
    assert np.all(np.isfinite(gram.coefficients))
    assert gram.residual_variance >= 0
    assert np.all(np.isfinite(gram.noise_covariance))


def test_the_floor_is_what_noise_alone_makes():
    """The largest eigenvalue of noise is below the floor for nearly all draws, and above two thirds of it for most."""
    rng = np.random.default_rng(4)
    p, largest = 12, []
    for _ in range(300):
        E = np.triu(rng.normal(size=(p, p)))
        largest.append(np.linalg.eigvalsh(E + np.triu(E, 1).T)[-1])
    floor = OpenedGram(np.zeros((p + 1, p + 1)), 0.0, 1.0).floor
    assert np.mean(np.array(largest) < floor * 1.1) > 0.95
    assert np.mean(np.array(largest) > floor * 2 / 3) > 0.9
