"""The store: batches are counted once, whole or not at all, and only sums are kept."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import flou
from flou.bits import SeededBits
from flou.collect import Store
from flou.errors import InvalidData, InvalidParameter
from flou.local import Collection, Survey

HABITS = Survey({"smokes": flou.Boolean(), "drinks": flou.Integers(0, 20)}, epsilon=1, name="habits")


def reports(people: int, seed: int = 0) -> dict:
    generator = np.random.default_rng(seed)
    answers = {"smokes": generator.random(people) < 0.3, "drinks": generator.integers(0, 21, people)}
    return HABITS.randomise(answers, bits=SeededBits(seed))


def test_what_was_counted_is_there_again(tmp_path):
    whole = Collection(HABITS)
    for name in "abc":
        batch = reports(50, ord(name))
        assert Store(tmp_path / "sums.db", HABITS).add(name, batch)
        whole.add(batch)
    found = Store(tmp_path / "sums.db", HABITS).collection()
    assert found.aggregates == whole.aggregates
    assert found.reports == 150


def test_a_batch_that_comes_again_is_counted_once(tmp_path):
    store, batch = Store(tmp_path / "sums.db", HABITS), reports(10)
    assert store.add("one", batch)
    assert not store.add("one", batch)
    assert (store.collection().reports, store.batches) == (10, 1)


def test_a_batch_is_counted_whole_or_not_at_all(tmp_path):
    store, batch = Store(tmp_path / "sums.db", HABITS), reports(10)
    for wrong in (
        {"smokes": [0, 1, 2]},
        {"smokes": [0, 1], "drinks": [-1]},
        {"unknown": [1]},
        {"smokes": ["a"]},
        {"smokes": [[0]]},
        {"smokes": [2**70]},
    ):
        with pytest.raises(InvalidData):
            store.add("wrong", {**batch, **wrong})
    for name in ("", "x" * 129, 7):
        with pytest.raises(InvalidData, match="name"):
            store.add(name, batch)
    assert (store.collection().reports, store.batches) == (0, 0)
    assert store.add("wrong", batch)


def test_writers_at_once_lose_nothing(tmp_path):
    stores = [Store(tmp_path / "sums.db", HABITS) for _ in range(4)]
    batches = [reports(5, i) for i in range(40)]
    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(lambda i: stores[i % 4].add(f"batch {i}", batches[i]), range(40)))
    whole = Collection(HABITS)
    for batch in batches:
        whole.add(batch)
    assert stores[0].collection().aggregates == whole.aggregates


def test_only_sums_and_names_are_on_disk(tmp_path):
    store = Store(tmp_path / "sums.db", HABITS)
    store.add("one", {"drinks": [17] * 1})
    with sqlite3.connect(tmp_path / "sums.db") as connection:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        assert tables == {"survey", "sums", "batches"}
        assert connection.execute("SELECT * FROM batches").fetchall() == [("one", 1)]


def test_another_survey_or_no_database_is_refused(tmp_path):
    Store(tmp_path / "sums.db", HABITS)
    with pytest.raises(InvalidParameter, match="another survey"):
        Store(tmp_path / "sums.db", Survey({"smokes": flou.Boolean()}, epsilon=1))
    (tmp_path / "text.db").write_text("no database at all, but a text that is long enough to be one" * 20)
    for path in (tmp_path / "text.db", tmp_path / "nowhere" / "sums.db"):
        with pytest.raises(InvalidParameter, match="cannot be used"):
            Store(path, HABITS)
