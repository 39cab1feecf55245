"""The made-up table of salaries has the printed deciles, ties, and nothing outside its bounds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.interpolate import PchipInterpolator

from flou.errors import InvalidParameter
from flou.reproduce import salaries
from flou.reproduce.salaries import DECILES, DEPARTMENTS, made_salaries, made_staff

PRINTED = (34902, 38574, 41848, 46862, 56844, 67121, 75254, 84751, 99637)
TENTHS = np.arange(1, 10) / 10


@pytest.fixture(scope="module")
def table():
    return made_salaries()


def empirical_deciles(values, method="inverted_cdf"):
    return tuple(np.quantile(values, TENTHS, method=method).tolist())


def test_printed_deciles(table):
    """400,000 rows have exactly the deciles that document 001 prints."""
    assert DECILES == PRINTED
    assert table.shape == (400_000,)
    assert empirical_deciles(table) == PRINTED


@given(st.integers(1000, 5000), st.integers(0, 2**32))
def test_deciles_of_any_size(rows, seed):
    """From 1000 rows on the deciles are exact, for every seed and every usual definition."""
    values = made_salaries(rows, seed)
    for method in ("inverted_cdf", "linear", "hazen", "weibull", "lower", "higher", "averaged_inverted_cdf"):
        assert empirical_deciles(values, method) == PRINTED


def test_checks_refuse_another_table(table):
    """A table that is one euro or one rank off does not have the printed deciles."""
    assert empirical_deciles(table + 1) != PRINTED
    few = np.sort(made_salaries(1000))
    assert empirical_deciles(np.concatenate([few, np.full(50, 200_000)])) != PRINTED


def test_whole_euros_within_bounds(table):
    """Salaries are whole euros below 300,000, with a plausible top and bottom."""
    assert table.dtype == np.int64
    assert 12_000 <= table.min() < 15_000
    assert 250_000 < table.max() < 300_000
    assert 0.005 < np.mean(table > 150_000) < 0.02


def test_ties(table):
    """Most salaries are shared by a hundred people or more, and none by more than 2 % of all."""
    _, sizes = np.unique(table, return_counts=True)
    assert sizes[sizes >= 100].sum() > 0.6 * table.size
    assert sizes.max() < 0.02 * table.size
    assert np.mean(table % 1000 == 0) > 0.1


def test_no_gaps(table):
    """Between the deciles there is no hole: every 2,000 euros from 14,000 to 200,000 hold someone."""
    assert np.histogram(table, bins=np.arange(14_000, 202_000, 2_000))[0].min() > 0


def test_repeatable():
    """The same seed gives the same table, another seed another one, and the order tells nothing."""
    first = made_salaries(5000, seed=3)
    assert np.array_equal(first, made_salaries(5000, seed=3))
    assert not np.array_equal(np.sort(first), np.sort(made_salaries(5000, seed=4)))
    assert abs(np.corrcoef(np.arange(5000), first)[0, 1]) < 0.1


@given(st.integers(1, 40))
def test_tiny_tables(rows):
    """A table of a few rows is made as well, without a promise about its deciles."""
    values = made_salaries(rows)
    assert values.shape == (rows,)
    assert values.min() >= 12_000
    assert values.max() <= 285_000


def test_monotone_cubic():
    """With equal spaces the inner pieces of the curve are SciPy's, and all pieces increase."""
    x, y = np.arange(8.0), np.cumsum([1, 5, 0.1, 0.1, 3, 8, 0.5, 2])
    inner = np.linspace(1, 6, 501)
    assert salaries._monotone_cubic(x, y, inner) == pytest.approx(PchipInterpolator(x, y)(inner), rel=1e-12)
    assert np.all(np.diff(salaries._monotone_cubic(x, y, np.linspace(0, 7, 10_001))) > 0)
    assert salaries._monotone_cubic(x, y, x) == pytest.approx(y, rel=1e-15)


@pytest.mark.parametrize("rows", [0, -1, 10**7 + 1, 2.0, True, None])
def test_bad_rows(rows):
    """The number of rows is a positive whole number of a usual size."""
    with pytest.raises(InvalidParameter, match=r"^rows must be a whole number"):
        made_salaries(rows)


def test_staff():
    """The other columns have the same rows, stay within their bounds, and go with the salary."""
    staff = made_staff(5000)
    assert np.array_equal(staff["salary"], made_salaries(5000))
    assert set(staff["department"].tolist()) == set(DEPARTMENTS)
    assert (staff["age"].min(), staff["age"].max()) == (salaries.YOUNGEST, salaries.OLDEST)
    assert np.corrcoef(staff["age"], staff["salary"])[0, 1] > 0.3
    assert staff["salary"][staff["full_time"]].mean() > staff["salary"][~staff["full_time"]].mean()
    means = {name: staff["salary"][staff["department"] == name].mean() for name in DEPARTMENTS}
    assert max(means, key=means.get) == "research"
    assert min(means, key=means.get) in {"kitchen", "garden"}


def test_staff_of_any_size():
    """One person is a table too, and the same seed gives the same one."""
    for rows in (1, 2, 37):
        staff = made_staff(rows, seed=5)
        assert {name: len(values) for name, values in staff.items()} == dict.fromkeys(staff, rows)
        assert all(np.array_equal(values, made_staff(rows, seed=5)[name]) for name, values in staff.items())
