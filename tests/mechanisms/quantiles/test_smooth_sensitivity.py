"""Smooth sensitivity: an upper bound that neighbours share up to a factor, and noise that is private with it."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flou.bits import SeededBits
from flou.errors import InvalidParameter
from flou.guarantee import ApproxDP
from flou.laws import DiscreteLaplace
from flou.mechanisms.quantiles import SmoothSensitivity
from flou.mechanisms.quantiles.targets import rank_of
from mechanisms.quantiles.tiny import PROBABILITIES, RELATIONS, as_counts, follows, in_memory, pairs
from privacy.exhaustive import delta

CELLS = 6


def by_definition(table, cells, rank, beta) -> float:
    """The largest weighted distance of two ranks around the quantile, over all of them."""
    n = len(table)
    x = {0: 0, n + 1: cells - 1} | {i + 1: code for i, code in enumerate(sorted(table))}
    return max(
        (x[j] - x[i]) * math.exp(-beta * (j - i - 1)) for i in range(rank + 1) for j in range(max(rank, i + 1), n + 2)
    )


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(0, 99), max_size=15), st.sampled_from(PROBABILITIES), st.sampled_from([0.3, 2.0, 15.0]))
def test_it_is_the_largest_of_all_pairs(table, p, epsilon):
    """What is ruled out by floats was not the largest, from arrays and from counts."""
    mechanism, rank = SmoothSensitivity(p, epsilon=epsilon, delta=0.01), rank_of(p, len(table))
    for records in (in_memory(tuple(table), 100), as_counts(tuple(table), 100)):
        found = float(mechanism.smooth_sensitivity(records, rank))
        assert found == pytest.approx(by_definition(table, 100, rank, mechanism.decay), rel=1e-12)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("p", PROBABILITIES, ids=str)
def test_it_bounds_all_moves_and_moves_slowly(relation, p):
    """For all neighbours: the quantile moves by at most S, and S by at most the factor that the noise can bear."""
    epsilon, claimed = 1, 0.05
    mechanism = SmoothSensitivity(p, epsilon=epsilon, delta=claimed, relation=relation)
    bearable = 1 + epsilon / (2 * math.log(2 / claimed))
    factor = 0.0
    for a, b in pairs(relation, (0, 1, 3, 5), 4):
        one, other = in_memory(a, CELLS), in_memory(b, CELLS)
        ranks = rank_of(p, len(a)), rank_of(p, len(b))
        s, other_s = (mechanism.smooth_sensitivity(r, k) for r, k in zip((one, other), ranks, strict=True))
        moved = abs(int(mechanism._padded(one, ranks[0], 0)[0]) - int(mechanism._padded(other, ranks[1], 0)[0]))
        assert moved <= min(s, other_s)
        factor = max(factor, float(max(s, other_s) / min(s, other_s)))
    assert 1 + 0.9 * (bearable - 1) <= factor <= bearable


def exact_delta(left: DiscreteLaplace, at: int, right: DiscreteLaplace, other: int, epsilon: float) -> float:
    reach = 60 * math.ceil(max(left.scale, right.scale)) + 20
    k = np.arange(-reach, reach + 1)
    return delta(left.pmf(k - at), right.pmf(k - other), epsilon)


def worst_delta(mechanism, relation, p, shrink=1) -> float:
    worst = 0.0
    for a, b in pairs(relation, (0, 1, 5), 4):
        sides = []
        for table in (a, b):
            records, rank = in_memory(table, CELLS), rank_of(p, len(table))
            noise = mechanism.noise(records, rank)
            sides += [DiscreteLaplace(noise.scale / shrink), int(mechanism._padded(records, rank, 0)[0])]
        worst = max(worst, exact_delta(*sides, float(mechanism.epsilon)))
    return worst


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("p", [Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(1)], ids=str)
@pytest.mark.parametrize(("epsilon", "claimed"), [(1, 0.05), (8, 1e-3)])
def test_the_exact_delta_of_all_neighbours(relation, p, epsilon, claimed):
    """The hockey-stick divergence of the release, computed for every pair, is at most delta."""
    mechanism = SmoothSensitivity(p, epsilon=epsilon, delta=claimed, relation=relation)
    assert worst_delta(mechanism, relation, p) <= claimed


def test_a_quarter_of_the_noise_is_refused():
    """The same check sees noise that is four times too small."""
    mechanism = SmoothSensitivity(0.5, epsilon=1, delta=0.05)
    assert worst_delta(mechanism, "add-remove", Fraction(1, 2), shrink=4) > 0.05


def test_samples_follow_the_law():
    """The exact quantile plus noise of the stated scale, held to the grid."""
    table = (40,) * 30 + (50, 52, 53) + (60,) * 30
    mechanism = SmoothSensitivity(0.5, epsilon=20, delta=0.01)
    for summary in (in_memory, as_counts):
        records, bits = summary(table, 101), SeededBits(f"smooth {summary.__name__}")
        draws = np.array([mechanism.sample(records, bits=bits)[0] for _ in range(1500)])
        rank = rank_of(Fraction(1, 2), len(table))
        noise = mechanism.noise(records, rank)
        p = noise.pmf(np.arange(101) - 52)
        p[0], p[100] = noise.cdf(-52), noise.sf(47)
        assert follows(draws, p)
        assert not follows(draws, np.roll(p, 1))


def test_dense_records_need_little_noise():
    """A hundred thousand records on as many cells: the scale is a small part of the range."""
    records = in_memory(tuple(range(0, 10**5, 2)), 10**5)
    mechanism = SmoothSensitivity(0.5, epsilon=1, delta=1e-6)
    assert mechanism.noise(records, 25_000).scale < 100


def test_parts_limits_and_guarantee():
    """Several quantiles share epsilon and delta; a tiny epsilon falls back to the range; strange sizes are refused."""
    mechanism = SmoothSensitivity([0.25, 0.75], epsilon=2, delta=0.02)
    assert mechanism.guarantee == ApproxDP(2, 0.02)
    assert mechanism.decay == SmoothSensitivity(0.5, epsilon=1, delta=0.01).decay
    tiny = SmoothSensitivity(0.5, epsilon=1e-5, delta=1e-6)
    assert tiny.smooth_sensitivity(in_memory((1, 2, 3), 50), 2) == 49
    for table in ((), (1,), (1,) * 100):
        with pytest.raises(InvalidParameter, match="scale"):
            SmoothSensitivity(0.5, epsilon=0.0001, delta=0.1).sample(in_memory(table, 2**40))
