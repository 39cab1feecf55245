"""Graphs of neighbours: what they are said to bear, tried out."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2, hypergeom

from flou.bits import SeededBits
from flou.errors import InvalidParameter
from flou.joint.masking.graph import Connectivity, _shuffled, complete, graph_for, neighbours


def attack_exists(k: int, t: int, c: int) -> bool:
    """Whether some assignment of views gives both secrets of a party with c colluding neighbours of k, by brute force.

    Each honest neighbour believes that the party survives, and gives its b, or that it does not, and gives its s. The
    party itself gives b when t neighbours have signed that it survives; colluders sign and give whatever helps.
    """
    for views in itertools.product((True, False), repeat=k - c):
        signed = sum(views) + c
        b_known = sum(views) + c >= t or signed >= t
        s_known = sum(not alive for alive in views) + c >= t
        if b_known and s_known:
            return True
    return False


@pytest.mark.parametrize("m", range(3, 12))
def test_a_complete_graph_bears_exactly_its_colluders(m):
    """Up to `colluders` no assignment of views opens both secrets; with one more, some does."""
    k = m - 1
    for t in range(k // 2 + 1, k + 1):
        graph = complete(m, t)
        assert 0 <= graph.colluders <= m - 2
        assert all(not attack_exists(k, t, c) for c in range(graph.colluders + 1))
        assert attack_exists(k, t, graph.colluders + 1)


@pytest.mark.parametrize("m", [3, 4, 6, 9])
def test_a_lower_threshold_is_refused(m):
    """With t <= k/2 the coordinator alone could ask half of the neighbours for each secret."""
    t = (m - 1) // 2
    assert attack_exists(m - 1, t, 0)
    with pytest.raises(InvalidParameter, match="threshold"):
        complete(m, t)
    with pytest.raises(InvalidParameter, match="threshold"):
        complete(m, m)


def finishes(m: int, t: int, early: int, late: int) -> bool:
    """Whether a round ends when so many parties are lost before the survivors are signed, and so many after."""
    signing = m - early
    if early < m and signing - 1 < t:  # neighbours of a survivor that sign with it
        return False
    living = signing - late
    gone_recovered = living >= t  # all living parties are neighbours of one that is gone
    return living > 0 and (gone_recovered or early + late == 0)


@pytest.mark.parametrize("m", range(3, 12))
def test_a_complete_graph_bears_exactly_its_losses(m):
    """`dropouts` at any time and one more after the signatures; one more before them, or two after, is too many."""
    for t in range((m - 1) // 2 + 1, m):
        d = complete(m, t).dropouts
        assert all(finishes(m, t, early, late) for early in range(d + 1) for late in range(d + 2 - early))
        assert not finishes(m, t, d + 1, 0)
        assert not finishes(m, t, 0, d + 2)
        assert not finishes(m, t, d, 2)


def test_small_groups_need_everyone_and_bear_all_but_two():
    """Up to ten parties: everyone's share is needed, and m - 2 may collude."""
    for m in range(3, 11):
        assert graph_for(m) == Connectivity(m - 1, m - 1, m - 2, 0)


def test_up_to_a_hundred_everyone_is_a_neighbour():
    """About a third may collude and about a third may be lost."""
    for m in range(11, 101):
        graph = graph_for(m)
        assert graph.neighbours == m - 1
        assert graph.threshold == 2 * (m - 1) // 3 + 1
        assert graph.colluders >= m // 10
        assert graph.colluders >= (m - 1) // 3
        assert graph.dropouts >= m // 20
    assert graph_for(100) == Connectivity(99, 67, 34, 32)
    assert graph_for(60, corrupt=0.5, dropout=0.1).colluders >= 30


@pytest.mark.parametrize("m", [50, 300])
def test_more_than_any_threshold_bears_is_refused(m):
    """Most parties cannot be both liars and lost."""
    with pytest.raises(InvalidParameter, match="colluders"):
        graph_for(m, corrupt=0.5, dropout=0.4)


TABLE = [(300, 60, 45), (1000, 80, 59), (10**4, 102, 75), (10**5, 112, 82)]
ACCIDENTS = [(300, 52, 38), (1000, 76, 55), (10**4, 92, 66), (10**5, 100, 72)]  # if losses were chance


def log2_risks(m: int, k: int, t: int) -> tuple[float, float, float]:
    """log2 of the three union bounds for 10 % colluders and 5 % losses, from SciPy's hypergeometric law."""
    corrupt, lost = m // 10, m // 20
    present = m - lost
    unsafe = hypergeom.logsf(2 * t - k - 1, present - 1, corrupt, k) + math.log(present)
    stuck = hypergeom.logsf(k - t, m - 1, lost, k) + math.log(m)  # more than k - t lost neighbours
    cut = 2 * hypergeom.logsf(t - k // 2 - 1, present, corrupt, k // 2) + math.log(math.comb(present, 2))
    return unsafe / math.log(2), stuck / math.log(2), cut / math.log(2)


@pytest.mark.parametrize(("m", "k", "t"), TABLE)
def test_sparse_graphs_have_the_fewest_neighbours_that_are_safe(m, k, t):
    """2^-40 for privacy and 2^-30 for finishing hold at the chosen numbers, and nowhere with two neighbours fewer."""
    assert graph_for(m, privacy=40) == Connectivity(k, t, m // 10, m // 20)
    unsafe, stuck, cut = log2_risks(m, k, t)
    assert unsafe <= -40
    assert stuck <= -30
    assert cut <= -40
    for fewer in range(k - 2, max(k - 12, 2), -2):
        for threshold in range(fewer // 2 + 1, fewer + 1):
            risks = log2_risks(m, fewer, threshold)
            assert risks[0] > -40 or risks[1] > -30 or risks[2] > -40


@pytest.mark.parametrize(("m", "k", "t"), ACCIDENTS)
def test_losses_that_the_coordinator_tells_take_more_neighbours(m, k, t):
    """Fewer neighbours bear accidents, and not a coordinator that chooses the losses after it knows the circle."""
    unsafe, stuck, cut = log2_risks(m, k, t)
    assert stuck <= -30
    assert max(unsafe, cut) > -40


@pytest.mark.parametrize(("m", "k", "c"), [(12, 4, 4), (13, 6, 5)])
def test_two_runs_rarely_hold_many_colluders(m, k, c):
    """The product of two tails bounds, over all places of colluders, that two separate runs both hold so many."""
    half = k // 2
    for least in range(1, half + 1):
        found = 0
        for places in itertools.combinations(range(m), c):
            held = [sum((start + j) % m in places for j in range(half)) >= least for start in range(m)]
            found += held[0] and held[half]  # two runs that do not overlap
        tail = hypergeom.sf(least - 1, m, c, half)
        assert found / math.comb(m, c) <= tail**2 * (1 + 1e-12)


def test_assumptions_move_the_graph():
    """More colluders, more losses or less risk cost neighbours."""
    base = graph_for(1000).neighbours
    assert graph_for(1000, corrupt=0.2).neighbours > base
    assert graph_for(1000, dropout=0.1).neighbours > base
    assert graph_for(1000, privacy=100).neighbours > base
    assert graph_for(1000, liveness=60).neighbours > base
    assert graph_for(1000, privacy=20, liveness=20).neighbours < base


def connected(survivors: set[int], m: int, k: int) -> bool:
    if not survivors:
        return True
    reached, todo = set(), [min(survivors)]
    while todo:
        place = todo.pop()
        if place not in reached:
            reached.add(place)
            todo += [q % m for q in range(place - k // 2, place + k // 2 + 1) if q % m in survivors]
    return reached == survivors


@pytest.mark.parametrize(("m", "k", "gone"), [(10, 2, 3), (12, 4, 5), (13, 4, 6), (12, 6, 7)])
def test_a_circle_falls_apart_only_at_two_runs(m, k, gone):
    """Over all sets of missing places: no cut without two runs of k/2, and the union bound holds; so it can be cut."""
    cut = total = 0
    for missing in itertools.combinations(range(m), gone):
        out, total = set(missing), total + 1
        runs = [s for s in range(m) if all((s + j) % m in out for j in range(k // 2))]
        separate = any((b - a) % m >= k // 2 and (a - b) % m >= k // 2 for a in runs for b in runs)
        if not connected(set(range(m)) - out, m, k):
            cut += 1
            assert separate
    bound = Fraction(math.comb(m, 2) * math.comb(gone, k), math.comb(m, k))
    assert 0 < Fraction(cut, total) <= bound


NAMES = [f"office {i:03d}" for i in range(120)]


@pytest.mark.parametrize(("m", "k"), [(3, 2), (10, 9), (10, 50), (11, 4), (120, 22), (7, 6), (8, 2)])
def test_neighbours_are_mutual_distinct_and_as_many_as_asked(m, k):
    """Everyone has k neighbours, or all others, sorted; nobody is its own, and each is the other's."""
    graph = neighbours(NAMES[:m], b"session", k)
    assert set(graph) == set(NAMES[:m])
    for name, others in graph.items():
        assert len(others) == min(k, m - 1)
        assert list(others) == sorted(set(others) - {name})
        assert all(name in graph[other] for other in others)


def test_the_graph_is_that_of_the_session_alone():
    """The order of the roster does not matter, the session does, and a known graph stays what it is."""
    one = neighbours(NAMES, b"session", 6)
    assert one == neighbours(NAMES[::-1], b"session", 6)
    assert one != neighbours(NAMES, b"another", 6)
    assert [name[-3:] for name in one["office 000"]] == ["011", "036", "073", "077", "113", "117"]


def test_the_graph_is_a_circle():
    """Following nearest neighbours from any party reaches all of them."""
    graph = neighbours(NAMES, b"session", 2)
    place, before, steps = NAMES[0], None, 0
    while steps == 0 or place != NAMES[0]:
        place, before = next(other for other in graph[place] if other != before), place
        steps += 1
    assert steps == len(NAMES)


def test_every_order_is_equally_likely():
    """All 24 orders of four come equally often (chi-squared, false alarms: 1e-9), and a naive shuffle is refused."""
    n = 24_000
    bits = SeededBits("orders")
    fair = Counter(tuple(_shuffled(4, bits).tolist()) for _ in range(n))

    def naive() -> tuple[int, ...]:  # swaps with any place, not only the earlier ones: 4^4 ways onto 4! orders
        order = list(range(4))
        for i in range(4):
            j = int(bits.below(4, 1)[0])
            order[i], order[j] = order[j], order[i]
        return tuple(order)

    biased = Counter(naive() for _ in range(n))

    def statistic(counts: Counter) -> float:
        return sum((counts[order] - n / 24) ** 2 / (n / 24) for order in itertools.permutations(range(4)))

    assert statistic(fair) < chi2.isf(1e-9, 23) < statistic(biased)


def test_neighbours_of_a_party_are_a_uniform_sample():
    """Over many sessions each other party is a neighbour equally often."""
    names, sessions = NAMES[:9], 3000
    counts = Counter(other for s in range(sessions) for other in neighbours(names, str(s).encode(), 4)[names[0]])
    expected = sessions * 4 / 8
    spread = np.array([counts[name] for name in names[1:]]) - expected
    assert np.sum(spread**2) / (expected * (1 - 4 / 8)) * 7 / 8 < chi2.isf(1e-9, 7)


@pytest.mark.parametrize(
    ("names", "k", "about"),
    [
        (["a", "b", "a", "c"], 2, "distinct"),
        (["a", "b"], 1, "three"),
        (NAMES, 7, "even"),
        (NAMES, 0, "even"),
        (NAMES, -2, "even"),
    ],
)
def test_senseless_graphs_are_refused(names, k, about):
    """Names are distinct, parties at least three, neighbours an even number."""
    with pytest.raises(InvalidParameter, match=about):
        neighbours(names, b"session", k)


@pytest.mark.parametrize("m", [0, 1, 2, 2.5, "3", True])
def test_two_parties_are_refused(m):
    """Of two parties each would learn the other's words from the sum."""
    with pytest.raises(InvalidParameter, match="parties"):
        graph_for(m)
