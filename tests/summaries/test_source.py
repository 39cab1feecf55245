"""What can be opened, what cannot, and what an engine may say."""

from __future__ import annotations

import gc
import math
import subprocess
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from flou.domain import Categories, Integers, Interval
from flou.errors import InvalidData
from flou.summaries import Code, Counts, MomentGrid, Sums, column, rows_of
from flou.summaries.duck import sql as duck_sql
from flou.summaries.rows import quiet
from summaries.engines import KINDS, Made

ALL = [Sums(((),))]


@pytest.mark.parametrize(
    "source",
    [
        None,
        7,
        3.5,
        [1, 2],
        b"bytes",
        np.zeros((2, 2)),
        object(),
        {1: [1]},
        {"x": 5},
        {"x": "text"},
        {"x": [1], "y": [1, 2]},
        {"x": np.zeros((2, 2))},
    ],
    ids=lambda source: type(source).__name__,
)
def test_unsupported_sources(source):
    """What is no table is refused, in words that hold no value."""
    with pytest.raises(InvalidData):
        rows_of(source)


def test_duplicate_names():
    """A frame with two columns of one name is refused."""
    with pytest.raises(InvalidData):
        rows_of(pd.DataFrame([[1, 2]], columns=["a", "a"]))


@pytest.mark.parametrize(
    "name",
    ["nowhere.csv", "nowhere.parquet", "nowhere-*.parquet", "notes.xlsx", "notes", "table.csv.zip", "https://x/y.csv"],
)
def test_files_that_cannot_be_read(tmp_path, name):
    """A file that is not there, or whose name does not say what it is, is refused."""
    (tmp_path / "notes.xlsx").write_text("a\n1\n")
    (tmp_path / "notes").write_text("a\n1\n")
    (tmp_path / "table.csv.zip").write_text("a\n1\n")
    with pytest.raises(InvalidData):
        rows_of(str(tmp_path / name))


def test_broken_file(tmp_path):
    """A file that is no Parquet file is refused without what stands in it."""
    (tmp_path / "t.parquet").write_text("PAR1 secret")
    with pytest.raises(InvalidData) as caught:
        rows_of(tmp_path / "t.parquet").collect(ALL)
    assert "secret" not in str(caught.value)


def test_patterns_and_names(tmp_path):
    """Several Parquet files are one table; a file whose name looks like a pattern is itself."""
    table = pa.table({"x": [1.0, 2.0, None]})
    for name in ("p-1.parquet", "p-2.parquet", "p[1].parquet", "it's.parquet"):
        pq.write_table(table, tmp_path / name)
    assert rows_of(str(tmp_path / "p-*.parquet")).collect(ALL)[0][0] == 6
    assert rows_of(tmp_path / "p[1].parquet").collect(ALL)[0][0] == 3
    assert rows_of(tmp_path / "it's.parquet").collect(ALL)[0][0] == 3


def test_memory_limit(tmp_path):
    """Two million rows are summed and capped by a DuckDB that may use 200 MB."""
    size = 2_000_000
    connection = duckdb.connect(config={"memory_limit": "200MB", "temp_directory": str(tmp_path / "spill")})
    path = str(tmp_path / "large.parquet")
    connection.execute(f"COPY (SELECT i::DOUBLE AS x, i // 4 AS who FROM range({size}) t(i)) TO '{path}'")
    rows = rows_of(connection.read_parquet(path))
    x = Code("x", Interval(0, size, cells=size))
    assert rows.collect([Sums(((), (x,)))])[0].tolist() == [size, size * (size - 1) // 2]
    few = rows.where(column("x") < 100_000).capped("who", 3)
    assert few.collect(ALL)[0][0] == 75_000


def test_connections_live_and_die_with_their_rows(tmp_path):
    """Rows of a file keep their connection, and those derived from them too; with the last of them it closes."""
    pq.write_table(pa.table({"x": [1.0, 2.0], "who": [1, 1]}), tmp_path / "t.parquet")
    rows = rows_of(tmp_path / "t.parquet")
    connection = weakref.ref(rows._relation.connection)
    derived = rows.capped("who", 1)
    del rows
    gc.collect()
    assert derived.collect(ALL)[0][0] == 1
    del derived
    gc.collect()
    assert connection() is None


def test_a_users_relation_is_left_alone():
    """A relation keeps its connection, its tables and its names."""
    connection = duckdb.connect()
    connection.execute("CREATE TABLE flou_rows AS SELECT 1 AS x")
    relation = connection.sql("SELECT * FROM (VALUES (1.5), (2.5)) t(x)")
    assert rows_of(relation).capped("x", 1).collect(ALL)[0][0] == 2
    assert connection.sql("SELECT x FROM flou_rows").fetchall() == [(1,)]
    assert connection.sql("SHOW TABLES").fetchall() == [("flou_rows",)]


def test_other_types():
    """Enums, blobs and huge integers have the codes that NumPy gives them; dates and nested values are missing."""
    connection = duckdb.connect()
    relation = connection.sql(
        f"SELECT * FROM (VALUES ('a'::ENUM('a', 'b'), 'a'::BLOB, {2**127 - 1}::HUGEINT, DATE '2020-01-01', [1]),"
        " ('b', 'z', 5, NULL, NULL), (NULL, NULL, NULL, NULL, NULL)) t(e, b, h, d, l)"
    )
    text, number = Categories(["a", "x"]), Integers(0, 9, missing=0)
    requests = [Counts((Code(name, text),)) for name in "ebhdl"] + [Counts((Code(name, number),)) for name in "ebhdl"]
    found = [answer.tolist() for answer in rows_of(relation).collect(requests)]
    assert found[:5] == [[1, 0, 2], [1, 0, 2], [0, 0, 3], [0, 0, 3], [0, 0, 3]]
    assert [answer[0] for answer in found[5:]] == [3, 3, 1, 3, 3]
    frame = pl.DataFrame({"c": pl.Series(["a", None, "q"], dtype=pl.Categorical), "d": [None] * 3}).lazy()
    assert rows_of(frame).collect([Counts((Code("c", text),)), Counts((Code("d", text),))])[0].tolist() == [1, 0, 2]


POISON = {
    "double": [math.nan, math.inf, -math.inf, None, 1e300, -1e300, 5e-324, -0.0],
    "float": [math.nan, math.inf, None, 3e38],
    "long": [None, 2**63 - 1, -(2**63)],
    "byte": [None, 127, -128],
    "unsigned": [None, 2**64 - 1],
    "decimal": [None, Decimal(10**23), Decimal("-0.000001")],
    "text": [None, "", "x", "secret", "1e999", "'"],
    "truth": [None],
}


def test_poison(opened):
    """One row, whatever it holds, adds its own contribution and changes nothing else."""
    good = Made(
        {kind: (kind, [True, False] if kind == "truth" else ["a", "b"] if kind == "text" else [1, 2]) for kind in KINDS}
    )
    good = Made({k: (k, [Decimal(x) for x in v] if k == "decimal" else v) for k, (_, v) in good.columns.items()})
    domains = [Interval(0, 100, cells=100), Categories(["a", 1, 2])]
    requests: list = [Sums(((), *((Code(kind, d),) for kind in KINDS))) for d in domains]
    requests += [Counts((Code("double", domains[0]),))]
    before = opened(good).collect(requests)
    for turn in range(max(map(len, POISON.values()))):
        bad = Made({kind: (kind, [POISON[kind][turn % len(POISON[kind])]]) for kind in KINDS})
        with_it = opened(good + bad).collect(requests)
        alone = opened(bad).collect(requests)
        for a, b, c in zip(before, alone, with_it, strict=True):
            assert (a + b == c).all()


def test_statistics_of_files_leave_nan_out(tmp_path):
    """NaN counts as missing in Parquet files whose statistics do not mention it, whatever the other rows hold."""
    for kind in (pa.float64(), pa.float32()):
        pq.write_table(pa.table({"x": pa.array([1.0, 2.0, math.nan], kind), "id": [0, 1, 2]}), tmp_path / "nan.parquet")
        lazy = pl.scan_parquet(tmp_path / "nan.parquet")
        for rows in (rows_of(tmp_path / "nan.parquet"), rows_of(lazy)):
            codes = [Code("x", Integers(0, 50, missing=7))]
            codes += [Code("x", Interval(low, low + 50, cells=50, missing=low + 7.5)) for low in (0, 1)]
            for found in rows.collect([Counts((code,)) for code in codes]):
                assert found.nonzero()[0].tolist() in ([1, 2, 7], [0, 1, 7])
            for domain in (Interval(0, 50, missing=50), Interval(0.5, 2.5, missing=2.5), Integers(0, 10**6, missing=5)):
                request = MomentGrid.of("x", domain).request()
                expected = rows_of({"x": [1.0, 2.0, None]}).collect([request])[0]
                assert (rows.collect([request])[0] == expected).all()
            for domain in (Categories([1, 2]), Categories([1, 2], other=False, missing=1)):
                assert rows.collect([Counts((Code("x", domain),))])[0].tolist() == (
                    [1, 1, 1] if domain.other else [2, 1]
                )
            ident = [Counts((Code("id", Integers(0, 2)),))]
            x = column("x")
            for condition, kept in [(x < 50, 2), (x > 1, 1), (x != 7, 2), (~(x < 50), 1), (~(x > 60), 3), (x > 60, 0)]:
                assert rows.where(condition).collect(ident)[0].sum() == kept, condition
            assert rows.capped("x", 1).collect(ident)[0].tolist() == [1, 1, 0]


STRAY = [
    Interval(0, 50, missing=50),
    Interval(0, 2, missing=0.5),
    Interval(5, 50, missing=50),
    Interval(0, 1, missing=0),
]


@pytest.mark.parametrize("domain", STRAY, ids=str)
def test_stray_cells_need_words_for_nan(tmp_path, monkeypatch, domain):
    """NaN inside, below and above of what a file says its values are is missing, and would not be without the words."""
    pq.write_table(pa.table({"x": [1.0, 2.0, math.nan]}), tmp_path / "nan.parquet")
    request = [MomentGrid.of("x", domain).request()]
    expected = rows_of({"x": [1.0, 2.0, None]}).collect(request)[0]
    assert (rows_of(tmp_path / "nan.parquet").collect(request)[0] == expected).all()
    monkeypatch.setattr(duck_sql, "_nan_by_its_words", lambda x: x)
    assert (rows_of(tmp_path / "nan.parquet").collect(request)[0] != expected).any()


def test_engines_say_nothing():
    """What an engine raises never comes out, because it may quote a record."""

    def broken():
        raise RuntimeError("Could not convert 'secret'")

    with pytest.raises(InvalidData) as caught, quiet("duckdb"):
        broken()
    assert "secret" not in str(caught.value)
    assert "RuntimeError" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_nothing_is_left_in_the_working_directory(tmp_path):
    """DuckDB spills into the system's folder for temporary files, not into the current one."""
    setting = "SELECT current_setting('temp_directory')"
    program = (
        f'from flou.summaries import rows_of; print(rows_of("t.csv")._relation.connection.sql("{setting}").fetchall())'
    )
    (tmp_path / "t.csv").write_text("a\n1\n")
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "flou-duckdb-" in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


def test_two_threads_get_their_own_answers(tmp_path):
    """Tables of one file share a connection, and a connection holds one result at a time."""
    pq.write_table(pa.table({"x": np.arange(200_000) % 100}), tmp_path / "t.parquet")
    rows = rows_of(tmp_path / "t.parquet")
    code, grid = Code("x", Integers(0, 99)), Code("x", Integers(0, 9))

    def asked(request, cells):
        found = [rows.collect([Counts((request,))])[0] for _ in range(60)]
        return all(counts.size == cells and counts.sum() == 200_000 for counts in found)

    with ThreadPoolExecutor(4) as pool:
        work = [pool.submit(asked, *one) for one in ((code, 100), (grid, 10)) * 2]
        assert all(one.result() for one in work)
