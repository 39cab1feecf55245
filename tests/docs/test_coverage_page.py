"""The page about coverage shows the committed simulation, and nothing else."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from central_coverage import cells
from coverage_summary import Result, exceptions, shortfalls, summaries
from docs.pages import DOCS, ROOT

SCRIPT = DOCS / "make_coverage_table.py"
PAGE = DOCS / "explanation" / "coverage.md"


@pytest.fixture(scope="module")
def results():
    entries = json.loads((ROOT / "benchmarks/results/coverage.json").read_text())["cells"]
    return [Result.from_dict(entry) for entry in entries]


def test_the_page_is_the_committed_run():
    """Its numbers are those of benchmarks/results/coverage.json."""
    done = subprocess.run([sys.executable, SCRIPT, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_numbers_of_another_run_are_noticed(tmp_path):
    """A number that is not in the file is refused, and --write puts the right one in its place."""
    page, text = tmp_path / "coverage.md", PAGE.read_text()
    page.write_text(text.replace("| mean | data | 1 | 9", "| mean | data | 1 | 8"))
    assert page.read_text() != text
    command = [sys.executable, SCRIPT, "--page", page]
    assert subprocess.run([*command, "--check"], capture_output=True, check=False).returncode == 1
    subprocess.run([*command, "--write"], check=True)
    assert page.read_text() == text


def test_the_committed_run_is_whole_and_keeps_the_claims(results):
    """Every cell is there with enough runs, and no claim is broken beyond what the page lists."""
    assert [result.cell for result in results] == list(cells())
    least = {"quantiles": 150, "regression": 300, "variance": 300, "group means": 400}
    assert all(r.found["data"].runs >= least.get(r.cell.statistic, 600) for r in results)
    assert shortfalls(results) == []
    assert all(one.holds for one in summaries(results))
    assert exceptions(results) == []
