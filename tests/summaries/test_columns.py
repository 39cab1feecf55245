"""Which columns are read, and when; what a cell becomes that Python cannot hold."""

from __future__ import annotations

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import flou
from flou.domain.column import column
from flou.errors import InvalidData
from flou.summaries import rows_of


def not_utf8(kind=None, texts=(b"abc", b"\xff\xfecanary", b"xyz")):
    """A column of texts, one of which is not UTF-8."""
    offsets = np.cumsum([0, *map(len, texts)]).astype(np.int32)
    found = pa.Array.from_buffers(pa.string(), len(texts), [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(texts))])
    return found if kind is None else found.cast(kind)


class Untouched:
    """A column that nobody may look at."""

    def __len__(self):
        return 3

    def to_numpy(self, *_, **__):
        raise AssertionError("looked at")

    __array__ = to_list = tolist = __getitem__ = to_numpy


def test_columns_that_are_not_asked_about_are_not_read():
    """Opening reads names and lengths, a count reads no column, and a question reads its own."""
    table = flou.open({"x": [0.1, 0.2, 0.3], "note": Untouched()}, schema={"x": flou.Interval(0, 1)})
    assert table.count(epsilon=1000).value == 3
    assert table._rows._columns._read == {}
    table.where(flou.column("x") > 0.15).mean("x", epsilon=1)
    assert set(table._rows._columns._read) == {"x"}


@pytest.mark.parametrize("source", [{"x": [1], "y": [1, 2]}, {"x": 5}, {"x": "text"}, {"x": np.zeros((2, 2))}])
def test_shapes_are_checked_at_the_door(source):
    """What is no table is still refused when it is opened, before anybody asks."""
    with pytest.raises(InvalidData):
        rows_of(source)


def chunked(array):
    return pa.chunked_array([array, array[:0]])


FUTURE = np.array([3 * 10**11, 0], dtype="M8[s]")
FRAMES = {
    "arrow": lambda: not_utf8(),
    "arrow chunked": lambda: chunked(not_utf8()),
    "arrow large": lambda: pa.Array.from_buffers(
        pa.large_string(), 3, not_utf8().cast(pa.binary()).cast(pa.large_binary()).buffers()
    ),
    "arrow dictionary": lambda: pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), not_utf8()),
    "polars": lambda: pl.from_arrow(not_utf8()),
    "polars categorical": lambda: pl.from_arrow(not_utf8()).cast(pl.Categorical),
    "pandas": lambda: pd.Series(pd.array(not_utf8(), dtype=pd.ArrowDtype(pa.string()))),
    "pandas objects": lambda: pd.Series([b"abc".decode(), None, "xyz"], dtype=object),
    "pandas categorical": lambda: pd.Series(["abc", None, "xyz"], dtype="category"),
}


@pytest.mark.parametrize("frame", FRAMES)
def test_texts_that_are_not_utf8_are_missing(frame, capfd):
    """A text that cannot be decoded is None, its neighbours stay what they are, and the engine prints nothing."""
    rows, null = column(FRAMES[frame]())
    held = [None if null is not None and null[i] else value for i, value in enumerate(rows.tolist())]
    assert [value if isinstance(value, str) else None for value in held] == ["abc", None, "xyz"]
    assert "".join(capfd.readouterr()) == ""


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (lambda: pd.Series(pd.Series(FUTURE).dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo")), "M"),
        (lambda: pa.array([2**62], pa.timestamp("s", tz="UTC")), "M"),
        (lambda: pa.array([2**62, None], pa.timestamp("us")), "M"),
        (lambda: pl.from_arrow(pa.array([2**62, None], pa.timestamp("us", tz="UTC"))), "M"),
        (lambda: pl.Series([datetime.date(9999, 12, 31), None]), "M"),
        (lambda: pl.Series([datetime.time(23, 59), None]), "m"),
        (lambda: pl.Series([datetime.timedelta(days=999999), None]), "m"),
        (lambda: pa.Array.from_buffers(pa.time32("s"), 1, [None, pa.py_buffer(np.array([2**31 - 1], np.int32))]), "m"),
        (lambda: pa.Array.from_buffers(pa.time64("ns"), 1, [None, pa.py_buffer(np.array([2**63 - 1]))]), "m"),
        (lambda: pa.Array.from_buffers(pa.date32(), 1, [None, pa.py_buffer(np.array([2**31 - 1], np.int32))]), "M"),
    ],
)
def test_times_out_of_range(values, kind):
    """A time that Python has no word for is kept as the integer that it is, and no domain takes it for a number."""
    rows, _ = column(values())
    assert rows.dtype.kind == kind
    for domain in (flou.Interval(0, 1), flou.Integers(0, 9), flou.Boolean(), flou.Categories(["a"])):
        assert domain.encode(values()).tolist() == [domain.missing_code] * len(rows)


@pytest.mark.parametrize(
    "values",
    [
        lambda: pa.array([[1], None, [2, 3]]),
        lambda: pa.array([{"a": 1}, None, {"a": 2}]),
        lambda: pa.array([[("k", 1)], None, []], pa.map_(pa.string(), pa.int64())),
        lambda: pl.Series([[1], None, [2, 3]]),
        lambda: pl.Series([{"a": 1}, None, {"a": 2}]),
        lambda: pa.nulls(3),
        lambda: pl.Series([None, None, None]),
    ],
)
def test_nested_values_are_missing(values):
    """Lists, structures and maps are no value of any domain."""
    assert column(values())[0].tolist() == [None] * 3
    assert flou.Integers(0, 9).encode(values()).tolist() == [flou.Integers(0, 9).missing_code] * 3


@pytest.mark.parametrize("kind", ["int8", "int64", "uint64", "bool"])
def test_null_does_not_round_whole_numbers(kind):
    """Whole numbers and truth values keep their type beside a NULL, in every frame."""
    info = None if kind == "bool" else np.iinfo(kind)
    values = [True, None, False] if info is None else [int(info.max), None, int(info.min)]
    name = {"int8": "Int8", "int64": "Int64", "uint64": "UInt64", "bool": "boolean"}[kind]
    array = pa.array(values, pa.bool_() if kind == "bool" else getattr(pa, kind)())
    for one in (array, chunked(array), pl.from_arrow(array), pd.Series(values, dtype=name), array.dictionary_encode()):
        rows, null = column(one)
        assert rows.dtype == np.dtype(kind)
        assert null.tolist() == [False, True, False]
        assert [rows[0], rows[2]] == [values[0], values[2]]


def test_decimals_and_bytes():
    """Decimals and bytes are the objects that they are, also where Python counts them differently."""
    wide = Decimal(10) ** 60
    assert column(pa.array([wide, None], pa.decimal256(70, 2)))[0].tolist() == [wide, None]
    assert column(pl.Series([Decimal("1.5"), None]))[0].tolist() == [Decimal("1.5"), None]
    assert column(pa.array([b"\xff", None]))[0].tolist() == [b"\xff", None]
    assert column(pl.Series([b"\xff", None]))[0].tolist() == [b"\xff", None]


NAMES = [
    "*",
    "^.*$",
    "^x$",
    "a.b",
    "a`b",
    'a"b',
    "a'b",
    "[*]",
    "{x}",
    "$1",
    ":x",
    "%s",
    "a,b",
    "\\",
    "flou_0",
    "flou_n",
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["eager", "lazy"])
def test_names_that_mean_something_to_polars(name, kind):
    """Patterns and signs are names like others: every question finds its column, and only that one."""
    frame = pl.DataFrame({name: [0.25, 0.5, 0.75] * 4, "other": ["a", "b", "b"] * 4})
    source = frame if kind == "eager" else frame.lazy()
    table = flou.open(source, schema={name: flou.Interval(0, 1), "other": flou.Categories(["a", "b"])})
    assert float(table.mean(name, epsilon=9999).value) == pytest.approx(0.5, abs=0.01)
    assert table.where(flou.column(name) > 0.3).histogram(name, bins=2, epsilon=1000).value.tolist() == [0, 8]
    assert table.keys("other", epsilon=1000, delta=1e-9).labels == ("b", "a")
    units = flou.Schema({"other": flou.Categories(["a"])}, unit=name, max_rows_per_unit=2)
    assert flou.open(source, schema=units).count(epsilon=1000).value == 6
    assert [batch[0].tolist() for batch in rows_of(source).values([name])] == [frame[name].to_list()]


def test_names_that_occur_twice():
    """Two columns of one name are refused in words, on every engine that lets them be."""
    import duckdb

    twice = pa.table([pa.array([1]), pa.array([2])], names=["a", "a"])
    for source in (twice, pd.DataFrame([[1, 2]], columns=["a", "a"]), duckdb.sql("SELECT 1 AS a, 2 AS a")):
        with pytest.raises(InvalidData, match="the same name"):
            rows_of(source)


class Hostile(str):
    """A text that ends the program when it is touched."""

    __slots__ = ()

    def __hash__(self):
        raise SystemExit("canary")

    def __eq__(self, _):
        raise BaseException("canary")


def test_objects_that_raise_what_they_like():
    """An object of Python that raises even what is no Exception concerns its own row only."""
    table = flou.open({"t": ["a"] * 30 + [Hostile("a")]}, schema={"t": flou.Categories(["a"])}, budget=200)
    assert table.histogram("t", epsilon=50).value.tolist() == [31, 0]  # its letters are those of a text
    assert table.where(flou.column("t") == "a").count(epsilon=50).value == 30
