"""The page about what leaves names tests that are there."""

from __future__ import annotations

import re

from docs.pages import DOCS, ROOT

NAMED = re.compile(r"`(tests/[\w/.]+)`")
PAGE = DOCS / "explanation" / "what-leaves.md"


def unguarded(text):
    """Places in the tables without a test that exists, but for those that hold nothing."""
    rows = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("| ")]
    places = [cells for cells in rows if cells[0].strip() != "place"]
    return [
        place.strip()
        for place, guard, test in places
        if not guard.strip().startswith("none")
        and not (NAMED.findall(test) and all((ROOT / name).exists() for name in NAMED.findall(test)))
    ]


def test_every_place_has_a_test():
    """Every place in the tables has a guard and a test, and the tests are where the page says."""
    text = PAGE.read_text()
    assert unguarded(text) == []
    assert text.count("| place |") == 3


def test_a_place_without_a_test_is_noticed():
    """The check sees a place whose test is gone, and one that never had a test."""
    assert unguarded("| core | nothing | `tests/test_nowhere.py` |\n| swap | hope | |") == ["core", "swap"]
