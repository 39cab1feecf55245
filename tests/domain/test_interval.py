"""Real numbers between public bounds."""

from __future__ import annotations

import dataclasses
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from flou.domain import Interval
from flou.errors import InvalidParameter

bounds = st.tuples(st.floats(-1e12, 1e12, allow_subnormal=False), st.floats(-1e12, 1e12, allow_subnormal=False)).map(
    sorted
)


def interval(ends, cells):
    try:
        return Interval(*ends, cells=cells)
    except InvalidParameter:
        assume(False)


def test_default_grid():
    """Without cells, step or granularity there are 65536 cells."""
    domain = Interval(0, 100)
    assert (domain.cells, domain.size, domain.step) == (2**16, 2**16, 100 / 2**16)


def test_step_gives_cells():
    """A step that divides the bounds within rounding gives the number of cells, and is kept as it is."""
    for lower, upper, step, cells in [(0, 0.3, 0.1, 3), (0, 1, 1 / 3, 3), (-1, 1, 0.001, 2000), (0, 2**52, 1, 2**52)]:
        domain = Interval(lower, upper, step=step)
        assert (domain.cells, domain.step) == (cells, step)


def test_granularity_gives_step():
    """A public granularity is the step, unless cells or step say otherwise."""
    assert Interval(0, 300_000, granularity=1).cells == 300_000
    assert Interval(0, 300_000, granularity=1, cells=10).step == 30_000
    assert Interval(0, 300_000, granularity=1, step=100).cells == 3000
    assert Interval(0, 300_000, granularity=1, cells=10).granularity == 1


def test_codes_by_hand():
    """Edges belong to the cell above them, except for the upper bound."""
    domain = Interval(0, 10, cells=5)
    x = [-math.inf, -1, -0.0, 0, 1.999, 2, 9.999, 10, 11, math.inf, 1e308, -1e308]
    assert domain.encode(x).tolist() == [0, 0, 0, 0, 0, 1, 4, 4, 4, 4, 4, 0]


def test_missing_is_the_middle():
    """Rows without a number fall into the cell of the middle, or of the declared value."""
    lost = [None, math.nan, "3", b"3", "x", 1j, object(), [1], np.datetime64("2020-01-01"), np.timedelta64(3, "D")]
    assert Interval(0, 10, cells=5).encode(lost).tolist() == [2] * len(lost)
    assert Interval(0, 10, cells=5, missing=9).encode(lost).tolist() == [4] * len(lost)
    assert Interval(0, 10, cells=5, missing=10).missing_code == 4
    assert Interval(0, 10, missing=0).missing_code == 0


def test_every_kind_of_number():
    """Booleans, exact numbers and NumPy's scalars are numbers, however large."""
    domain = Interval(0, 10, cells=5)
    numbers = [True, np.True_, np.int8(9), np.float16(9), np.longdouble(9), Decimal("8.1"), Fraction(17, 2)]
    assert domain.encode(numbers).tolist() == [0, 0, 4, 4, 4, 4, 4]
    huge = [10**400, -(10**400), Fraction(10**400), Decimal("1e999999"), Decimal("-1e999999"), np.longdouble("1e4000")]
    assert domain.encode(huge).tolist() == [4, 0, 4, 4, 0, 4]
    assert domain.encode([Decimal("NaN"), Decimal("sNaN"), Decimal("-Infinity")]).tolist() == [2, 2, 0]


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", ">f8", "g", "i1", "i8", ">i4", "u1", "u8", "?"])
def test_every_numeric_type(dtype):
    """All numeric types of NumPy give the codes of their values."""
    rows = np.array([0, 1, 1, 0], dtype=dtype)
    assert Interval(0, 2, cells=2).encode(rows).tolist() == [0, 1, 1, 0]


def test_extreme_integers():
    """The largest integers of NumPy clamp like any other."""
    assert Interval(-1, 1, cells=2).encode(np.array([2**64 - 1], dtype=np.uint64)).tolist() == [1]
    assert Interval(-1, 1, cells=2).encode(np.array([-(2**63), 2**63 - 1])).tolist() == [0, 1]


def test_signalling_nan():
    """A signalling NaN is missing and warns nobody."""
    double = np.frombuffer(np.uint64(0x7FF0000000000001).tobytes(), dtype=np.float64)
    single = np.frombuffer(np.uint32(0x7F800001).tobytes(), dtype=np.float32)
    assert Interval(0, 10, cells=5).encode(double).tolist() == [2]
    assert Interval(0, 10, cells=5).encode(single).tolist() == [2]


def test_input_stays_as_it_was():
    """Encoding writes nothing into the caller's array."""
    rows = np.array([math.nan, 5.0, math.inf])
    before = rows.tobytes()
    Interval(0, 10).encode(rows)
    assert rows.tobytes() == before


@given(bounds, st.integers(1, 2**52), st.lists(st.floats(), max_size=20))
@example((0.0, 0.3), 3, [0.3, 0.1, 0.2, 0.30000000000000004])
@example((-1e12, 1e12), 2**40, [1e12, -1e12, 0.0])
def test_codes_are_in_range_and_monotone(ends, cells, x):
    """Codes lie in range, never decrease with the value, and the bounds have the first and the last."""
    domain = interval(ends, cells)
    x = sorted(value for value in x if value == value)
    codes = domain.encode([domain.lower, *x, domain.upper])
    assert codes[0] == 0
    assert codes[-1] == cells - 1
    assert codes.min() >= 0
    assert codes.max() == cells - 1
    assert (np.diff(codes[1:-1]) >= 0).all()


@given(bounds, st.integers(1, 2**52), st.floats(0, 1), st.integers(0))
@example((0.0, 100.0), 2**52, 1.0, 2**52)
def test_round_trip(ends, cells, share, code):
    """Decoding gives a value within half a step, and encoding that gives the same code."""
    domain = interval(ends, cells)
    code %= cells
    rounding = 4 * max(math.ulp(domain.lower), math.ulp(domain.upper))
    assume(domain.step > 4 * rounding)  # cells that are much wider than the rounding
    assert domain.encode(domain.decode([code])).tolist() == [code]
    x = min(max(domain.lower + share * (domain.upper - domain.lower), domain.lower), domain.upper)
    slack = domain.step * (0.5 + 2 * cells * 2.0**-52) + rounding
    assert abs(domain.decode(domain.encode([x]))[0] - x) <= slack


@given(st.lists(st.floats() | st.integers() | st.none() | st.text(max_size=2) | st.booleans(), max_size=20))
def test_a_row_has_its_own_code(x):
    """The code of a row is the same alone, in a list, in a tuple and in an object array."""
    domain = Interval(-3, 7, cells=10, missing=0)
    alone = [int(domain.encode([value])[0]) for value in x]
    objects = np.fromiter(x, dtype=object, count=len(x))
    assert domain.encode(x).tolist() == domain.encode(tuple(x)).tolist() == domain.encode(objects).tolist() == alone


@given(st.lists(st.floats(), max_size=50))
def test_arrays_and_lists_agree(x):
    """Floats in an array and in a list have the same codes."""
    domain = Interval(-3, 7, step=0.1)
    assert domain.encode(np.array(x, dtype=np.float64)).tolist() == domain.encode(x).tolist()


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=50))
def test_integer_arrays_and_lists_agree(x):
    """Integers beyond 2**53 are rounded alike in an array and in a list."""
    domain = Interval(-(2**62), 2**62, cells=2**52)
    assert domain.encode(np.array(x, dtype=np.int64)).tolist() == domain.encode(x).tolist()


def test_edges():
    """The edges begin and end at the bounds and are one more than the cells."""
    assert Interval(0, 10, cells=5).edges().tolist() == [0, 2, 4, 6, 8, 10]
    edges = Interval(0, 0.3, step=0.1).edges()
    assert (edges[0], edges[-1], len(edges)) == (0, 0.3, 4)


def test_too_many_edges(refuses):
    """A list of edges that would fill the memory is refused."""
    refuses(Interval(0, 1, cells=2**40).edges, "cells")


def test_decode_is_the_middle():
    """A code stands for the middle of its cell, in the shape that was asked."""
    domain = Interval(0, 10, cells=5)
    assert domain.decode([0, 4]).tolist() == [1, 9]
    assert domain.decode(np.array([[0], [4]], dtype=np.uint8)).shape == (2, 1)
    assert domain.decode([]).shape == (0,)
    assert domain.decode([0]).dtype == np.float64


def test_with_cells():
    """Another grid keeps bounds, missing value and granularity."""
    domain = Interval(0, 10, granularity=1, missing=3).with_cells(2**32)
    assert domain == Interval(0, 10, granularity=1, missing=3, cells=2**32)


def test_same_interval():
    """Intervals are equal when they mean the same, however they were written, and cannot be changed."""
    assert Interval(0, 100, cells=100) == Interval(-0.0, 100.0, step=1) == Interval(0, 100, cells=100, step=1.0)
    assert hash(Interval(0, 100, cells=100)) == hash(Interval(0.0, 100, step=1))
    assert Interval(0, 100) != Interval(0, 100, missing=0)
    assert str(Interval(-0.0, 1, missing=-0.0).lower) == str(Interval(-1, 1, missing=-0.0).missing) == "0.0"
    assert dataclasses.replace(Interval(0, 0.3, step=0.1), missing=0.1) == Interval(0, 0.3, step=0.1, missing=0.1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        Interval(0, 1).lower = 2


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, "0", None, True, 10**400, 1j, [0], np.array([1.0])])
def test_bounds_must_be_numbers(refuses, bad):
    """Bounds and the missing value are finite numbers."""
    refuses(lambda: Interval(bad, 1), "lower")
    refuses(lambda: Interval(0, bad), "upper")
    if bad is not None:
        refuses(lambda: Interval(0, 1, missing=bad), "missing")
        refuses(lambda: Interval(0, 1, step=bad), "step")
        refuses(lambda: Interval(0, 1, granularity=bad), "granularity")


@pytest.mark.parametrize(("lower", "upper"), [(1, 1), (2, 1), (0.0, -0.0), (2**53, 2**53 + 1), (-1.5e308, 1.5e308)])
def test_bounds_must_be_apart(refuses, lower, upper):
    """The lower bound lies below the upper one, at a distance that is a float."""
    refuses(lambda: Interval(lower, upper), "lower must be below upper", "finite")


@pytest.mark.parametrize("cells", [0, -1, 2**52 + 1, 1.0, math.nan, "5", True, 10**400])
def test_cells_must_be_a_count(refuses, cells):
    """Cells are a whole number from 1 to 2**52."""
    refuses(lambda: Interval(0, 1, cells=cells), "cells")


@pytest.mark.parametrize("step", [0, -1, 2, 0.3, 1e-17, 5e-324, 2.0**-53])
def test_step_must_divide(refuses, step):
    """A step is positive and divides the bounds into at most 2**52 whole cells."""
    refuses(lambda: Interval(0, 1, step=step), "step")
    refuses(lambda: Interval(0, 1, granularity=step), "granularity")


def test_cells_and_step_must_agree(refuses):
    """Cells and step together are accepted only when they say the same."""
    refuses(lambda: Interval(0, 1, cells=9, step=0.1), "cells", "step")
    assert Interval(0, 1, cells=10, step=0.1).cells == 10


@pytest.mark.parametrize("ends", [(1e16, 1e16 + 4), (0, 5e-324), (0, 1e-306)])
def test_cells_must_be_visible(refuses, ends):
    """Cells narrower than the rounding of floats are refused."""
    refuses(lambda: Interval(*ends), "cells")


@pytest.mark.parametrize("missing", [-0.001, 1.001])
def test_missing_must_be_inside(refuses, missing):
    """The missing value lies between the bounds."""
    refuses(lambda: Interval(0, 1, missing=missing), "missing")
