"""Smooth inverse sensitivity: the score of the best cell within the radius, private at every radius."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flou.bits import SeededBits
from flou.errors import InvalidParameter
from flou.mechanisms.quantiles import GridInverseSensitivity, SmoothInverseSensitivity, SortedRecords
from mechanisms.quantiles.tiny import PROBABILITIES, RELATIONS, as_counts, follows, in_memory, pairs
from privacy.exhaustive import loss

TABLES = st.lists(st.integers(0, 11), max_size=10)


@settings(deadline=None)
@given(TABLES, st.sampled_from(PROBABILITIES), st.integers(0, 13), st.sampled_from(RELATIONS))
def test_a_score_is_the_least_within_the_radius(table, p, radius, relation):
    """len^rho of a cell is the least length of the cells within rho, by direct count."""
    mechanism = SmoothInverseSensitivity(p, epsilon=1, radius=radius, relation=relation)
    sharp = SmoothInverseSensitivity(p, epsilon=1, relation=relation).levels(len(table))
    records, levels = in_memory(tuple(table), 12), mechanism.levels(len(table))
    single = [sharp.true_score(c, records) for c in range(12)]
    least = [min(single[max(c - radius, 0) : c + radius + 1]) for c in range(12)]
    assert [levels.true_score(c, records) for c in range(12)] == least
    weights = np.exp(-float(levels.rate) * (np.array(least) - min(least)))
    for one in (records, as_counts(tuple(table), 12)):
        np.testing.assert_allclose(mechanism.law(one).pmf(np.arange(12)), weights / weights.sum(), rtol=1e-9)


@settings(deadline=None)
@given(TABLES.filter(bool), st.sampled_from(PROBABILITIES))
def test_lengths_count_substitutions(table, p):
    """Under substitution the score of a cell is how many records must change for the quantile to lie in it."""
    levels = SmoothInverseSensitivity(p, epsilon=1, relation="substitute").levels(len(table))
    table, rank = sorted(table), levels.rank
    for c in range(12):
        below = max(0, sum(x < c for x in table) - rank + 1)  # to be moved up into the cell
        above = max(0, rank - sum(x <= c for x in table))
        assert levels.true_score(c, in_memory(tuple(table), 12)) == below + above


@settings(deadline=None)
@given(TABLES, st.sampled_from(PROBABILITIES), st.integers(0, 4), st.integers(0, 3), st.sampled_from(RELATIONS))
def test_beyond_the_window_scores_are_never_too_high(table, p, radius, reach, relation):
    """Whatever the window, scores are true inside and at most true outside."""
    records = in_memory(tuple(table), 12)
    levels = SmoothInverseSensitivity(p, epsilon=1, radius=radius, relation=relation).levels(len(table))
    pieces = levels.pieces(records, reach)
    scores = np.repeat(pieces.scores, pieces.lengths)
    true = np.array([levels.true_score(c, records) for c in range(12)])
    assert np.all(scores <= true)
    assert np.array_equal(scores[pieces.first : pieces.last], true[pieces.first : pieces.last])


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("p", PROBABILITIES, ids=str)
@pytest.mark.parametrize("radius", [1, 2])
def test_loss_is_at_most_epsilon(relation, p, radius):
    """Every pair of neighbours with up to three records on six cells; twice the rate is seen to overspend."""
    some = pairs(relation, range(6), 3)
    for epsilon in (1, 2):
        law = SmoothInverseSensitivity(p, epsilon=epsilon, radius=radius, relation=relation).law
        found = loss(law, lambda table: in_memory(table, 6), some, lambda _: range(6))
        assert found <= epsilon + 1e-9
    if p == Fraction(1, 2):
        assert found > 1.05, "the law of epsilon = 2 is not private at epsilon = 1"


def test_samples_follow_the_law_with_a_tiny_window():
    """Draws by single decisions beyond the window follow the law; the law of another radius is refused."""
    table = (2, 5, 5, 5, 9, 9, 14, 20)
    records, mechanism = in_memory(table, 24), SmoothInverseSensitivity(0.5, epsilon=1, radius=2)
    levels, bits = mechanism.levels(len(table)), SeededBits("smooth window")
    draws = [levels.sample(records, bits, reach=1) for _ in range(2500)]
    assert follows(draws, mechanism.law(records).pmf(np.arange(24)))
    assert not follows(draws, GridInverseSensitivity(0.5, epsilon=1).law(records).pmf(np.arange(24)))


def test_answers_within_the_radius():
    """On sparse records the answer is within the radius nearly always, where the sharp score spreads over the gaps."""
    records = SortedRecords(np.array([100_000, 500_000, 900_000] * 30), cells=10**6)
    bits = SeededBits("sparse")
    mechanism = SmoothInverseSensitivity(0.5, epsilon=1, radius=1000)
    draws = np.array([mechanism.sample(records, bits=bits)[0] for _ in range(50)])
    assert np.all(np.abs(draws - 500_000) <= 1000)


@pytest.mark.parametrize("radius", [-1, 1.5, 2**41, None])
def test_strange_radii_are_refused(radius):
    """A radius is a whole number of cells."""
    with pytest.raises(InvalidParameter, match="radius"):
        SmoothInverseSensitivity(0.5, epsilon=1, radius=radius)
