"""The benchmark of quantiles scores, judges, runs: cd benchmarks && ../.venv/bin/python -m pytest test_quantiles.py"""

import io
import json
import math

import numpy as np
import pytest
from rich.console import Console

import quantiles
import quantiles_times
from harness.declare import Claim, Entry, Measure, Section
from harness.outcome import MeasureOutcome, Outcome, SectionOutcome
from quantiles_cells import CALL, Column, Found, Setting, columns, settings
from quantiles_claims import ON, as_accurate, groups, times_more_accurate
from quantiles_errors import chains
from workers.quantiles_data import one_by_one, probabilities, rank_error, rank_errors, sets, snapped, values
from workers.quantiles_make import SEED, drawn, make

ROWS = [1.0, 2.0, 2.0, 2.0, 3.0, 5.0]


@pytest.mark.parametrize(
    ("answer", "target", "error"),
    [
        (2.0, 2, 0),  # an atom has all of its ranks,
        (2.0, 4, 0),
        (2.0, 5, 1),  # but no other
        (2.0, 1, 0),  # nothing lies between it and the record below
        (3.0, 2, 2),
        (2.5, 4, 0),  # between records: the rank of the record below
        (2.5, 5, 1),
        (2.5, 3, 1),
        (0.0, 3, 3),
        (9.0, 3, 3),
    ],
)
def test_rank_error(answer, target, error):
    """The distance in ranks is counted by hand."""
    assert rank_error(answer, target, ROWS) == error


def test_rank_error_agrees_with_brute_force():
    """On random ties it is the least distance from the target to a number of rows that the answer splits off."""
    random = np.random.default_rng(3)
    for _ in range(300):
        rows = np.sort(random.integers(0, 8, 12)).astype(float)
        answer, target = float(random.integers(0, 16)) / 2, int(random.integers(1, 12))
        possible = range(int((rows < answer).sum()), int((rows <= answer).sum()) + 1)
        assert rank_error(answer, target, rows.tolist()) == min(abs(target - one) for one in possible)


def test_wrong_answers_score_worse(monkeypatch):
    """The exact quantiles score 0, and a release that is a hundred ranks off scores a hundred."""
    rows = [float(i) for i in range(1, 1001)]
    monkeypatch.setattr("workers.quantiles_data.ordered", lambda *_: rows)
    effort = {"least": 3, "most": 5, "seconds": 10.0, "limit": 5.0}
    for shift in (0, 100, -100):
        answers = [1000 * p + shift for p in probabilities(9)]
        found = rank_errors(lambda _, answers=answers: lambda: answers, "uniform", 1000, 9, **effort)
        assert len(found["errors"]) == 5
        # an answer at a record r has r - 1 and r rows below it or up to it
        assert found["errors"] == [max(0, abs(shift) - (shift > 0))] * 5


def test_releases_take_turns_among_the_sets(monkeypatch):
    """Each set of rows is made ready once, and answers are scored by its own rows."""
    monkeypatch.setattr("workers.quantiles_data.ordered", lambda _, rows, which: [which] * rows)
    made = []

    def of_set(which):
        made.append(which)
        return lambda: [float(which)]

    there_are = sets(10)
    effort = {"least": 2 * there_are, "most": 2 * there_are, "seconds": 10.0, "limit": 5.0}
    assert rank_errors(of_set, "uniform", 10, 1, **effort)["errors"] == [0.0] * 2 * there_are
    assert made == list(range(there_are))


def test_slow_calls_are_refused():
    """What would take longer than the limit is skipped in words, also before all of it was tried."""
    effort = {"least": 3, "most": 5, "seconds": 1.0, "limit": -1.0}
    with pytest.raises(TimeoutError, match="skipped, a call takes"):
        one_by_one(lambda _: 0.0, 9, effort["limit"])


def test_snapping():
    assert snapped([36_400.0, 36_600.0], 1000) == [36_000, 37_000]


def test_data_is_the_same_in_every_run():
    """Seeded, within the public bounds, and salaries are multiples of their granularity."""
    for data in ("uniform", "normal", "salaries"):
        assert np.array_equal(drawn(data, 1000), drawn(data, 1000))
        assert not np.array_equal(drawn(data, 1000), drawn(data, 1000, 12))
    assert not np.any(drawn("salaries", 1000) % 1000)
    assert np.unique(drawn("salaries", 1000)).size < 200


def found(errors, name=CALL, task="error_of_call", setting=ON, relation="add-remove", **others):
    return Found(setting, Column(name, "x", relation, task), tuple(errors), **others)


def test_standard_error():
    one = found([1.0, 2.0, 3.0, 2.0])
    assert one.error == 2
    assert one.standard_error == pytest.approx(math.sqrt(2 / 3) / 2)


def test_standard_errors_count_sets_and_not_releases():
    """To ask the same rows again adds no knowledge of other rows; where rows have no luck, all releases count."""
    random = np.random.default_rng(4)
    luck = random.exponential(size=sets(ON.rows))
    once = found(luck)
    assert found([*luck, *luck, *luck]).standard_error == pytest.approx(once.standard_error)
    noise = random.exponential(size=4 * sets(ON.rows))
    assert found(noise).standard_error == pytest.approx(np.std(noise) / math.sqrt(noise.size), rel=0.2)


def test_sets_of_a_file_are_different(tmp_path, monkeypatch):
    """Everybody reads the set that was drawn with the seed of its number."""
    monkeypatch.setattr("workers.quantiles_data.FOLDER", tmp_path)
    monkeypatch.setattr("workers.quantiles_make.FOLDER", tmp_path)
    make("normal", 50)
    for which in (0, 1, sets(50) - 1):
        assert np.array_equal(values.__wrapped__("normal", 50, which), drawn("normal", 50, SEED + which))
    assert sets(10**3) > sets(10**5) > sets(10**6) >= 20


@pytest.mark.parametrize(("ours", "holds"), [([5.0, 5.2, 4.8], True), ([50.0, 52.0, 48.0], False)])
def test_accuracy_claim(ours, holds):
    """A call that is ten times worse than a method is found out; one within the noise is not."""
    cells = groups([found(ours), found([5.0, 4.9, 5.1], "JointN", "error_of_method")])
    verdict = as_accurate(CALL, {"method"}, "as accurate", cells)
    assert verdict.holds is holds
    assert as_accurate(CALL, {"peer"}, "as accurate", cells).holds is None


@pytest.mark.parametrize(
    ("ours", "theirs", "holds", "word"),
    [
        ([0.0, 0.0], [50.0, 60.0], True, "exact"),
        ([0.0, 0.0], [0.0, 0.0], False, "exact"),
        ([0.0, 0.0], [5.0, 5.0], False, "exact"),  # in 18 answers one rank may hide: no more than 90 times
        ([0.5, 0.5], [51.0, 51.0], True, "102 times"),
        ([0.5, 0.5], [49.0, 49.0], False, "98 times"),
    ],
)
def test_times_more_accurate(ours, theirs, holds, word):
    """A hundred times is a hundred times; an error of 0 is called exact, and is no better than another 0."""
    (verdict,) = times_more_accurate([found(ours), found(theirs, "peer", "error_of_quantiles")])
    assert verdict.holds is holds
    assert word in verdict.measured


def test_paired_ratios():
    """A claim about time is the median of ratios of the same round: a disturbance of both does not count."""
    entries = (Entry("flou", "ours", "t"), Entry("plain", "theirs", "t"))
    rows = [Outcome(entries[0], cpu=[2.0, 20.0, 2.1]), Outcome(entries[1], cpu=[1.0, 10.0, 1.0])]
    section = Section("s", quantiles_times.MS, (Measure("m", entries),))
    outcome = SectionOutcome(section, [MeasureOutcome(section.measures[0], rows)])
    claim = Claim("c", ("s", "m", "ours"), ("s", "m", "theirs"), at_most=2)
    assert quantiles_times.paired(claim, [outcome]).ratio == 2
    rows[1].problem = "gone"
    assert quantiles_times.paired(claim, [outcome]).holds is None


@pytest.mark.parametrize("quick", [True, False])
def test_declarations(quick):
    """Every claim names cells that are measured, and every column of a setting has a name of its own."""
    benchmark = quantiles.declare(quick)
    entries = [(s.title, m.name, e.label) for s in benchmark.sections for m in s.measures for e in m.entries]
    assert len(entries) == len(set(entries))
    assert {side for claim in benchmark.claims for side in (claim.ours, claim.theirs) if side} <= set(entries)
    for setting in settings(quick):
        names = [(column.name, column.relation) for column in columns(setting)]
        assert len(names) == len(set(names))
    people = {one.name for one in benchmark.participants} - {"plain"}
    jobs = chains(settings(quick), people)
    assert {who for who, _ in jobs} == people
    assert sum(map(len, jobs.values())) == sum(len(list(columns(one))) for one in settings(quick))


def test_quick_run(tmp_path):
    """A quick run of flou alone measures every method, names who is missing, and writes JSON."""
    screen, out = io.StringIO(), tmp_path / "quantiles.json"
    report = quantiles.run(True, Console(file=screen, width=160), ("flou", "plain"))
    quantiles.written(out, report)
    assert json.loads(out.read_text()) == json.loads(json.dumps(report))
    assert [one for one in report["errors"] if "problem" in one] == []
    assert "PyDP is missing" in screen.getvalue()
    assert {one["column"] for one in report["errors"]} > {"flou", "JointN", "RecExp", "Tree", "QExp", "IndExp"}
    rows = [row for section in report["sections"] for measure in section["measures"] for row in measure["rows"]]
    assert [row for row in rows if row["value"] is None and " is missing: " not in row["problem"]] == []
    assert Setting("uniform", 1000, 9, 1.0) in settings(True)
