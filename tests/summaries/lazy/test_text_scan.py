"""Lazy scans of text files are refused by their plans, whatever the files hold."""

from __future__ import annotations

import duckdb
import polars as pl
import pytest

import flou
from flou.errors import InvalidData
from flou.summaries import rows_of

SCHEMA = {"x": flou.Interval(0, 9)}


def made(folder, cell):
    (folder / "t.csv").write_text("x,s\n1,a\n" + "2,b\n" * 200 + f"{cell},c\n")
    (folder / "t.ndjson").write_text('{"x": 1}\n' * 200 + '{"x": "' + cell + '"}\n')
    return folder


SCANS = {
    "csv": lambda f: pl.scan_csv(f / "t.csv"),
    "csv of several": lambda f: pl.scan_csv([f / "t.csv", f / "t.csv"]),
    "csv, filtered": lambda f: pl.scan_csv(f / "t.csv").filter(pl.col("x") > 1).with_columns(y=1),
    "csv, joined": lambda f: pl.LazyFrame({"x": [1]}).join(pl.scan_csv(f / "t.csv"), on="x"),
    "json": lambda f: pl.scan_ndjson(f / "t.ndjson"),
    "duckdb csv": lambda f: duckdb.connect().read_csv(str(f / "t.csv")),
    "duckdb sql": lambda f: duckdb.connect().sql(f"SELECT x, s FROM '{f / 't.csv'}' WHERE s <> 'q'"),
    "duckdb json": lambda f: duckdb.connect().sql(f"FROM read_json('{f / 't.ndjson'}')"),
}


@pytest.mark.parametrize("cell", ["3", "canary"])
@pytest.mark.parametrize("scan", SCANS)
def test_text_scans_are_refused(scan, cell, tmp_path):
    """A scan of a text file is refused when the table is opened, with and without a cell that does not fit."""
    with pytest.raises(InvalidData, match=r"reads a text file|could not answer") as caught:
        flou.open(SCANS[scan](made(tmp_path, cell)), schema=SCHEMA, budget=1)
    assert "canary" not in str(caught.value)
    if cell == "3":
        assert "Pass the path to flou.open" in str(caught.value)


@pytest.mark.parametrize(
    "source",
    [
        lambda f: str(f / "t.csv"),
        lambda f: pl.read_csv(f / "t.csv").lazy(),
        lambda _: pl.LazyFrame({"x": [1], "Csv SCAN": ["Csv SCAN [READ_CSV]"]}),
        lambda _: duckdb.sql("SELECT 1 AS x, 'reads csv' AS READ_CSVS"),
    ],
)
def test_other_tables_are_not(source, tmp_path):
    """A path, a frame in memory and a column with such a name are read."""
    assert rows_of(source(made(tmp_path, "3"))).columns[0] == "x"
