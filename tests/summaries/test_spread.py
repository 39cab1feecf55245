"""Moments of a row: t (1 - t) as whole numbers, the same on every engine, and the norm that the noise is made for."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from flou.domain import Categories, Integers, Interval
from flou.summaries import Code, MomentGrid, rows_of
from flou.summaries.spread import CELLS, STEPS, Spread, _spread, fine
from summaries.engines import SPECIAL, Made

GRID = MomentGrid.of("x", Interval(0, 1))
NEAR = 2**22  # cells from an end; further inside K t^2 is larger than all rounding


def coordinates(cells):
    """(K - T - h, 2 h, T - h) of each cell, in 64 bits."""
    first, spread = 2 * cells + 1, GRID.unit // STEPS * _spread(cells)
    return np.stack([GRID.unit - first - spread, 2 * spread, first - spread])


@given(st.integers(0, CELLS - 1))
def test_nearest(cell):
    """The spread is a nearest whole number to 2^18 t (1 - t) at the middle of the cell, but for a rounded square."""
    found, t = int(_spread(np.array([cell]))[0]), Fraction(2 * cell + 1, 2 * CELLS)
    assert abs(found - STEPS * t * (1 - t)) <= Fraction(1, 2) + Fraction(1, 2**37)
    assert 0 <= found < Spread(Interval(0, 1)).size


@given(st.integers(0, CELLS - 1))
def test_error(cell):
    """h is K t (1 - t) at the middle of the cell, but for half a step and 1."""
    t = Fraction(2 * cell + 1, GRID.unit)
    found = int(_spread(np.array([cell]))[0]) * (GRID.unit // STEPS)
    assert abs(found - GRID.unit * t * (1 - t)) < Fraction(GRID.unit, 2 * STEPS) + 1


def test_norm_at_the_ends():
    """At both ends, cell by cell, no row is larger than the bound, and some rows are larger than K."""
    for start in (0, CELLS - NEAR):
        rows = coordinates(np.arange(start, start + NEAR))
        assert (rows.sum(axis=0) == GRID.unit).all()
        norms = np.abs(rows).sum(axis=0)
        assert GRID.unit < norms.max() <= GRID.bound
        assert rows.max() - rows.min() <= GRID.bound


@given(st.integers(NEAR, CELLS - NEAR))
def test_norm_inside(cell):
    """Further inside all three coordinates are at least 0, so that the norm is K."""
    assert coordinates(np.array([cell])).min() >= 0


@given(st.lists(st.integers(0, CELLS - 1), min_size=2, max_size=2))
def test_distance_of_two_rows(cells):
    """(T, h) of two rows differ by at most the bound."""
    rows = coordinates(np.array(cells))
    first, spread = rows[1] // 2 + rows[2], rows[1] // 2
    assert abs(int(first[1] - first[0])) + abs(int(spread[1] - spread[0])) <= GRID.bound


BOUNDS = st.tuples(st.floats(-1e300, 1e300), st.floats(1e-280, 1e300)).filter(
    lambda given: given[1] / CELLS > 2 * max(math.ulp(given[0]), math.ulp(given[0] + given[1]))
)


@given(BOUNDS, st.floats(0, 1))
def test_nothing_between_the_bounds_is_clipped(bounds, place):
    """On the fine grid the quotient of the upper bound is below 2^31, so that its floor is the last code by itself."""
    lower, upper = bounds[0], bounds[0] + bounds[1]
    grid = fine(Interval(lower, upper))
    assert grid.cells == CELLS
    assert math.floor((upper - lower) / grid.step) == CELLS - 1
    assert (upper - lower) / (grid.step / 2**21) < CELLS * 2**21
    x = min(lower + place * (upper - lower), upper)
    assert grid.encode([x, upper, lower]).tolist() == [math.floor((x - lower) / grid.step), CELLS - 1, 0]


@given(BOUNDS, st.floats(0, 1))
def test_the_fine_grid_is_even(bounds, place):
    """A value lies within half a cell of 2^-31 of the width around the middle of its cell, but for 2^-19 of a cell."""
    lower, upper = bounds[0], bounds[0] + bounds[1]
    x = min(lower + place * (upper - lower), upper)
    cell = int(fine(Interval(lower, upper)).encode([x])[0])
    t = (Fraction(x) - Fraction(lower)) / (Fraction(upper) - Fraction(lower))
    assert abs(t * CELLS - cell - Fraction(1, 2)) <= Fraction(1, 2) + Fraction(1, 2**19)


def test_fine_grids_keep_what_is_missing():
    """The public value of rows without one, and the granularity, are those of the interval."""
    interval = Interval(-3, 7, missing=6, granularity=0.5)
    grid = fine(interval)
    assert (grid.lower, grid.upper, grid.missing, grid.granularity) == (-3, 7, 6, 0.5)
    assert grid.encode([None, math.nan]).tolist() == [grid.missing_code] * 2 == grid.encode([6.0, 6.0]).tolist()


def test_engines_agree(opened):
    """Every double has the same moments everywhere, alone and in groups."""
    generator = np.random.default_rng(20261118)
    values = [
        *SPECIAL,
        *(generator.random(80) * 3 - 1).tolist(),
        *(generator.integers(0, 2**31, 80) * 2.0**-31).tolist(),
    ]
    values += [1.0, math.nextafter(1, 0), 1.7e308, -1.7e308]
    for bound in (0.0, 1.0, -0.7, 1.3, -8e307, 8e307, -7.5, 10**6 + 0.5):
        values += [math.nextafter(bound, -math.inf), bound, math.nextafter(bound, math.inf)]
    made = Made({"x": ("double", values), "g": ("text", (["a", "b", "c", None] * 99)[: len(values)])})
    group = Code("g", Categories(["a", "b"]))
    requests = []
    for domain in (Interval(0, 1), Interval(-0.7, 1.3, missing=1), Interval(-8e307, 8e307), Integers(-7, 10**6)):
        grid = MomentGrid.of("x", domain)
        requests += [grid.request(), grid.request(group)]
    for found, expected in zip(opened(made).collect(requests), rows_of(made.lists()).collect(requests), strict=True):
        assert (found == expected).all()
