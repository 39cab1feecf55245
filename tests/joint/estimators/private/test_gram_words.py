"""Sums of products are exact, and no row moves them farther than is claimed: every row of tiny grids is tried."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from flou.joint.estimators.private.gram_words import GramWords
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
