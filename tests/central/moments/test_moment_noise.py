"""Moments have the sensitivity they claim: every row, every pair of neighbours, both relations."""

from __future__ import annotations

import dataclasses
from itertools import product

import numpy as np
import pytest

from flou import Boolean, Integers, Interval, Schema
from flou.bits import SeededBits
from flou.central import Price
from flou.central.moments.mean import MeanUncertainty
from flou.central.moments.moment_noise import MomentNoise
from flou.central.moments.total import TotalUncertainty
from flou.central.question import PublicFacts
from flou.mechanisms import Laplace
from flou.summaries.array.rows import ArrayRows
from flou.summaries.moments import OF_MEANS, OF_TOTALS, MomentGrid, Moments
from privacy.exhaustive import neighbours, tables

INTERVAL = Interval(-2, 3)
HALF = Price.of(0.5)
GRIDS = [
    MomentGrid.of("x", Boolean()),
    MomentGrid.of("x", Integers(0, 4)),
    MomentGrid.of("x", Integers(-3, 9)),
    MomentGrid.of("x", INTERVAL),
    MomentGrid.of("x", INTERVAL, OF_TOTALS),
    MomentGrid.of("x", Integers(0, 10**6)),
]
SOME = {  # rows of each grid: all of them where there are few, the ends and many in between otherwise
    grid: (
        [bool(v) for v in (0, 1)]
        if isinstance(grid.domain, Boolean)
        else [
            grid.lower + grid.width * t
            for t in sorted({0, 1, 1e-9, 1 - 1e-9, 2**-17, 1 - 2**-17, *np.linspace(0, 1, 40)})
        ]
    )
    for grid in GRIDS
}


def moments_of(grid: MomentGrid, values) -> Moments:
    return grid.moments(ArrayRows({"x": list(values)}).collect([grid.request()])[0])


def noise(
    grid: MomentGrid, *, relation="add-remove", known=None, from_zero=False, rows_per_unit=1, price=HALF
) -> MomentNoise:
    options = {} if rows_per_unit == 1 else {"unit": "u", "max_rows_per_unit": rows_per_unit}
    facts = PublicFacts(Schema({"x": grid.domain}, relation=relation, **options), known)
    return MomentNoise(grid, price, facts, from_zero)


def distance(mechanism: MomentNoise, left, right) -> int:
    a, b = (mechanism.vector(moments_of(mechanism.grid, rows)) for rows in (left, right))
    assert a.keys() == b.keys()
    return sum(abs(a[name] - b[name]) for name in a)


@pytest.mark.parametrize("grid", GRIDS, ids=lambda g: repr(g.domain))
def test_one_row_has_the_stated_norm(grid):
    """Adding any row moves the vector by at most the bound, and hardly less."""
    mechanism = noise(grid)
    found = [distance(mechanism, [], [value]) for value in SOME[grid]]
    assert max(found) <= mechanism.sensitivity.l1
    assert min(found) >= 0.99 * mechanism.sensitivity.l1 * grid.unit / grid.bound
    assert all(distance(noise(grid, from_zero=True), [], [v]) <= mechanism.sensitivity.l1 for v in SOME[grid])


@pytest.mark.parametrize("grid", GRIDS, ids=lambda g: repr(g.domain))
def test_substituting_any_row_by_any_other_is_covered(grid):
    """With the rows known the vector moves by at most the bound, and with unknown rows by at most twice the bound."""
    known = noise(grid, relation="substitute", known=1)
    unknown = noise(grid, relation="substitute")
    values = [*SOME[grid][:: max(1, len(SOME[grid]) // 20)], SOME[grid][-1]]
    moved = [(distance(known, [a], [b]), distance(unknown, [a], [b])) for a, b in product(values, repeat=2)]
    assert max(m for m, _ in moved) <= known.sensitivity.l1 == grid.bound
    assert max(m for _, m in moved) <= unknown.sensitivity.l1 == 2 * grid.bound
    assert max(m for m, _ in moved) >= 0.99 * grid.unit
    assert max(m for _, m in moved) >= 1.99 * grid.unit


@pytest.mark.parametrize("rows_per_unit", [1, 2])
@pytest.mark.parametrize("relation", ["add-remove", "substitute"])
def test_the_loss_is_at_most_epsilon_for_all_neighbours(relation, rows_per_unit):
    """On all tables of a tiny domain the log-ratio of the laws is at most epsilon, also for units of several rows."""
    grid = MomentGrid.of("x", Integers(0, 3))
    mechanism = noise(grid, relation=relation, rows_per_unit=rows_per_unit)
    laplace = mechanism.mechanism
    worst = 0.0
    every = tables(range(4), range(4) if relation == "add-remove" else [3])
    for left, right in neighbours(relation, every):
        moved = distance(mechanism, left * rows_per_unit, right * rows_per_unit)  # each unit repeats its row
        worst = max(worst, float(moved * mechanism.steps / laplace.noise.scale))
    assert 0.9 * 0.5 <= worst <= 0.5 * (1 + 1e-12)


def test_the_law_of_the_vector_gives_exactly_that_loss():
    """For independent Laplace noises the sup of the log-ratio is the L1 distance over the scale."""
    law = Laplace(sensitivity=4, epsilon=0.5)
    left, right = law.law([0, 0]), law.law([3, -1])
    points = np.array(list(product(range(-20, 24), repeat=2)))
    assert np.max(left.log_pmf(points) - right.log_pmf(points)) == pytest.approx(0.5)


def test_half_the_bound_is_refused():
    """The same checks notice a bound that is too small."""
    grid = MomentGrid.of("x", Integers(0, 4))
    small = dataclasses.replace(grid, bound=grid.bound // 2)
    assert max(distance(noise(small), [], [v]) for v in SOME[grid]) > noise(small).sensitivity.l1


@pytest.mark.parametrize("grid", GRIDS, ids=lambda g: repr(g.domain))
def test_moments_are_those_of_the_rows(grid):
    """First and second moments come out of the integers to the accuracy of the grid."""
    generator = np.random.default_rng(1)
    values = grid.lower + grid.width * generator.random(500)
    if not isinstance(grid.domain, Interval) or "Integers" in repr(grid.domain):
        values = np.floor(values)
    if isinstance(grid.domain, Boolean):
        values = generator.random(500) < 0.3
    found = moments_of(grid, values)
    t = (np.asarray(values, dtype=float) - grid.lower) / grid.width
    assert found.rows == 500
    assert found.first / grid.unit == pytest.approx(t.sum(), rel=1e-6)
    assert found.spread / grid.unit == pytest.approx((t * (1 - t)).sum(), rel=1e-4, abs=1e-2)


def test_moments_add_up():
    """The moments of two tables together are the sum of theirs."""
    grid = GRIDS[3]
    values = np.random.default_rng(2).uniform(-3, 4, 1000)
    assert moments_of(grid, values) == moments_of(grid, values[:300]) + moments_of(grid, values[300:])


def test_noise_is_fine_enough_to_be_continuous():
    """Even at a large epsilon the noise is many steps wide, so the continuous law gives its intervals."""
    for epsilon in (0.1, 1, 50):
        assert noise(GRIDS[0], price=Price.of(epsilon)).mechanism.noise.scale >= 64
        assert noise(GRIDS[0], price=Price.of(rho=epsilon)).mechanism.noise.sigma >= 64
        assert noise(GRIDS[0], price=Price.of(epsilon, 0.5)).mechanism.noise.standard_deviation >= 64


@pytest.mark.parametrize(("law", "cells"), [(MeanUncertainty, OF_MEANS), (TotalUncertainty, OF_TOTALS)])
@pytest.mark.parametrize("known", [None, 10**12])
def test_intervals_include_the_grid(law, cells, known):
    """Where many rows are moved the same way by half a cell, and noise is nothing next to it, intervals still hold."""
    rows, grid = 10**12, MomentGrid.of("x", Interval(-1, 1), cells)
    sums = rows * ArrayRows({"x": [0.0]}).collect([grid.request()])[0]  # 0 is the edge of two cells
    facts = PublicFacts(Schema({"x": grid.domain}, relation="substitute"), known)
    uncertainty = law(MomentNoise(grid, HALF, facts).release([sums], SeededBits(5)), grouped=False)
    moved = grid.rounding * (rows if law is TotalUncertainty else 1)
    low, high = uncertainty.data(0.95)
    assert abs(uncertainty.values[0]) == pytest.approx(moved, rel=0.05)
    assert low <= 0 <= high
    assert high - low < 2.2 * moved
    assert uncertainty.grid == pytest.approx(moved, rel=1e-3)
