"""Standard errors contain the noise that is in the matrix."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from flou.joint.estimators.private.noisy_gram import NoisyGram, shared_noise


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
    gram = NoisyGram(V.T @ V, 500.0, 0.0)
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
        gram = NoisyGram(F + E + np.triu(E, 1).T, 3000.0, tau**2)
        found.append(gram.coefficients)
        told.append(np.diag(gram.noise_covariance))
    ratio = np.var(found, axis=0) / np.mean(told, axis=0)
    assert np.all((ratio > 0.9) & (ratio < 1.1))


@pytest.mark.parametrize("rows", [0.0, -50.0, 100.0])
def test_a_drowned_matrix_says_so(rows):
    """Noise alone, or a matrix that is not even positive: no exception, everything finite, and drowned."""
    rng = np.random.default_rng(3)
    noise = rng.normal(size=(5, 5)) * 30
    gram = NoisyGram(noise + noise.T + np.eye(5) * max(rows, 0), rows, 1800.0)
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
    floor = NoisyGram(np.zeros((p + 1, p + 1)), 0.0, 1.0).floor
    assert np.mean(np.array(largest) < floor * 1.1) > 0.95
    assert np.mean(np.array(largest) > floor * 2 / 3) > 0.9
