"""Sanitised files: whole or not there at all, in bounded memory; refusals; and the command."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

import duckdb
import pandas as pd
import pytest
from typer.testing import CliRunner

import flou
from flou.cli import app
from flou.errors import InvalidParameter
from flou.local import Sanitiser, sanitise
from flou.local.tables import sanitised_file
from local.tables.sanitised_people import SCHEMA, people


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

    monkeypatch.setattr(sanitised_file, "_texts", lambda _: full)
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
    [("out.txt", r"end in \.csv or \.parquet"), ("nowhere/out.csv", "in a folder"), ("data.csv", "a different file")],
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
        (("--epsilon", "1", "--drop", "--out", str(files / "data.csv")), "a different file"),
        (("--epsilon", "0", "--drop", "--out", str(files / "o.csv")), "epsilon"),
    ]:
        done = run(files, *more)
        assert done.exit_code == 2
        assert words in done.output + str(getattr(done, "stderr", ""))
    assert sorted(path.name for path in files.iterdir()) == ["data.csv", "schema.toml"]
