"""A row has the same code in any company: whatever the number of rows, threads, batches and partitions."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import flou
from flou.domain import Boolean, Categories, Integers, Interval
from flou.summaries import Code, Counts, rows_of
from flou.summaries.lazy import codes as lazy_codes
from summaries.company import DOMAINS, MOMENTS, SIZES, rows_for
from summaries.conftest import FOREIGN
from summaries.engines import Made

TESTS = Path(__file__).parents[1]


def in_order(rows, codes):
    """The codes of all rows."""
    return [np.concatenate(parts) for parts in zip(*rows.codes(codes), strict=True)]


def counted(rows, code):
    """The codes of all rows, as counts tell them."""
    found = rows.collect([Counts((code,))])[0]
    return np.repeat(np.arange(code.domain.size), found)


@pytest.mark.parametrize("domain", DOMAINS.values(), ids=DOMAINS)
def test_numpy(domain):
    """Alone and among ten thousand others, a row of an array has the same code."""
    x = rows_for(domain, 10_000)
    together = domain.encode(x)
    assert together[:2000].tolist() == [int(domain.encode(x[i : i + 1])[0]) for i in range(2000)]
    for size in SIZES:
        assert (domain.encode(x[:size]) == together[:size]).all()


@pytest.mark.parametrize("threads", [1, 2, 8, 64])
def test_lazy_polars(threads):
    """Lazy Polars frames have NumPy's codes with any number of rows, threads and chunks."""
    found = subprocess.run(
        [sys.executable, str(TESTS / "summaries" / "polars_codes.py")],
        env=os.environ
        | {
            "POLARS_MAX_THREADS": str(threads),
            "PYTHONPATH": os.pathsep.join([str(Path(flou.__file__).parents[1]), str(TESTS)]),
        },
        capture_output=True,
        check=True,
        text=True,
    )
    told = json.loads(found.stdout)
    assert told["threads"] == threads
    assert told["compared"] > 2 * len(SIZES) * len(DOMAINS)
    assert told["different"] == []


@pytest.mark.parametrize("threads", [1, 2, 64])
def test_duckdb(tmp_path, threads):
    """DuckDB has NumPy's codes from tables, from Arrow in batches of one row, and from files of small row groups."""
    connection = duckdb.connect(config={"threads": threads})
    for name, domain in DOMAINS.items():
        code = Code("x", domain)
        for size in SIZES if threads == 2 else SIZES[::4]:
            x = rows_for(domain, size)
            table = pa.table({"x": x})
            ones = pa.Table.from_batches([table.slice(i, 1).to_batches()[0] for i in range(min(size, 200))])
            connection.register("made", table)
            sources = [connection.sql("SELECT * FROM made"), connection.from_arrow(ones)]
            if size in (3, 1000):
                path = str(tmp_path / f"{name} {size}.parquet")
                pq.write_table(table, path, row_group_size=1 if size == 3 else 100)
                sources.append(path)
            for source in sources:
                rows = rows_of(source)
                found = in_order(rows, [code])[0]
                expected = domain.encode(x)[: len(found)]
                assert np.array_equal(found, expected), (name, size)
                if domain.size <= 2**16:
                    assert np.array_equal(counted(rows, code), np.sort(expected)), (name, size)
                if name == "salaries":
                    sums = [r.collect([MOMENTS.request()])[0].tolist() for r in (rows, rows_of({"x": x[: len(found)]}))]
                    assert sums[0] == sums[1], size


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_every_engine(opened, size):
    """Every engine has NumPy's codes, of all grids, from one row on."""
    made = Made({f"x{i}": ("double", rows_for(domain, size).tolist()) for i, domain in enumerate(DOMAINS.values())})
    codes = [Code(f"x{i}", domain) for i, domain in enumerate(DOMAINS.values())]
    rows = opened(made)
    for code, found in zip(codes, in_order(rows, codes), strict=True):
        expected = code.domain.encode(made.lists()[code.column])
        assert np.array_equal(np.sort(found), np.sort(expected)), code
        if code.domain.size <= 2**12:
            assert np.array_equal(counted(rows, code), np.sort(expected)), code


@pytest.mark.parametrize("partitions", [pytest.param(number, marks=FOREIGN) for number in (1, 2, 64)])
def test_spark_partitions(spark, partitions):
    """Spark has NumPy's codes in any number of partitions, one row each among them."""
    x = rows_for(DOMAINS["fifths"], 64)
    frame = spark.createDataFrame([(float(v),) for v in x], "x double").repartition(partitions)
    domains = ("fifths", "49 coarse", "hundreds", "pi")
    rows = rows_of(frame)
    for name in domains:
        assert np.array_equal(counted(rows, Code("x", DOMAINS[name])), np.sort(DOMAINS[name].encode(x)))


def test_categories_and_truth_values(opened):
    """Texts, whole numbers and truth values have codes of their own in any company, too."""
    texts, wholes, truths = ["a", "b", None, "it's", "A"], [2**53, 2**53 + 1, None, -3, 7], [True, None, False] * 2
    for size in (1, 2, 5):
        made = Made({"g": ("text", texts[:size]), "n": ("long", wholes[:size]), "t": ("truth", truths[:size])})
        numbers = (Categories([2**53 + 1, 7, -3]), Integers(2**53, 2**53 + 9))
        codes = [Code("g", Categories(["it's", "a"])), Code("t", Boolean()), *(Code("n", one) for one in numbers)]
        rows = opened(made)
        for code, found in zip(codes, in_order(rows, codes), strict=True):
            assert sorted(found.tolist()) == sorted(code.domain.encode(made.lists()[code.column]).tolist())


def test_grids_without_a_rule_are_encoded_here(opened):
    """Codes of a grid too fine for engines are computed from the numbers, and cannot be counted."""
    domain = Interval(0, 1_000_000, granularity=0.01)
    assert domain.units is None
    values = [0.01, 0.29, 1.1, 999_999.99, None, float("nan"), -1.0, 2e6]
    rows = opened(Made({"x": ("double", values)}))
    assert sorted(in_order(rows, [Code("x", domain)])[0].tolist()) == sorted(domain.encode(values).tolist())
    with pytest.raises(flou.InvalidParameter, match="too fine"):
        Counts((Code("x", Interval(0, 1, cells=5_000_001)),))


def test_the_rule_before_is_seen(monkeypatch):
    """The comparison has teeth: floor((x - lower) / step) on a lazy frame has other codes than NumPy."""

    def before(x, domain):
        return ((x - lazy_codes.nw.lit(domain.lower)) / lazy_codes.nw.lit(domain.step)).floor()

    monkeypatch.setattr(lazy_codes, "_cell", before)
    pl = pytest.importorskip("polars")
    domain = DOMAINS["hundreds"]
    x = rows_for(domain, 1000)
    found = in_order(rows_of(pl.LazyFrame({"x": x})), [Code("x", domain)])[0]
    assert not np.array_equal(found, domain.encode(x))


def test_deciles_at_an_edge():
    """A value at the edge of a coarse cell is where both looks say, and deciles of a lazy frame are released."""
    pl = pytest.importorskip("polars")
    frame = pl.LazyFrame({"x": [16.0] * 999 + [48.998504638671875]})
    for _ in range(3):
        table = flou.open(frame, schema={"x": Interval(0, 49)}, budget=1)
        assert len(table.quantiles("x", flou.deciles, epsilon=1).value) == 9
