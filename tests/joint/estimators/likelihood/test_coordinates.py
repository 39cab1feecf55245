"""Moments without cancellation, and coordinates that change nothing but rounding."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from flou import Categories, Schema
from flou.joint.estimators.design.design import RegressionDesign
from flou.joint.estimators.likelihood.coordinates import Coordinates, RawMoments

MADE = np.random.default_rng(5)
FAR = np.column_stack(
    [1e9 + MADE.normal(size=900), 1e-6 * MADE.normal(size=900), MADE.integers(0, 2, 900), -(2.0**70) * MADE.random(900)]
)
PARTIES = np.split(FAR, [10, 10, 500])


def opened(full):
    words = [RawMoments.of(4, full, [party[:7], party[7:]]).words() for party in PARTIES]
    assert {len(word) for word in words} == {RawMoments.length(4, full)}
    return RawMoments.opened(4, full, [sum(column) for column in zip(*words, strict=True)])


@pytest.mark.parametrize("full", [True, False])
def test_moments_are_those_of_exact_arithmetic(full):
    """Sums of squares around the mean are right to 1e-13 at a distance of a billion deviations."""
    moments = opened(full)
    exact = [[Fraction(value) for value in column] for column in FAR.T.tolist()]
    means = [sum(column) / 900 for column in exact]
    around = moments.about([moments.mean(j) for j in range(4)])
    assert moments.n == 900
    for j in range(4):
        assert float(moments.mean(j)) == pytest.approx(float(means[j]), rel=1e-15)
        for k in range(4) if full else [j]:
            pairs = zip(exact[j], exact[k], strict=True)
            truth = sum((a - means[j]) * (b - means[k]) for a, b in pairs)
            size = float(around[j, j] * around[k, k]) ** 0.5
            assert float(around[j, k]) == pytest.approx(float(truth), rel=1e-13, abs=1e-13 * size)
    naive = (FAR[:, 0] ** 2).sum() - FAR[:, 0].sum() ** 2 / 900
    assert abs(naive / float(around[0, 0]) - 1) > 1e-3  # what doubles from the origin lose


def test_coordinates_have_mean_zero_and_spread_one():
    """And they are exact: powers of two, and centres that are floats."""
    design = RegressionDesign("y ~ a + b + c")
    coordinates = Coordinates.of(opened(full=False), design)
    X = np.column_stack([np.ones(900), FAR[:, :3]])
    Z = coordinates.moved(X)
    assert np.all(np.abs(Z[:, 1:].mean(axis=0)) < 1e-6)
    assert np.all((Z[:, 1:].std(axis=0) > 0.4) & (Z[:, 1:].std(axis=0) < 2.1))
    assert np.all(Z[:, 0] == 1)
    assert Coordinates.from_parameters(coordinates.parameters()) == coordinates


@pytest.mark.parametrize("formula", ["y ~ a + b + c", "y ~ a + b + c - 1"])
def test_parameters_describe_the_same_line(formula):
    """Z b = X beta, and the covariance of beta is that of the same combinations; what follows is left alone."""
    design = RegressionDesign(formula)
    coordinates = Coordinates.of(opened(full=False), design)
    near = FAR.copy()
    near[:, 0] -= 1e9 - 1e3
    X = np.column_stack([np.ones(900), near[:, :3]])[:, 1 - design.has_intercept :]
    b = MADE.normal(size=X.shape[1])
    beta = coordinates.params([*b, 7.0])
    assert beta[-1] == 7.0
    np.testing.assert_allclose(coordinates.moved(X) @ b, X @ beta[:-1], rtol=1e-9)
    size = len(b) + 1
    V = np.cov(MADE.normal(size=(size, 50)))
    moved = coordinates.covariance(V)
    jacobian = np.column_stack([coordinates.params(row) for row in np.eye(size)])
    np.testing.assert_allclose(moved, jacobian @ V @ jacobian.T, rtol=1e-9)


def test_categories_that_no_row_has_are_left_out():
    """Their columns would be zero everywhere; a column of numbers that is zero is kept, to be refused by name."""
    design = RegressionDesign("y ~ x + C(g)", Schema({"g": Categories(["a", "b", "c"])}))
    rows = np.array([[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0]])
    moments = RawMoments.opened(4, False, RawMoments.of(4, False, [rows]).words())
    assert design.names == ("Intercept", "x", "C(g)[T.b]", "C(g)[T.c]")
    assert Coordinates.of(moments, design).kept == (0, 1, 3)
