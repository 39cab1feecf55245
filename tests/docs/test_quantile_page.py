"""The page about methods for quantiles, and its picture, show the committed benchmark and nothing else."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from docs.pages import DOCS, ROOT

SCRIPT = DOCS / "make_quantile_tables.py"
PAGE = DOCS / "how-to" / "which-quantile-method.md"
PICTURE = DOCS / "images" / "quantile_methods.svg"


@pytest.fixture(scope="module")
def report():
    return json.loads((ROOT / "benchmarks/results/quantiles.json").read_text())


def test_the_page_is_the_committed_run():
    """Its numbers are those of benchmarks/results/quantiles.json."""
    done = subprocess.run([sys.executable, SCRIPT, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_numbers_of_another_run_are_noticed(tmp_path):
    """A number that is not in the file is refused, and --write puts the right one in its place."""
    page, text = tmp_path / "page.md", PAGE.read_text()
    page.write_text(re.sub(r"(\| `Tree` \| )\d", r"\g<1>9999", text, count=1))
    assert page.read_text() != text
    command = [sys.executable, SCRIPT, "--page", page]
    assert subprocess.run([*command, "--check"], capture_output=True, check=False).returncode == 1
    subprocess.run([*command, "--write"], check=True)
    assert page.read_text() == text


def test_the_picture_is_of_the_committed_run(report):
    """The picture names the run that it was drawn from."""
    assert f"benchmarks/results/quantiles.json, {report['date']}" in PICTURE.read_text()


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
