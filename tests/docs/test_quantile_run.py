"""Errors of methods for quantiles: the committed run is whole."""

from __future__ import annotations

import json

import pytest

from docs.pages import ROOT


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
    assert settings == wanted | {("uniform", 10**5, 9, e) for e in (0.03, 0.3, 3.0)}
    assert len(calls) == 4 * len(settings)  # with and without intervals, both relations
    assert {one["participant"] for one in report["errors"]} == {"flou", "OpenDP", "diffprivlib", "PyDP"}
