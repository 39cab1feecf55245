"""The harness measures what it says: cd benchmarks && ../.venv/bin/python -m pytest test_harness.py"""

import io
import subprocess
from contextlib import closing
from itertools import pairwise

import pytest
from rich.console import Console

import central
import noise
from harness import environments, machine
from harness.connection import Connection, Failed
from harness.declare import Benchmark, Claim, Entry, Fact, Measure, Participant, Section, Unit
from harness.outcome import MeasureOutcome, Outcome, SectionOutcome, judge
from harness.rounds import measure_in_rounds
from harness.run import run

TRIAL = Participant("trial", "workers.trial")
NS = Unit("ns", 1e9)


def entry(task, participant="trial", label="", **parameters):
    return Entry(participant, label or task, task, parameters)


@pytest.fixture
def trial():
    with closing(Connection(TRIAL)) as connection:
        yield connection


class Recorder:
    """A connection that writes down what it is asked."""

    def __init__(self):
        self.order, self.warm = [], []

    def refresh(self, *, restart):
        self.restarted = restart

    def ask(self, question, **details):
        if question in ("time", "value"):
            self.order.append(details["key"])
        else:
            self.warm.append(details["warm"])
        return {"cpu": 1.0, "wall": 2.0, "value": 3.0}


def test_interleaving():
    """In each round every entry runs once, and no entry always follows the same neighbour."""
    recorder = Recorder()
    measure = Measure("m", tuple(entry("steady", label=name) for name in "abcd"))
    outcomes = measure_in_rounds(measure, {"trial": recorder}, {}, 7, lambda _: None)
    order = recorder.order
    assert [sorted(order[start : start + 4]) for start in range(0, 28, 4)] == [[0, 1, 2, 3]] * 7
    for key in range(4):
        assert len({before for before, after in pairwise(order) if after == key}) > 1
    assert [outcome.cpu for outcome in outcomes] == [[1.0] * 7] * 4


def test_long_calls():
    """A long call is made as often as it says, without one to warm up, by a worker that starts anew if asked."""
    recorder = Recorder()
    measure = Measure("m", (entry("steady"), Entry("trial", "long", "steady", rounds=2)), fresh=True)
    short, long = measure_in_rounds(measure, {"trial": recorder}, {}, 5, lambda _: None)
    assert (len(short.wall), len(long.wall)) == (5, 2)
    assert recorder.warm == [True, False]
    assert recorder.restarted


def test_restart_forgets(trial):
    """A worker that is started anew is another process, and answers."""
    before = trial.ask("hello"), trial._process.pid
    trial.refresh(restart=True)
    assert trial._process.pid != before[1]
    assert trial.ask("hello") == before[0]


def test_values(trial):
    """Without a clock the returned number counts, and nothing is called to warm up."""
    measure = Measure("m", (entry("counter"),))
    (outcome,) = measure_in_rounds(measure, {"trial": trial}, {}, 3, lambda _: None, timed=False)
    assert outcome.values == [1, 2, 3]
    assert outcome.to_json()["values"] == [1, 2, 3]
    readings = {"min": 1, "median": 2, "max": 3, "root mean square": (14 / 3) ** 0.5}
    for statistic, expected in readings.items():
        section = SectionOutcome(Section("s", NS, (measure,), clock=None, statistic=statistic), [])
        assert section.reading(outcome) == pytest.approx(expected)


def test_peak_memory(trial):
    """The memory of a fresh process is what its task takes, whatever its parent holds."""
    trial.ask("prepare", key=0, task="hold", parameters={"size": 3 * 10**8}, warm=True, check=False)
    sizes = {}
    for size in (10**6, 10**8):
        asked = {"worker": "workers.trial", "question": "hold", "parameters": {"size": size}}
        trial.ask("prepare", key=1, task="peak_memory", parameters=asked, warm=False, check=False)
        sizes[size] = trial.ask("value", key=1)["value"]
    assert 0.9e8 < sizes[10**8] - sizes[10**6] < 1.1e8
    assert sizes[10**8] < 2e8


def test_commit_sees_changes(tmp_path, monkeypatch):
    """A commit is marked when src/ holds something that it does not."""
    (tmp_path / "src").mkdir()
    (tmp_path / "benchmarks").mkdir()
    who = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
    for arguments in (["init", "-q"], [*who, "commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True)
    monkeypatch.setattr(machine, "BENCHMARKS", tmp_path / "benchmarks")
    assert not machine.commit().endswith("+")
    (tmp_path / "src" / "new.py").touch()
    assert machine.commit().endswith("+")


@pytest.mark.parametrize(("size", "accepted"), [(0.5, False), (0.85, True), (1.2, True), (1.41, False)])
def test_same_law(trial, size, accepted):
    """Draws of the size asked for are timed; half of it or 1.4 times it is refused, in words."""
    measure = Measure("m", (entry("steady", size=size),), mean_absolute=1)
    (outcome,) = measure_in_rounds(measure, {"trial": trial}, {}, 2, lambda _: None)
    assert (outcome.problem == "") == accepted == (len(outcome.cpu) == 2)
    assert accepted or "another law" in outcome.problem


def test_printing_is_harmless(trial):
    """What a library prints never ends up among the answers."""
    (outcome,) = measure_in_rounds(Measure("m", (entry("talkative"),)), {"trial": trial}, {}, 3, lambda _: None)
    assert not outcome.problem
    assert len(outcome.wall) == 3


def test_faults_are_words(trial):
    """A task that fails says why, on one line, and the others go on."""
    measure = Measure("m", (entry("faulty"), entry("steady", size=1)))
    faulty, steady = measure_in_rounds(measure, {"trial": trial}, {}, 2, lambda _: None)
    assert faulty.problem == "ValueError: there is no such scale"
    assert len(steady.cpu) == 2


def test_dead_worker_returns(trial):
    """A worker that dies is reported with its last words, and is back for the next measure."""
    dead, _ = measure_in_rounds(
        Measure("m", (entry("mortal"), entry("steady", size=1))), {"trial": trial}, {}, 1, lambda _: None
    )
    assert "the last words" in dead.problem
    (alive,) = measure_in_rounds(Measure("m", (entry("steady", size=1),)), {"trial": trial}, {}, 1, lambda _: None)
    assert not alive.problem


def test_failed_import():
    """A worker whose library cannot be imported is unavailable, and says so."""
    with pytest.raises(environments.Unavailable, match="No module named"):
        Connection(Participant("nobody", "workers.nobody"))


def test_unknown_question(trial):
    with pytest.raises(Failed, match="nonsense"):
        trial.ask("nonsense")


def test_failed_installation(tmp_path, monkeypatch):
    """Requirements that pip refuses are told in words and leave no environment that looks ready."""
    monkeypatch.setattr(environments, "BENCHMARKS", tmp_path / "benchmarks")
    (tmp_path / "benchmarks" / "peers").mkdir(parents=True)
    (tmp_path / "benchmarks" / "peers" / "broken.txt").write_text("not a requirement\n")
    with pytest.raises(environments.Unavailable, match="pip could not install it"):
        environments.prepare("broken")
    assert not (tmp_path / ".venv-bench-broken" / "ready").exists()


@pytest.mark.parametrize(
    ("limits", "theirs", "holds"),
    [
        ({"at_most": 3}, [0.5], True),
        ({"at_most": 3}, [0.3], False),
        ({"at_least": 100}, [101.0], True),
        ({"at_least": 100}, [99.0], False),
        ({"at_least": 100}, [], None),
    ],
)
def test_claims(limits, theirs, holds):
    """A claim is ticked, crossed, or left open when a side is missing; the least of the rounds counts."""
    rows = [Outcome(entry("t", label="ours"), cpu=[1.0, 9.0]), Outcome(entry("t", label="theirs"), cpu=theirs)]
    measure = Measure("m", tuple(row.entry for row in rows))
    outcome = SectionOutcome(Section("s", NS, (measure,)), [MeasureOutcome(measure, rows)])
    assert judge(Claim("c", ("s", "m", "ours"), ("s", "m", "theirs"), **limits), [outcome]).holds is holds


@pytest.mark.parametrize(("at_most", "holds"), [(2, True), (1, False)])
def test_claims_of_values(at_most, holds):
    """A claim about one cell is held against what the table shows."""
    measure = Measure("m", (entry("t", label="ours"),))
    row = Outcome(measure.entries[0], values=[1.5e9])
    outcome = SectionOutcome(Section("s", Unit("GB", 1e-9), (measure,), clock=None), [MeasureOutcome(measure, [row])])
    verdict = judge(Claim("c", ("s", "m", "ours"), at_most=at_most), [outcome])
    assert (verdict.holds, verdict.measured, verdict.limit) == (holds, "1.50 GB", f"at most {at_most} GB")


@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("script", [noise, central], ids=lambda script: script.__name__)
def test_declarations(script, quick, monkeypatch):
    """Every claim names cells that are measured, and every entry somebody who takes part."""
    monkeypatch.setattr(central, "make", lambda _: None)
    benchmark = script.declare(quick)
    entries = [(s.title, m.name, e) for s in benchmark.sections for m in s.measures for e in m.entries]
    cells = [(title, name, entry.label) for title, name, entry in entries]
    assert len(cells) == len(set(cells))
    assert {side for claim in benchmark.claims for side in (claim.ours, claim.theirs) if side} <= set(cells)
    assert {entry.participant for *_, entry in entries} == {participant.name for participant in benchmark.participants}


def test_missing_participant():
    """A run without one of its participants goes on, names it, and leaves its claims open."""
    ghost = Participant("ghost", "workers.nobody")
    measure = Measure("m", (entry("steady", size=1), entry("steady", "ghost", "theirs", size=1)))
    claim = Claim("quicker", ("s", "m", "steady"), ("s", "m", "theirs"), at_least=2)
    fact = Fact("nothing strays", entry("strays"))
    benchmark = Benchmark("b", (TRIAL, ghost), (Section("s", NS, (measure,)),), (claim,), (fact,), rounds=2)
    screen = io.StringIO()
    report = run(benchmark, Console(file=screen, width=100))
    assert "ghost is missing" in screen.getvalue()
    assert [verdict["holds"] for verdict in report["claims"]] == [None, False]
    assert "No module named" in report["participants"]["ghost"]["missing"]
