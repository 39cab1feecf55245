"""Pages with measured numbers, and their pictures, show the committed runs and nothing else."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from docs.pages import DOCS, ROOT

# the script that writes the tables, the page, and the beginning of a line whose next digit is changed for a test
PAGES = [
    ("make_joint_table.py", "docs/explanation/joint-statistics.md", r"Sum of 1,000 words, 3 parties \| "),
    ("make_joint_table.py", "docs/explanation/joint-statistics.md", r"\n\| 10,000 \| "),
    ("make_joint_table.py", "docs/explanation/joint-statistics.md", r"add_mask \| "),
    ("make_local_table.py", "benchmarks/README.md", r"\| subset selection \| "),
    ("make_quantile_tables.py", "docs/how-to/which-quantile-method.md", r"\| `Tree` \| "),
    ("make_quantile_tables.py", "docs/how-to/which-quantile-method.md", r"\n\| 40 \| 6,000 \| "),
    ("make_quantile_tables.py", "docs/how-to/which-quantile-method.md", r"flou, Spark on two cores \| "),
    ("make_diabetes_tables.py", "docs/explanation/learning-from-reports.md", r"\| `NaiveBayes` from reports \| \."),
]
PICTURES = {"joint": "joint_scaling.svg", "quantiles": "quantile_methods.svg", "diabetes": "diabetes.svg"}


@pytest.mark.parametrize("script", sorted({script for script, _, _ in PAGES}))
def test_the_tables_are_the_committed_run(script):
    """Their numbers are those of the file in benchmarks/results."""
    done = subprocess.run([sys.executable, DOCS / script, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(("script", "page", "line"), PAGES)
def test_numbers_of_another_run_are_noticed(script, page, line, tmp_path):
    """A number that is not in the file is refused, and --write puts the right one in its place."""
    copy, text = tmp_path / "page.md", (ROOT / page).read_text()
    copy.write_text(re.sub(rf"({line})\d", r"\g<1>9999", text, count=1))
    assert copy.read_text() != text
    command = [sys.executable, DOCS / script, "--page", copy]
    assert subprocess.run([*command, "--check"], capture_output=True, check=False).returncode == 1
    subprocess.run([*command, "--write"], check=True)
    assert copy.read_text() == text


@pytest.mark.parametrize(("name", "picture"), PICTURES.items())
def test_the_picture_is_of_the_committed_run(name, picture):
    """The picture names the run that it was drawn from."""
    report = json.loads((ROOT / f"benchmarks/results/{name}.json").read_text())
    assert f"benchmarks/results/{name}.json, {report['date']}" in (DOCS / "images" / picture).read_text()
