"""Intervals hold what they promise with Gaussian noise too: the checks of ``test_coverage.py``, at other prices."""

from __future__ import annotations

import pytest

from central.test_coverage import MANY, RUNS, is_enough, is_not_too_much
from central_coverage import Cell, simulate
from flou.central import Price
from subjects import SUBJECTS

WIDE, NARROW = Price.of(rho=0.005), Price.of(rho=0.5)
EITHER = Price.of(0.5, 0.3)  # a delta at which Gaussian noise is the smaller one
CASES = [
    (Cell(statistic, shape, relation, n, 1.0), price)
    for statistic in SUBJECTS
    if statistic != "quantiles"  # which are paid with an epsilon
    for n, price, shape, relation in (
        (100, WIDE, "uniform", "add-remove"),
        (1000, NARROW, "salaries", "substitute"),
        (1000, EITHER, "uniform", "add-remove"),
    )
]


@pytest.mark.parametrize(("cell", "price"), CASES)
def test_intervals_cover(cell, price):
    """95 % intervals hold the truth at least 94.5 % of the time, and no more than 98 % where that would be a waste."""
    capped = price is NARROW and cell.statistic in {"mean", "sum"}
    for found in simulate(cell, MANY if capped else RUNS, price=price).values():
        assert is_enough(found)
        assert not capped or is_not_too_much(found)


@pytest.mark.parametrize("statistic", ["mean", "sum", "regression"])
def test_half_as_wide_intervals_are_refused(statistic):
    """The check can fail."""
    cell = Cell(statistic, "uniform", "add-remove", 1000, 1.0)
    for found in simulate(cell, RUNS, price=NARROW, shrink=0.5).values():
        assert not is_enough(found)
