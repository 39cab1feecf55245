"""Enclosures of logarithms against mpmath."""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flou.laws.logarithms import _atanh, _bernoulli, log, log_factorial

rationals = st.fractions(min_value=Fraction(1, 10**30), max_value=10**30).filter(bool)


@given(rationals, st.integers(1, 400))
@settings(max_examples=200, deadline=None)
def test_a_logarithm_lies_in_its_enclosure(x, precision):
    """The ends hold the logarithm between them and are at most three units apart."""
    low, high = log(x, precision)
    with mp.workprec(precision + 200):
        exact = mp.log(mp.mpf(x.numerator) / x.denominator) * 2**precision
        assert low <= exact <= high
    assert high - low <= 3


@pytest.mark.parametrize("x", [1, 2, Fraction(2, 3), Fraction(4, 3), Fraction(1, 2**90 + 1), 2**60 - 1])
def test_logarithms_at_the_ends_of_the_ranges(x):
    """Also where the halves of the argument meet."""
    low, high = log(x, 100)
    with mp.workprec(400):
        assert low <= mp.log(mp.mpf(Fraction(x).numerator) / Fraction(x).denominator) * 2**100 <= high


@pytest.mark.parametrize("precision", [1, 8, 72, 136, 500])
@pytest.mark.parametrize("k", [0, 1, 2, 3, 10, 71, 72, 73, 1000, 2**20, 2**40 + 3, 2**59])
def test_a_log_factorial_lies_in_its_enclosure(k, precision):
    """ln k! - ln(2 pi)/2 to any precision, for small and huge k."""
    low, high = log_factorial(k, precision)
    with mp.workprec(precision + 300):
        exact = (mp.loggamma(k + 1) - mp.log(2 * mp.pi) / 2) * 2**precision
        assert low <= exact <= high
        assert not low <= exact + 5 <= high
    assert high - low <= 3


def test_bernoulli_numbers():
    """The first of them, and a large one."""
    assert [_bernoulli(n) for n in (0, 1, 2, 3, 4, 12)] == [
        1,
        Fraction(-1, 2),
        Fraction(1, 6),
        0,
        Fraction(-1, 30),
        Fraction(-691, 2730),
    ]
    assert _bernoulli(60) == Fraction(*mp.bernfrac(60))


@given(st.fractions(min_value=0, max_value=Fraction(1, 3), max_denominator=10**9), st.integers(4, 300))
@settings(max_examples=200, deadline=None)
def test_the_series_of_atanh_falls_short_by_what_is_stated(z, precision):
    """The sum of floors is never too large, and the stated shortfall covers the rest."""
    low, high = _atanh(z, precision)
    with mp.workprec(precision + 100):
        assert low <= mp.atanh(mp.mpf(z.numerator) / z.denominator) * 2**precision <= high
