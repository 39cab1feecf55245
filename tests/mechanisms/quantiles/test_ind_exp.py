"""IndExp: what independent quantiles cost together, exactly, and that this is what they are given."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from flou.bits import SeededBits
from flou.errors import InvalidParameter
from flou.guarantee import ZCDP, ApproxDP, PureDP
from flou.mechanisms.quantiles import GridInverseSensitivity, IndExp
from flou.theory.bounded_range import MOST_OPTIMAL, delta_of, largest_epsilon
from mechanisms.quantiles.tiny import RELATIONS, as_counts, follows, in_memory, pairs
from privacy.exhaustive import delta, loss, renyi

CLOSE = [Fraction(1, 2), Fraction(1, 2) + Fraction(1, 10**9)]  # as good as one quantile, asked for twice


def two_outcomes(t: float, epsilon: float) -> tuple[np.ndarray, np.ndarray]:
    """P and Q with log P/Q = t and t - epsilon."""
    q = (math.exp(-t) - math.exp(-epsilon)) / -math.expm1(-epsilon)
    Q = np.array([q, 1 - q])
    return Q * np.exp([t, t - epsilon]), Q


def together(ts, epsilon: float, total: float) -> float:
    """delta of the product of such pairs, by brute force over all outcomes."""
    P, Q = np.ones(1), np.ones(1)
    for t in ts:
        p, q = two_outcomes(t, epsilon)
        P, Q = np.multiply.outer(P, p).ravel(), np.multiply.outer(Q, q).ravel()
    return delta(P, Q, total)


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize(("epsilon", "total"), [(1.0, 0.4), (0.5, 0.9), (2.0, 1.0)])
def test_the_bound_is_the_worst_of_all_pairs(count, epsilon, total):
    """Over a fine grid of t for each mechanism, equal or not, no product exceeds the bound, and equal ones reach it."""
    bound = float(delta_of(count, Fraction(epsilon), Fraction(total)))
    grid = np.linspace(0, epsilon, 25 if count == 3 else 81)
    worst = max(together(ts, epsilon, total) for ts in product(grid, repeat=count) if list(ts) == sorted(ts))
    assert worst <= bound + 1e-12
    fine = max(together((t,) * count, epsilon, total) for t in np.linspace(0, epsilon, 2001))
    assert fine == pytest.approx(bound, rel=1e-4, abs=1e-9)


def test_real_mechanisms_stay_within_the_bound():
    """Two quantiles, all neighbours, by convolution of their laws: never above the bound, and not far below it."""
    cells, closest = 6, 0.0
    for relation in RELATIONS:
        mechanism = IndExp([0.3, 0.6], epsilon=0.5, delta=0.02, relation=relation)
        assert isinstance(mechanism.guarantee, ApproxDP)
        laws = {}
        for a, b in pairs(relation, (0, 3, 5), 4):
            for table in (a, b):
                if table not in laws:
                    one, two = (part.law(in_memory(table, cells)).pmf(np.arange(cells)) for part in mechanism.parts)
                    laws[table] = np.multiply.outer(one, two).ravel()
            found = delta(laws[a], laws[b], 0.5)
            assert found <= 0.02
            closest = max(closest, found)
    assert closest > 0.005


def measured(mechanism, codes, most: int) -> float:
    """The largest log-ratio over all neighbours on six cells, and all answers."""
    some = pairs(mechanism.relation, codes, most)
    return loss(mechanism.law, lambda table: in_memory(table, 6), some, lambda law: sorted(law.outcomes()))


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("scores", ["inverse-sensitivity", "rank"])
@pytest.mark.parametrize("probabilities", [[0.3, 0.6], [0, 1], [0.25, 0.5, 0.75], CLOSE])
def test_loss_is_at_most_epsilon(relation, scores, probabilities):
    """Without a delta, sup log P(answers)/P'(answers) <= epsilon over all neighbours, up to five records."""
    mechanism = IndExp(probabilities, epsilon=3, scores=scores, relation=relation)
    for codes, most in ((range(6), 2), ((0, 3, 5), 5)):
        assert 1 < measured(mechanism, codes, most) <= 3 * (1 + 1e-9)


@pytest.mark.parametrize("relation", RELATIONS)
def test_thirty_percent_more_are_refused(relation):
    """The same check sees a share that is too large for each quantile."""
    greedy = IndExp(CLOSE, epsilon=Fraction(39, 10), relation=relation)
    assert measured(greedy, (0, 3, 5), 5) > 3 * 1.05


@pytest.mark.parametrize("count", [1, 2, 9, 40])
@pytest.mark.parametrize("epsilon", [0.01, 1, 20])
@pytest.mark.parametrize("claimed", [1e-3, 1e-9])
def test_the_largest_epsilon_is_affordable_and_largest(count, epsilon, claimed):
    """The bound at the epsilon that was found is at most delta; one percent more is too much, unless zCDP allows it."""
    exact, allowed = Fraction(str(epsilon)), Fraction(str(claimed))
    each = largest_epsilon(count, exact, allowed)
    assert delta_of(count, each, exact) <= allowed
    assert delta_of(count, each * Fraction(101, 100), exact) > allowed
    assert each >= exact / count


def test_zcdp_takes_over_for_many():
    """Beyond what is worked out the share is that of epsilon^2/8-zCDP, rounded down."""
    count = MOST_OPTIMAL + 1
    each = largest_epsilon(count, Fraction(1), Fraction(1, 10**6))
    rho = count * each**2 / 8
    assert ZCDP(rho).to_approx(delta=1e-6).exact_epsilon <= 1
    assert each > Fraction(1, count)
    assert float(each) == pytest.approx(float(largest_epsilon(MOST_OPTIMAL, Fraction(1), Fraction(1, 10**6))), rel=0.1)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_bounded_range_is_an_eighth_of_zcdp(epsilon):
    """Every pair with two outcomes has Rényi divergences of at most epsilon^2/8 times the order, some nearly."""
    found = 0.0
    for t in np.linspace(0.001, 0.999, 200) * epsilon:
        P, Q = two_outcomes(t, epsilon)
        found = max(found, *(renyi(np.log(P), np.log(Q), order) / order for order in (1.01, 1.5, 2, 8, 32)))
    assert found <= epsilon**2 / 8 * (1 + 1e-9)
    assert found >= epsilon**2 / 8 * 0.75


def test_the_price_is_pure_where_delta_buys_nothing():
    """A delta that is too small to help stays unspent."""
    assert IndExp([0.1, 0.5, 0.9], epsilon=1).guarantee == PureDP(1)
    assert IndExp([0.1, 0.5, 0.9], epsilon=1).epsilon_each == Fraction(1, 3)
    assert IndExp([0.1, 0.9], epsilon=1000, delta=1e-60).guarantee == PureDP(1000)
    with_delta = IndExp([0.1, 0.5, 0.9], epsilon=1, delta=1e-6)
    assert with_delta.guarantee == ApproxDP(1, 1e-6)
    assert with_delta.epsilon_each > Fraction(1, 3)
    assert IndExp([0.5, 0.5, 0.5], epsilon=1).epsilon_each == 1, "the same quantile is asked for once"


@pytest.mark.parametrize("scores", ["inverse-sensitivity", "rank"])
def test_samples_follow_the_law(scores):
    """Sorted pairs of independent draws, from arrays and counts, follow the law of sorted pairs."""
    table = (0, 1, 1, 3, 3, 3)
    mechanism = IndExp([0.7, 0.2], epsilon=2, scores=scores)
    low, high = (part.law(in_memory(table, 4)).pmf(np.arange(4)) for part in mechanism.parts)
    joint = np.multiply.outer(low, high)
    law = np.triu(joint + joint.T) - np.diag(np.diag(joint))
    stated = mechanism.law(in_memory(table, 4))
    assert np.allclose([[stated.pmf((i, j)) for j in range(4)] for i in range(4)], law)
    for summary in (in_memory, as_counts):
        records, bits = summary(table, 4), SeededBits(f"independent {scores} {summary.__name__}")
        draws = np.array([mechanism.sample(records, bits=bits) for _ in range(2000)])
        assert np.all(draws[:, 0] >= draws[:, 1]), "the answer to 0.7 comes first, as it was asked"
        found = draws[:, 1] * 4 + draws[:, 0]
        assert follows(found, law.ravel())
        assert not follows(found, np.roll(law, 1).ravel())


def test_strange_parameters_are_refused():
    """Scores have two names."""
    with pytest.raises(InvalidParameter, match="scores"):
        IndExp(0.5, epsilon=1, scores="ranks")
    with pytest.raises(InvalidParameter, match="delta"):
        IndExp(0.5, epsilon=1, delta=0)
    with pytest.raises(InvalidParameter, match="Samples are not affected"):
        IndExp([0.1, 0.5], epsilon=1).law(in_memory((0, 1), 2**31))
    assert all(isinstance(part, GridInverseSensitivity) for part in IndExp([0.1, 0.2], epsilon=1).parts)
