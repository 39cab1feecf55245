"""The pages for readers of the code are true: the walks of five calls, and the table of what is where."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter

import flou
from docs.pages import DOCS, ROOT
from flou.domain import Interval
from flou.mechanisms import Laplace
from flou.summaries import MomentGrid

MOST = 15  # files above the ground floor that a mean may enter
SCRIPT = [sys.executable, DOCS / "make_walks.py"]


def test_the_walks_are_those_of_the_code(tmp_path):
    """The page lists the files that the calls enter; a page that leaves one out is refused and mended."""
    page = DOCS / "explanation/how-an-answer-is-made.md"
    done = subprocess.run([*SCRIPT, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    copy = tmp_path / "page.md"
    copy.write_text(re.sub(r"\n\| 7 \|[^\n]*", "", page.read_text(), count=1))
    assert subprocess.run([*SCRIPT, "--page", copy, "--check"], capture_output=True, check=False).returncode == 1


def test_a_mean_is_a_short_walk():
    """From the call to the release a mean enters few files above the ground floor."""
    page = (DOCS / "explanation/how-an-answer-is-made.md").read_text()
    walk = page[page.index("<!-- mean:") : page.index("<!-- end of mean -->")]
    assert 0 < len(re.findall(r"^\| \d+ \|", walk, re.MULTILINE)) <= MOST


def test_a_mean_builds_nothing_twice(monkeypatch):
    """Its grids, its mechanism and its codes are made once; a second time would be seen."""
    made = Counter()

    def counted(owner, name):
        plain = getattr(owner, name)

        def count(self, *given, **named):
            made[f"{owner.__name__}.{name}", str(given)] += 1
            return plain(self, *given, **named)

        monkeypatch.setattr(owner, name, count)

    for owner, name in ((Interval, "fine"), (Interval, "coarser"), (Laplace, "__init__")):
        counted(owner, name)
    grids = []
    original = MomentGrid.of.__func__
    monkeypatch.setattr(MomentGrid, "of", classmethod(lambda cls, *given: grids.append(1) or original(cls, *given)))
    flou.mean([1.0, 2.0, 3.0], bounds=(0, 10), epsilon=1)
    assert grids == [1]
    assert made
    assert set(made.values()) == {1}, made


def places(text: str) -> list[str]:
    """The files that the table of CONTRIBUTING names."""
    table = text[text.index("| concept | file or folder |") :].split("\n\n")[0]
    return [place for line in table.splitlines()[2:] for place in re.findall(r"`([^`]+)`", line.split("|")[2])]


def missing(text: str) -> list[str]:
    return [place for place in places(text) if not (ROOT / "src/flou" / place).exists()]


def test_what_is_where():
    """Every concept of the table has the file that it names, and there are at least 24; a wrong one is noticed."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    assert missing(text) == []
    assert len(places(text)) >= 24
    assert missing(text.replace("`central/price.py`", "`central/prices.py`")) == ["central/prices.py"]


def test_what_comes_from_the_registry(tmp_path):
    """The reference lists every statistic, and the short calls have their types; a page without one is refused."""
    command = [sys.executable, DOCS / "make_signatures.py"]
    done = subprocess.run([*command, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    copy = tmp_path / "page.md"
    copy.write_text(re.sub(r"\n\| `variance` \|[^\n]*", "", (DOCS / "reference/tables.md").read_text(), count=1))
    assert subprocess.run([*command, "--page", copy, "--check"], capture_output=True, check=False).returncode == 1
