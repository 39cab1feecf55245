"""Document 002's experiment: its own numbers on the real table, and honest ones on a made-up table."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys

import numpy as np
import pytest

from docs.pages import ROOT
from flou.bits import SeededBits
from flou.errors import InvalidData
from flou.local import NaiveBayes, sanitise
from flou.local.learning.utility import utility
from flou.reproduce.diabetes import (
    LABEL,
    SCHEMA,
    VARIABLE,
    clean_scores,
    made_diabetes,
    read_diabetes,
    split,
)
from flou.reproduce.diabetes_curves import experiment, faults, learned_over_splits

real = pytest.mark.skipif(VARIABLE not in os.environ, reason=f"{VARIABLE} does not name the diabetes table")


@real
def test_the_documents_numbers():
    """Without privacy accuracy and f1 are those that the document prints, to the last digit."""
    assert clean_scores(read_diabetes().printed) == (0.7857142857142857, pytest.approx(0.6373626373626374, rel=1e-15))


@real
def test_clean_accuracy_at_a_total_of_four_and_a_half():
    """Over sixty draws of the noise naive Bayes from reports is within 0.02 of clean accuracy, on average."""
    columns = read_diabetes().public
    learn, tried = ({name: values[rows] for name, values in columns.items()} for rows in split())
    report = utility(
        learn, tried, SCHEMA, label=LABEL, epsilons=[4.5], methods=["reports"], repeats=60, bits=SeededBits(1)
    )
    assert report.clean.accuracy == pytest.approx(0.785714, abs=1e-6)
    assert report.lines[0].accuracy >= report.clean.accuracy - 0.02


def test_the_split_is_the_documents():
    """The first rows of train_test_split(random_state=0, test_size=0.20), and every row once."""
    learn, tried = split()
    assert (len(learn), len(tried)) == (614, 154)
    assert tried[:5].tolist() == [661, 122, 113, 14, 529]
    assert sorted([*learn.tolist(), *tried.tolist()]) == list(range(768))


def test_scikit_learn_splits_alike():
    """The split is scikit-learn's."""
    selection = pytest.importorskip("sklearn.model_selection")
    learn, tried = selection.train_test_split(np.arange(768), random_state=0, test_size=0.20)
    assert [learn.tolist(), tried.tolist()] == [part.tolist() for part in split()]


def test_the_made_up_table_stands_in():
    """It has the columns, values within the public bounds or zero for missing ones, and something to learn."""
    made = read_diabetes("") if VARIABLE not in os.environ else None
    columns = made_diabetes()
    assert made is None or not made.real
    assert list(columns) == list(SCHEMA)
    assert 0.25 < columns[LABEL].mean() < 0.45
    assert clean_scores(columns)[0] > 0.75
    assert np.mean(columns["Insulin"] == 0) > 0.4


def test_another_table_is_refused(tmp_path):
    """What has other columns or rows is not the document's table; nothing of it is quoted."""
    path = tmp_path / "other.csv"
    path.write_text("a,b\n1,secret\n")
    for place in (path, tmp_path / "nowhere.csv"):
        with pytest.raises(InvalidData, match="not the diabetes table") as refusal:
            read_diabetes(place)
        assert "secret" not in str(refusal.value)


def written_table(tmp_path):
    columns = made_diabetes()
    path = tmp_path / "diabetes.csv"
    rows = zip(*(values.tolist() for values in columns.values()), strict=True)
    path.write_text("\n".join([",".join(columns), *(",".join(map(repr, row)) for row in rows)]) + "\n")
    return path


def test_missing_values_are_public_ones(tmp_path):
    """A file of the right shape is read; zeros count as the schema's value, or as the median where that is printed."""
    table = read_diabetes(written_table(tmp_path))
    zeros = table.columns["Insulin"] == 0
    assert np.isnan(table.public["Insulin"][zeros]).all()
    assert set(SCHEMA["Insulin"].decode(SCHEMA["Insulin"].encode(table.public["Insulin"][zeros]))) == {125}
    assert set(table.printed["Insulin"][zeros]) == {np.median(table.columns["Insulin"][~zeros])}
    assert np.array_equal(table.public["Pregnancies"], table.columns["Pregnancies"])


def test_faults_of_the_printed_mechanisms(tmp_path):
    """In closed form, and as the printed loop does it: values leave the bounds, which sanitised ones never do."""
    table = read_diabetes(written_table(tmp_path))
    found = faults(table, 1.0)
    assert found["staircase"] == pytest.approx(1 + math.log(2 - math.exp(-0.5)))
    assert found["perfect_on_noised_labels"] == pytest.approx(0.7310586)
    assert found["total"] == 9
    generator = np.random.default_rng(0)
    outside = []
    for name, values in table.printed.items():
        if name != LABEL:
            low, high = values.min(), values.max()
            noised = values + generator.laplace(0, high - low, (200, values.size))
            outside.append(np.mean((noised < low) | (noised > high)))
    assert found["outside"] == pytest.approx(np.mean(outside), abs=0.005)
    assert found["outside"] > 0.5
    for method in ("laplace", "staircase", "window"):
        kept = sanitise(table.public, SCHEMA, epsilon=9, method=method, bits=SeededBits(0)).columns
        for name, domain in SCHEMA.columns.items():
            if name != LABEL:
                assert kept[name].min() >= domain.lower
                assert kept[name].max() <= domain.upper


def test_the_experiment_repeats_itself_and_is_whole(tmp_path):
    """The same seed gives the same numbers; every method has its epsilons; nothing is missing."""
    table = read_diabetes(written_table(tmp_path))
    first, second = (experiment(table, 2, 2) for _ in range(2))
    assert first == second
    assert {line["method"] for line in first["lines"]} == {"laplace", "staircase", "window", "reports", "pairs"}
    assert all(0 <= line["accuracy"] <= 1 for line in first["lines"])
    assert json.loads(json.dumps(first)) == first


def test_reports_beat_rows_on_the_made_up_table(tmp_path):
    """At a total of 4.5 learning from reports loses little, and sanitised rows nearly everything."""
    table = read_diabetes(written_table(tmp_path))
    found = learned_over_splits(table, 20, SeededBits(2))
    assert found["loss"] < 0.08
    learn, tried = ({name: values[rows] for name, values in table.public.items()} for rows in split())
    report = utility(
        learn,
        tried,
        SCHEMA,
        label=LABEL,
        epsilons=[4.5],
        methods=["reports", "window"],
        repeats=10,
        bits=SeededBits(3),
    )
    assert report.lines[0].accuracy > report.lines[1].accuracy + 0.1
    assert report.lines[0].auc > report.lines[1].auc


def test_the_runner(tmp_path):
    """benchmarks/diabetes.py runs on the made-up table, and says that it is one."""
    environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
    out = tmp_path / "found.json"
    command = [sys.executable, "-W", "error", ROOT / "benchmarks" / "diabetes.py", "--quick", "--out", out]
    subprocess.run(command, check=True, env=environment, capture_output=True)
    assert json.loads(out.read_text())["real"] is False


def test_features_of_the_schema_are_learnable():
    """All eight features are numbers that the classifiers take."""
    features = {name: domain for name, domain in SCHEMA.columns.items() if name != LABEL}
    assert len(NaiveBayes(features, SCHEMA[LABEL], epsilon=1).survey.items) == 8
