"""Cells as whole numbers of units: the same code however an engine computes it."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from flou.domain import Interval
from flou.domain.rule import MOVED, Units
from flou.errors import InvalidParameter

GRIDS = [
    Interval(0, 1, cells=5),
    Interval(0, 0.3, step=0.1),
    Interval(0, 49).fine(31),
    Interval(0, 300_000).fine(26),
    Interval(-1, 1, cells=3),
    Interval(-7.3, 100, cells=1000),
    Interval(0.1, 0.7).fine(20),
    Interval(1e9, 1e9 + 1).fine(26),
    Interval(-2e9 - 0.5, -2e9, cells=7),
    Interval(1e-9, 1.7e-9, cells=7),
    Interval(-8e307, 8e307, cells=1000),
    Interval(-1e300, 1e299).fine(31),
    Interval(1e-290, 3e-290).fine(31),
    Interval(math.pi, math.tau, step=math.pi / 11),
]
finite = st.floats(allow_nan=False, allow_infinity=False)


def by_hand(grid, x):
    """The code of one double in exact arithmetic."""
    units = grid.units
    whole = math.floor((Fraction(x) - Fraction(units.origin)) * Fraction(units.scale))
    code = (whole - math.floor(units.start + 0.5)) // int(units.width)
    return min(max(code, 0), grid.last)


def edges(grid, codes):
    """The smallest double of some cells, by bisection among the doubles."""

    def double(place):
        size = np.abs(place).view(np.float64)
        return np.where(place < 0, -size, size)

    def place(x):
        size = np.abs(np.array([x])).view(np.int64)
        return size if x >= 0 else -size

    low, high = (np.repeat(place(end), len(codes)) for end in (grid.lower, grid.upper))
    low = low - 1
    for _ in range(64):
        middle = (low & high) + ((low ^ high) >> 1)
        reached = grid.encode(double(middle)) >= codes
        low, high = np.where(reached, low, middle), np.where(reached, middle, high)
    return double(high)


def interesting(grid, most=400):
    """Doubles on edges, one unit in the last place beside them, in between, outside, and special ones."""
    generator = np.random.default_rng(20261118)
    last = int(grid.encode([grid.upper])[0])
    codes = np.unique(np.concatenate([np.arange(min(last + 1, most)), generator.integers(0, last + 1, most), [last]]))
    at = edges(grid, codes)
    inside = grid.lower + generator.random(most) * (grid.upper / 2 - grid.lower / 2) * 2
    special = [0.0, -0.0, 5e-324, -5e-324, 1e-300, -1e-300, 0.5, -0.5, 1e308, -1e308, math.inf, -math.inf]
    beside = [np.nextafter(at, math.inf), np.nextafter(at, -math.inf)]
    return np.concatenate([at, *beside, inside, special, [grid.lower, grid.upper]])


def lawful(units, x):
    """The quotients of an engine, in every way that it might compute them without breaking a law."""
    if units.near_zero:
        x = np.where(np.abs(x) < 1, np.floor(x), x)
    whole = np.floor((x - units.origin) * units.scale) - units.start
    divided, reciprocal = whole / units.width, whole * (1 / units.width)
    yield divided
    yield reciprocal
    for quotient in (divided, reciprocal):
        yield np.nextafter(quotient, np.inf)
        yield np.nextafter(quotient, -np.inf)
    yield (whole * 2.0**-20) * (2.0**20 / units.width)
    yield whole.astype(np.longdouble) / np.longdouble(units.width)


@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_codes_are_those_of_exact_arithmetic(grid):
    """NumPy gives every double the code that exact arithmetic gives it, at every edge too."""
    x = interesting(grid)
    x = x[np.isfinite(x)]
    assert grid.encode(x).tolist() == [by_hand(grid, value) for value in x.tolist()]


@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_no_lawful_engine_changes_a_code(grid):
    """Division, reciprocals and errors of a unit in the last place give the same code to all between the bounds."""
    x = interesting(grid)
    x = x[(x >= grid.lower) & (x <= grid.upper)]
    for quotients in lawful(grid.units, x):
        assert (np.clip(np.floor(quotients), 0, grid.last) == grid.encode(x)).all()


def test_plain_quotients_are_changed():
    """The comparison has teeth: of the plain quotient, division and reciprocal have different floors."""
    grid = Interval(0, 1, cells=5)
    x = np.array([0.6, 0.2, 0.4])
    assert (np.floor(x / grid.step) != np.floor(x * (1 / grid.step))).any()
    assert grid.encode(x).tolist() == [3, 1, 2]


@given(st.tuples(finite, finite).map(sorted), st.integers(1, 2**52), st.lists(finite, max_size=20))
@example([0.0, 1e-320], 3, [1e-320])
@example([-5e-324, 1e15], 3, [-5e-324])
def test_any_grid(ends, cells, x):
    """Any grid gives the codes of exact arithmetic, where it has a rule."""
    try:
        grid = Interval(*ends, cells=cells)
    except InvalidParameter:
        assume(False)
    assume(grid.units is not None)
    x = np.array([*ends, *x])
    assert grid.encode(x).tolist() == [by_hand(grid, value) for value in x.tolist()]


@given(st.tuples(finite, finite).map(sorted), st.integers(0, 31), st.data())
def test_coarse_codes_are_fine_ones_without_their_last_bits(ends, bits, data):
    """A coarser grid and a fine one agree on every value, whatever the bounds."""
    try:
        grid = Interval(*ends, cells=1).fine(bits)
    except InvalidParameter:
        assume(False)
    less = data.draw(st.integers(0, bits))
    x = np.array([*ends, *data.draw(st.lists(st.floats(*ends), max_size=20))])
    assert (grid.encode(x) >> less == grid.coarser(less).encode(x)).all()
    assert grid.coarser(less).cells == grid.cells >> less
    quotients = grid.units.quotients(x)
    assert np.floor(quotients).max() < grid.cells, "nothing between the bounds is clipped"
    assert np.floor(quotients).min() >= (0 if grid.units.origin else -1)


@pytest.mark.parametrize(
    ("lower", "upper", "cells"), [(0, 1, 10), (0, 3, 30), (-5, 5, 100), (0, 1, 1000), (0.1, 0.7, 6), (1e9, 1e9 + 1, 10)]
)
def test_decimal_edges_belong_to_the_cell_that_begins_there(lower, upper, cells):
    """A decimal that is an edge lies in the cell above it, although doubles may be a little smaller."""
    exactly = [Fraction(str(lower)) + i * (Fraction(str(upper)) - Fraction(str(lower))) / cells for i in range(cells)]
    grid = Interval(lower, upper, cells=cells)
    assert grid.encode([float(edge) for edge in exactly]).tolist() == list(range(cells))


@given(st.tuples(st.floats(-1e12, 1e12), st.floats(-1e12, 1e12)).map(sorted), st.integers(1, 2**22))
def test_edges_are_hardly_moved(ends, cells):
    """Cells begin where they should, but for one part in thirty-two of a cell."""
    try:
        grid = Interval(*ends, cells=cells)
    except InvalidParameter:
        assume(False)
    assume(grid.units is not None)
    units, last = grid.units, Fraction(cells - 1)
    begin = Fraction(units.start) + Fraction(1, 2) + last * Fraction(units.width)
    begins = Fraction(units.origin) + begin / Fraction(units.scale)
    asked = Fraction(grid.lower) + last * (Fraction(grid.upper) - Fraction(grid.lower)) / cells
    assert abs(begins - asked) <= 2 * Fraction(grid.step) / MOVED


def test_no_rule_for_very_fine_grids():
    """Cells that are neither whole numbers of units nor much wider than one have no rule but NumPy's."""
    assert Interval(0, 1_000_000, granularity=0.01).units is None
    assert Interval(0, 1_000_000, granularity=0.01).encode([0.014, 0.026, 999_999.99]).tolist() == [1, 2, 99_999_999]
    assert Interval(0, 1, cells=2**40).units == Units(0.0, 2.0**49, -0.5, 2.0**9, False)
