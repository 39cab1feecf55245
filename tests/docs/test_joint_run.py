"""What joint statistics cost: the committed run is whole, and its sums are right."""

from __future__ import annotations

import json

import pytest

from docs.pages import ROOT


@pytest.fixture(scope="module")
def report():
    return json.loads((ROOT / "benchmarks/results/joint.json").read_text())


def test_the_committed_run_is_whole(report):
    """No quick run: nobody missing, 25 sessions each, 3 to 10,000 parties, a party measured three times."""
    assert report["quick"] is False
    assert not [name for name, told in report["participants"].items() if "missing" in told]
    rows = [row for part in report["sections"] for measure in part["measures"] for row in measure["rows"]]
    assert all(row["value"] > 0 for row in rows)
    assert all(len(row["values"]) == 25 for row in rows if row["task"] == "session")
    assert [one["parties"] for one in report["growth"]] == [3, 10, 30, 100, 300, 1000, 3000, 10_000]
    assert all(len(one["party"]) == 3 for one in report["growth"])


def test_the_costs_are_those_of_the_parts(report):
    """What everyone spends is m times what a party spends, and what the coordinator does."""
    for one in report["growth"]:
        party = sorted(again["cpu_seconds"] for again in one["party"])[1]
        assert one["party_seconds"] == party
        assert one["everyone_seconds"] == pytest.approx(one["parties"] * party + one["coordinator"]["cpu_seconds"])
