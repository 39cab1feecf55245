"""Keys: private for every pair of neighbours with exactly the delta that was asked for."""

from __future__ import annotations

from functools import cache
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

import flou
from flou import Schema
from flou.bits import SeededBits
from flou.central import Count, Keys, Mean, Table
from flou.central.question import Curator, PublicFacts
from flou.domain import Interval
from flou.guarantee import ApproxDP
from flou.summaries.array.rows import ArrayRows
from goodness import compatible
from privacy.exhaustive import delta as hockey_stick

RELATIONS = ("add-remove", "substitute")
REACH = 80  # noisy counts that are told apart; those beyond are one outcome
KEYS = 4


def facts(relation, rows_per_unit=1):
    if rows_per_unit == 1:
        return PublicFacts(Schema({"y": Interval(0, 1)}, relation=relation), None)
    unit = {"unit": "u", "max_rows_per_unit": rows_per_unit}
    return PublicFacts(Schema({"y": Interval(0, 1)}, relation=relation, **unit), None)


def law(count, noise, threshold, least=1):
    """P of what is released about one key: nothing, a noisy count from the threshold on, or more than the reach."""
    if count < least:
        return np.eye(1, REACH + 2)[0]
    shown = noise.pmf(np.arange(threshold, threshold + REACH) - count)
    return np.concatenate([[noise.cdf(threshold - 1 - count)], shown, [noise.sf(threshold + REACH - 1 - count)]])


@cache
def merged(a, b, noise, threshold, least):
    """The laws of one key in two tables, outcomes of one ratio together."""
    p, q = law(a, noise, threshold, least), law(b, noise, threshold, least)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.round(np.log(p) - np.log(q), 9)
    _, place = np.unique(np.nan_to_num(ratio, nan=0.0, posinf=1e9, neginf=-1e9), return_inverse=True)
    return np.bincount(place, p), np.bincount(place, q)


def exact_delta(one, other, epsilon, noise, threshold, least=1):
    """The hockey-stick divergence of two tables, given by the counts of their keys."""
    p = q = np.ones(1)
    for a, b in zip(one, other, strict=True):
        if a != b:
            more_p, more_q = merged(a, b, noise, threshold, least)
            p, q = np.outer(p, more_p).ravel(), np.outer(q, more_q).ravel()
    return hockey_stick(p, q, epsilon)


def units(rows):
    """All ways in which the rows of a unit can have keys, or no key: the counts that it adds."""
    every = (keys for size in range(rows + 1) for keys in combinations_with_replacement(range(KEYS), size))
    return [tuple(keys.count(key) for key in range(KEYS)) for keys in every]


def pairs(relation, rows, least):
    """All neighbours, the rest of the table having 0, 1 or 5 rows of each key, or as much more as keys must have."""
    for rest in combinations_with_replacement((least - 1, least, least + 4), KEYS):
        added = [tuple(np.add(rest, unit).tolist()) for unit in units(rows)]
        others = [rest] if relation == "add-remove" else added
        yield from ((a, b) for a in added for b in others)
        if relation == "add-remove":
            yield from ((rest, a) for a in added)


def worst(question, relation, rows, threshold, least=1):
    noise, epsilon = question.mechanism(facts(relation, rows)).noise, float(question.epsilon)
    every = {
        tuple(sorted((i, j) for i, j in zip(a, b, strict=True) if i != j))
        for a, b in pairs(relation, rows, least)
        if a != b
    }
    return max(exact_delta(*zip(*pair, strict=True), epsilon, noise, threshold, least) for pair in every)


PRICES = [(1, 0.01), (0.5, 0.1), (4, 0.001)]


@pytest.mark.parametrize("rows", [1, 2, 3])
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("epsilon", "delta"), PRICES)
def test_the_exact_delta_is_at_most_the_declared_one(epsilon, delta, relation, rows):
    """For all neighbours of a tiny domain, whatever keys a unit has; a threshold that is lower by one is refused."""
    question, known = Keys("x", epsilon, delta), facts(relation, rows)
    threshold = question.threshold(known)
    assert worst(question, relation, rows, threshold) <= delta * (1 + 1e-9)
    assert worst(question, relation, rows, threshold - 1) > delta
    assert question.prepare(known).cost == ApproxDP(epsilon, delta, relation=relation, unit=known.unit)


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("relation", RELATIONS)
def test_keys_left_out_before_the_noise(relation, rows):
    """With min_rows the threshold rises by as many rows less one; at the old threshold the delta is exceeded."""
    question, known = Keys("x", 1, 0.01, min_rows=5), facts(relation, rows)
    threshold = Keys("x", 1, 0.01).threshold(known)
    assert question.threshold(known) == threshold + 4
    assert worst(question, relation, rows, threshold + 4, least=5) <= 0.01 * (1 + 1e-9)
    assert worst(question, relation, rows, threshold, least=5) > 0.011


@pytest.mark.parametrize("relation", RELATIONS)
def test_the_worst_unit_has_many_keys_or_one(relation):
    """Neither the keys one by one nor all rows in one key are the worst case alone: each is refused somewhere."""
    refused = set()
    for epsilon in (0.5, 4):
        question, known = Keys("x", epsilon, 0.01), facts(relation, 3)
        sf = question.mechanism(known).noise.sf
        for name, count in (("one row each", 1), ("all in one", 3)):
            threshold = next(t for t in range(3, 200) if float(sf(t - count - 1)) <= 0.01)
            if worst(question, relation, 3, threshold) > 0.0101:
                refused.add(name)
    assert refused == {"one row each", "all in one"}


def test_half_the_noise_is_refused():
    """The check sees a mechanism whose counts have too little noise."""
    good, loud = Keys("x", 1, 0.01), Keys("x", 2, 0.01)  # noise for epsilon 2, checked at epsilon 1
    for question, refused in ((good, False), (loud, True)):
        noise, threshold = question.mechanism(facts("add-remove")).noise, question.threshold(facts("add-remove"))
        assert (exact_delta((9,), (8,), 1.0, noise, threshold) > 0.02) == refused


def test_all_splits_of_many_rows():
    """Of all ways to split twelve rows among keys, r single rows or one key with all of them shows most."""

    def splits(rows, most):
        if not rows:
            yield ()
        for first in range(min(rows, most), 0, -1):
            yield from ((first, *rest) for rest in splits(rows - first, first))

    for epsilon, relation in product((0.1, 1, 3, 6, 20), RELATIONS):
        question, known = Keys("x", epsilon, 0.001), facts(relation, 12)
        threshold, sf = question.threshold(known), question.mechanism(known).noise.sf
        shown = {s: 1 - np.prod(1 - np.asarray(sf(threshold - np.array(s) - 1))) for s in splits(12, 12)}
        assert max(shown.values()) == pytest.approx(max(shown[(12,)], shown[(1,) * 12]))
        assert max(shown.values()) <= 0.001


def test_answers_follow_the_law():
    """Four thousand releases about one key have the probabilities of the law; those of one row more are refused."""
    question, known = Keys("x", 1, 0.05), facts("add-remove")
    curator = Curator(SeededBits(5))
    noise, threshold = question.mechanism(known).noise, question.threshold(known)
    found = [(np.array(["a"], dtype=object), np.array([3]))]
    drawn = [question.prepare(known).answer(found, curator).value.tolist() for _ in range(4000)]
    seen = [sum(not y for y in drawn)] + [sum(y == [t] for y in drawn) for t in range(threshold, threshold + 4)]
    seen = np.array([*seen, 4000 - sum(seen)])
    for count, right in ((3, True), (4, False)):
        p = law(count, noise, threshold)[:5]
        assert compatible(seen, np.append(p, 1 - p.sum())) == right


@pytest.mark.parametrize("relation", RELATIONS)
def test_common_keys_are_found_and_rare_ones_are_not(relation):
    """Hundreds of rows show, single rows do not, and the counts are close."""
    x = np.array(["red"] * 300 + ["blue"] * 200 + [f"person {i}" for i in range(100)])
    schema = Schema({"y": Interval(0, 1)}, relation=relation)
    for least in (1, 3):
        table = Table(ArrayRows({"x": x, "y": np.zeros(600)}), schema, None, bits=SeededBits(4))
        release = table.keys("x", epsilon=1, delta=1e-8, min_rows=least)
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


def test_units():
    """A unit's rows beyond the cap do not count, and the noise covers all that may count."""
    frame = {"x": ["a"] * 400 + ["b"] * 400, "u": [f"person {i}" for i in range(400)] + ["one"] * 400}
    schema = Schema({"y": Interval(0, 1)}, unit="u", max_rows_per_unit=2)
    table = Table(ArrayRows({**frame, "y": np.zeros(800)}), schema, None, bits=SeededBits(2))
    release = table.keys("x", epsilon=1, delta=1e-6)
    assert release.labels == ("a",)
    assert release.cost == ApproxDP(1, 1e-6, unit="u")
    assert release.certificate["mechanism"]["sensitivity"] == 2


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
    for least in (0, -1, 1.5, None, "2"):
        with pytest.raises(flou.InvalidParameter):
            table.keys("x", epsilon=1, delta=1e-6, min_rows=least)
    for epsilon, delta in product((0, 1), (0, 1)):
        with pytest.raises(flou.InvalidParameter):
            table.keys("x", epsilon=epsilon, delta=delta)
    assert table.budget.spent is None
    table.keys("x", epsilon=1, delta=1e-6)
    assert table.budget.spent == ApproxDP(1, 1e-6)


def test_keys_are_asked_for_together_with_other_questions():
    """They are charged together, and each answer is the one that it would be alone."""
    frame = {"x": ["a"] * 30 + ["b"] * 50, "u": list(range(80))}
    table = flou.open(frame, schema={"u": Interval(0, 80)}, budget=ApproxDP(40, 1e-6), bits=SeededBits(1))
    count, keys, mean = table.ask(Count(10), Keys("x", 20, 1e-6), Mean("u", 10))
    assert (count.value, keys.labels, keys.value.tolist()) == (80, ("b", "a"), [50, 30])
    assert mean.value == pytest.approx(39.5, abs=2)
    assert table.budget.spent == ApproxDP(40, 1e-6)
