"""Moments of a row: t (1 - t) as whole numbers, the same on every engine, and the norm that the noise is made for."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flou.domain import Categories, Integers, Interval
from flou.summaries import Code, MomentGrid, rows_of
from flou.summaries.moments import OF_MEANS, OF_TOTALS, SPREAD_CELLS, STEPS, Spread
from summaries.engines import SPECIAL, Made

CELLS = st.sampled_from([OF_MEANS, OF_TOTALS])
NEAR = 2**22  # cells from an end; further inside K t^2 is larger than all rounding


@cache
def grid_of(cells):
    return MomentGrid.of("x", Interval(0, 1), cells)


def bits(cells):
    return cells.bit_length() - 1


@cache
def asked(cells):
    """The spread as a request asks for it."""
    [_, _, [code]] = grid_of(cells).request().terms
    assert isinstance(code.domain, Spread)
    return code.domain


def spread_of(cells, places):
    """The spread of cells: of at most 2^26 of them."""
    return asked(cells).of(np.array(places) >> max(bits(cells) - bits(SPREAD_CELLS), 0))


def coordinates(cells, places):
    """(K - T - h, 2 h, T - h) of each place on a grid of so many cells, in 64 bits."""
    unit = grid_of(cells).unit
    first, spread = 2 * np.array(places) + 1, unit // STEPS * spread_of(cells, places)
    return np.stack([unit - first - spread, 2 * spread, first - spread])


@st.composite
def places(draw, count=1, inside=0):
    """A grid, and cells of it."""
    cells = draw(CELLS)
    return cells, draw(st.lists(st.integers(inside, cells - 1 - inside), min_size=count, max_size=count))


@given(places())
def test_nearest(where):
    """The spread is a nearest whole number to 2^18 t (1 - t) at the middle of the cell of a grid of at most 2^26."""
    cells, [cell] = where
    coarse = min(cells, SPREAD_CELLS)
    found, t = int(spread_of(cells, [cell])[0]), Fraction(2 * (cell * coarse // cells) + 1, 2 * coarse)
    assert abs(found - STEPS * t * (1 - t)) <= Fraction(1, 2)
    assert 0 <= found < Spread(Interval(0, 1).fine(bits(coarse))).size


@given(places())
def test_error(where):
    """h is K t (1 - t) at the middle of the cell, but for half a step and half a cell of a grid of 2^26."""
    cells, [cell] = where
    unit = grid_of(cells).unit
    t, found = Fraction(2 * cell + 1, unit), int(spread_of(cells, [cell])[0]) * (unit // STEPS)
    assert abs(found - unit * t * (1 - t)) <= Fraction(unit, 2 * STEPS) + Fraction(unit, 2 * SPREAD_CELLS)


@pytest.mark.parametrize("cells", [OF_MEANS, OF_TOTALS])
def test_norm_at_the_ends(cells):
    """At both ends, cell by cell, no row is larger than the bound, and some rows are larger than K."""
    grid = grid_of(cells)
    for start in (0, cells - NEAR):
        rows = coordinates(cells, np.arange(start, start + NEAR))
        assert (rows.sum(axis=0) == grid.unit).all()
        norms = np.abs(rows).sum(axis=0)
        assert grid.unit < norms.max() <= grid.bound
        assert rows.max() - rows.min() <= grid.bound


@given(places(inside=NEAR))
def test_norm_inside(where):
    """Further inside all three coordinates are at least 0, so that the norm is K."""
    assert coordinates(*where).min() >= 0


@given(places(count=2))
def test_distance_of_two_rows(where):
    """(T, h) of two rows differ by at most the bound."""
    rows = coordinates(*where)
    first, spread = rows[1] // 2 + rows[2], rows[1] // 2
    moved = abs(int(first[1] - first[0])) + abs(int(spread[1] - spread[0]))
    assert moved <= grid_of(where[0]).bound


BOUNDS = st.tuples(st.floats(-1e300, 1e300), st.floats(1e-280, 1e300)).filter(
    lambda given: given[1] / OF_TOTALS > 2 * max(math.ulp(given[0]), math.ulp(given[0] + given[1]))
)


@given(BOUNDS, st.floats(0, 1), CELLS)
def test_nothing_between_the_bounds_is_clipped(bounds, place, cells):
    """On a fine grid the quotient of the upper bound is below its cells, and its floor is the last code by itself."""
    lower, upper = bounds[0], bounds[0] + bounds[1]
    grid = Interval(lower, upper).fine(bits(cells))
    assert grid.cells == cells
    x = min(lower + place * (upper - lower), upper)
    low, inside, high = np.floor(grid.units.quotients(np.array([lower, x, upper]))).tolist()
    assert (max(low, 0), max(inside, 0), high) == tuple(grid.encode([lower, x, upper]))
    assert high == grid.last < cells
    assert grid.encode([math.inf, math.nextafter(upper, math.inf)]).tolist() == [grid.last, grid.last]
    assert cells - grid.last <= 1 + cells / 2 ** (49 - bits(cells))


@given(BOUNDS, st.floats(0, 1), CELLS)
def test_the_fine_grid_is_even(bounds, place, cells):
    """A value lies within half a cell of the middle of its cell, but for 2^-10."""
    lower, upper = bounds[0], bounds[0] + bounds[1]
    x = min(lower + place * (upper - lower), upper)
    grid = Interval(lower, upper).fine(bits(cells))
    t = (Fraction(x) - Fraction(lower)) / Fraction(grid.step)
    assert abs(t - int(grid.encode([x])[0]) - Fraction(1, 2)) <= Fraction(1, 2) + Fraction(1, 2**10)


def test_fine_grids_keep_what_is_missing():
    """The public value of rows without one, and the granularity, are those of the interval."""
    interval = Interval(-3, 7, missing=6, granularity=0.5)
    grid = interval.fine(bits(OF_MEANS))
    assert (grid.lower, grid.upper, grid.missing, grid.granularity) == (-3, 7, 6, 0.5)
    assert grid.encode([None, math.nan]).tolist() == [grid.missing_code] * 2 == grid.encode([6.0, 6.0]).tolist()


def test_engines_agree(opened):
    """Every double has the same moments everywhere, alone and in groups."""
    generator = np.random.default_rng(20261118)
    values = [
        *SPECIAL,
        *(generator.random(80) * 3 - 1).tolist(),
        *(generator.integers(0, 2**31, 80) * 2.0**-31).tolist(),
        *(generator.integers(0, 2**26, 80) * 2.0**-26).tolist(),
    ]
    values += [1.0, math.nextafter(1, 0), 1.7e308, -1.7e308]
    for bound in (0.0, 1.0, -0.7, 1.3, -8e307, 8e307, -7.5, 10**6 + 0.5):
        values += [math.nextafter(bound, -math.inf), bound, math.nextafter(bound, math.inf)]
    made = Made({"x": ("double", values), "g": ("text", (["a", "b", "c", None] * 99)[: len(values)])})
    group = Code("g", Categories(["a", "b"]))
    requests = []
    for domain in (Interval(0, 1), Interval(-0.7, 1.3, missing=1), Interval(-8e307, 8e307), Integers(-7, 10**6)):
        for grid in (MomentGrid.of("x", domain, cells) for cells in (OF_MEANS, OF_TOTALS)):
            requests += [grid.request(), grid.request(group)]
    for found, expected in zip(opened(made).collect(requests), rows_of(made.lists()).collect(requests), strict=True):
        assert (found == expected).all()
