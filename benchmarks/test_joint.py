"""The benchmark of joint statistics judges and runs: cd benchmarks && ../.venv/bin/python -m pytest test_joint.py"""

import io
import json
import math

import numpy as np
import pytest
from rich.console import Console

import joint
from harness.declare import Entry
from harness.outcome import MeasureOutcome, Outcome, SectionOutcome, judge
from harness.run import write
from joint_growth import growth, summary, verdicts
from workers.joint_data import COLUMNS, LENGTH, ROWS, coefficients, rows, total, words
from workers.joint_flou import gram_floats, gram_words, keystream, masks, session
from workers.joint_result import checked, elapsed


def test_data_are_the_same_in_every_run():
    """Parties have different numbers, and the same ones whenever they are asked."""
    assert np.array_equal(words(0), words(0))
    assert not np.array_equal(words(0), words(1))
    assert len(words(2)) == LENGTH
    x, y = rows(1)
    assert x.shape == (ROWS, COLUMNS)
    assert np.array_equal(y, rows(1)[1])


@pytest.mark.parametrize("statistic", ["sum", "regression"])
def test_wrong_results_are_refused(statistic):
    """Right ones pass; one that is off at one party, or too short, does not."""
    right = total(3) if statistic == "sum" else coefficients(3).tolist()
    checked(statistic, 3, [right, right])
    for wrong in ([right[0] + (1 if statistic == "sum" else 1e-5), *right[1:]], right[1:]):
        with pytest.raises(ValueError, match="wrong"):
            checked(statistic, 3, [right, wrong])


def test_elapsed():
    """From the first to the last, whoever they are."""
    answers = [{"began": 1.0, "ended": 4.0, "a": 2.0, "b": 3.0}, {"began": 0.5, "ended": 3.0, "a": 1.5, "b": 3.5}]
    assert elapsed(answers) == 3.5
    assert elapsed(answers, "a", "b") == 2.0


def test_both_masks_are_the_same():
    """What add_mask is held against makes the same numbers."""
    ours, theirs = masks(100_000), keystream(100_000)
    ours()
    theirs()
    words = [call.__closure__[[*call.__code__.co_freevars].index("words")].cell_contents for call in (ours, theirs)]
    assert np.array_equal(words[0][0], words[1])
    assert words[1].any()


def test_both_products_are_the_same():
    """The exact sums of products are those in floats, up to rounding."""
    exact, floats = gram_words(1000)(), gram_floats(1000, stacked=True)()
    upper = floats[np.triu_indices(COLUMNS + 2)]
    places = [(i, j) for i in range(COLUMNS + 2) for j in range(i, COLUMNS + 2)]
    bits = [0, *[56] * COLUMNS, 53]  # of the codes of the intercept, of regressors, and of the response
    scaled = [value / 2 ** (bits[i] + bits[j]) for value, (i, j) in zip(exact, places, strict=True)]
    assert upper == pytest.approx(scaled, rel=1e-9, abs=1e-6)
    assert gram_floats(1000, stacked=False)() == pytest.approx(floats)


@pytest.mark.parametrize(("power", "holds"), [(1.1, True), (1.3, False), (2.0, False)])
def test_growth_is_judged(power, holds):
    """A cost that grows like m^1.1 passes, one like m^1.3 or m² does not, and small groups are left out."""
    found = []
    for parties in (3, 100, 300, 1000, 10_000):
        cost = parties**power if parties >= 300 else 10**9
        one = {"parties": parties, "mask_seconds": 1e-4, "coordinator": {"cpu_seconds": 0.0}}
        one["party"] = [{"cpu_seconds": cost / parties}] * 3
        found.append(one | summary(one))
    (verdict,) = verdicts(found)
    assert verdict.holds is holds
    assert verdict.ratio == pytest.approx(power)
    assert verdicts(found[:3])[0].holds is None


def test_summary():
    """Everyone is all parties and the coordinator; the median of the measurements of a party counts."""
    one = {"parties": 10, "mask_seconds": 0.5, "coordinator": {"cpu_seconds": 7.0}}
    one["party"] = [{"cpu_seconds": seconds} for seconds in (1.0, 3.0, 99.0)]
    assert summary(one) == {"party_seconds": 3.0, "everyone_seconds": 37.0, "quadratic_seconds": 45.0}


@pytest.mark.parametrize(("ours", "holds"), [(0.019, True), (0.021, False)])
def test_claims_about_time(ours, holds):
    """Twice the peer's median is the limit: session against session, and round against round."""
    section = joint.together(joint.SUM)
    measures = []
    for measure in section.measures:
        values = {
            "flou, whole session": 10 * ours,
            "flou, the round alone": ours,
            "MPyC, connected": 0.01,
            "MPyC, mpc.start included": 0.1,
        }
        rows = [Outcome(entry, values=[values[entry.label]]) for entry in measure.entries]
        measures.append(MeasureOutcome(measure, rows))
    for claim in joint.claims(True)[:4]:
        assert judge(claim, [SectionOutcome(section, measures)]).holds is holds


@pytest.mark.parametrize("quick", [True, False])
def test_declarations(quick):
    """Every cell has a name of its own, every entry a participant, and every claim its cells."""
    benchmark = joint.declare(quick)
    entries = [(s.title, m.name, e) for s in benchmark.sections for m in s.measures for e in m.entries]
    cells = [(title, name, entry.label) for title, name, entry in entries]
    assert len(cells) == len(set(cells))
    assert {entry.participant for *_, entry in entries} == {one.name for one in benchmark.participants}
    assert {side for claim in benchmark.claims for side in (claim.ours, claim.theirs) if side} <= set(cells)
    assert all(isinstance(entry, Entry) for *_, entry in entries)


@pytest.mark.parametrize("statistic", ["sum", "regression"])
def test_a_session_between_processes(statistic):
    """The round is a part of the session, and both are counted by the same clock."""
    whole, part = session(statistic, 3, "session"), session(statistic, 3, "round")
    assert 0 < min(part() for _ in range(3)) < max(whole() for _ in range(3)) < 60


def test_a_party_alone_costs_what_it_costs():
    """What a party sends and receives is the coordinator's part for it, and its steps add up."""
    (one,) = growth((4,), Console(file=io.StringIO()))
    first = one["party"][0]
    assert first["cpu_seconds"] == pytest.approx(math.fsum(first["steps"].values()))
    assert list(first["steps"]) == ["join", "reveal", "mask", "agree", "unmask", "confirm"]
    assert 4 * first["sent_bytes"] == pytest.approx(one["coordinator"]["received_bytes"], rel=0.01)
    assert 4 * first["received_bytes"] == pytest.approx(one["coordinator"]["sent_bytes"], rel=0.01)


def test_quick_run(tmp_path):
    """A quick run of flou alone measures everything, names who is missing, and writes JSON."""
    screen, out = io.StringIO(), tmp_path / "joint.json"
    console = Console(file=screen, width=160)
    report = joint.run(True, console, ("flou",), (3, 4))
    write(out, report)
    assert json.loads(out.read_text()) == json.loads(json.dumps(report))
    assert "MPyC is missing" in screen.getvalue()
    found = [row for section in report["sections"] for measure in section["measures"] for row in measure["rows"]]
    assert [row for row in found if row["value"] is None and " is missing: " not in row["problem"]] == []
    assert [one["parties"] for one in report["growth"]] == [3, 4]
    assert {claim["holds"] for claim in report["claims"][:8]} == {None}
