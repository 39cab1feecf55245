"""Numbers become words exactly as promised."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flou.errors import InvalidData
from flou.joint.estimators.likelihood.fixed_point import FixedPoint

GRID = FixedPoint(fraction=3, bound=4)
FINITE = st.floats(-1e6, 1e6)


def test_halves_go_to_the_even_neighbour():
    """Multiples of an eighth; what lies in the middle goes to the even one."""
    assert GRID.words([0.0625, 0.1875, -0.0625, 0.3125, 1.0, -4.0, Fraction(1, 3)]) == [0, 2, 0, 2, 8, -32, 3]


@given(st.lists(FINITE, min_size=1, max_size=9), st.integers(0, 80))
def test_a_sum_is_right_but_for_half_a_step_a_party(values, fraction):
    """The error of the sum is at most parties * 2^(-f-1), and without the rounding it is zero."""
    grid = FixedPoint(fraction, 10**7)
    total = sum(grid.words([value])[0] for value in values)
    truth = sum(map(Fraction, values))
    assert abs(grid.fractions([total])[0] - truth) <= grid.error(len(values))
    fine = FixedPoint(1074, 10**7)
    assert fine.fractions([sum(fine.words([value])[0] for value in values)])[0] == truth


def test_the_bound_on_the_error_is_tight():
    """Three parties with half a step each are off by the whole bound."""
    words = [GRID.words([0.0625])[0] for _ in range(3)]
    assert abs(GRID.fractions([sum(words)])[0] - 3 * Fraction(1, 16)) == GRID.error(3)


@pytest.mark.parametrize("value", [4.0625 + 0.001, -5.0, 1e300, np.inf, -np.inf, np.nan])
def test_what_lies_outside_is_refused(value):
    """Never moved to the bound, and never quoted."""
    with pytest.raises(InvalidData, match="too large") as caught:
        GRID.words([0.0, value])
    assert str(value) not in str(caught.value)
    assert not GRID.holds(np.array([0.0, value]))


def test_words_up_to_the_limit_are_let_through():
    """The bound itself is inside."""
    assert GRID.words([4.0, -4.0]) == [GRID.limit, -GRID.limit]
    assert GRID.holds(np.array([4.0, -4.0]))


def test_numbers_are_rounded_once():
    """A sum of any length becomes the nearest float."""
    grid = FixedPoint(96, 2**96)
    assert grid.numbers([1, -(3 << 95), (1 << 96) + 1]).tolist() == [2.0**-96, -1.5, 1.0]
