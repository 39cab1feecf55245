"""Tables answer, charge and refuse as promised."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import flou
from flou import Boolean, Categories, Integers, Interval, Schema
from flou.bits import SeededBits
from flou.central import Budget, Count, Histogram, Mean, Total
from flou.errors import BudgetExceeded, FlouError, InvalidData, InvalidParameter
from flou.release import verify_chain

DOMAINS = {
    "pay": Interval(0, 100),
    "group": Categories(["a", "b", "empty"]),
    "adult": Boolean(),
    "children": Integers(0, 9),
}


def rows(n: int = 500) -> dict[str, object]:
    generator = np.random.default_rng(n)
    return {
        "pay": generator.uniform(0, 100, n),
        "group": generator.choice(np.array(["a", "b"]), n),
        "adult": generator.random(n) < 0.7,
        "children": generator.integers(0, 5, n),
        "person": generator.integers(0, max(n // 4, 1), n),
    }


def table(n: int = 500, *, relation="add-remove", budget=100, bits=None, **options) -> flou.central.Table:
    schema = Schema(DOMAINS, relation=relation, **options)
    return flou.open(rows(n), schema=schema, budget=budget, bits=bits or SeededBits(f"table {n} {relation}"))


QUESTIONS = [
    lambda t: t.count(epsilon=1),
    lambda t: t.mean("pay", epsilon=1),
    lambda t: t.sum("pay", epsilon=1),
    lambda t: t.mean("adult", epsilon=1),
    lambda t: t.mean("children", epsilon=1),
    lambda t: t.histogram("pay", bins=4, epsilon=1),
    lambda t: t.histogram("group", epsilon=1),
    lambda t: t.group_by("group").count(epsilon=1),
    lambda t: t.group_by("group").mean("pay", epsilon=1),
    lambda t: t.group_by("group").sum("pay", epsilon=1),
    lambda t: t.group_by("children").mean("adult", epsilon=1),
    lambda t: t.variance("pay", epsilon=1),
    lambda t: t.group_by("group").std("pay", epsilon=1),
    lambda t: t.histogram("children", bins=3, epsilon=1, delta=1e-6),
    lambda t: t.group_by("group").histogram("pay", bins=3, epsilon=1),
    lambda t: t.density("pay", points=5, epsilon=1),
    lambda t: t.covariance("pay", "children", epsilon=1),
    lambda t: t.correlation("pay", "adult", epsilon=1),
    lambda t: t.regression("pay", "children", epsilon=1),
    lambda t: t.ecdf("pay", points=7, epsilon=1),
]
CHOICES = [  # how many bits these take depends on what is chosen, and so on the rows
    lambda t: t.mode("group", epsilon=1),
    lambda t: t.top_k("children", 2, epsilon=1),
    lambda t: t.majority("adult", epsilon=1),
    lambda t: t.bounds("pay", epsilon=1),
    lambda t: t.median("pay", epsilon=1),
    lambda t: t.quantiles("pay", flou.deciles, epsilon=1),
    lambda t: t.iqr("pay", epsilon=1),
    lambda t: t.group_by("group").boxplot("pay", epsilon=1),
]


@pytest.mark.parametrize("relation", ["add-remove", "substitute"])
@pytest.mark.parametrize("n", [0, 1, 2, 500])
@pytest.mark.parametrize("ask", QUESTIONS)
def test_every_size_gets_a_sensible_answer(ask, n, relation):
    """From no rows at all to many: a finite value inside its interval, a cost, and valid JSON."""
    release = ask(table(n, relation=relation))
    values = np.atleast_1d(np.asarray(release.value, dtype=float))
    for of in ("data", "population"):
        low, high = (np.atleast_1d(np.asarray(end, dtype=float)) for end in release.interval(0.95, of=of))
        assert np.all(np.isfinite(values))
        assert np.all(low <= high)
    assert release.cost.epsilon == 1
    assert release.cost.relation == relation
    assert json.loads(release.to_json())["cost"]["relation"] == relation
    assert release.title.split()[0] in repr(release)


def test_answers_are_close_to_the_truth():
    """With many rows and a large epsilon the answers are the plain statistics."""
    data, asked = rows(20_000), table(20_000, budget=10**4)
    assert asked.mean("pay", epsilon=100).value == pytest.approx(np.mean(data["pay"]), abs=1e-3)
    assert asked.sum("pay", epsilon=100).value == pytest.approx(np.sum(data["pay"]), rel=1e-5)
    assert asked.count(epsilon=100).value == 20_000
    assert asked.mean("adult", epsilon=100).value == pytest.approx(np.mean(data["adult"]), abs=1e-4)
    assert asked.mean("children", epsilon=100).value == pytest.approx(np.mean(data["children"]), abs=1e-3)
    counted = np.histogram(data["pay"], bins=10, range=(0, 100))[0]
    assert asked.histogram("pay", bins=10, epsilon=100).value.tolist() == counted.tolist()
    grouped = asked.group_by("group").mean("pay", epsilon=100)
    for label, value in zip(grouped.labels[:2], grouped.value[:2], strict=True):
        assert value == pytest.approx(np.mean(data["pay"][data["group"] == label]), abs=1e-2)


def test_bounds_below_zero_are_summed_right():
    """Sums of negative and mixed numbers have their sign and their noise."""
    values = np.linspace(-7, 5, 5001)
    assert flou.sum(values, bounds=(-7, 5), epsilon=1000).value == pytest.approx(values.sum(), abs=1)
    assert flou.sum(-abs(values), bounds=(-7, 0), epsilon=1000).value == pytest.approx(-abs(values).sum(), abs=1)


def test_empty_groups_are_present_and_small_ones_flagged():
    """The list of groups is public: it does not depend on the rows."""
    release = table(5000).group_by("group").mean("pay", epsilon=1)
    assert release.labels == ("a", "b", "empty", "other")
    assert "empty" in release.note
    assert "a," not in release.note


def test_a_refused_question_costs_nothing_and_the_table_stays_usable():
    """Requested, remaining and difference are told; what fits is still answered."""
    asked = table(budget=1)
    asked.count(epsilon=0.7)
    with pytest.raises(BudgetExceeded, match=r"requested epsilon 0\.4, remaining epsilon 0\.3, difference 0\.1"):
        asked.mean("pay", epsilon=0.4)
    asked.mean("pay", epsilon=0.3)
    assert asked.budget.spent == asked.budget.total
    with pytest.raises(BudgetExceeded):
        asked.count(epsilon=1e-6)


def test_bad_parameters_charge_nothing():
    """A question that cannot be right is refused before the budget is touched."""
    asked = table(budget=1)
    for bad in (
        lambda: asked.mean("pay", epsilon=-1),
        lambda: asked.mean("nowhere", epsilon=0.1),
        lambda: asked.mean("group", epsilon=0.1),
        lambda: asked.histogram("group", bins=3, epsilon=0.1),
        lambda: asked.histogram("pay", bins=0, epsilon=0.1),
        lambda: asked.group_by("nowhere"),
        lambda: asked.where("pay > 3"),
    ):
        with pytest.raises(InvalidParameter):
            bad()
    assert asked.budget.spent is None


def test_the_charge_stands_when_the_engine_fails():
    """Once rows may have been read nothing is given back."""

    class Broken(flou.summaries.array.rows.ArrayRows):
        def collect(self, requests):  # noqa: ARG002
            raise InvalidData("The engine stopped.", "It may have read rows.", "Try again.")

    asked = flou.central.Table(Broken(rows()), Schema(DOMAINS), Budget(1))
    with pytest.raises(InvalidData):
        asked.count(epsilon=0.25)
    assert asked.budget.spent.epsilon == 0.25


def test_questions_asked_together_are_charged_together():
    """Either all of them fit, or none is charged and none is answered."""
    asked = table(budget=1)
    with pytest.raises(BudgetExceeded):
        asked.ask(Count(0.5), Mean("pay", 0.3), Total("pay", 0.3))
    assert asked.budget.spent is None
    answers = asked.ask(Count(0.5), Mean("pay", 0.25), Histogram("group", 0.25))
    assert [answer.statistic for answer in answers] == ["count", "mean", "histogram"]
    assert asked.budget.spent.epsilon == 1


def test_certificates_form_a_chain():
    """Every release names the one before it; leaving one out or editing one is noticed."""
    asked = table()
    for _ in range(3):
        asked.count(epsilon=1)
    asked.where(flou.column("pay") > 50).count(epsilon=1)
    chain = list(asked.certificates)
    assert len(chain) == 4
    verify_chain(chain)
    edited = flou.release.Certificate.from_json(chain[1].to_json().replace('"discrete Laplace"', '"none"'))
    for broken in (chain[1:], [chain[0], chain[2]], [chain[0], edited, *chain[2:]], chain[::-1]):
        with pytest.raises(InvalidData, match="does not follow"):
            verify_chain(broken)


def test_the_certificate_states_the_facts():
    """Relation, unit, bounds, scale and cost are those of the release."""
    release = table(unit="person", max_rows_per_unit=3, relation="substitute").sum("pay", epsilon=0.5)
    certificate = release.certificate
    assert certificate["unit"]["neighbours"] == "substitute"
    assert certificate["unit"]["max_rows_per_unit"] == 3
    assert certificate["loss"]["epsilon"] == 0.5
    assert not certificate["data"]["size_is_public"]
    assert certificate["words"]["cost"]
    per_row = table().sum("pay", epsilon=0.5).certificate["mechanism"]
    assert certificate["mechanism"]["sensitivity"] == 6 * per_row["sensitivity"]


@pytest.mark.parametrize("ask", QUESTIONS[:-1])  # a distribution function has noise on every level of a tree
def test_units_of_several_rows_get_noise_for_all_of_them(ask):
    """With three rows a unit the noise is three times as wide, because the cap is enforced and paid for."""
    one = ask(table()).certificate["mechanism"]
    three = ask(table(unit="person", max_rows_per_unit=3)).certificate["mechanism"]
    steps = int(one["grid"].split("/")[1].split()[0]) if "/" in one["grid"] else 1
    other = int(three["grid"].split("/")[1].split()[0]) if "/" in three["grid"] else 1
    assert three["scale"] / other == pytest.approx(3 * one["scale"] / steps)


def test_one_person_with_many_rows_counts_as_capped():
    """A thousand rows of one person move a count by at most the cap."""
    data = {"pay": np.full(1000, 50.0), "person": np.zeros(1000, int)}
    schema = Schema({"pay": Interval(0, 100)}, unit="person", max_rows_per_unit=2)
    release = flou.open(data, schema=schema, bits=SeededBits("many")).count(epsilon=50)
    assert release.value == pytest.approx(2, abs=1)


def test_filters_are_applied_row_by_row():
    """where keeps the rows for which the condition holds, and the budget is shared."""
    data, asked = rows(5000), table(5000, budget=5000)
    condition = (flou.column("pay") >= 50) & ~(flou.column("group") == "b")
    expected = int(np.sum((data["pay"] >= 50) & (data["group"] != "b")))
    assert asked.where(condition).count(epsilon=1000).value == expected
    assert asked.budget.spent.epsilon == 1000


def test_under_substitution_the_rows_are_public_only_where_nothing_is_filtered():
    """A filtered mean pays for not knowing how many rows it has."""
    asked = table(relation="substitute")
    whole = asked.mean("pay", epsilon=1).certificate["mechanism"]["sensitivity"]
    part = asked.where(flou.column("adult") == True).mean("pay", epsilon=1)  # noqa: E712
    assert part.certificate["mechanism"]["sensitivity"] == pytest.approx(2 * whole, rel=1e-6)


@pytest.mark.parametrize("poison", [np.nan, np.inf, -np.inf, 1e300, -5.0])
@pytest.mark.parametrize("ask", [*QUESTIONS[1:], *CHOICES])
def test_one_poisoned_row_changes_no_kind_of_answer(ask, poison):
    """Same shape, same cost, same noise, whatever one row holds."""
    clean, dirty = rows(), rows()
    dirty["pay"] = dirty["pay"].copy()
    dirty["pay"][7] = poison
    tables = (flou.open(data, schema=Schema(DOMAINS), budget=100, bits=SeededBits("poison")) for data in (clean, dirty))
    answers = [ask(one) for one in tables]
    assert np.shape(answers[0].value) == np.shape(answers[1].value)
    assert answers[0].certificate["mechanism"] == answers[1].certificate["mechanism"]


class Counting(SeededBits):
    """A tape that remembers how it was cut."""

    def __init__(self) -> None:
        super().__init__("same tape")
        self.asked: list[int] = []

    def take(self, size):
        self.asked.append(size)
        return super().take(size)


@pytest.mark.parametrize("relation", ["add-remove", "substitute"])
@pytest.mark.parametrize("ask", QUESTIONS)
def test_neighbours_take_the_same_path(ask, relation):
    """With the same bits, tables that differ in one row ask for the same bytes in the same order."""
    data = rows()
    other = {name: np.array(values, copy=True) for name, values in data.items()}
    if relation == "add-remove":
        other = {name: values[1:] for name, values in other.items()}
    else:
        other["pay"][0], other["group"][0] = 100.0, "unknown"
    paths = []
    for source in (data, other):
        bits = Counting()
        ask(flou.open(source, schema=Schema(DOMAINS, relation=relation), bits=bits))
        paths.append(bits.asked)
    assert paths[0] == paths[1]


UNUSUAL = {"n": 1237, "low": 3.1415926, "high": 97.3331117, "odd": 61.7777771}


@pytest.mark.parametrize("ask", [*QUESTIONS, *CHOICES])
def test_nothing_exact_comes_out(ask):
    """No number of rows, no smallest, largest or single value, and no mean or sum of the rows stands in a release."""
    data = rows(UNUSUAL["n"])
    data["pay"] = np.clip(data["pay"], UNUSUAL["low"], UNUSUAL["high"])
    data["pay"][:2], data["pay"][2] = (UNUSUAL["low"], UNUSUAL["high"]), UNUSUAL["odd"]
    release = ask(flou.open(data, schema=Schema(DOMAINS), budget=100, bits=SeededBits("extras")))
    text = release.to_json() + repr(release) + release._repr_html_()
    exact = [UNUSUAL["low"], UNUSUAL["high"], UNUSUAL["odd"], data["pay"].mean(), data["pay"].sum(), data["pay"].var()]
    assert not any(f"{value:.7g}" in text for value in exact)
    assert str(UNUSUAL["n"]) not in re.sub(r"[0-9a-f-]{32,}|\d+\.\d+|\d{5,}", "", text)


def test_no_error_shows_a_value():
    """Whatever goes wrong, a message speaks of names and types."""
    secret = 987654321.123
    data = {"pay": [secret, "secret text"], "group": ["hidden", None]}
    schema = Schema({"pay": Interval(0, 100), "group": Categories(["a"])})
    asked = flou.open(data, schema=schema, budget=1)
    asked.mean("pay", epsilon=0.1)
    for bad in (
        lambda: asked.mean("hidden", epsilon=1),
        lambda: asked.mean("group", epsilon=1),
        lambda: asked.count(epsilon=9),
    ):
        with pytest.raises(FlouError) as caught:
            bad()
        assert "98765" not in str(caught.value)
        assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "call",
    [
        lambda: flou.mean([1, 2], epsilon=1),
        lambda: flou.mean([1, 2], bounds=(0, 1), domain=Interval(0, 1), epsilon=1),
        lambda: flou.mean([1, 2], bounds=5, epsilon=1),
        lambda: flou.mean([1, 2], bounds=(3, 1), epsilon=1),
        lambda: flou.mean([1, 2], bounds=(0, 1), epsilon=1, relation="swap"),
        lambda: flou.mean(5, bounds=(0, 1), epsilon=1),
        lambda: flou.histogram([1], categories=[], epsilon=1),
        lambda: flou.open(object(), schema={"x": Interval(0, 1)}),
        lambda: flou.open({"x": [1], "y": [1, 2]}, schema={"x": Interval(0, 1)}),
        lambda: flou.open({"x": [1]}, schema={"y": Interval(0, 1)}),
    ],
)
def test_calls_that_cannot_be_right_are_refused(call):
    """Bounds are never read from the data, and senseless sources are refused by their type."""
    with pytest.raises(FlouError):
        call()


def test_short_calls_answer():
    """The shortest calls are right."""
    values = np.arange(10_000) % 100
    assert flou.mean(values, bounds=(0, 100), epsilon=10).value == pytest.approx(49.5, abs=0.2)
    assert flou.count(values, epsilon=10).value == pytest.approx(10_000, abs=10)
    assert flou.sum(values, bounds=(0, 100), epsilon=10).value == pytest.approx(495_000, rel=1e-2)
    assert flou.histogram(values, bounds=(0, 100), bins=10, epsilon=10).value.sum() == pytest.approx(10_000, abs=50)
    assert flou.histogram(["x", "y", "x"], categories=["x", "y"], epsilon=50).value.tolist() == [2, 1, 0]


def test_no_seed_hides_on_a_private_path():
    """Without bits of one's own, two answers differ."""
    answers = {flou.mean(np.full(1000, 20.0), bounds=(0, 100), epsilon=1).value for _ in range(5)}
    assert len(answers) == 5


def test_budgets_take_guarantees():
    """A budget may be an epsilon, an (epsilon, delta) or a rho."""
    for total in (2, flou.PureDP(2), flou.ApproxDP(2, 1e-6), flou.ZCDP(2)):
        asked = table(budget=total)
        asked.count(epsilon=1)
        with pytest.raises(BudgetExceeded):
            asked.count(epsilon=3)
