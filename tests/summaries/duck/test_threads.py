"""DuckDB relations belong to a user's connection, which answers one question at a time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import duckdb
import numpy as np
import pytest

import flou
from flou.summaries import Code, rows_of


def relations(connection):
    connection.execute("CREATE TABLE t AS SELECT i / 1000 AS x, i % 3 AS g FROM range(1000) r(i)")
    return connection.table("t"), connection.sql("SELECT * FROM t WHERE x < 2")


def test_ten_threads():
    """Ten threads ask one connection eight times each, through two relations: 80 right answers, 80 charges."""
    first, second = relations(duckdb.connect())
    schema = {"x": flou.Interval(0, 1), "g": flou.Integers(0, 2)}
    tables = [flou.open(one, schema=schema, budget=8000) for one in (first, second)]

    def ask(i):
        table = tables[i % 2]
        if i % 4 < 2:
            return table.count(epsilon=100).value == 1000
        if i % 8 < 6:
            return table.where(flou.column("x") < 0.5).histogram("g", epsilon=100).value.tolist() == [167, 167, 166]
        return abs(table.median("x", epsilon=100).value - 0.5) < 0.02

    with ThreadPoolExecutor(10) as pool:
        assert list(pool.map(ask, range(80))) == [True] * 80
    assert [table.budget.remaining for table in tables] == [{"epsilon": 4000.0}] * 2


@pytest.mark.parametrize("asked", ["codes", "values"])
def test_batches_are_fetched_in_turn(asked):
    """Rows that are read batch by batch do not keep others from asking."""
    rows = rows_of(relations(duckdb.connect())[0])
    batches = rows.codes([Code("g", flou.Integers(0, 2))]) if asked == "codes" else rows.values(["g"])
    first = next(batches)[0]
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(lambda: rows_of(duckdb.sql("SELECT 1 AS x")).columns).result(timeout=20) == ("x",)
    found = np.concatenate([first, *(batch[0] for batch in batches)])
    assert np.bincount(found).tolist() == [334, 333, 333]
