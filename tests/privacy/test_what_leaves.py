"""Releases, questions and errors are plain public values, and come back from a pickle as they were."""

from __future__ import annotations

import copy
import pickle
from dataclasses import astuple, replace
from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np
import pytest

import flou
from flou.bits import SeededBits
from flou.central import Correlation, Mean, Quantiles, Variance
from flou.central.counts.keys import Selection
from flou.central.grouped import GroupedTable, InGroups
from flou.summaries.array.rows import ArrayRows
from privacy import canaries
from privacy.canaries import CALLS, CANARIES, KINDS, OF_ALL, OF_GROUPS, ORDINARY, QUANTILES, made, schema, selected
from privacy.reachable import in_bytes, reached, sightings, strangers
from summaries.engines import as_csv, as_numpy, as_parquet

RELATIONS = ("add-remove", "substitute")
LEVELS = (0.5, 0.9, 0.99)
FROM_FILES = ("mean", "std", "regression", "keys", "deciles", "ecdf", "variance, in groups", "mean, in selected groups")


def opened(relation="add-remove", **options):
    return flou.open(as_numpy(made()), schema=schema(relation), bits=SeededBits(1), **options)


def clean(thing):
    """That nothing private can be reached, in a copy and in a pickle neither."""
    for form in (thing, copy.deepcopy(thing), pickle.loads(pickle.dumps(thing))):
        assert not strangers(form)
        assert not sightings(form, CANARIES)
    assert not in_bytes(pickle.dumps(thing), CANARIES)
    return thing


def said(release):
    """Everything that a release says, at several levels."""
    intervals = {
        (level, of, together): release.interval(level, of=of, simultaneous=together)
        for level in LEVELS
        for of in ("data", "population")
        for together in (False, release.statistic != "keys")
    }
    curves = [(c.name, c.places, c.values, c.data, c.population) for c in release.uncertainty.curves(0.9)]
    texts = (repr(release), release._repr_html_(), release.to_json(), release.certificate.hash, release.title)
    errors = (astuple(release.error), release.standard_error(), release.rounded(), release.rows(0.8, of="population"))
    return {"value": release.value, "intervals": intervals, "curves": curves, "texts": texts, "errors": errors}


def test_every_release_has_a_kind(monkeypatch):
    """Whatever a table, its groups and the short calls release has a kind here; one that has none is noticed."""
    assert not canaries.missing()
    monkeypatch.delitem(canaries.OF_ALL, "mode")
    monkeypatch.setattr(GroupedTable, "new", lambda _: None, raising=False)
    GroupedTable.new.__annotations__["return"] = "Release"
    assert canaries.missing() == {"Table.mode", "GroupedTable.new"}


@pytest.mark.parametrize("name", CALLS)
def test_short_calls(name):
    """The short calls release nothing that leads to the values."""
    clean(CALLS[name](as_numpy(made())))
    clean(CALLS[name](made().lists()))


@pytest.mark.parametrize("relation", RELATIONS)
def test_units_of_several_rows(relation):
    """Where a unit has several rows, their column and the chosen rows stay inside as well."""
    table = flou.open(as_numpy(made()), schema=schema(relation, unit=True))
    for ask in (OF_ALL | QUANTILES).values():
        clean(ask(table))
    for ask in OF_GROUPS.values():
        clean(ask(table.group_by("g")))
        clean(ask(selected(table)))


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("make", [lambda made, _: as_numpy(made), as_csv, as_parquet])
def test_releases_come_back_as_they_were(make, relation, tmp_path):
    """A pickled release says what the first one says, intervals and texts, of tables in memory and of files."""
    table = flou.open(make(made(), tmp_path), schema=schema(relation))
    for kind in FROM_FILES if make in (as_csv, as_parquet) else ORDINARY:
        release = KINDS[kind](table)
        again = pickle.loads(pickle.dumps(release))
        np.testing.assert_equal(said(again), said(release), err_msg=kind)
        clean(release)  # once more, now that everything was computed that it computes
        assert (again.cost, again.labels, again.note) == (release.cost, release.labels, release.note)
        assert {again: 1}[release] == 1


@pytest.mark.parametrize(
    "kind", ["count", "histogram", "regression", "ecdf", "quartiles, in groups", "mean, in groups"]
)
def test_plots_come_back_as_they_were(kind):
    """A release from a pickle is drawn as the first one is, dot by dot."""
    release = KINDS[kind](opened())
    pictures = []
    for form in (release, pickle.loads(pickle.dumps(release))):
        figure = form.plot()
        figure.canvas.draw()
        pictures.append(np.asarray(figure.canvas.buffer_rgba()).copy())
        plt.close(figure)
    assert np.array_equal(*pictures)


def test_releases_are_equal_where_they_are_the_same():
    """Two releases are equal if one is a copy of the other; what is asked twice, or changed, is another release."""
    table = opened(budget=10)
    first, second = (table.mean("x", epsilon=1) for _ in range(2))
    assert first == copy.copy(first) == copy.deepcopy(first)
    assert first != second
    assert first != replace(first, value=first.value + 1)
    assert first != replace(first, note="another")
    assert first != replace(first, uncertainty=second)
    assert first != "mean"
    vector = KINDS["histogram"](table)
    assert vector == copy.deepcopy(vector)
    assert vector != replace(vector, value=vector.value + 1)
    assert vector != replace(vector, value=vector.value[1:])
    empty = KINDS["mean, where no group is selected"](opened())
    assert empty == copy.deepcopy(empty)


@pytest.mark.parametrize("relation", RELATIONS)
def test_no_release_answers_questions(relation, monkeypatch):
    """With the budget used up, nothing that can be reached from a release, or called on it, looks at rows again."""
    table, spent = opened(relation), opened(relation, budget=1)
    releases = [*(ask(table) for ask in ORDINARY.values()), spent.mean("x", epsilon=1)]
    with pytest.raises(flou.BudgetExceeded):
        spent.count(epsilon=Fraction(1, 10**6))
    asked = []
    for name in ("collect", "tally", "key_counts", "codes", "values", "where", "capped"):
        monkeypatch.setattr(ArrayRows, name, lambda *_, name=name: asked.append(name))
    for release in releases:
        for _, thing in reached(release):
            if type(thing).__module__.startswith("flou."):
                called(thing)
    assert asked == []
    called(table._rows)
    assert asked  # so that a look is noticed


def called(thing):
    """Look at every attribute of an object, and call what can be called without arguments."""
    for name in dir(thing):
        if name.startswith("__") and name.endswith("__"):
            continue
        try:
            member = getattr(thing, name)
            if callable(member) and not isinstance(member, type):
                member()
        except (flou.FlouError, TypeError, ValueError, AttributeError, ArithmeticError, AssertionError, IndexError):
            continue


def test_questions_are_plain():
    """A question that was asked knows no more than before, that about selected groups too."""
    table = opened()
    selection = Selection(table.keys("city", epsilon=2, delta=1e-5))
    questions = [
        Mean("x", 1),
        Variance("x", 1, "g"),
        Quantiles("x", (0.5,), 1),
        Correlation(("x", "y"), 1),
        InGroups(Mean("x", 1, "city"), "city", selection),
    ]
    before = [pickle.dumps(question) for question in questions]
    for question, release in zip(questions, table.ask(*questions), strict=True):
        clean(question)
        clean(release)
    assert [pickle.dumps(question) for question in questions] == before
    clean(selection)
    clean(table.certificates)
    assert {type(release.cost) for release in table.ask(*questions)} == {flou.PureDP}


class NotAColumn:
    """Something without a length."""

    def __init__(self):
        self.kept = CANARIES


FAILING = {
    "budget": (flou.BudgetExceeded, lambda t: t.mean("x", epsilon=2)),
    "measure": (flou.BudgetExceeded, lambda t: t.mean("x", rho=2)),
    "relation": (flou.GuaranteeMismatch, lambda t: t.budget.charge(flou.PureDP(1, relation="substitute"))),
    "undeclared": (flou.InvalidParameter, lambda t: t.mean("notes", epsilon=0.1)),
    "price": (flou.InvalidParameter, lambda t: t.mean("x", epsilon=-1)),
    "method": (flou.InvalidParameter, lambda t: t.quartiles("x", epsilon=0.1, method="exponential")),
    "condition": (flou.InvalidParameter, lambda t: t.where("x > 3")),
    "pickle": (flou.InvalidParameter, pickle.dumps),
    "column": (flou.InvalidData, lambda t: t.bounds("nowhere", epsilon=0.1)),
    "key": (flou.InvalidData, lambda t: t.where(canaries.KEPT).keys("nowhere", epsilon=0.1, delta=0.1)),
    "schema": (flou.InvalidData, lambda _: flou.open(as_numpy(made()), schema={"nowhere": flou.Interval(0, 1)})),
    "values": (flou.InvalidData, lambda _: flou.mean(NotAColumn(), bounds=(0, 1), epsilon=1)),
}


@pytest.mark.parametrize("why", FAILING)
def test_errors_are_plain(why):
    """An error holds three sentences and nothing else, and so does what led to it; it comes back from a pickle."""
    kind, fail = FAILING[why]
    table = opened(budget=1)
    with pytest.raises(kind) as caught:
        fail(table)
    error = caught.value
    chain = [error]
    while chain[-1].__cause__ or chain[-1].__context__:
        chain.append(chain[-1].__cause__ or chain[-1].__context__)
    for one in chain:
        one.__traceback__ = None  # whose frames are there for as long as the error is on its way
    clean(error)
    assert all(isinstance(text, str) for text in (error.what, error.why, error.do))
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.args, str(again), vars(again)) == (type(error), error.args, str(error), vars(error))


def test_an_error_that_quotes_a_row_is_found():
    """The check of errors finds a value in a sentence, in an attribute and in the error before."""
    for spoiled in (
        flou.InvalidData(f"Not a number: {CANARIES[0]}.", "", ""),
        flou.InvalidData("", "", "").with_traceback(None),
    ):
        spoiled.__context__ = ValueError(CANARIES[0])
        assert sightings(spoiled, CANARIES)
