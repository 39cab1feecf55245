"""Learning from reports: the committed experiment is whole, and keeps what the page claims."""

from __future__ import annotations

import json

import pytest

from docs.pages import ROOT
from flou.reproduce.diabetes_curves import BINS, EPSILONS, TOTALS


@pytest.fixture(scope="module")
def report():
    return json.loads((ROOT / "benchmarks/results/diabetes.json").read_text())


def test_the_committed_run_is_whole_and_keeps_the_claims(report):
    """No quick run, the real table, every setting; and what the page claims is so."""
    assert report["quick"] is False
    assert report["real"] is True
    assert report["printed"]["accuracy"] == pytest.approx(0.7857142857142857, rel=1e-12)
    assert report["printed"]["f1"] == pytest.approx(0.6373626373626374, rel=1e-12)
    found = {(line["method"], line["epsilon"]): line for line in report["lines"]}
    totals = [round(9 * epsilon, 10) for epsilon in EPSILONS]
    wanted = {(method, total) for method in ("laplace", "staircase", "window") for total in totals}
    assert set(found) == wanted | {(method, float(total)) for method in ("reports", "pairs") for total in TOTALS}
    assert all(line["repeats"] >= 100 for line in found.values())
    assert found["reports", 4.5]["accuracy"] >= report["clean"]["accuracy"] - 0.02
    assert found["window", 9]["accuracy"] < found["reports", 2]["accuracy"]
    splits = {one["bins"]: one for one in report["splits"]}
    assert tuple(splits) == BINS
    assert splits[4]["splits"] >= 200
    assert splits[4]["loss"] + 2 * splits[4]["loss_sd"] / splits[4]["splits"] ** 0.5 < 0.02
    assert 0 < report["wide"]["loss"] < 0.05
