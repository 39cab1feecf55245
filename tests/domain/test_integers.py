"""Whole numbers between public bounds."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from flou.domain import Integers

BIG = 2**53


def expected(domain, value):
    """The rule, spelled out in exact arithmetic for one number."""
    if value != value:
        return domain.missing - domain.lower
    if math.isinf(value) if isinstance(value, float) else False:
        return 0 if value < 0 else domain.upper - domain.lower
    return min(max(math.floor(Fraction(value)), domain.lower), domain.upper) - domain.lower


def test_codes_by_hand():
    """Floats are floored, out-of-range values count as the bound, lost ones as the middle rounded down."""
    domain = Integers(-2, 3)
    assert (domain.size, domain.missing, domain.missing_code) == (6, 0, 2)
    rows = [-3, -2, -1.5, -1, 0, 0.999, 3, 3.5, 99, math.inf, -math.inf, math.nan, None, "1", True]
    assert domain.encode(rows).tolist() == [0, 0, 0, 1, 2, 2, 5, 5, 5, 5, 0, 2, 2, 2, 3]


def test_exact_beyond_floats():
    """Neighbouring integers beyond 2**53 keep their own codes in every integer type."""
    domain = Integers(BIG, BIG + 10)
    rows = list(range(BIG, BIG + 11))
    for column in (rows, np.array(rows), np.array(rows, dtype=np.uint64), np.array(rows, dtype=object)):
        assert domain.encode(column).tolist() == list(range(11))


def test_large_floats():
    """Floats in an array are exact up to the farthest bounds."""
    rows = np.array([2.0**62, 1.5 * 2.0**61, 2.0**61 + 2.0**9, 2.0**63, -np.inf])
    assert Integers(0, 2**62).encode(rows).tolist() == [2**62, 3 * 2**60, 2**61 + 2**9, 2**62, 0]
    assert Integers(-(2**62), 0).encode(-rows).tolist() == [0, 2**60, 2**61 - 2**9, 0, 2**62]


def test_one_float_does_not_round_the_others():
    """A float, a NULL or a huge integer in a list of integers leaves the others exact."""
    domain = Integers(BIG, BIG + 10, missing=BIG)
    for poison, code in [(0.5, 0), (None, 0), (10**400, 10), (math.nan, 0), (2.0**60, 10)]:
        assert domain.encode([BIG + 1, poison, BIG + 3]).tolist() == [1, code, 3]


def test_exact_numbers():
    """Decimals, fractions and extended floats are floored exactly, and enormous ones at no cost."""
    domain = Integers(BIG, BIG + 10)
    numbers = [Decimal(BIG + 1) + Decimal("0.9"), Fraction(2 * BIG + 7, 2), np.longdouble(BIG) + 1]
    exact_long = 1 if np.finfo(np.longdouble).nmant > 52 else 0
    assert domain.encode(numbers).tolist() == [1, 3, exact_long]
    assert domain.encode([Decimal("1e999999999"), Decimal("-1e999999999")]).tolist() == [10, 0]
    assert domain.encode([Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity")]).tolist() == [5, 5, 10]
    assert domain.encode(np.array([BIG + 1, np.inf, np.nan], dtype=np.longdouble)).tolist() == [exact_long, 10, 5]


bound = st.integers(-(2**62), 2**62)


@given(
    st.tuples(bound, bound).filter(lambda b: 0 < abs(b[0] - b[1]) < 2**63).map(sorted),
    st.lists(st.integers() | st.integers(-(2**64), 2**64) | st.floats() | st.fractions(), max_size=20),
)
@example([-(2**62), 2**62 - 1], [2**62, -(2**63), 2**63, 2**64, float(2**62), -float(2**62)])
def test_rule(ends, x):
    """The code is floor(x) - lower within the bounds, exactly, for numbers of any kind and size."""
    domain = Integers(*ends)
    assert domain.encode(x).tolist() == [expected(domain, value) for value in x]


@given(
    st.tuples(bound, bound).filter(lambda b: 0 < abs(b[0] - b[1]) < 2**63).map(sorted),
    st.sampled_from(["i1", "i2", "i4", "i8", ">i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", ">f4"]),
    st.binary(max_size=64),
)
def test_rule_in_arrays(ends, dtype, content):
    """Arrays of every numeric type, whatever bits they hold, follow the same rule."""
    rows = np.frombuffer(content[: len(content) // 8 * 8], dtype=dtype)
    domain = Integers(*ends)
    assert domain.encode(rows).tolist() == [expected(domain, value) for value in rows.tolist()]


@given(st.tuples(bound, bound).filter(lambda b: 0 < abs(b[0] - b[1]) < 2**63).map(sorted), st.data())
def test_round_trip(ends, data):
    """Decoding gives back the very number."""
    domain = Integers(*ends)
    x = data.draw(st.lists(st.integers(*ends), min_size=1))
    decoded = domain.decode(domain.encode(x))
    assert decoded.tolist() == x
    assert decoded.dtype == np.int64


@pytest.mark.parametrize("bad", [0.5, 1.0, math.nan, math.inf, "1", None, True, 2**62 + 1, -(2**62) - 1, 10**400])
def test_bounds_must_be_whole(refuses, bad):
    """Bounds and the missing value are whole numbers within 2**62."""
    refuses(lambda: Integers(bad, 5), "lower")
    refuses(lambda: Integers(-5, bad), "upper")
    if bad is not None:
        refuses(lambda: Integers(-5, 5, missing=bad), "missing")


@pytest.mark.parametrize("ends", [(1, 1), (2, 1), (-(2**62), 2**62)])
def test_bounds_must_be_apart(refuses, ends):
    """The lower bound lies below the upper one, and the codes fit into 64 bits."""
    refuses(lambda: Integers(*ends), "lower", "upper")


@pytest.mark.parametrize("missing", [-1, 11])
def test_missing_must_be_inside(refuses, missing):
    """The missing value lies between the bounds."""
    refuses(lambda: Integers(0, 10, missing=missing), "missing")


def test_numpy_bounds():
    """NumPy's integers are accepted and become Python's."""
    assert Integers(np.int8(0), np.uint64(7)) == Integers(0, 7)
    assert type(Integers(np.int8(0), np.uint64(7)).upper) is int
