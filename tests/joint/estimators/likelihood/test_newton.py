"""Linear algebra and the walk uphill, without any rows."""

from __future__ import annotations

import math

import numpy as np
import pytest

from flou.joint.estimators.likelihood import newton
from flou.joint.estimators.likelihood.cholesky import Cholesky, dot
from flou.joint.estimators.likelihood.newton import ARRIVED, OpenedPoint, ascended

MADE = np.random.default_rng(3)


def positive(size, condition=1e3):
    rotation, _ = np.linalg.qr(MADE.normal(size=(size, size)))
    return (rotation * np.geomspace(1, condition, size)) @ rotation.T


@pytest.mark.parametrize("size", [1, 2, 7, 30])
def test_solutions_and_inverses(size):
    """As those of LAPACK, for a vector and for columns."""
    matrix, right = positive(size), MADE.normal(size=(size, 3))
    factors = Cholesky.of(matrix)
    np.testing.assert_allclose(factors.solve(right), np.linalg.solve(matrix, right), rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(factors.solve(right[:, 0]), np.linalg.solve(matrix, right[:, 0]), rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(factors.inverse() @ matrix, np.eye(size), atol=1e-9)


def test_dependent_columns_are_found():
    """The first one that the others before it determine; indefinite matrices are refused as well."""
    X = MADE.normal(size=(50, 4))
    X[:, 2] = X[:, 0] - 2 * X[:, 1]
    assert Cholesky.dependent(X.T @ X) == 2
    assert Cholesky.of(X.T @ X) is None
    assert Cholesky.of(np.diag([1.0, -1.0])) is None
    assert Cholesky.of(np.array([[math.nan]])) is None
    assert Cholesky.dependent(positive(5)) is None


def test_sums_are_rounded_once():
    """Cancellation leaves what is left, as a plain sum does not."""
    a, b = np.array([1e16, 1.0, -1e16]), np.ones(3)
    assert dot(a, b) == 1.0
    assert sum(a * b) != 1.0


class Hill:
    """-log cosh of distances: a hill whose Newton step from afar goes too far."""

    def __init__(self, top, matrix):
        self.top, self.matrix = top, matrix

    def point(self, at, parties=("a", "b")):
        z = self.matrix @ (at - self.top)
        curved = self.matrix.T @ ((1 / np.cosh(z) ** 2)[:, None] * self.matrix)
        return OpenedPoint(at, -np.sum(np.log(np.cosh(z))), -self.matrix.T @ np.tanh(z), curved, parties)


def climbed(hill, start, most=100, secant=False, spoiled=lambda point: point):
    points = [spoiled(hill.point(start))]
    while not (state := ascended(points, secant)).arrived and not state.stuck:
        assert len(points) < most
        points.append(spoiled(hill.point(state.next)))
    return state, points


def test_steps_that_lead_down_are_halved():
    """From two units away a full step overshoots; with halving the top is reached."""
    hill = Hill(np.array([1.0, -2.0]), np.array([[1.0, 0.2], [0.0, 1.0]]))
    start = hill.top + 2.0
    state, points = climbed(hill, start)
    np.testing.assert_allclose(state.end, hill.top, atol=1e-12)
    assert points[1].value < points[0].value  # a step that was refused
    np.testing.assert_allclose(points[2].at - start, (points[1].at - start) / 2)
    assert abs(state.value) < 1e-12
    unguarded = start
    for _ in range(5):
        point = hill.point(unguarded)
        unguarded = point.at + np.linalg.solve(point.information, point.score)
        if not np.all(np.abs(unguarded) < 300):
            break
    assert not np.allclose(unguarded, hill.top, atol=1)


def test_a_wrong_curvature_is_corrected_by_secants():
    """With an information ten times too large, plain steps crawl and secants arrive."""
    hill = Hill(np.zeros(3), np.eye(3) + 0.1)
    start = np.array([0.3, -0.2, 0.1])

    def spoiled(point):
        return OpenedPoint(point.at, point.value, point.score, 10 * point.information, point.parties)

    state, points = climbed(hill, start, secant=True, spoiled=spoiled)
    np.testing.assert_allclose(state.end, 0, atol=2e-9)
    assert len(points) < 20
    with pytest.raises(AssertionError):
        climbed(hill, start, most=20, spoiled=spoiled)


class Tail:
    """A maximum at 15, far along an exponential tail."""

    def point(self, at, parties=("a",)):
        near, far = np.exp(-at[0]), np.exp(at[0] - 30)
        score, curved = near / (1 + near) - far, near / (1 + near) ** 2 + far
        return OpenedPoint(at, -np.log1p(near) - far, np.array([score]), np.array([[curved]]), parties)


def test_tails_are_crossed_in_leaps(monkeypatch):
    """Where Newton's steps all have length one, they are taken several at a time; without this the walk is long."""
    monkeypatch.setattr(newton, "ARRIVED", 1e-12)
    monkeypatch.setattr(newton, "STALLED", 0.0)
    state, points = climbed(Tail(), np.zeros(1))
    np.testing.assert_allclose(state.end, 15, atol=1e-6)
    monkeypatch.setattr(newton, "LONGEST", 1.0)
    single, more = climbed(Tail(), np.zeros(1))
    np.testing.assert_allclose(single.end, 15, atol=1e-6)
    assert len(points) <= 12 < 16 <= len(more)


def test_an_information_that_is_not_positive_is_raised():
    """Where the surface curves upwards, the step still leads uphill."""
    point = OpenedPoint(np.zeros(2), 0.0, np.array([1.0, 1.0]), np.diag([1.0, -0.5]), ("a",))
    state = ascended([point])
    assert dot(state.step, point.score) > 0
    assert np.all(np.isfinite(state.step))


def test_points_over_other_parties_are_not_compared():
    """The walk goes on from the latest point, however low; one outside the model is asked for again."""
    hill = Hill(np.zeros(2), np.eye(2))
    first, lower = hill.point(np.array([0.3, 0.3])), hill.point(np.array([0.6, 0.6]), ("a",))
    assert lower.value < first.value
    assert ascended([first, lower]).best is lower
    assert ascended([first, hill.point(np.array([0.6, 0.6]))]).best is first
    lost = OpenedPoint(np.array([9.0, 9.0]), -math.inf, np.zeros(2), np.zeros((2, 2)), ("a",))
    state = ascended([first, lost])
    assert state.again
    assert not state.arrived
    np.testing.assert_array_equal(state.next, first.at)
    again = hill.point(first.at, ("a",))
    assert ascended([first, lost, again]).best is again
    assert not ascended([first, lost, again]).again


def test_arrival():
    """A small step ends the walk; one that rounding keeps from shrinking does so earlier, and a large one does not."""

    def at(decrement):
        return OpenedPoint(np.zeros(1), 0.0, np.array([decrement]), np.eye(1), ("a",))

    assert ascended([at(ARRIVED / 2)]).arrived
    assert not ascended([at(1e-7)]).arrived
    assert ascended([at(1.5e-7), at(1e-7)]).arrived
    assert not ascended([at(1.0), at(1e-7)]).arrived
    assert not ascended([at(1e-5), at(1e-5)]).arrived


def test_endless_descent_is_noticed():
    """When score and value contradict each other, halving ends."""
    hill = Hill(np.zeros(1), np.eye(1))

    def spoiled(point):
        return OpenedPoint(point.at, point.value, -point.score, point.information, point.parties)

    state, points = climbed(hill, np.array([0.5]), spoiled=spoiled)
    assert state.stuck
    assert len(points) < 50
