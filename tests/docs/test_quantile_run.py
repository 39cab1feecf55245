"""Errors of methods for quantiles: the committed run is whole."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from docs.pages import ROOT
from flou.central.quantiles.plan import QuantilePlan


@pytest.fixture(scope="module")
def report():
    return json.loads((ROOT / "benchmarks/results/quantiles.json").read_text())


def test_the_committed_run_is_whole(report):
    """No quick run: every setting under both relations, with a standard error, and the epsilons of the picture."""
    assert report["quick"] is False
    calls = [one for one in report["errors"] if one["kind"] == "call"]
    assert all(one["releases"] >= 4 and one["standard_error"] >= 0 for one in calls)
    settings = {(one["data"], one["rows"], one["quantiles"], one["epsilon"]) for one in calls}
    wanted = {(d, n, m, e) for d in ("uniform", "normal", "salaries") for n in (10**3, 10**5, 10**6)
              for m in (1, 9, 99) for e in (0.1, 1.0)}  # fmt: skip
    assert settings == wanted | {("uniform", 10**5, m, e) for m in (9, 1) for e in (0.03, 0.3, 3.0)}
    assert len(calls) == 4 * len(settings)  # with and without intervals, both relations
    assert {one["participant"] for one in report["errors"]} == {"flou", "OpenDP", "diffprivlib", "PyDP"}


def test_the_default_is_near_the_best_where_rows_are_few():
    """What is chosen by the public number of rows errs by less than half more than the best way, over all data."""
    cells = json.loads((ROOT / "benchmarks/results/quantiles_trees.json").read_text())["cells"]
    assert {cell["quantiles"] for cell in cells} == {2, 4, 9, 19, 30, 40, 60, 99}
    for cell in cells:
        mean, many = cell["mean"], cell["quantiles"]
        asked = tuple(Fraction(i, many + 1) for i in range(1, many + 1))
        epsilon = Fraction(cell["epsilon"]).limit_denominator(10**6)
        plan = QuantilePlan(asked, epsilon, cell["relation"], "auto", Fraction(1, 10), cell["rows"])
        branching, height = plan.shape
        tree = f"{branching}{' ²³⁴'[height - 1].strip()}"
        assert cell["default"] == (tree if plan.choice[0] == "tree" else plan.choice[0])
        assert mean[cell["default"]] < 1.5 * min(mean.values())
