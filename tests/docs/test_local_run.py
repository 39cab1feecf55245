"""What local randomisers cost: the committed run is whole."""

from __future__ import annotations

import json

from docs.pages import ROOT


def test_the_committed_run_is_whole():
    """No quick run: a million people, nobody missing, and whoever was asked by fewer says so."""
    report = json.loads((ROOT / "benchmarks/results/local.json").read_text())
    assert report["quick"] is False
    assert report["people"] == 10**6
    assert not [name for name, told in report["participants"].items() if "missing" in told]
    rows = [row for part in report["sections"][:2] for measure in part["measures"] for row in measure["rows"]]
    assert all(row["value"] > 0 for row in rows)
    assert all(("note" in row) == (row["parameters"]["people"] < 10**6) for row in rows)
