"""Extreme bounds and prices: an answer, or a refusal before anything is charged."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import flou
from flou.guarantee import ApproxDP

BOUNDS = [
    (-1e300, 1e300),
    (-1e154, 1e154),
    (0, 1.7e308),
    (1e300, 1.0001e300),
    (-1e70, 1e70),
    (9e69, 1e70),
    (0, 1e-70),
    (0, 1e-154),
    (0, 1e-290),
]
ASKED = {
    "sum": lambda table: table.sum("x", epsilon=1),
    "mean": lambda table: table.mean("x", epsilon=1),
    "variance": lambda table: table.variance("x", epsilon=1),
    "std": lambda table: table.std("x", epsilon=1),
    "covariance": lambda table: table.covariance("x", "y", epsilon=1),
    "correlation": lambda table: table.correlation("x", "y", epsilon=1),
    "regression": lambda table: table.regression("x", "y", epsilon=1),
    "grouped variance": lambda table: table.group_by("g").variance("x", epsilon=1),
    "median": lambda table: table.median("x", epsilon=1),
    "ecdf": lambda table: table.ecdf("x", epsilon=1),
    "density": lambda table: table.density("x", epsilon=1),
    "histogram": lambda table: table.histogram("x", epsilon=1),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("bounds", BOUNDS, ids=str)
@pytest.mark.parametrize("asked", ASKED)
def test_extreme_bounds(asked, bounds):
    """Whatever the bounds, a question has a finite answer with intervals, or is refused and costs nothing."""
    low, high = bounds
    values = [low + (high / 60 - low / 60) * i for i in range(61)]
    columns = {"x": values, "y": [i / 61 for i in range(61)], "g": ["a"] * 61}
    schema = {"x": flou.Interval(low, high), "y": flou.Interval(0, 1), "g": flou.Categories(["a"])}
    table = flou.open(columns, schema=schema, budget=5)
    try:
        release = ASKED[asked](table)
    except flou.FlouError:
        assert table.budget.spent is None
        assert (low, high) not in BOUNDS[4:7]
        return
    assert np.all(np.isfinite(release.value))
    for of in ("data", "population"):
        assert not np.any(np.isnan(np.asarray(release.interval(0.95, of=of), dtype=float)))
    assert json.loads(release.to_json())


@pytest.mark.parametrize("bounds", [(-1e300, 1e300), (0, 1e-154)])
def test_extreme_bounds_are_refused_in_words(bounds):
    """The refusal says which bounds a moment can have, and what else to ask for."""
    table = flou.open({"x": [0.0]}, schema={"x": flou.Interval(*bounds)}, budget=1)
    with pytest.raises(flou.InvalidParameter, match=r"1e\+70 at most, 1e-70 apart.*quantiles or a histogram"):
        table.variance("x", epsilon=1)
    assert table.budget.remaining == {"epsilon": 1.0}


@pytest.mark.parametrize("rows", [1, 5])
@pytest.mark.parametrize("relation", ["add-remove", "substitute"])
def test_keys_at_any_price(relation, rows):
    """From almost nothing to ten thousand, every epsilon and delta has a threshold, and it falls as they rise."""
    columns = {"k": ["a"] * 50 + ["b"], "who": list(range(51))}
    schema = flou.Schema({"k": flou.Categories(["z"])}, relation=relation, unit="who", max_rows_per_unit=rows)
    before = math.inf
    for epsilon in (1e-6, 1e-3, 1, 36, 37, 38, 40, 100, 709, 710, 745, 10_000):
        thresholds = []
        for delta in (1e-60, 1e-20, 1e-8, 0.1, 0.999999):
            budget = ApproxDP(epsilon, delta, relation=relation, unit="who")
            table = flou.open(columns, schema=schema, budget=budget)
            release = table.keys("k", epsilon=epsilon, delta=delta)
            assert set(table.budget.remaining.values()) == {0.0}
            thresholds.append(release.certificate["keys"]["threshold"])
        assert thresholds == sorted(thresholds, reverse=True)
        assert thresholds[0] <= before
        before = thresholds[0]
    assert release.labels == ("a",)


@pytest.mark.parametrize("relation", ["add-remove", "substitute"])
@pytest.mark.parametrize("domain", [flou.Boolean(), flou.Integers(0, 1), flou.Interval(0, 10)], ids=str)
def test_hardly_any_rows(domain, relation):
    """Tables of no, one or two rows are answered, without a warning of NumPy's, which would be an error here."""
    for rows in ([], [1], [0, 1]):
        schema = flou.Schema({"x": domain, "y": flou.Interval(1e9, 1e9 + 1)}, relation=relation)
        table = flou.open({"x": rows, "y": rows}, schema=schema)
        asked = [table.variance("x", epsilon=1), table.std("x", epsilon=1), table.mean("x", epsilon=1)]
        for release in [*asked, *(table.regression("y", "x", epsilon=1000) for _ in range(3))]:
            assert release.interval(0.95, of="population") is not None
