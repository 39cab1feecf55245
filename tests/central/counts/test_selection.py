"""Modes, the k most common values and majorities: private for every pair of neighbours, and as good as they say."""

from __future__ import annotations

import math
from functools import cache
from itertools import permutations

import numpy as np
import pytest

import flou
from flou import Boolean, Categories, Integers, Schema
from flou.bits import SeededBits
from flou.central import MajorityAnswer, Mode, Table, TopK
from flou.central.counts.selection import _Flip, _least, _Vote
from flou.central.question import Curator, PublicFacts
from flou.mechanisms import PermuteAndFlip
from flou.summaries.array.rows import ArrayRows
from goodness import compatible
from privacy.exhaustive import neighbours, tables

RELATIONS = ("add-remove", "substitute")
VALUES = ("a", "b", "c")


def facts(relation, rows_per_unit=1, domain=None):
    domains = {"x": domain or Categories(VALUES, other=False, missing="a")}
    if rows_per_unit == 1:
        return PublicFacts(Schema(domains, relation=relation), None)
    return PublicFacts(Schema(domains, relation=relation, unit="u", max_rows_per_unit=rows_per_unit), None)


@cache
def one_round(mechanism, counts):
    return mechanism.law(counts).log_pmf(np.arange(len(counts)))


def sequences(mechanism, counts, k):
    """log P of every sequence of k releases."""
    found = {}
    for chosen in permutations(range(len(counts)), k):
        left, log_p = list(range(len(counts))), 0.0
        for code in chosen:
            log_p += float(one_round(mechanism, tuple(counts[i] - min(counts) for i in left))[left.index(code)])
            left.remove(code)
        found[chosen] = log_p
    return found


def pairs(relation, rows_per_unit, values):
    """All neighbouring vectors of counts; a unit of two rows is two steps."""
    every = tables(range(values), range(5) if relation == "add-remove" else (3, 4))
    found = {(tuple(a.count(v) for v in range(values)), tuple(b.count(v) for v in range(values)))
             for a, b in neighbours(relation, every)}  # fmt: skip
    for _ in range(rows_per_unit - 1):
        found |= {(a, c) for a, b in found for d, c in found if b == d and a != c}
    return found


def loss(mechanism, relation, rows_per_unit, k):
    worst, known = 0.0, {}
    for pair in pairs(relation, rows_per_unit, 3):
        for counts in pair:
            if counts not in known:
                known[counts] = sequences(mechanism, counts, k)
        worst = max(worst, *(known[pair[0]][s] - known[pair[1]][s] for s in known[pair[0]]))
    return worst


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("rows_per_unit", [1, 2])
@pytest.mark.parametrize("relation", RELATIONS)
def test_the_loss_of_top_k_is_at_most_epsilon(relation, rows_per_unit, k):
    """For every pair of neighbours and every sequence of releases; and half the noise is refused."""
    known = facts(relation, rows_per_unit)
    question = TopK("x", 1, k)
    mechanism = question.mechanism(known)
    assert question.prepare(known).cost == known.pure(1)
    assert 0.5 < loss(mechanism, relation, rows_per_unit, k) <= 1 + 1e-9
    wrong = PermuteAndFlip(sensitivity=mechanism.sensitivity / 2, epsilon=mechanism.epsilon, utility=mechanism.utility)
    assert loss(wrong, relation, rows_per_unit, k) > 1.01


def test_monotone_is_refused_under_substitution():
    """One count rises while another falls."""
    wrong = PermuteAndFlip(sensitivity=1, epsilon=1, utility="monotone")
    assert loss(wrong, "substitute", 1, 1) > 1.5


@pytest.mark.parametrize("rows_per_unit", [1, 2])
@pytest.mark.parametrize("relation", RELATIONS)
def test_the_loss_of_a_majority_is_at_most_epsilon(relation, rows_per_unit):
    """For every pair of neighbours, and tight."""
    known = facts(relation, rows_per_unit, Boolean())
    question = MajorityAnswer("x", 1)
    assert question.prepare(known).cost == known.pure(1)
    law = question.mechanism(known).law
    worst = max(
        float(law((a[1], a[0])).log_pmf(y) - law((b[1], b[0])).log_pmf(y))
        for a, b in pairs(relation, rows_per_unit, 2)
        for y in (0, 1)
    )
    assert 0.9 <= worst <= 1 + 1e-9


def test_answers_follow_the_law():
    """Four thousand pairs of releases have the probabilities of the rounds; the wrong order is refused."""
    counts = np.array([5, 4, 2])
    question, known = TopK("x", 1, 2), facts("add-remove")
    curator = Curator(SeededBits(11))
    law = sequences(question.mechanism(known), counts.tolist(), 2)
    names = [tuple(VALUES[i] for i in s) for s in law]
    drawn = [tuple(question.prepare(known).answer([counts], curator).value.tolist()) for _ in range(4000)]
    seen = np.array([drawn.count(name) for name in names])
    p = np.exp(list(law.values()))
    assert p.sum() == pytest.approx(1)
    assert compatible(seen, p)
    assert not compatible(seen, p[::-1])


@pytest.mark.parametrize("rate", [0.1, 0.5, 2.0])
@pytest.mark.parametrize("outcomes", [2, 3, 10])
def test_the_bound_on_the_shortfall_is_exact_for_the_worst_table(rate, outcomes):
    """No table falls short by more than v rows with more than 5 %, and one does by v - 1 or fewer."""
    v = _least(_Flip(rate, outcomes), 0.05)
    mechanism = PermuteAndFlip(sensitivity=1, epsilon=rate, utility="monotone")
    worst = [v + 1] + [0] * (outcomes - 1)
    assert float(mechanism.law(worst).pmf(np.arange(1, outcomes)).sum()) == pytest.approx(
        _Flip(rate, outcomes).at_least(v + 1)
    )
    generator = np.random.default_rng(1)
    for _ in range(50):
        counts = generator.integers(0, 2 * v + 4, outcomes)
        p = np.asarray(mechanism.law(counts).pmf(np.arange(outcomes)))
        assert p[counts.max() - counts > v].sum() <= 0.05
    if v > 0:
        assert _Flip(rate, outcomes).at_least(v) > 0.05
    assert _Flip(rate, outcomes).at_least(10_000) < 1e-12


@pytest.mark.parametrize(("epsilon", "step", "relation"), [(0.3, 1, "add-remove"), (0.3, 2, "substitute")])
def test_the_bound_on_a_lost_majority_holds_on_both_sides(epsilon, step, relation):
    """The released answer trails by more than v rows with 5 % at the most."""
    v = _least(_Vote(epsilon, step), 0.05)
    law = MajorityAnswer("x", epsilon).mechanism(facts(relation, 1, Boolean())).law
    for lead in range(v + 1, v + 20):
        assert float(law((50, 50 + lead)).pmf(1)) <= 0.05
        assert float(law((50 + lead, 50)).pmf(0)) <= 0.05
    assert _Vote(epsilon, step).at_least(v - step) > 0.05


@pytest.mark.parametrize("relation", RELATIONS)
def test_releases(relation):
    """Labels come out, with a bound in rows, and no count."""
    x = np.repeat(["a", "b", "c"], [300, 100, 10])
    mode = flou.mode(x, categories=VALUES, epsilon=1, relation=relation)
    assert mode.value == "a"
    low, high = mode.interval()
    assert low == 0
    assert 0 < high < 20
    assert mode.interval(of="population")[1] > high
    top = flou.top_k(x, 2, categories=VALUES, epsilon=2, relation=relation)
    assert top.value.tolist() == ["a", "b"]
    assert top.labels == ("1", "2")
    assert top.cost.epsilon == 2
    yes = flou.majority(np.arange(100) < 90, epsilon=1, relation=relation)
    assert yes.value is True
    for release in (mode, top, yes):
        assert release.to_json()
        assert repr(release)
        assert release.error.noise > 0


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("x", [[], [1], [None] * 10, [float("nan"), 10**30, "text"], [2] * 50])
def test_edges(x, relation):
    """No table is an exception."""
    values = np.array(x, dtype=object)
    assert flou.mode(values, domain=Integers(0, 5), epsilon=1, relation=relation).value in "012345"
    assert flou.mode(values, bounds=(0, 10), bins=5, epsilon=1, relation=relation).value.count(" to ") == 1
    assert len(flou.top_k(values, 6, domain=Integers(0, 5), epsilon=1, relation=relation).value) == 6
    assert flou.majority(values, epsilon=1, relation=relation).value in (True, False)


def test_refusals():
    """What cannot be answered is refused before anything is read, and nothing is charged."""
    table = flou.open({"x": ["a"]}, schema={"x": Categories(VALUES)}, budget=1)
    for ask in (
        lambda: table.top_k("x", 5, epsilon=1),
        lambda: table.top_k("x", 0, epsilon=1),
        lambda: table.majority("x", epsilon=1),
        lambda: table.mode("x", bins=3, epsilon=1),
        lambda: table.mode("x", epsilon=0),
    ):
        with pytest.raises(flou.InvalidParameter):
            ask()
    assert table.budget.spent is None


def test_one_category_is_certain():
    """With a single outcome there is nothing to fall short of."""
    rows = ArrayRows({"x": ["a", "b"]})
    table = Table(rows, Schema({"x": Categories(["a"], other=False, missing="a")}), None)
    release = table.ask(Mode("x", 1))[0]
    assert release.value == "a"
    assert release.interval() == (0.0, 0.0)
    assert release.interval(of="population") == (0.0, 0.0)


@pytest.mark.parametrize("relation", RELATIONS)
def test_the_population_has_a_limit_where_the_rows_are_public(relation):
    """Without a public number of rows there is none, and it is shown as that; the last of all values has no rival."""
    x = np.repeat(VALUES, [300, 100, 10])
    table = flou.open(
        {"x": x, "y": x == "a"}, schema=Schema({"x": facts(relation).domain("x"), "y": Boolean()}, relation=relation)
    )
    mode, top, yes = table.mode("x", epsilon=1), table.top_k("x", 3, epsilon=1), table.majority("y", epsilon=1)
    highs = [mode.interval(of="population")[1], *top.interval(of="population")[1], yes.interval(of="population")[1]]
    assert [math.isfinite(high) for high in highs] == [relation == "substitute"] * 3 + [True, relation == "substitute"]
    assert highs[3] == 0
    if relation == "substitute":
        slack = math.sqrt(2 * 410 * math.log(3 / 0.025))
        assert highs[0] == pytest.approx(mode.interval(0.975)[1] + slack)
    else:
        assert "no limit" in repr(mode)
        assert mode.to_dict()["interval_95"]["population"] == [0.0, None]
        assert mode.certificate["accuracy"]["total"] is None
        assert mode.certificate["accuracy"]["noise"] == pytest.approx(mode.interval()[1] / 2)
