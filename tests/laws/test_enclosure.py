"""Enclosures hold the number they enclose, and become as tight as asked."""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flou.laws.enclosure import affine, constant, exp_minus, quotient

fractions = st.fractions(min_value=0, max_value=200, max_denominator=10**12)


def real(x: Fraction) -> mp.mpf:
    return mp.mpf(x.numerator) / x.denominator


def holds(enclosure, value, precision: int, width: int) -> bool:
    low, high = enclosure(precision)
    scaled = value * mp.mpf(2) ** precision
    return low <= scaled <= high and high - low <= width


@given(x=fractions, precision=st.integers(1, 400))
def test_exp_minus_holds_e_to_the_minus_x(x, precision):
    """low <= e^-x 2^precision <= high, at most two units apart, at every precision."""
    with mp.workprec(precision + 400):
        assert holds(exp_minus(x), mp.e ** -real(x), precision, 2)


@pytest.mark.parametrize("x", [Fraction(1, 2**80), Fraction(10**4), Fraction(10**9), Fraction(2**79), Fraction(1, 3)])
@pytest.mark.parametrize("precision", [1, 72, 1000])
def test_exp_minus_at_extreme_exponents(x, precision):
    """Tiny and huge exponents are enclosed like any other."""
    with mp.workprec(precision + 400):
        assert holds(exp_minus(x), mp.e ** -real(x), precision, 2)


def test_exp_minus_zero_is_exactly_one():
    """There is no doubt about e^0."""
    assert exp_minus(Fraction(0))(50) == (2**50, 2**50)


@given(a=fractions, b=fractions, precision=st.integers(8, 300))
def test_quotients_and_affine_maps_of_enclosures(a, b, precision):
    """e^-a / (e^-b + 1) and 1 - e^-a are enclosed to a few units."""
    with mp.workprec(precision + 400):
        value = mp.e ** -real(a) / (mp.e ** -real(b) + 1)
        assert holds(quotient(exp_minus(a), affine(exp_minus(b), plus=1)), value, precision, 8)
        assert holds(affine(exp_minus(a), times=-1, plus=1), 1 - mp.e ** -real(a), precision, 2)
        assert holds(affine(exp_minus(a), times=3, plus=2), 2 + 3 * mp.e ** -real(a), precision, 6)


@given(x=st.fractions(min_value=0, max_value=1), precision=st.integers(1, 100))
def test_constants_are_enclosed_by_their_neighbours(x, precision):
    """A rational number lies between two consecutive integers of the grid, or on one."""
    with mp.workprec(600):
        assert holds(constant(x), real(x), precision, 1)
