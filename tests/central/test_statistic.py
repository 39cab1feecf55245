"""Statistics as methods: what they take, who may be asked, and how wrong calls are refused."""

from __future__ import annotations

import inspect
from fractions import Fraction

import numpy as np
import pytest

import flou
from flou.central import Count, Ecdf, Keys, Mode, Price, Quantiles, Table
from flou.central.grouped import GroupedTable
from flou.central.registry import STATISTICS
from flou.central.statistic import MEANINGS
from flou.guarantee import ApproxDP, PureDP

ROWS = {"y": [1.0, 2.0] * 50, "d": ["u", "v"] * 50, "id": list(range(100))}
SCHEMA = {"y": flou.Interval(0, 100), "d": flou.Categories(["u", "v"]), "id": flou.Integers(0, 2**40)}


def table(budget=None):
    return flou.open(ROWS, schema=SCHEMA, budget=budget)


@pytest.mark.parametrize("word", STATISTICS)
def test_help_explains_every_parameter(word):
    """The help of a method has its sentence and a line for each parameter, and so has that of the short call."""
    one = STATISTICS[word]
    assert set(one.signature.parameters) <= set(MEANINGS)
    method = getattr(table(), one.name)
    assert inspect.signature(method) == one.signature
    texts = [method.__doc__, inspect.getdoc(getattr(Table, one.name))]
    for text in [*texts, *([] if one.values is None else [getattr(flou, one.name).__doc__])]:
        assert text.startswith(one.says)
        assert all(f"\n{name}: " in text for name in one.signature.parameters if name != "column")


def test_methods_of_a_class_are_functions():
    """A method that is taken from its class can be called with a table, and help shows its signature."""
    assert Table.count(table(), epsilon=100).value == pytest.approx(100, abs=1)
    assert str(inspect.signature(Table.mean)).startswith("(self, /, column")


@pytest.mark.parametrize("name", sorted({one.name for one in STATISTICS.values() if not one.grouped}))
def test_statistics_of_whole_tables_are_not_asked_of_groups(name):
    """They are refused before anything is charged, for public and for selected groups."""
    opened = table(ApproxDP(10, 1e-3))
    public, selected = opened.group_by("d"), opened.group_by("d", epsilon=1, delta=1e-6)
    assert not hasattr(GroupedTable, name) or name == "keys"
    for groups in (public, selected, None, 3):
        with pytest.raises(flou.InvalidParameter, match="cannot be asked of"):
            getattr(Table, name)(groups, "d", epsilon=1)
    assert opened.budget.spent == ApproxDP(1, 1e-6)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda t: t.mean(epsilon=1), r"mean\(\) missing a required argument: 'column'"),
        (lambda t: t.mean("y", 1), r"mean\(\) too many positional arguments; it takes \(column"),
        (lambda t: t.median("y"), r"median\(\) missing a required argument: 'epsilon'"),
        (lambda t: t.mean("y", eps=1), r"mean\(\) got an unexpected keyword argument 'eps'"),
        (lambda _: flou.mean([1.0], (0, 100), epsilon=1), r"mean\(\) too many positional arguments; it takes \(values"),
        (lambda _: flou.median([1.0], bounds=(0, 1)), r"median\(\) missing a required argument: 'epsilon'"),
    ],
)
def test_wrong_calls_are_refused_by_their_public_names(call, words):
    """A call that does not fit says what the method takes, and names nothing inside of flou."""
    with pytest.raises(TypeError, match=words):
        call(table())


def test_what_cannot_be_a_column_or_a_price_is_refused():
    """Lists of columns and prices without an amount are refused in words."""
    for call in (
        lambda t: t.mean(["y"], epsilon=1),
        lambda t: t.keys(["d"], epsilon=1, delta=1e-3),
        lambda t: t.bounds(None, epsilon=1),
        lambda _: Price(),
        lambda _: Price(delta=Fraction(1, 10)),
    ):
        with pytest.raises(flou.InvalidParameter):
            call(table())


def test_too_many_groups_are_refused_however_they_are_asked_for():
    """A question is held to the same numbers of groups as group_by."""
    for question in (Count(1, by="id"), Count(1, by="y"), Quantiles("y", (0.5,), 1, by="id"), Ecdf("y", 1, by="y")):
        with pytest.raises(flou.InvalidParameter, match="groups"):
            table().ask(question)


class Shifting(Fraction):
    """A number that is another one whenever it is read again."""

    @property
    def numerator(self):
        self.__class__.reads += 1
        return 1 if self.__class__.reads % 2 else 90


def test_a_price_is_read_once():
    """A question costs what its noise is for, even if the number that was passed changes."""
    Shifting.reads = 0
    for question in (Quantiles("y", (0.5,), Shifting(1, 10)), Mode("d", Shifting(1, 10)), Ecdf("y", Shifting(1, 10))):
        assert type(question.epsilon) is Fraction
        (release,) = table().ask(question)
        assert release.cost == PureDP(question.epsilon)
    assert type(Keys("d", 1, Shifting(1, 10)).delta) is Fraction


def test_probabilities_are_read_once():
    """A question is a value: a list that changes later, or a generator, is what it was."""
    several = [0.5]
    question = Quantiles("y", several, 1)
    several.append(0.7)
    assert len(table().ask(question)[0].value) == 1
    question = Quantiles("y", (p for p in (0.1, 0.5)), 1)
    assert [len(release.value) for release in table().ask(question, question)] == [2, 2]
    assert hash(question) == hash(Quantiles("y", (0.1, 0.5), 1))


def test_certificates_say_what_was_done():
    """Keys and outer bounds have no declared bounds, matrices are computed from sums, and no key means no reading."""
    opened = table(ApproxDP(100, 1e-3))
    processing = {
        name: release.certificate["processing"]
        for name, release in {
            "keys": opened.keys("d", epsilon=1, delta=1e-6),
            "bounds": opened.bounds("y", epsilon=1),
            "correlation": opened.correlation("y", "id", epsilon=1),
            "none": opened.where(flou.column("y") > 50).group_by("d", epsilon=1, delta=1e-9).mean("y", epsilon=1),
        }.items()
    }
    assert not any(
        "clamped to public bounds" in processing[name]["preprocessing"] for name in ("keys", "bounds", "none")
    )
    assert "threshold" in processing["keys"]["postprocessing"][0]
    assert "Gram matrix" in processing["correlation"]["postprocessing"][0]
    assert processing["none"]["reads"].startswith("not at all")


def test_the_population_holds_what_the_rows_hold():
    """Intervals of matrices and slopes only grow when sampling is added, and a pair is the same both ways round."""
    rng = np.random.default_rng(1)
    x = rng.uniform(0, 10, 2000)
    rows = {"x": x, "y": np.clip(50 + 2 * x + rng.normal(0, 10, 2000), 0, 100)}
    opened = flou.open(rows, schema={"x": flou.Interval(0, 10), "y": flou.Interval(0, 100)})
    for release in (opened.correlation("x", "y", epsilon=1), opened.regression("y", "x", epsilon=0.5)):
        data, population = release.interval(0.95), release.interval(0.95, of="population")
        assert np.all(population[0] <= data[0])
        assert np.all(population[1] >= data[1])
        if release.statistic == "correlation":
            assert population[0][1] == population[0][2]
