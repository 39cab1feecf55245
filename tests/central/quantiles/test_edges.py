"""Quantiles at the edges of what can be asked: narrow and huge bounds, fine granularities, tiny prices."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import flou
from flou.bits import SeededBits
from flou.central.quantiles.grid import COARSE, QuantileGrid
from flou.domain.interval import most_cells
from flou.errors import InvalidParameter

START = 1.7e9


@pytest.mark.parametrize("width", [300.0, 0.1, 1e-5])
@pytest.mark.parametrize("relation", ["add-remove", "substitute"])
def test_narrow_bounds_far_from_zero_are_answered(width, relation):
    """Where doubles cannot tell 2^31 cells apart the grid has fewer, and quantiles and shares are as near."""
    bounds, domain = (START, START + width), flou.Interval(START, START + width, cells=16)
    values = START + width * np.random.default_rng(0).random(20_000)
    release = flou.quantiles(values, flou.deciles, domain=domain, epsilon=1, relation=relation)
    near = 0.03 + np.spacing(START) / width  # the values are doubles too
    assert np.allclose((release.value - START) / width, np.arange(1, 10) / 10, atol=near)
    low, high = release.interval()
    assert np.all((bounds[0] <= low) & (low <= release.value) & (release.value <= high) & (high <= bounds[1]))
    shares = flou.ecdf(values, domain=domain, epsilon=1, relation=relation)
    assert abs(shares.at(START + width / 2)[0] - 0.5) < 0.02 + near


def test_a_grid_has_as_many_cells_as_doubles_can_tell_apart():
    """2^31 where that is possible, and otherwise the largest power of two that is."""
    for upper, bits in ((START + 300, 30), (START + 0.1, 18), (2 * START, 31)):
        grid = QuantileGrid.of("x", flou.Interval(START, upper), 1, True)
        assert grid.cells == 1 << bits
        assert grid.coarse.domain.size == 1 << min(bits, COARSE)
    narrow = flou.Interval(START, START + 1e-5, cells=16)
    assert narrow.with_cells(most_cells(narrow)).cells == most_cells(narrow)
    with pytest.raises(InvalidParameter, match="rounding of a float"):
        narrow.with_cells(most_cells(narrow) + 1)
    assert (
        flou.median([START], bounds=(START, START + 300), epsilon=1).certificate["mechanism"]["grid"]
        == "1073741824 cells"
    )


@pytest.mark.parametrize("unit", [None, "who"])
def test_answers_are_multiples_of_a_fine_granularity(unit):
    """With more than 2^20 possible values answers are rounded to the nearest one, and intervals outwards."""
    generator = np.random.default_rng(0)
    prices = np.concatenate([np.full(4000, 19.99), np.round(generator.uniform(0, 20_000, 1000), 2)])
    domain = flou.Interval(0, 20_000, granularity=0.01)
    schema = flou.Schema({"x": domain}, unit=unit, max_rows_per_unit=None if unit is None else 1)
    table = flou.open({"x": prices, "who": np.arange(5000)}, schema=schema, bits=SeededBits(1))
    release = table.quantiles("x", [0.3, 0.5, 0.95], epsilon=1)
    low, high = release.interval()
    for numbers in (release.value, low, high):
        assert numbers.tolist() == np.round(numbers, 2).tolist()
    assert np.all((low <= release.value) & (release.value <= high))
    assert flou.median([19.99] * 5000, bounds=(0, 20_000), granularity=0.01, epsilon=1).value == 19.99
    if unit is None:
        assert release.value[:2].tolist() == [19.99, 19.99]
        assert release.error.grid == 0


def test_a_granularity_that_fits_no_bounds_is_no_granularity_of_answers():
    """Multiples are counted from the lower bound; where none is the upper bound, nothing is rounded."""
    grid = QuantileGrid.of("x", flou.Interval(0, 20_000.005, cells=2**16, granularity=0.01), 1, True)
    assert grid.grain is None
    assert QuantileGrid.of("x", flou.Interval(5, 20_005, granularity=0.01), 1, True).grain == Fraction(1, 100)


ODD = [
    {"epsilon": 1, "intervals": 1e-20},
    {"epsilon": 1e-14},
    {"epsilon": 1e-15, "intervals": 0},
    {"epsilon": 1, "intervals": 1},
    {"epsilon": 1e-13, "intervals": 0, "method": "histogram"},
    {"epsilon": 1e-14, "intervals": 0, "method": "independent"},
]


@pytest.mark.parametrize("relation", ["add-remove", "substitute"])
@pytest.mark.parametrize("wanted", [[0.5], [0.123456789, 0.3, 0.5, 0.7, 0.9]])
@pytest.mark.parametrize("odd", ODD)
def test_what_is_refused_costs_nothing(odd, wanted, relation):
    """Prices that no noise is wide enough for are refused before the budget is charged."""
    table = flou.open(
        {"x": np.arange(500.0), "who": np.arange(500) // 3},
        schema=flou.Schema({"x": flou.Interval(0, 500)}, relation=relation),
        budget=10,
    )
    with pytest.raises(InvalidParameter) as error:
        table.quantiles("x", wanted, **odd)
    assert str(error.value).count(". ") == 2
    assert table.budget.spent is None or table.budget.spent.epsilon == 0


def test_the_largest_bounds_are_answered():
    """Half-widths whose squares are too large for doubles are written as None, and nothing is raised."""
    for ask in (flou.median, flou.iqr, flou.ecdf):
        release = ask([1.0] * 100, bounds=(0, 1e308), epsilon=0.01)
        assert np.all(np.isfinite(release.value))
    release = flou.quantiles([1.0] * 10, flou.deciles, bounds=(0, 1e308), epsilon=0.01)
    assert release.certificate["accuracy"]["sampling"] is None
    assert 0 < release.certificate["accuracy"]["total"] < 1e308
    assert release.error.total == release.certificate["accuracy"]["total"]


def test_one_number_is_one_quantile():
    """quantiles of a number, and not of a list, answers as quantile does; what is no number is refused."""
    values, options = np.arange(1000.0), {"bounds": (0, 1000), "epsilon": 5}
    for half in (0.5, Fraction(1, 2), np.float64(0.5), np.array(0.5)):
        assert isinstance(flou.quantiles(values, half, **options).value, float)
    assert flou.quantiles(values, (p for p in (0.1, 0.9)), **options).value.size == 2
    assert flou.quantiles(values, [0.5], **options).value.size == 1
    for wrong in (None, "0.5", "half", object(), [None], 1.5, []):
        with pytest.raises(InvalidParameter):
            flou.quantiles(values, wrong, **options)


def test_parts_of_epsilon_are_stated_for_a_unit():
    """A unit of three rows has its parts three times, so that they are parts of the epsilon that is stated."""
    columns = {"x": np.random.default_rng(0).random(3000), "who": np.arange(3000) // 3}
    stated = []
    for schema in (
        flou.Schema({"x": flou.Interval(0, 1)}, unit="who", max_rows_per_unit=3),
        flou.Schema({"x": flou.Interval(0, 1)}),
        flou.Schema({"x": flou.Interval(0, 1)}, unit="who", max_rows_per_unit=3, relation="substitute"),
    ):
        release = flou.open(columns, schema=schema).deciles("x", epsilon=1)
        assert release.certificate["loss"]["epsilon"] == 1
        parts = release.certificate["mechanism"]
        stated.append((parts["epsilon_for_choice"], parts["epsilon_for_intervals"]))
    assert np.allclose(stated, [(0.02, 0.098)] * 3)
