"""The same rows have the same keys on every engine, and the same number of rows for each."""

from __future__ import annotations

import math
from collections import Counter
from decimal import Decimal

import numpy as np
import pytest

from flou.domain import Categories
from flou.errors import InvalidData
from flou.summaries import Code, Counts, column, rows_of
from flou.summaries.keys import key_of
from summaries.engines import HOSTILE, SPECIAL, Made

TEXTS = [
    *HOSTILE,
    *HOSTILE[:5],
    "Anna",
    "anna",
    "ANNA",
    "anna ",
    " anna",
    "ß",
    "ss",
    "é",
    "e\u0301",
    None,
    "1",
    "1.0",
    "True",
]
LONGS = [0, 1, 1, -1, 2**53 + 1, 2**53 + 1, 2**62, 2**62 + 1, -(2**62), 2**63 - 1, -(2**63), None]
FLOATS = [*SPECIAL, 1.0, 1.0, -3.0, 2.0**53, 2.0**62, 2.0**62, 2.0**63, -(2.0**64), 0.5, 1.5]


def found(rows, name="k", least=1):
    keys, counts = rows.key_counts(name, least)
    assert counts.dtype == np.int64
    answer = {(type(key), key): count for key, count in zip(keys.tolist(), counts.tolist(), strict=True)}
    assert len(answer) == len(keys)
    return answer


def whole(value):
    return value is not None and math.isfinite(value) and value == int(value) and abs(value) <= 2**62


@pytest.mark.parametrize("least", [1, 2])
def test_texts(opened, least):
    """Texts are keys as they are: spellings differ, and the empty text is no key."""
    expected = Counter((str, text) for text in TEXTS if text)
    assert found(opened(Made({"k": ("text", TEXTS)})), least=least) == {
        key: count for key, count in expected.items() if count >= least
    }


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("long", LONGS),
        ("byte", [0, 1, 1, -128, 127, None]),
        ("unsigned", [0, 1, 1, 2**53, 2**64 - 1, None]),
        ("double", FLOATS),
        ("float", [0.0, 1.0, 1.0, 0.1, 16777216.0, math.inf, math.nan, None]),
        ("decimal", [Decimal(1), Decimal("1.000000"), Decimal("0.5"), Decimal(2**53), Decimal(-7), None]),
    ],
)
def test_numbers(opened, engine, kind, values):
    """Whole numbers are keys by their value, whatever their type; fractions are none."""
    made = Made({"k": (kind, values)})
    rows = opened(made)
    if engine == "csv":  # a cell is the text that stands there
        assert found(rows) == Counter((str, str(value)) for value in made.lists()["k"] if value is not None)
    else:
        assert found(rows) == Counter((int, int(value)) for value in values if whole(value))


def test_truth_values(opened, engine):
    """Truth values are keys of their own."""
    rows = opened(Made({"k": ("truth", [True, False, True, None])}))
    kind = str if engine == "csv" else bool
    assert found(rows) == {(kind, kind(True)): 2, (kind, kind(False)): 1}


@pytest.mark.parametrize("kind", ["text", "long", "double", "truth"])
def test_no_rows(opened, kind):
    """A table without rows has no keys."""
    keys, counts = opened(Made({"k": (kind, [1])}).part(0, 0)).key_counts("k")
    assert keys.size == counts.size == 0


def test_where_and_caps(opened):
    """Keys are those of the rows that are left."""
    made = Made(
        {"k": ("text", ["a", "a", "b", "c"] * 3), "u": ("long", [1, 1, 2, None] * 3), "flou_key": ("long", [1] * 12)}
    )
    assert found(opened(made).where(column("u") == 1)) == {(str, "a"): 6}
    assert found(opened(made).capped("u", 2)) == {(str, "a"): 2, (str, "b"): 2}


def test_keys_are_what_categories_find(opened):
    """Declared as categories, the keys find exactly the rows that they counted."""
    for kind, values in (("text", TEXTS), ("long", LONGS), ("double", FLOATS), ("truth", [True, True, False, None])):
        rows = opened(Made({"k": (kind, values)}))
        keys, counts = rows.key_counts("k")
        domain = Categories(keys.tolist(), other_label="the rest")
        answer = rows.collect([Counts((Code("k", domain),))])[0]
        assert answer.tolist() == [*counts.tolist(), len(values) - counts.sum()]


def test_a_column_that_is_not_there(opened):
    """Only columns have keys."""
    with pytest.raises(InvalidData, match="no column"):
        opened(Made({"k": ("text", ["a"])})).key_counts("z")


def test_elements_one_by_one():
    """What is no key is left out, whatever it is, and equal values of different types are one key."""

    class Odd:
        def __eq__(self, other):
            raise RuntimeError("secret")

        __hash__ = None

    column = [
        1,
        1.0,
        np.int64(1),
        Decimal(1),
        "1",
        b"1",
        True,
        np.True_,
        0.5,
        None,
        math.nan,
        Odd(),
        [1],
        b"\xff",
        "\0",
    ]
    assert found(rows_of({"k": [*column, "\ud800", "", b"", Decimal("sNaN"), 10**400, np.datetime64(1, "s")]})) == {
        (int, 1): 4,
        (str, "1"): 2,
        (bool, True): 2,
    }
    assert key_of(math.inf) is None
    assert found(rows_of({"k": np.array([b"a", b"a", b"\xff"])})) == {(str, "a"): 2}
    assert found(rows_of({"k": np.array([1, 2], dtype="datetime64[s]")})) == {}
    assert found(rows_of({"k": np.ma.MaskedArray([1, 2], [False, True])})) == {(int, 1): 1}


def test_spellings_of_a_collation():
    """DuckDB's collations do not merge what two rows spell differently."""
    import duckdb

    connection = duckdb.connect()
    connection.execute("CREATE TABLE t (k VARCHAR COLLATE NOCASE)")
    connection.execute("INSERT INTO t VALUES ('Anna'), ('anna'), ('ANNA')")
    assert len(found(rows_of(connection.table("t")))) == 3


def test_databases_that_ignore_case_are_refused():
    """They would show the spelling of a single row."""
    from types import SimpleNamespace

    from flou.summaries.lazy.rows import _require_exact_texts

    for name in ("mysql", "mssql"):
        native = SimpleNamespace(get_backend=lambda name=name: SimpleNamespace(name=name))
        with pytest.raises(InvalidData, match="regard to case"):
            _require_exact_texts(native, "ibis")
