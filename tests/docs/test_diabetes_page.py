"""The page about learning from reports, and its picture, show the committed experiment and nothing else."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from docs.pages import DOCS, ROOT
from flou.reproduce.diabetes_curves import BINS, EPSILONS, TOTALS

SCRIPT = DOCS / "make_diabetes_tables.py"
PAGE = DOCS / "explanation" / "learning-from-reports.md"
PICTURE = DOCS / "images" / "diabetes.svg"


@pytest.fixture(scope="module")
def report():
    return json.loads((ROOT / "benchmarks/results/diabetes.json").read_text())


def test_the_page_is_the_committed_run():
    """Its numbers are those of benchmarks/results/diabetes.json."""
    done = subprocess.run([sys.executable, SCRIPT, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_numbers_of_another_run_are_noticed(tmp_path):
    """A number that is not in the file is refused, and --write puts the right one in its place."""
    page, text = tmp_path / "page.md", PAGE.read_text()
    page.write_text(text.replace("| `NaiveBayes` from reports | .", "| `NaiveBayes` from reports | .9", 1))
    assert page.read_text() != text
    command = [sys.executable, SCRIPT, "--page", page]
    assert subprocess.run([*command, "--check"], capture_output=True, check=False).returncode == 1
    subprocess.run([*command, "--write"], check=True)
    assert page.read_text() == text


def test_the_picture_is_of_the_committed_run(report):
    """The picture names the run that it was drawn from."""
    assert f"benchmarks/results/diabetes.json, {report['date']}" in PICTURE.read_text()


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
