"""Sources that are harder than they look: units that equal nothing, scans behind other doors, decimals of any size."""

from __future__ import annotations

import math
import uuid
from datetime import date
from decimal import Decimal

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest

import flou
from flou.summaries import Code, Counts, rows_of
from flou.summaries.keys import key_of
from summaries.conftest import FOREIGN

SCHEMA = {"x": flou.Interval(0, 10)}


@pytest.mark.parametrize(
    "unit", [("Ann", math.nan), (1, 2), frozenset([1]), object()], ids=["NaN", "pair", "set", "object"]
)
def test_what_is_no_name_is_no_unit(unit):
    """Pairs and foreign objects tell nobody from anybody: their rows are left out, and no cap is walked around."""
    people = np.fromiter([unit, "p", 1, date(2020, 1, 1), uuid.UUID(int=7), np.datetime64("2020-01-02")], dtype=object)
    people = np.fromiter([person for person in people for _ in range(100)], dtype=object)
    rows = {"x": np.ones(600), "person": people}
    schema = flou.Schema(SCHEMA, unit="person", max_rows_per_unit=2)
    assert abs(flou.open(rows, schema=schema).count(epsilon=1000).value - 10) <= 1


def test_pairs_from_a_frame():
    """A pair with a NaN, as zip makes it of two columns, is not a new person in every row."""
    frame = pd.DataFrame({"name": ["Ann"] * 100, "born": [math.nan] * 100, "x": 1.0})
    frame["person"] = list(zip(frame.name, frame.born, strict=True))
    table = flou.open(frame, schema=flou.Schema(SCHEMA, unit="person", max_rows_per_unit=2))
    assert table.count(epsilon=1000).value == 0


def scans(path):
    """A text file that an engine reads when it is asked, through several doors."""
    import ibis

    yield lambda: ibis.duckdb.connect().read_csv(path)
    yield lambda: ibis.polars.connect().read_csv(path)
    yield lambda: nw.from_native(duckdb.connect().sql(f"FROM read_csv('{path}')"))
    yield lambda: nw.from_native(pl.scan_csv(path))


@pytest.mark.parametrize("door", [pytest.param(number, marks=FOREIGN) for number in range(4)])
def test_scans_behind_other_doors_are_refused(tmp_path, door):
    """A scan of a text file is refused through Ibis and narwhals too, before anything is charged."""
    path = tmp_path / "s.csv"
    path.write_text("x\n1\n2\n")
    with pytest.raises(flou.InvalidData, match="text file"):
        flou.open(list(scans(str(path)))[door](), schema=SCHEMA)


def test_frames_of_narwhals_are_frames():
    """A frame that narwhals wraps is read as what it wraps."""
    for frame in (pl.LazyFrame({"x": [1.0, 2.0]}), pl.DataFrame({"x": [1.0, 2.0]}), pd.DataFrame({"x": [1.0, 2.0]})):
        found = rows_of(nw.from_native(frame)).collect([Counts((Code("x", flou.Interval(0, 3, cells=3)),))])[0]
        assert found.tolist() == [0, 1, 1]


LARGE = ["1e400", "1e-400", "-1e400", "NaN", "Infinity", "9" * 400, "3." + "1" * 500, "0"]


@pytest.mark.parametrize("kind", [pytest.param(kind, marks=FOREIGN) for kind in ("numeric", "money")])
def test_decimals_of_any_size(postgres, kind):
    """A decimal that no double can hold lies beyond the bounds or at zero, and stops nothing."""
    grid = flou.Interval(0, 10, cells=5)
    with postgres.con.cursor() as cursor:
        cursor.execute(f"DROP TABLE IF EXISTS decimals; CREATE TABLE decimals (x {kind})")
        cursor.execute("INSERT INTO decimals VALUES ('1'), ('2'), (NULL)")
        for text in LARGE if kind == "numeric" else ["9.00"]:
            cursor.execute(f"INSERT INTO decimals VALUES ('{text}')")
    postgres.con.commit()
    found = rows_of(postgres.table("decimals")).collect([Counts((Code("x", grid),))])[0]
    numbers = [1, 2, None, *((Decimal(text) for text in LARGE) if kind == "numeric" else [None])]
    if kind == "money":
        numbers = [None] * 4
    assert found.tolist() == np.bincount(grid.encode(numbers), minlength=5).tolist()


def test_fractions_of_many_digits():
    """A type that cannot hold 1 has no row that is true, and no error."""
    connection = duckdb.connect()
    relation = connection.sql("SELECT CAST(0.5 AS DECIMAL(38, 38)) AS t UNION ALL SELECT 0::DECIMAL(38, 38)")
    found = rows_of(relation).collect([Counts((Code("t", flou.Boolean(missing=True)),))])[0]
    assert found.tolist() == [1, 1]


def test_keys_of_numbers_with_a_million_digits():
    """A number is compared before its digits are written out."""
    assert key_of(Decimal("1E+3000000")) is None
    assert key_of(Decimal("1E+3")) == 1000
    assert key_of(math.inf) is key_of(math.nan) is None


def test_names_that_no_file_can_have():
    """A path longer than any file's is a path where no file is."""
    with pytest.raises(flou.InvalidData, match="no file"):
        flou.open("a" * 5000 + ".csv", schema=SCHEMA)
