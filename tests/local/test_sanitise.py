"""Sanitised tables: what a person pays, where values lie, every source, whole files, and what is refused."""

from __future__ import annotations

import itertools
import json
import math
import signal
import subprocess
import sys

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import flou
from flou.bits import SeededBits
from flou.errors import InvalidData, InvalidParameter
from flou.local import Sanitiser, sanitise, sanitised_file, sanitiser
from goodness import agrees, compatible, draws_to_detect, tilted

SCHEMA = {
    "age": flou.Integers(18, 100),
    "pay": flou.Interval(0, 5000, cells=500),
    "town": flou.Categories(["a", "b", "c"]),
    "smokes": flou.Boolean(missing=True),
    "steps": flou.Integers(0, 300_000),
}
METHODS = ("window", "laplace", "staircase")
TINY = {
    "n": flou.Integers(0, 2),
    "yes": flou.Boolean(),
    "c": flou.Categories(["x", "y"], other=False, missing="x"),
}


def people(rows: int, seed: int = 0) -> dict:
    generator = np.random.default_rng(seed)
    return {
        "age": generator.integers(18, 101, rows),
        "pay": generator.uniform(-100, 6000, rows),
        "town": np.array(["a", "b", "c", "d"])[generator.integers(0, 4, rows)],
        "smokes": generator.random(rows) < 0.3,
        "steps": generator.integers(0, 300_001, rows),
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


# Files


def test_a_failed_write_leaves_nothing(tmp_path, monkeypatch):
    """Whatever goes wrong on the way, there is no half file, no trace, and what was there before stays."""
    source, out = people(70_000), tmp_path / "out.csv"

    def fails(_):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        sanitise(source, SCHEMA, epsilon=1, out=out, progress=fails)
    assert list(tmp_path.iterdir()) == []
    out.write_text("before")

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(sanitised_file, "_texts", full)
    with pytest.raises(InvalidParameter, match="be a file that can be written"):
        sanitise(source, SCHEMA, epsilon=1, out=out)
    assert [path.read_text() for path in tmp_path.iterdir()] == ["before"]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_killed_process_leaves_no_half_file(tmp_path, ending):
    """Nothing has the name of the result before all rows are there."""
    code = f"""
import os, signal, numpy as np, flou
flou.local.sanitise({{"x": np.arange(70_000)}}, {{"x": flou.Integers(0, 99)}}, epsilon=1, out={str(tmp_path)!r} +
    "/out.{ending}", progress=lambda rows: os.kill(os.getpid(), signal.SIGKILL))
"""
    done = subprocess.run([sys.executable, "-c", code], check=False)
    assert done.returncode == -signal.SIGKILL
    assert [path.suffix for path in tmp_path.iterdir()] == [".part"]


def test_memory_does_not_grow_with_the_file(tmp_path):
    """Sixteen times the rows take about the same memory, from file to file."""
    peaks = []
    for rows in (100_000, 1_600_000):
        path = tmp_path / f"{rows}.parquet"
        duckdb.sql(f"COPY (SELECT range % 90 AS a, range * 0.5 AS b, 'x' AS c FROM range({rows})) TO '{path}'")
        code = f"""
import resource, flou
found = flou.local.sanitise({str(path)!r}, {{"a": flou.Integers(0, 99), "b": flou.Interval(0, 1e6),
    "c": flou.Categories(["x", "y"])}}, epsilon=3, out={str(tmp_path)!r} + "/out.csv")
print(found.rows, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
        done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
        count, peak = map(int, done.stdout.split())
        assert count == rows
        peaks.append(peak / 1024)
    assert peaks[1] - peaks[0] < 100  # megabytes; the codes and values of all rows are more than that


@pytest.mark.parametrize(
    ("out", "words"),
    [("out.txt", r"end in \.csv or \.parquet"), ("nowhere/out.csv", "in a folder"), ("data.csv", "another file")],
)
def test_other_files_are_refused(out, words, tmp_path):
    """A file must be writable, of a known kind, and not the one that is read; nothing is read before."""
    pd.DataFrame(people(5)).to_csv(tmp_path / "data.csv", index=False)
    with pytest.raises(InvalidParameter, match=words):
        sanitise(tmp_path / "data.csv", SCHEMA, epsilon=1, out=tmp_path / out)
    assert len(pd.read_csv(tmp_path / "data.csv")) == 5


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"epsilon": 0}, "epsilon must be a positive number"),
        ({"budget": "each"}, "budget must be one of"),
        ({"method": "gauss"}, "method must be one of"),
        ({"others": "keep"}, "others must be one of"),
    ],
)
def test_refusals(more, words):
    """What has no meaning is refused before rows are read."""
    with pytest.raises(InvalidParameter, match=words):
        sanitise(None, SCHEMA, **{"epsilon": 1, **more})


@pytest.mark.parametrize("domain", [flou.Interval(0, 1, cells=1), flou.Categories(["x"], other=False, missing="x")])
def test_columns_with_nothing_to_tell_are_refused_by_name(domain):
    """A column with one possible value is named in the refusal."""
    with pytest.raises(InvalidParameter, match="Column 'x': "):
        Sanitiser({"x": domain}, epsilon=1)
    with pytest.raises(InvalidParameter, match="Column 'x': The grid has"):
        Sanitiser({"x": flou.Integers(0, 2**40)}, epsilon=1)


def test_every_pair_of_blocks_is_cut_alike():
    """However a source cuts its rows, blocks are the same, so that the same bits give the same table."""

    class Cut(flou.summaries.rows.Rows):
        engine, columns = "cut", ("x",)
        collect = where = capped = key_counts = tally = None

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


# The command


TOML = """
[columns.age]
type = "integers"
bounds = [18, 100]

[columns.smokes]
type = "boolean"
"""


@pytest.fixture
def files(tmp_path):
    pd.DataFrame({"age": [20, 30], "smokes": [True, False], "name": ["Ada", "Bob"]}).to_csv(
        tmp_path / "data.csv", index=False
    )
    (tmp_path / "schema.toml").write_text(TOML)
    return tmp_path


def run(files, *more: str):
    from typer.testing import CliRunner

    from flou.cli import app

    arguments = [str(files / "data.csv"), "--schema", str(files / "schema.toml"), *more]
    return CliRunner().invoke(app, ["sanitise", *arguments], env={"COLUMNS": "300"})


def test_the_command(files):
    """It writes the rows and the certificate, and says what a person pays."""
    done = run(files, "--epsilon", "2", "--drop", "--out", str(files / "o.csv"), "--certificate", str(files / "c.json"))
    assert done.exit_code == 0, done.output
    assert "A person pays epsilon = 2 in total, 1 for each of 2 columns." in done.output
    assert "Left out: name" in done.output
    assert list(pd.read_csv(files / "o.csv").columns) == ["age", "smokes"]
    assert json.loads((files / "c.json").read_text())["loss"]["epsilon"] == 2


def test_the_command_says_that_every_column_costs(files):
    """With --per-column the total is told, and Parquet is written."""
    done = run(
        files, "--epsilon", "1/2", "--drop", "--per-column", "--method", "laplace", "--out", str(files / "o.parquet")
    )
    assert done.exit_code == 0, done.output
    assert "A person pays epsilon = 1 in total: 0.5 times 2 columns." in done.output
    assert "bounded Laplace" in done.output
    assert len(pd.read_parquet(files / "o.parquet")) == 2


def test_the_command_refuses(files):
    """Undeclared columns, unknown methods and the data's own file are refused, and nothing is written."""
    for more, words in [
        (("--epsilon", "1", "--out", str(files / "o.csv")), "'name'"),
        (("--epsilon", "1", "--drop", "--method", "x", "--out", str(files / "o.csv")), "method must be one of"),
        (("--epsilon", "1", "--drop", "--out", str(files / "data.csv")), "another file"),
        (("--epsilon", "0", "--drop", "--out", str(files / "o.csv")), "epsilon"),
    ]:
        done = run(files, *more)
        assert done.exit_code == 2
        assert words in done.output + str(getattr(done, "stderr", ""))
    assert sorted(path.name for path in files.iterdir()) == ["data.csv", "schema.toml"]
