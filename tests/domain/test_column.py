"""Columns of data frames, known only by what they can do."""

from __future__ import annotations

import array
import collections

import numpy as np
import pytest

from flou.domain import Boolean, Categories, Integers, Interval
from flou.errors import InvalidData

BIG = 2**53 + 1
INTEGERS = Integers(2**53, 2**53 + 10, missing=2**53 + 5)


class PolarsLike:
    """Integers with NULL leave as floats; the list is exact."""

    dtype = "Int64"

    def __init__(self, rows):
        self.rows = rows

    def to_numpy(self):
        if None in self.rows:
            return np.array([np.nan if row is None else float(row) for row in self.rows])
        return np.array(self.rows)

    def to_list(self):
        return list(self.rows)


class ArrowLike:
    """Integers with NULL refuse to leave as an array."""

    type = "int64"

    def __init__(self, rows):
        self.rows = rows

    def to_numpy(self):
        if None in self.rows:
            raise ValueError("secret: needed to copy 1 chunks with 1 nulls")
        return np.array(self.rows)

    def to_pylist(self):
        return list(self.rows)


class PandasLike:
    """Integers with NULL leave as objects, with a missing value of their own kind."""

    dtype = "Int64"

    def __init__(self, rows):
        self.rows = rows

    def to_numpy(self):
        nothing = object()
        return np.array([nothing if row is None else row for row in self.rows], dtype=object)


class TensorLike:
    """Knows only how to become an array, in the old way that has no ``copy``."""

    def __init__(self, rows):
        self.rows = rows

    def __array__(self, dtype=None):
        return np.array(self.rows, dtype=dtype)


@pytest.mark.parametrize("frame", [PolarsLike, ArrowLike, PandasLike])
def test_one_null_does_not_round_the_others(frame):
    """A NULL in a column of integers leaves the others exact, whatever the engine does about it."""
    assert INTEGERS.encode(frame([BIG, BIG + 2])).tolist() == [1, 3]
    assert INTEGERS.encode(frame([BIG, None, BIG + 2])).tolist() == [1, 5, 3]


def test_float_columns_take_the_fast_way():
    """A column that is declared as floats is read as an array."""

    class Floats(PolarsLike):
        dtype = "Float64"

        def to_list(self):
            raise AssertionError("too slow")

    assert Interval(0, 10, cells=10).encode(Floats([1.5, None])).tolist() == [1, 5]


def test_anything_that_becomes_an_array():
    """An object that becomes an array is a column, when the array has one dimension."""
    assert Interval(0, 10, cells=10).encode(TensorLike([1.5, 9])).tolist() == [1, 9]
    assert Boolean().encode(TensorLike([True, False])).tolist() == [1, 0]


def test_masked_arrays_inside():
    """A column that becomes a masked array keeps its mask."""

    class Masked(TensorLike):
        def to_numpy(self):
            return np.ma.MaskedArray(self.rows, mask=[True, False])

    assert INTEGERS.encode(Masked([BIG, BIG])).tolist() == [5, 1]


@pytest.mark.parametrize(
    "container", [array.array("q", [BIG, BIG + 2]), collections.deque([BIG, BIG + 2]), range(BIG, BIG + 3, 2)]
)
def test_other_sequences(container):
    """Any sequence is a column."""
    assert INTEGERS.encode(container).tolist() == [1, 3]


def test_views_and_subclasses():
    """Strided views, read-only arrays and subclasses of arrays are columns."""
    rows = np.arange(20)[::-2]
    rows.flags.writeable = False
    assert Integers(0, 19).encode(rows).tolist() == list(range(19, 0, -2))
    assert Integers(0, 19).encode(np.arange(3).view(np.recarray)).tolist() == [0, 1, 2]


class Refusing:
    def to_numpy(self):
        raise RuntimeError("secret")


class Wrong:
    def to_numpy(self):
        return "secret"


class Frame:
    def to_numpy(self):
        return np.zeros((2, 2))


class Short(list):
    def __len__(self):
        return 5


@pytest.mark.parametrize("container", [Refusing(), Wrong(), Frame(), Short([1])])
def test_what_is_not_a_column(refuses, container):
    """An object that cannot become one column is refused without a word about its content."""
    for domain in (INTEGERS, Categories(["a"])):
        assert "secret" not in refuses(lambda d=domain: d.encode(container), "values", error=InvalidData)


def test_no_cause_is_shown():
    """The engine's own message, which may quote a value, is not carried along."""
    with pytest.raises(InvalidData) as caught:
        INTEGERS.encode(Refusing())
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None or caught.value.__suppress_context__


def frames():
    """The columns of every engine that is installed."""
    rows = [BIG, None, BIG + 2]
    try:
        import pandas
    except ImportError:
        pass
    else:
        yield "pandas", pandas.Series(rows, dtype="Int64")
        yield "pandas objects", pandas.Series(rows, dtype=object)
    try:
        import polars
    except ImportError:
        pass
    else:
        yield "polars", polars.Series("x", rows)
    try:
        import pyarrow
    except ImportError:
        pass
    else:
        yield "arrow", pyarrow.array(rows)
        yield "arrow chunks", pyarrow.chunked_array([rows])


def test_installed_engines():
    """Columns of the engines that are installed give exact codes, NULL or not."""
    import duckdb

    duck = duckdb.sql(f"SELECT unnest([{BIG}, NULL, {BIG + 2}]) AS x").fetchnumpy()["x"]
    for name, series in [("duckdb", duck), *frames()]:
        assert INTEGERS.encode(series).tolist() == [1, 5, 3], name
