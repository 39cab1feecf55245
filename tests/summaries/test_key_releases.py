"""Keys and the groups that they make: the same law on every engine, seen as the same release for the same bits."""

from __future__ import annotations

import traceback
from collections import Counter
from functools import cache

import numpy as np
import pytest

import flou
from flou import ApproxDP, Interval, Schema
from flou.bits import SeededBits
from flou.summaries.array.rows import ArrayRows
from summaries.engines import HOSTILE, Made

NAMES = [name for name in HOSTILE if name][:5]
SIZES = {name: 120 + 30 * i for i, name in enumerate(NAMES)} | {"rare": 2, "lone": 1, None: 50}
CITY = [name for name, size in SIZES.items() for _ in range(size)]
PAY = [float(len(str(name))) for name in CITY]
NUMBER = [None if name is None else 2**40 + len(name) for name in CITY]
MADE = Made(
    {
        "the city": ("text", CITY),
        "pay": ("double", PAY),
        "number": ("long", NUMBER),
        "person": ("long", [i // 2 for i in range(len(CITY))]),
        "flou_key": ("long", [7] * len(CITY)),
    }
)
ROWS = Schema({"pay": Interval(0, 50)})
PEOPLE = Schema({"pay": Interval(0, 50)}, unit="person", max_rows_per_unit=2)
PRICE = {"epsilon": 2, "delta": 1e-6}


def asked(source, schema, column):
    """Everything about the groups of a column, with bits that are the same every time."""
    table = flou.open(source, schema=schema, budget=ApproxDP(50, 1e-5, unit=schema.unit or "row"), bits=SeededBits(9))
    groups = table.group_by(column, **PRICE)
    releases = [
        groups.keys,
        table.keys(column, **PRICE, min_rows=3),
        groups.count(epsilon=1),
        groups.sum("pay", epsilon=1),
        groups.mean("pay", epsilon=1),
        groups.variance("pay", epsilon=1),
        groups.histogram("pay", bins=3, epsilon=1),
        table.where(flou.column("pay") > 1e9).group_by(column, **PRICE).mean("pay", epsilon=1),
    ]
    return [(release.labels, np.ravel(release.value).tolist()) for release in releases]


@cache
def reference(schema, column):
    return asked(MADE.lists(), schema, column)


@pytest.mark.parametrize(("column", "schema"), [("the city", ROWS), ("the city", PEOPLE), ("number", PEOPLE)])
def test_the_same_release_everywhere(source, column, schema):
    """Labels and values agree to the last digit: nobody has more rows than the cap, so that it leaves all of them."""
    found = asked(source(MADE), schema, column)
    assert found == reference(schema, column)
    labels = found[0][0]
    known = Counter(CITY if column == "the city" else NUMBER)
    assert set(labels) == {str(name) for name, size in known.items() if size > 100 and name is not None}
    assert found[-1] == ((), [])


def test_caps(source):
    """Of a person with two hundred rows, two count: their city does not show."""
    made = Made(
        {
            "city": ("text", ["alone"] * 200 + ["Wien"] * 200),
            "person": ("long", [0] * 200 + list(range(1, 201))),
            "pay": ("double", [1.0] * 400),
        }
    )
    table = flou.open(source(made), schema=PEOPLE, bits=SeededBits(1))
    assert table.keys("city", epsilon=1, delta=1e-6).labels == ("Wien",)


def test_no_value_in_a_message(source, monkeypatch):
    """An engine that fails while it counts keys says nothing about them."""
    secret = "Maria Musterfrau"
    table = flou.open(source(Made({"city": ("text", [secret]), "pay": ("double", [1.0])})), schema=ROWS)

    def fails(*_, **__):
        raise RuntimeError(secret)

    for target in ("flou.summaries.duck.rows.DuckRows._fetched", "flou.summaries.lazy.rows._fetched"):
        monkeypatch.setattr(target, fails)
    if isinstance(table._rows, ArrayRows):  # Python counts, element by element, and nothing is raised because of one
        assert table.keys("city", epsilon=1, delta=1e-6).labels == ()
        return
    with pytest.raises(flou.InvalidData) as caught:
        table.keys("city", epsilon=1, delta=1e-6)
    assert secret not in "".join(traceback.format_exception(caught.value))
