"""Sanitised tables: what a person pays, where values lie, every source, whole files, and what is refused."""

from __future__ import annotations

import itertools
import math

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import flou
from flou.bits import SeededBits
from flou.errors import InvalidData
from flou.local import Sanitiser, sanitise
from flou.local.tables import sanitiser
from goodness import agrees, compatible, draws_to_detect, tilted
from local.tables.sanitised_people import SCHEMA, people

METHODS = ("window", "laplace", "staircase")
TINY = {
    "n": flou.Integers(0, 2),
    "yes": flou.Boolean(),
    "c": flou.Categories(["x", "y"], other=False, missing="x"),
}


def joint_laws(chosen: Sanitiser) -> np.ndarray:
    """P[sanitised row | row], a row of the matrix for each row of a tiny table."""
    cells = [
        np.array([cell.randomiser.law(code).pmf(np.arange(cell.domain.size)) for code in range(cell.domain.size)])
        for cell in chosen.cells.values()
    ]
    found = cells[0]
    for more in cells[1:]:
        found = np.kron(found, more)
    return found


def worst_loss(laws: np.ndarray) -> float:
    return float(np.log(laws.max(axis=0) / laws.min(axis=0)).max())


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("budget", "paid"), [("total", 1.5), ("per-column", 4.5)])
def test_a_whole_row_costs_what_is_told(method, budget, paid):
    """All rows and all sanitised rows of a tiny table: the largest log-ratio is the guarantee, and it is reached."""
    chosen = Sanitiser(TINY, epsilon=1.5, budget=budget, method=method)
    laws = joint_laws(chosen)
    assert laws.shape == (12, 12)
    assert np.allclose(laws.sum(axis=1), 1)
    assert chosen.guarantee.epsilon == paid
    assert worst_loss(laws) == pytest.approx(paid, rel=1e-9)
    assert worst_loss(laws) <= paid * (1 + 1e-12)


def test_the_price_per_column_is_not_taken_for_the_total():
    """The check refuses a table that was sanitised at epsilon for each column as one that costs epsilon."""
    assert worst_loss(joint_laws(Sanitiser(TINY, epsilon=1, budget="per-column"))) > 2.99


@pytest.mark.parametrize("budget", ["total", "per-column"])
def test_rows_follow_the_joint_law(budget):
    """Sanitised rows have the probabilities by which the loss was enumerated; others are refused."""
    chosen, row = Sanitiser(TINY, epsilon=1.5, budget=budget), (2, 1, 0)
    draws = draws_to_detect(0.05)
    source = {"n": np.full(draws, 2), "yes": np.full(draws, True), "c": ["x"] * draws}
    found = sanitise(source, TINY, epsilon=1.5, budget=budget, bits=SeededBits(1)).columns
    codes = [TINY[name].encode(found[name]) for name in TINY]
    counts = np.bincount(np.ravel_multi_index(codes, (3, 2, 2)), minlength=12)
    law = joint_laws(chosen)[np.ravel_multi_index(row, (3, 2, 2))]
    assert compatible(counts, law)
    assert not compatible(counts, tilted(law, 0.05))
    assert not compatible(counts, joint_laws(chosen)[0])


@pytest.mark.parametrize("method", METHODS)
def test_columns_follow_their_randomisers(method):
    """The law of a sanitised column is that of its randomiser."""
    domain, rows = flou.Integers(0, 20), draws_to_detect(0.05)
    chosen = Sanitiser({"x": domain}, epsilon=2, method=method)
    drawn = sanitise({"x": np.full(rows, 4)}, {"x": domain}, epsilon=2, method=method, bits=SeededBits(2)).columns["x"]
    assert agrees(drawn, chosen.randomisers["x"].law(4))
    assert not agrees(drawn, chosen.randomisers["x"].law(9))


def test_fine_grids_are_randomised_on_coarse_ones(monkeypatch):
    """Codes are merged, the last ones fewer, and what comes out is uniform within the coarse cell."""
    monkeypatch.setattr(sanitiser, "MOST_CELLS", 3)
    cell = Sanitiser({"x": flou.Integers(10, 17)}, epsilon=1).cells["x"]
    assert (cell.merged, cell.randomiser.domain.size) == (3, 3)
    drawn = cell.sample(np.full(200_000, 4), SeededBits(3))
    coarse = cell.randomiser.law(1).pmf(np.arange(3))
    assert compatible(np.bincount(drawn, minlength=8), coarse[[0, 0, 0, 1, 1, 1, 2, 2]] / [3, 3, 3, 3, 3, 3, 2, 2])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("epsilon", [0.05, 5, 500])
def test_values_stay_in_bounds_and_on_their_grid(method, epsilon):
    """Whole numbers stay whole, categories categories, and nothing is outside, whatever the source has."""
    source = people(3000)
    found = sanitise(source, SCHEMA, epsilon=epsilon, method=method, bits=SeededBits(4)).columns
    assert list(found) == list(source)
    for name, domain in SCHEMA.items():
        assert np.array_equal(domain.decode(domain.encode(found[name])), found[name])
    assert found["age"].dtype == found["steps"].dtype == np.int64
    assert found["smokes"].dtype == np.bool_
    assert set(found["town"]) <= {"a", "b", "c", "other"}
    assert found["pay"].min() > 0
    assert found["pay"].max() < 5000


def test_the_source_is_never_changed_and_noise_does_not_compound():
    """A hundred tables of the same rows err as much as the first one: the rows are always the original ones."""
    source = {"x": np.full(2000, 50.0)}
    kept = source["x"].copy()
    errors = []
    for i in range(100):
        drawn = sanitise(source, {"x": flou.Interval(0, 100)}, epsilon=5, bits=SeededBits(i)).columns["x"]
        errors.append(np.mean((drawn - 50) ** 2))
    assert np.array_equal(source["x"], kept)
    assert np.mean(errors[-10:]) == pytest.approx(np.mean(errors[:10]), rel=0.1)


def test_missing_values_follow_their_domain():
    """With a large epsilon nothing is moved: missing values are the public one, and those outside the nearest bound."""
    source = {"age": [None, 10, 400], "pay": [math.nan, -5, 1e9], "town": [None, "z", "b"], "smokes": [None, 0, 2]}
    chosen = {name: SCHEMA[name] for name in source}
    found = sanitise(source, chosen, epsilon=4000, bits=SeededBits(5)).columns
    assert found["age"].tolist() == [59, 18, 100]
    assert found["pay"].tolist() == [2505, 5, 4995]
    assert found["town"].tolist() == ["other", "other", "b"]
    assert found["smokes"].tolist() == [True, False, True]


def same(found, wanted: dict) -> bool:
    return list(found) == list(wanted) and all(np.array_equal(np.asarray(found[n]), wanted[n]) for n in wanted)


@pytest.mark.parametrize("rows", [0, 1, 1000, 140_000])
def test_all_sources_give_the_same(rows, tmp_path):
    """With the same bits the same rows become the same table, wherever they live; frames stay frames of their kind."""
    source = people(rows)
    frame = pd.DataFrame(source)
    frame.to_csv(tmp_path / "people.csv", index=False)
    frame.to_parquet(tmp_path / "people.parquet")

    def sanitised(table, **more):
        return sanitise(table, SCHEMA, epsilon=4, bits=SeededBits(6), **more)

    wanted = sanitised(source)
    assert wanted.rows == rows
    sources = {
        pd.DataFrame: frame,
        pl.DataFrame: pl.DataFrame(source),
        pa.Table: pa.table(source),
        dict: tmp_path / "people.parquet",
    }
    for kind, table in sources.items():
        found = sanitised(table)
        assert type(found.table) is kind
        assert same(found.columns, wanted.columns)
    for table in (str(tmp_path / "people.csv"), duckdb.from_df(frame), pl.LazyFrame(source)):
        assert same(sanitised(table).columns, wanted.columns)
    for name in ("out.csv", "out.parquet"):
        found = sanitised(tmp_path / "people.csv", out=tmp_path / name)
        assert (found.table, found.rows, found.path) == (None, rows, tmp_path / name)
        read = pd.read_csv if name.endswith("csv") else pd.read_parquet
        assert same(read(tmp_path / name), wanted.columns)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "out.csv",
        "out.parquet",
        "people.csv",
        "people.parquet",
    ]


def test_categories_of_all_kinds_survive_files(tmp_path):
    """Texts with commas and quotes, empty ones, numbers and truths are read back as they were."""
    schema = {
        "text": flou.Categories(['a "b", c', "", "line\nend", "true"], other=False, missing=""),
        "number": flou.Categories([3, -7], other=False, missing=3),
        "truth": flou.Categories([True, False], other=False, missing=True),
        "mixed": flou.Categories([1, "x"]),
    }
    source = {
        "text": ["", 'a "b", c'] * 50,
        "number": [3, -7] * 50,
        "truth": [True, False] * 50,
        "mixed": [1, "x"] * 50,
    }
    wanted = sanitise(source, schema, epsilon=4, bits=SeededBits(7)).columns
    sanitise(source, schema, epsilon=4, bits=SeededBits(7), out=tmp_path / "out.parquet")
    read = pd.read_parquet(tmp_path / "out.parquet")
    assert read.dtypes["number"] == np.int64
    assert read.dtypes["truth"] == np.bool_
    assert all(list(map(str, read[name])) == list(map(str, wanted[name])) for name in schema)
    found = sanitise(source, schema, epsilon=4, bits=SeededBits(7), out=tmp_path / "out.csv")
    again = flou.summaries.rows_of(found.path).codes([flou.summaries.request.Code(n, d) for n, d in schema.items()])
    for codes, (name, domain) in zip(next(iter(again)), schema.items(), strict=True):
        if name != "text":  # an empty cell of a CSV file is missing, which is the empty text here
            assert np.array_equal(codes, domain.encode(wanted[name]))


def test_other_columns_are_refused_or_left_out():
    """A column that nobody declared is never passed through."""
    source = people(10) | {"name": ["Ada"] * 10}
    with pytest.raises(InvalidData, match="does not have the column 'name'") as refusal:
        sanitise(source, SCHEMA, epsilon=1)
    assert "Ada" not in str(refusal.value)
    found = sanitise(source, SCHEMA, epsilon=1, others="drop")
    assert list(found.columns) == list(SCHEMA)
    assert found.dropped == ("name",)
    assert found.certificate["processing"]["postprocessing"] == ["left out: name"]
    with pytest.raises(InvalidData, match="There is no column 'age'"):
        sanitise({"pay": [1.0]}, SCHEMA, epsilon=1)


def test_people_with_several_rows():
    """The rows of a person share epsilon, no more of them are kept than declared, and whose they are is left out."""
    schema = flou.Schema({"x": flou.Integers(0, 9)}, unit="who", max_rows_per_unit=2)
    found = sanitise({"who": [1, 1, 1, 2], "x": [1, 2, 3, 4]}, schema, epsilon=3)
    assert (found.rows, list(found.columns), found.dropped) == (3, ["x"], ("who",))
    assert found.sanitiser.share == 1.5
    assert (found.cost.epsilon, found.cost.unit) == (3, "who")
    assert "3 in total: 1.5" not in repr(found)
    each = sanitise({"who": [1, 2], "x": [1, 2]}, schema, epsilon=3, budget="per-column")
    assert each.cost.epsilon == 6
    assert "a who pays epsilon = 6 in total: 3 times 1 columns times 2 rows" in repr(each)


def test_the_certificate_says_what_a_person_pays():
    """In both budgets the total is told in numbers and in words, with the mechanism of every column."""
    found = sanitise(people(5), SCHEMA, epsilon=2, budget="per-column")
    loss, words = found.certificate["loss"], found.certificate["words"]["cost"]
    assert (loss["epsilon"], loss["budget"], loss["columns"], loss["epsilon_per_cell"]) == (10, "per-column", 5, "2")
    assert words.startswith("A person pays epsilon = 10 in total: 2 times 5 columns.")
    columns = found.certificate["mechanism"]["columns"]
    assert {name: one["name"] for name, one in columns.items()} == {
        "age": "clamped window",
        "pay": "clamped window",
        "town": "GRR",
        "smokes": "GRR",
        "steps": "clamped window",
    }
    total = sanitise(people(5), SCHEMA, epsilon=2)
    assert total.certificate["loss"]["epsilon"] == 2
    assert repr(total) == (
        "Sanitised(5 rows, 5 columns; a person pays epsilon = 2 in total, 0.4 for each of 5 columns)"
    )


def test_every_pair_of_blocks_is_cut_alike():
    """However a source cuts its rows, blocks are the same, so that the same bits give the same table."""

    class Cut(flou.summaries.rows.Rows):
        engine, columns = "cut", ("x",)
        collect = where = capped = key_counts = tally = values = None

        def __init__(self, sizes):
            self.sizes = sizes

        def codes(self, wanted):
            assert [code.column for code in wanted] == ["x"]
            rows = iter(np.arange(sum(self.sizes)) % 100)
            for size in self.sizes:
                yield [np.fromiter(itertools.islice(rows, size), dtype=np.int64, count=size)]

    found = [
        sanitise(Cut(sizes), {"x": flou.Integers(0, 99)}, epsilon=1, bits=SeededBits(8)).columns["x"]
        for sizes in ([200_000], [1] * 10 + [199_990], [65_536, 65_536, 68_928], [131_071, 1, 68_928])
    ]
    assert all(np.array_equal(found[0], other) for other in found[1:])
