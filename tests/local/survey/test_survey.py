"""Surveys: what a respondent pays, what travels, what comes out, and what is refused."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from typer.testing import CliRunner

import flou
from flou.bits import SeededBits
from flou.cli import app
from flou.errors import InvalidData, InvalidParameter
from flou.local import Collection, Item, Survey, batch_of, plan_for_error, plan_for_people, reports_in

QUESTIONS = {
    "smokes": flou.Boolean(),
    "town": flou.Categories(["a", "b", "c"]),
    "drinks": flou.Integers(0, 20),
    "pay": flou.Interval(0, 100),
}
FILE = """
[survey]
name = "habits"
epsilon = 1

[questions.smokes]
type = "boolean"

[questions.drinks]
type = "integers"
bounds = [0, 20]
statistic = "distribution"
"""


def answers(people: int, seed: int = 0) -> dict:
    generator = np.random.default_rng(seed)
    return {
        "smokes": generator.random(people) < 0.3,
        "town": np.array(["a", "b", "c"])[generator.integers(0, 3, people)],
        "drinks": generator.integers(0, 11, people),
        "pay": generator.uniform(20, 60, people),
    }


@pytest.mark.parametrize("ask", ["one", "all"])
def test_a_respondent_pays_epsilon_for_all_answers_together(ask):
    """All reports of one respondent, enumerated: which question, and what is said. Two questions, any answers."""
    survey = Survey({"x": flou.Boolean(), "y": flou.Categories(["a", "b", "c"], other=False, missing="a")}, 1, ask)
    laws = {name: [r.law(code) for code in range(r.domain.size)] for name, r in survey.randomisers.items()}
    outcomes = []
    for x in range(2):
        for y in range(3):
            px, py = (laws["x"][x].pmf(np.arange(2)), laws["y"][y].pmf(np.arange(3)))
            outcomes.append(np.concatenate([px / 2, py / 2]) if ask == "one" else np.outer(px, py).ravel())
    worst = max(np.log(one / other).max() for one in outcomes for other in outcomes)
    assert worst == pytest.approx(1.0)
    assert survey.guarantee.epsilon == 1


@pytest.mark.parametrize("ask", ["one", "all"])
def test_estimates_hold_the_truth(ask):
    survey = Survey(QUESTIONS, epsilon=4, ask=ask)
    collection = Collection(survey)
    for part in range(4):
        told = json.dumps(batch_of(survey, survey.randomise(answers(20_000, part), bits=SeededBits(part))))
        collection.add(reports_in(survey, told))
    assert collection.reports == 80_000 * (1 if ask == "one" else 4)
    found = collection.estimates()
    truth = {"smokes": [0.7, 0.3], "town": [1 / 3, 1 / 3, 1 / 3, 0], "drinks": [5], "pay": [40]}
    for name, right in truth.items():
        low, high = found[name].interval(0.9999, of="population")
        assert np.all((np.atleast_1d(low) <= np.array(right) + 1e-9) & (np.array(right) <= np.atleast_1d(high)))


def test_asking_one_question_each_is_more_accurate():
    one, all_of_them = (plan_for_people(Survey(QUESTIONS, epsilon=1, ask=ask), 10_000) for ask in ("one", "all"))
    for alone, together in zip(one, all_of_them, strict=True):
        assert alone.error < together.error


def test_a_plan_is_kept():
    survey = Survey({"town": flou.Categories(["a", "b"], other=False, missing="a")}, epsilon=1)
    (planned,) = plan_for_people(survey, 2_000)
    values = []
    for seed in range(200):
        reports = survey.randomise({"town": ["a", "b"] * 1000}, bits=SeededBits(seed))
        values.append(survey.randomisers["town"].estimate(reports["town"], consistent="none").value[0])
    noise = np.std(values) * 1.96  # around these respondents; the plan adds that they are a sample
    assert noise == pytest.approx(math.sqrt(planned.error**2 - planned.without_privacy**2), rel=0.2)
    (needed,) = plan_for_error(survey, planned.error)
    assert needed.people == pytest.approx(2_000, abs=1)


def test_collections_merge():
    survey = Survey(QUESTIONS, epsilon=1)
    parts = [survey.randomise(answers(30, i), bits=SeededBits(i)) for i in range(3)]
    whole, merged = Collection(survey), Collection(survey)
    for part in parts:
        whole.add(part)
        merged.merge(Collection(survey).add(part))
    assert merged.aggregates == whole.aggregates
    with pytest.raises(InvalidData, match="another survey"):
        merged.merge(Collection(Survey(QUESTIONS, epsilon=2)))


def test_files_say_the_same_as_objects(tmp_path):
    (tmp_path / "survey.toml").write_text(FILE)
    survey = Survey.from_toml(tmp_path / "survey.toml")
    questions = {"smokes": flou.Boolean(), "drinks": Item(flou.Integers(0, 20), statistic="distribution")}
    assert survey.fingerprint == Survey(questions, epsilon=1, name="habits").fingerprint
    (tmp_path / "again.toml").write_text(survey.to_toml())
    assert Survey.from_toml(tmp_path / "again.toml").fingerprint == survey.fingerprint
    assert Survey(questions, epsilon=1, name="habits", ask="all").fingerprint != survey.fingerprint


def test_any_table_has_answers(tmp_path):
    import polars as pl

    survey, told = Survey(QUESTIONS, epsilon=1), answers(500)
    frame = pl.DataFrame(told)
    frame.write_csv(tmp_path / "answers.csv")
    frame.write_parquet(tmp_path / "answers.parquet")
    sources = [told, frame, frame.lazy(), frame.to_pandas(), tmp_path / "answers.csv", tmp_path / "answers.parquet"]
    found = [survey.randomise(source, bits=SeededBits(3)) for source in sources]
    for other in found[1:]:
        assert all(np.array_equal(other[name], found[0][name]) for name in QUESTIONS)
    assert survey.randomise({name: [] for name in QUESTIONS})["town"].size == 0


def test_what_does_not_fit_is_refused():
    survey = Survey(QUESTIONS, epsilon=1)
    for wrong, word in (
        (lambda: survey.randomise({"smokes": [True]}), "no column"),
        (lambda: survey.randomise({**answers(3), "pay": [1.0]}), "same number of rows"),
        (lambda: reports_in(survey, "{"), "not a batch"),
        (lambda: reports_in(survey, {"survey": "x", "reports": {}}), "another survey"),
    ):
        with pytest.raises(InvalidData, match=word):
            wrong()
    for wrong, word in (
        (lambda: Survey({}, epsilon=1), "at least one"),
        (lambda: Survey(QUESTIONS, epsilon=0), "epsilon"),
        (lambda: Survey(QUESTIONS, epsilon=1, ask="some"), "ask"),
        (lambda: Item(flou.Interval(0, 1), statistic="shares"), "does not fit"),
        (lambda: Item(flou.Boolean(), statistic="mean"), "does not fit"),
        (lambda: Item(flou.Boolean(), statistic="mode"), "statistic"),
    ):
        with pytest.raises(InvalidParameter, match=word):
            wrong()


def test_the_command_line(tmp_path):
    (tmp_path / "survey.toml").write_text(FILE)
    rows = "smokes,drinks\n" + "true,3\nfalse,5\n,\n" * 300
    (tmp_path / "answers.csv").write_text(rows)
    run = CliRunner().invoke
    survey, reports = str(tmp_path / "survey.toml"), tmp_path / "reports.json"
    planned = run(app, ["survey", "plan", survey, "--people", "10000"])
    assert planned.exit_code == 0
    assert "10,000" in planned.output
    assert "smokes" in run(app, ["survey", "plan", survey, "--error", "0.02"]).output
    assert run(app, ["survey", "plan", survey]).exit_code == 2
    done = run(app, ["survey", "randomise", survey, str(tmp_path / "answers.csv"), "--out", str(reports)])
    assert done.exit_code == 0
    assert "900 reports" in done.output
    out = tmp_path / "estimates.json"
    told = run(app, ["survey", "estimate", survey, str(reports), str(reports), "--json", str(out)])
    assert told.exit_code == 0
    assert "smokes" in told.output
    assert set(json.loads(out.read_text())) == {"smokes", "drinks"}
    (tmp_path / "broken.json").write_text("{}")
    assert run(app, ["survey", "estimate", survey, str(tmp_path / "broken.json")]).exit_code == 2
    assert run(app, ["survey", "estimate", survey, str(tmp_path / "nowhere.json")]).exit_code == 2
