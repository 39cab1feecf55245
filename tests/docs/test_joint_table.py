"""What joint statistics cost: the page and its picture show the committed benchmark and nothing else."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from docs.pages import DOCS, ROOT

SCRIPT = DOCS / "make_joint_table.py"
PAGE = DOCS / "explanation" / "joint-statistics.md"
PICTURE = DOCS / "images" / "joint_scaling.svg"


@pytest.fixture(scope="module")
def report():
    return json.loads((ROOT / "benchmarks/results/joint.json").read_text())


def test_the_tables_are_the_committed_run():
    """Their numbers are those of benchmarks/results/joint.json."""
    done = subprocess.run([sys.executable, SCRIPT, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("line", [r"Sum of 1,000 words, 3 parties \| ", r"\n\| 1,000 \| ", "add_mask \\| "])
def test_numbers_of_another_run_are_noticed(line, tmp_path):
    """A number that is not in the file is refused, and --write puts the right one in its place."""
    page, text = tmp_path / "page.md", PAGE.read_text()
    page.write_text(re.sub(rf"({line})\d", r"\g<1>9999", text, count=1))
    assert page.read_text() != text
    command = [sys.executable, SCRIPT, "--page", page]
    assert subprocess.run([*command, "--check"], capture_output=True, check=False).returncode == 1
    subprocess.run([*command, "--write"], check=True)
    assert page.read_text() == text


def test_the_picture_is_of_the_committed_run(report):
    """The picture names the run that it was drawn from."""
    assert f"benchmarks/results/joint.json, {report['date']}" in PICTURE.read_text()


def test_the_committed_run_is_whole(report):
    """No quick run: nobody missing, 25 sessions each, and at least 1,000 parties, a party measured three times."""
    assert report["quick"] is False
    assert not [name for name, told in report["participants"].items() if "missing" in told]
    rows = [row for part in report["sections"] for measure in part["measures"] for row in measure["rows"]]
    assert all(row["value"] > 0 for row in rows)
    assert all(len(row["values"]) == 25 for row in rows if row["task"] == "session")
    assert [one["parties"] for one in report["growth"]][:6] == [3, 10, 30, 100, 300, 1000]
    assert all(len(one["party"]) == 3 for one in report["growth"])


def test_the_costs_are_those_of_the_parts(report):
    """What everyone spends is m times what a party spends, and what the coordinator does."""
    for one in report["growth"]:
        party = sorted(again["cpu_seconds"] for again in one["party"])[1]
        assert one["party_seconds"] == party
        assert one["everyone_seconds"] == pytest.approx(one["parties"] * party + one["coordinator"]["cpu_seconds"])
