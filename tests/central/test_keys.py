"""Keys: private for every pair of neighbours with exactly the delta that was asked for."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

import flou
from flou import Schema
from flou.bits import SeededBits
from flou.central import Keys, Table
from flou.central.keys import texts
from flou.central.question import Context
from flou.domain import Interval
from flou.guarantee import ApproxDP
from flou.summaries.array_rows import ArrayRows
from privacy.exhaustive import delta as hockey_stick
from privacy.exhaustive import neighbours, tables

RELATIONS = ("add-remove", "substitute")


def context(relation):
    return Context(Schema({"x": Interval(0, 1)}, relation=relation), None)


def law(table, noise, threshold, reach):
    """P of every release: for each of two keys, not shown, or shown with a noisy count up to a reach."""
    parts = []
    for key in (0, 1):
        count = table.count(key)
        y = np.arange(threshold, threshold + reach)
        shown = np.asarray(noise.pmf(y - count)) if count else np.zeros(reach)
        beyond = float(noise.sf(threshold + reach - 1 - count)) if count else 0.0
        hidden = float(noise.cdf(threshold - 1 - count)) if count else 1.0
        parts.append(np.concatenate([[hidden], shown, [beyond]]))
    return np.multiply.outer(*parts).ravel()


def worst(question, relation, threshold):
    known = context(relation)
    noise, reach = question.mechanism(known).noise, 60
    every = tables([0, 1], range(4) if relation == "add-remove" else (1, 2, 3))
    laws = {table: law(table, noise, threshold, reach) for table in every}
    return max(hockey_stick(laws[a], laws[b], float(question.epsilon)) for a, b in neighbours(relation, every))


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("epsilon", "delta"), [(1, 0.01), (0.5, 0.1), (2, 0.001)])
def test_the_exact_delta_is_at_most_the_declared_one(epsilon, delta, relation):
    """For every pair of neighbours of a tiny domain; a threshold lower by one is refused."""
    question = Keys("x", epsilon, delta)
    threshold = question.threshold(context(relation))
    assert worst(question, relation, threshold) <= delta * (1 + 1e-9)
    noise = question.mechanism(context(relation)).noise
    assert float(noise.sf(threshold - 3)) > delta  # 1 + noise >= threshold - 1
    assert worst(question, relation, threshold - 1) > delta
    assert question.cost(context(relation)) == ApproxDP(epsilon, delta, relation=relation)


def test_half_the_noise_is_refused():
    """The check sees a mechanism whose counts have too little noise."""
    good = Keys("x", 1, 0.01)
    assert worst(good, "add-remove", good.threshold(context("add-remove"))) <= 0.01
    loud = Keys("x", 2, 0.01)  # noise for epsilon 2, checked at epsilon 1
    noise, threshold = loud.mechanism(context("add-remove")).noise, loud.threshold(context("add-remove"))
    p, q = (law(table, noise, threshold, 60) for table in ((0,) * 9, (0,) * 8))
    assert hockey_stick(p, q, 1.0) > 0.02


@pytest.mark.parametrize("relation", RELATIONS)
def test_common_keys_are_found_and_rare_ones_are_not(relation):
    """Hundreds of rows show, single rows do not, and the counts are close."""
    x = np.array(["red"] * 300 + ["blue"] * 200 + [f"person {i}" for i in range(100)])
    table = Table(ArrayRows({"x": x, "y": np.zeros(600)}), Schema({"y": Interval(0, 1)}, relation=relation), None,
                  bits=SeededBits(4))  # fmt: skip
    release = table.keys("x", epsilon=1, delta=1e-8)
    assert release.labels == ("red", "blue")
    low, high = release.interval(1 - 1e-9)
    assert np.all(low <= [300, 200])
    assert np.all(high >= [300, 200])
    low, high = release.interval(of="population")
    assert np.all(low < release.interval()[0])
    assert release.certificate["keys"]["group_keys"] == "selected"
    assert release.to_json()


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("x", [[], [None, float("nan")], ["one"], [object(), b"x", [1]], [1, 1.0, "1", True, 10**400]])
def test_edges(x, relation):
    """No table is an exception, and a release without keys is a release."""
    rows = ArrayRows({"x": x, "y": np.zeros(len(x))})
    table = Table(rows, Schema({"y": Interval(0, 1)}, relation=relation), None, bits=SeededBits(1))
    release = table.keys("x", epsilon=1, delta=1e-9)
    assert release.labels == ()
    assert release.interval()[1] > 1
    assert release.to_json()
    assert repr(release)


def test_rows_have_keys_one_by_one():
    """Whole numbers are written alike, whatever their type, and what is no key is left out."""
    assert texts(np.array([1, 1.0, "1", True, 0.5, None, math.inf, "a", ""], dtype=object)) == [
        "1", "1", "1", "True", "0.5", "a"]  # fmt: skip
    assert texts(np.ma.MaskedArray([1, 2], [False, True])) == ["1"]


def test_refusals_and_the_budget():
    """What cannot be answered is refused before anything is charged; a pure budget does not cover delta."""
    frame = {"x": ["a"] * 10, "u": list(range(10))}
    schema = {"u": Interval(0, 10)}
    table = flou.open(frame, schema=schema, budget=1)
    with pytest.raises(flou.BudgetExceeded):
        table.keys("x", epsilon=1, delta=1e-6)
    table = flou.open(frame, schema=schema, budget=ApproxDP(1, 1e-6))
    with pytest.raises(flou.InvalidData):
        table.keys("z", epsilon=1, delta=1e-6)
    with pytest.raises(flou.InvalidParameter):
        table.ask(Keys("x", 1, 1e-6))
    for epsilon, delta in product((0, 1), (0, 1)):
        with pytest.raises(flou.InvalidParameter):
            table.keys("x", epsilon=epsilon, delta=delta)
    assert table.budget.spent is None
    table.keys("x", epsilon=1, delta=1e-6)
    assert table.budget.spent == ApproxDP(1, 1e-6)
    with pytest.raises(flou.InvalidParameter, match="rows are the units"):
        Keys("x", 1, 1e-6).cost(Context(Schema({"x": Interval(0, 1)}, unit="u", max_rows_per_unit=2), None))
