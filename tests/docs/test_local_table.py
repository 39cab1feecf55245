"""The table of local randomisers shows the committed benchmark and nothing else."""

from __future__ import annotations

import json
import re
import subprocess
import sys

from docs.pages import DOCS, ROOT

SCRIPT = DOCS / "make_local_table.py"
PAGE = ROOT / "benchmarks" / "README.md"


def test_the_table_is_the_committed_run():
    """Its numbers are those of benchmarks/results/local.json."""
    done = subprocess.run([sys.executable, SCRIPT, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_numbers_of_another_run_are_noticed(tmp_path):
    """A number that is not in the file is refused, and --write puts the right one in its place."""
    page, text = tmp_path / "page.md", PAGE.read_text()
    page.write_text(re.sub(r"(\| subset selection \| )\d", r"\g<1>9999", text, count=1))
    assert page.read_text() != text
    command = [sys.executable, SCRIPT, "--page", page]
    assert subprocess.run([*command, "--check"], capture_output=True, check=False).returncode == 1
    subprocess.run([*command, "--write"], check=True)
    assert page.read_text() == text


def test_the_committed_run_is_whole():
    """No quick run: a million people, nobody missing, and whoever was asked by fewer says so."""
    report = json.loads((ROOT / "benchmarks/results/local.json").read_text())
    assert report["quick"] is False
    assert report["people"] == 10**6
    assert not [name for name, told in report["participants"].items() if "missing" in told]
    rows = [row for part in report["sections"][:2] for measure in part["measures"] for row in measure["rows"]]
    assert all(row["value"] > 0 for row in rows)
    assert all(("note" in row) == (row["parameters"]["people"] < 10**6) for row in rows)
