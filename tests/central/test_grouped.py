"""Groups whose keys are selected privately, and tables of counts: what they answer, what they cost, what they hide."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

import flou
from flou import ApproxDP, Boolean, Categories, Integers, Interval, PureDP, Schema
from flou.bits import SeededBits
from flou.central import Histogram, Keys, Table, Variance
from flou.central.counts.keys import Selection
from flou.central.grouped import InGroups
from flou.central.question import Curator, PublicFacts
from flou.release import verify_chain
from flou.summaries.array.rows import ArrayRows

RELATIONS = ("add-remove", "substitute")
CITIES = {"Wien": 900, "Graz": 500, "other": 400, "Hof": 3}
CITY = np.repeat(list(CITIES), list(CITIES.values()))
SALARY = np.where(CITY == "Wien", 70.0, np.where(CITY == "Graz", 30.0, 10.0))


def opened(relation="add-remove", budget=None, bits=None, **rows):
    columns = {"city": CITY, "salary": SALARY, "number": np.where(CITY == "Wien", 7, 8), **rows}
    schema = Schema({"salary": Interval(0, 100), "age": Boolean()}, relation=relation)
    columns = {**columns, "age": np.arange(CITY.size) % 2 == 0}
    purse = None if budget is None else flou.central.Budget(budget, relation=relation)
    return Table(ArrayRows(columns), schema, purse, bits=bits or SeededBits(1))


@pytest.mark.parametrize("relation", RELATIONS)
def test_statistics_of_selected_groups(relation):
    """Selected groups are answered as public ones are; rows of other keys are left out, and fall into no group."""
    table = opened(relation)
    groups = table.group_by("city", epsilon=1, delta=1e-6)
    assert groups.keys.labels == ("Wien", "Graz", "other")
    truths = {
        "count": [900, 500, 400],
        "sum": [63_000, 15_000, 4_000],
        "mean": [70, 30, 10],
        "variance": [0, 0, 0],
        "std": [0, 0, 0],
    }
    for name, truth in truths.items():
        release = getattr(groups, name)(*([] if name == "count" else ["salary"]), epsilon=50)
        assert release.labels == groups.keys.labels
        low, high = release.interval(1 - 1e-6)
        assert np.all((low <= np.array(truth) + 1e-3) & (high >= np.array(truth) - 1e-3)), name
        assert release.cost == PureDP(50, relation=relation)
        assert json.loads(release.to_json())["labels"] == list(release.labels)
    table_of_counts = groups.histogram("salary", bins=2, epsilon=50)
    assert table_of_counts.labels[:3] == ("Wien: 0 to 50", "Wien: 50 to 100", "Graz: 0 to 50")
    assert np.abs(table_of_counts.value - [[0, 900], [500, 0], [400, 0]]).max() < 3


def test_the_certificate_says_how_the_groups_came():
    """Selected, with the threshold, its cost and the certificate of the selection; paid for once."""
    table = opened(budget=ApproxDP(3, 1e-6))
    groups = table.group_by("city", epsilon=1, delta=1e-6)
    mean, counts = groups.mean("salary", epsilon=1), groups.count(epsilon=1)
    for release in (mean, counts):
        told = release.certificate["keys"]
        assert told["group_keys"] == "selected"
        assert told["column"] == "city"
        assert told["threshold"] == Keys("city", 1, 1e-6).threshold(table._facts())
        assert told["selection_cost"] == ApproxDP(1, 1e-6).to_dict()
        assert told["selection_certificate"] == groups.keys.certificate.hash
    assert mean.title == "mean of salary by city"
    assert table.budget.spent == ApproxDP(3, 1e-6)
    verify_chain(table.certificates)
    assert len(table.certificates) == 3
    assert "salary" in mean.certificate["unit"]["bounds"]
    assert "city" not in mean.certificate["unit"]["bounds"]


@pytest.mark.parametrize("relation", RELATIONS)
def test_no_group(relation):
    """Where nothing is selected, releases are empty and can be shown; nothing is read for them."""
    table = opened(relation).where(flou.column("city") == "Hof")
    groups = table.group_by("city", epsilon=1, delta=1e-6)
    asked = [(name, ("salary",)) for name in ("sum", "mean", "variance", "std", "histogram")]
    for name, arguments in [("count", ()), *asked]:
        release = getattr(groups, name)(*arguments, epsilon=1)
        assert release.labels == ()
        assert np.size(release.value) == 0
        assert release.rows() == []
        assert release.rounded() == []
        assert "No key was selected" in repr(release)
        assert "No key was selected" in release._repr_html_()
        assert json.loads(release.to_json())["value"] == []
        assert math.isnan(release.error.noise)
    with pytest.raises(flou.InvalidParameter):
        groups.mean("salary", epsilon=0)
    with pytest.raises(flou.InvalidParameter):
        groups.mean("nothing", epsilon=1)


def test_whole_numbers_and_truth_values():
    """Keys keep their type on the way to the engine."""
    table = opened(flag=CITY == "Wien")
    for name, labels in (("number", {"7", "8"}), ("flag", {"True", "False"})):
        release = table.group_by(name, epsilon=5, delta=1e-6).mean("salary", epsilon=50)
        assert set(release.labels) == labels
        mean = dict(zip(release.labels, release.value, strict=True))
        assert mean[max(labels) if name == "flag" else "7"] == pytest.approx(70, abs=1)


def test_as_many_groups_as_halve_the_grid_of_a_variance():
    """The grid depends on the number of groups, and the place of all others counts in question and answer alike."""
    groups = 256
    x = np.repeat(np.arange(groups), 60)
    rows = ArrayRows({"x": x, "y": np.arange(x.size) % 2})
    table = Table(rows, Schema({"y": Interval(0, 1)}), None, bits=SeededBits(1))
    selection = Selection(table.keys("x", epsilon=20, delta=1e-6))
    question, facts = InGroups(Variance("y", 100, "x"), "x", selection), table._facts()
    draft = table._answered([question.prepare(facts)])[0]
    assert len(draft.labels) == len(draft.value) == groups
    assert draft.value == pytest.approx(0.25, abs=0.05)
    public = PublicFacts(Schema({"y": Interval(0, 1), "x": Integers(0, groups - 1)}), None)
    shapes = [
        asked.prepare(known).requests[0].shape for asked, known in ((Variance("y", 1, "x"), public), (question, facts))
    ]
    assert shapes == [(256, 2**16), (257, 2**15)]


def test_refusals():
    """Groups that nobody declared are not answered for nothing, and half a price is none."""
    table = opened(budget=ApproxDP(1, 1e-6))
    with pytest.raises(flou.InvalidParameter, match="pass epsilon and delta"):
        table.group_by("city")
    for price in ({"epsilon": 1}, {"delta": 1e-6}, {"epsilon": 0, "delta": 1e-6}, {"epsilon": 1, "delta": 1}):
        with pytest.raises(flou.InvalidParameter):
            table.group_by("city", **price)
    with pytest.raises(flou.InvalidData):
        table.group_by("nowhere", epsilon=1, delta=1e-6)
    with pytest.raises(flou.BudgetExceeded):
        table.group_by("city", epsilon=1, delta=1e-5)
    assert table.budget.spent is None
    assert table.group_by("age").keys is None


def unknown_group(person, bits):
    """A table with or without one person in a category of their own."""
    city = np.append(CITY, person) if person else CITY
    rows = {"city": city, "salary": np.append(SALARY, [99.0] if person else [])}
    return Table(ArrayRows(rows), Schema({"salary": Interval(0, 100)}), None, bits=bits)


def test_an_unknown_group_does_not_give_a_person_away():
    """With or without someone alone in a category, 300 pairs of runs select the same groups."""
    different = 0
    for run in range(300):
        with_her, without = (
            set(unknown_group(person, SeededBits(f"{run} {person}")).keys("city", epsilon=1, delta=1e-3).labels)
            for person in ("Atlantis", "")
        )
        different += "Atlantis" in with_her
        assert without - {"Hof"} == with_her - {"Hof", "Atlantis"} == {"Wien", "Graz", "other"}
    assert different <= 4  # 0.3 are expected at the most; 5 or more have probability 2e-5


def test_statistics_show_the_selected_groups_and_no_other():
    """What is asked about the groups later does not bring a person's group back."""
    groups = unknown_group("Atlantis", SeededBits(7)).group_by("city", epsilon=1, delta=1e-6)
    for release in (groups.count(epsilon=1), groups.mean("salary", epsilon=1), groups.histogram("salary", epsilon=1)):
        assert {label.split(":")[0] for label in release.labels} == {"Wien", "Graz", "other"}
        assert "Atlantis" not in release.to_json() + repr(release) + release._repr_html_()


@pytest.mark.parametrize(("relation", "rows"), [(r, n) for r in RELATIONS for n in (1, 2, 5)])
@pytest.mark.parametrize("delta", [1e-8, 1e-3])
def test_the_exact_probability_that_an_unknown_group_shows(relation, rows, delta):
    """It is delta at the most, whatever the keys of one unit; one row below the threshold it is more."""
    unit = {"unit": "u", "max_rows_per_unit": rows} if rows > 1 else {}
    facts = PublicFacts(Schema({"y": Interval(0, 1)}, relation=relation, **unit), None)
    question = Keys("city", 1, delta)
    threshold, sf = question.threshold(facts), question.mechanism(facts).noise.sf

    def shows(threshold):
        alone = [float(sf(threshold - count - 1)) for count in (1, rows)]
        return max(alone[1], 1 - (1 - alone[0]) ** rows)

    assert shows(threshold) <= delta < shows(threshold - 1)


# Tables of counts


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("x", [[], [1], [None, float("nan"), "text"], list(range(50))])
def test_tables_of_counts(x, relation):
    """Every cell has a line, for any table; under substitution the cells add up to the rows."""
    values = np.array(x, dtype=object)
    schema = Schema({"x": Integers(0, 2), "g": Categories(["a", "b"])}, relation=relation)
    table = Table(ArrayRows({"x": values, "g": np.array(["a"] * len(x), dtype=object)}), schema, None)
    release = table.group_by("g").histogram("x", epsilon=1)
    assert release.labels == ("a: 0", "a: 1", "a: 2", "b: 0", "b: 1", "b: 2", "other: 0", "other: 1", "other: 2")
    assert release.value.shape == (3, 3)
    assert release.title == "histogram of x by g"
    assert release.is_counts
    if relation == "substitute":
        assert release.value.sum() == len(x)
    for of in ("data", "population"):
        low, high = release.interval(of=of)
        assert np.all(low <= high)
    assert release.certificate["keys"]["group_keys"] == "public"
    assert release.to_json()
    assert release._repr_html_().count("<svg") == 9
    assert type(release.plot()).__name__ == "Figure"


def test_a_table_of_counts_costs_what_a_histogram_costs():
    """The noise is that of one histogram, and a cell holds the truth."""
    schema = Schema({"x": Interval(0, 10), "g": Categories(["a"])})
    facts = PublicFacts(schema, None)
    cells = Histogram("x", 1, 5, by="g")
    assert cells.prepare(facts).cost == Histogram("x", 1, 5).prepare(facts).cost == PureDP(1)
    assert cells.noise(facts).mechanism == Histogram("x", 1, 5).noise(facts).mechanism
    assert cells.prepare(facts).requests[0].shape == (2, 5)
    rows = {"x": np.repeat([1.0, 9.0], [100, 40]), "g": np.repeat(["a", "b"], [100, 40])}
    release = flou.open(rows, schema=schema).group_by("g").histogram("x", bins=5, epsilon=20)
    assert np.abs(release.value - [[100, 0, 0, 0, 0], [0, 0, 0, 0, 40]]).max() <= 3
    for wrong in (Histogram("x", 1, 2**26, by="g"), Histogram("g", 1, 3, by="x")):
        with pytest.raises(flou.InvalidParameter):
            wrong.prepare(facts)


# Intervals that hold together


def test_simultaneous_intervals_hold_together():
    """All counts of twenty groups lie in their intervals at once in 95 % of the releases; one by one in far fewer."""
    x = np.repeat(np.arange(20), 50)
    schema = Schema({"x": Integers(0, 19)})
    release = Table(ArrayRows({"x": x}), schema, None).histogram("x", epsilon=1)
    question, facts, curator = Histogram("x", 1), PublicFacts(schema, None), Curator(SeededBits(3))
    together = {True: 0, False: 0}
    for _ in range(1000):
        draft = question.prepare(facts).answer([np.full(20, 50)], curator)
        again = replace(release, value=draft.value, uncertainty=draft.uncertainty)
        for simultaneous in together:
            low, high = again.interval(simultaneous=simultaneous)
            together[simultaneous] += bool(np.all((low <= 50) & (high >= 50)))
    assert together[True] >= 930
    assert together[False] < 600
    assert release.interval(0.95, simultaneous=True)[0].tolist() == release.interval(1 - 0.05 / 20)[0].tolist()


def test_simultaneous_intervals_of_one_number():
    """There is nothing to share out."""
    single = opened().count(epsilon=1)
    assert single.interval(simultaneous=True) == single.interval()


def test_selected_keys_have_no_simultaneous_intervals():
    """Nobody knows among how many keys they were selected."""
    with pytest.raises(flou.InvalidParameter, match="no simultaneous intervals"):
        opened().keys("city", epsilon=1, delta=1e-6).interval(simultaneous=True)
