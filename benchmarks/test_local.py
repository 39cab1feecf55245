"""The benchmark of local randomisers judges and runs: cd benchmarks && ../.venv/bin/python -m pytest test_local.py"""

import io
import json

import numpy as np
import pytest
from rich.console import Console

import local
from flou.local import frequencies
from harness.declare import Entry, Measure, Section
from harness.outcome import MeasureOutcome, Outcome, SectionOutcome
from harness.run import write
from local_claims import FASTER, as_theory_says, faster, over_theory
from workers.local_data import EPSILON, K, answers, counted, rates, squared_error, theory, unbiased


@pytest.mark.parametrize("method", local.METHODS)
def test_theory(method):
    """The formulas written out here are those by which flou compares its oracles."""
    oracle = frequencies(K, epsilon=EPSILON, method=method)
    g = getattr(oracle, "g", None)
    assert rates(method, g) == pytest.approx((oracle.p, oracle.q))
    assert theory(method, g) == pytest.approx(oracle.variance(1 / K))


@pytest.mark.parametrize(("shift", "expected"), [(0.0, 0.0), (0.1, 10.0), (-0.1, 10.0)])
def test_squared_error(shift, expected):
    """The exact shares score 0, and shares that are all a tenth off score a hundredth times the number of people."""
    found = squared_error(lambda given: np.bincount(given, minlength=K) / given.size + shift, 1000, 3)()
    assert found == pytest.approx(expected, abs=1e-12)


def test_answers_are_the_same_in_every_run():
    assert np.array_equal(answers(1000), answers(1000))
    assert answers(10**5).min() == 0
    assert answers(10**5).max() == K - 1


def test_counted():
    """Reports in the proportions that GRR has on average give back the shares."""
    p, q = rates("grr")
    shares = np.arange(K) / np.arange(K).sum()
    assert unbiased(1000 * (shares * p + (1 - shares) * q), 1000, p, q) == pytest.approx(shares)
    assert counted([0] * 10)[0] == pytest.approx((1 - q) / (p - q))


def timings(**seconds):
    """Outcomes of a client and an aggregator: participant = (client's seconds, aggregator's, part of the people)."""
    outcomes = []
    for side, title in enumerate((local.CLIENT, local.AGGREGATOR)):
        rows = [
            Outcome(Entry(name, name, title.lower(), units=told[2]), cpu=[told[side]] * 3)
            for name, told in seconds.items()
            if told[side] is not None
        ]
        measure = Measure("GRR", tuple(row.entry for row in rows))
        section = Section(title, local.SECONDS, (measure,), statistic="median")
        outcomes.append(SectionOutcome(section, [MeasureOutcome(measure, rows)]))
    return outcomes


@pytest.mark.parametrize(
    ("seconds", "holds", "ratio"),
    [
        ({"flou": (1.0, 1.0, 1), "slow": (90.0, 10.0, 1), "quick": (12.0, 12.0, 1)}, True, 12),
        ({"flou": (1.0, 1.0, 1), "slow": (90.0, 10.0, 1), "quick": (9.0, 9.0, 1)}, False, 9),
        ({"flou": (1.0, 1.0, 1), "scaled": (0.9, 1.1, 0.1)}, True, 10),
        ({"flou": (1.0, 1.0, 1), "half": (1.0, None, 1), "whole": (30.0, 0.0, 1)}, True, 15),
        ({"flou": (1.0, 1.0, 1), "half": (1.0, None, 1)}, None, None),
    ],
)
def test_faster(seconds, holds, ratio):
    """The best peer counts, scaled up, with both of its sides; who has one side only is left out."""
    verdict = faster(timings(**seconds), "GRR", 10)
    assert verdict.holds is holds
    assert verdict.ratio == (None if ratio is None else pytest.approx(ratio))


@pytest.mark.parametrize(("times", "holds"), [(1.0, True), (1.04, True), (1.06, False), (0.94, False)])
def test_as_theory_says(times, holds):
    """An error six percent above or below the formula is found out."""
    entry = Entry("flou", "flou", "error", {"method": "grr", "people": 1000, "releases": 100})
    row = Outcome(entry, values=[times * theory("grr")])
    section = Section(local.ERROR, local.ERRORS, (Measure("GRR", (entry,)),), clock=None)
    outcomes = [SectionOutcome(section, [MeasureOutcome(section.measures[0], [row])])]
    assert as_theory_says(outcomes).holds is holds
    assert over_theory(outcomes)[0]["over_theory"] == pytest.approx(times)


@pytest.mark.parametrize("quick", [True, False])
def test_declarations(quick):
    """Every cell has a name of its own, every entry a participant, every claim a column; flou is never scaled."""
    benchmark = local.declare(quick)
    entries = [(s.title, m.name, e) for s in benchmark.sections for m in s.measures for e in m.entries]
    cells = [(title, name, entry.label) for title, name, entry in entries]
    assert len(cells) == len(set(cells))
    assert {entry.participant for *_, entry in entries} == {one.name for one in benchmark.participants}
    assert set(FASTER) <= {name for title, name, _ in entries if title == local.CLIENT}
    assert all(entry.units == 1 for *_, entry in entries if entry.participant == "flou")


def test_quick_run(tmp_path):
    """A quick run of flou alone measures every method, names who is missing, and writes JSON."""
    screen, out = io.StringIO(), tmp_path / "local.json"
    console = Console(file=screen, width=160)
    report = local.run(True, console, ("flou",))
    write(out, report)
    assert json.loads(out.read_text()) == json.loads(json.dumps(report))
    assert "pure-ldp is missing" in screen.getvalue()
    rows = [row for section in report["sections"] for measure in section["measures"] for row in measure["rows"]]
    assert [row for row in rows if row["value"] is None and " is missing: " not in row["problem"]] == []
    assert {one["method"] for one in report["over_theory"]} == set(local.METHODS.values())
    assert [claim["holds"] for claim in report["claims"][:-1]] == [None] * len(FASTER)
