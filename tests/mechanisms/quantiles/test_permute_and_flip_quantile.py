"""Permute-and-flip on cells: exact by races of pieces, private, and never worse than inverse sensitivity."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flou.bits import SeededBits
from flou.errors import InvalidParameter
from flou.mechanisms import PermuteAndFlip
from flou.mechanisms.quantiles import GridInverseSensitivity, PermuteAndFlipQuantile, SortedRecords
from flou.mechanisms.quantiles import levels as levels_module
from flou.mechanisms.quantiles import permute_and_flip_quantile as module
from mechanisms.quantiles.tiny import PROBABILITIES, RELATIONS, as_counts, follows, in_memory, pairs
from privacy.exhaustive import loss

TABLES = st.lists(st.integers(0, 7), max_size=8)


@settings(deadline=None, max_examples=40)
@given(TABLES, st.sampled_from(PROBABILITIES), st.sampled_from(RELATIONS))
def test_the_law_is_permute_and_flip_on_the_cells(table, p, relation):
    """Pieces with many cells give the law of the plain mechanism on single cells, and better tails than the other."""
    mechanism = PermuteAndFlipQuantile(p, epsilon=2, relation=relation)
    records, levels = in_memory(tuple(table), 8), mechanism.levels(len(table))
    scores = np.array([levels.true_score(c, records) for c in range(8)])
    plain = PermuteAndFlip(sensitivity=Fraction(1, 2) / levels.rate, epsilon=1)
    found = mechanism.law(records).probabilities
    np.testing.assert_allclose(found, plain.law(-scores).probabilities, rtol=1e-9)
    other = GridInverseSensitivity(p, epsilon=2, relation=relation).law(records).pmf(np.arange(8))
    for v in np.unique(scores):
        assert found[scores >= v].sum() <= other[scores >= v].sum() + 1e-12


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("p", PROBABILITIES, ids=str)
def test_loss_is_at_most_epsilon(relation, p):
    """Every pair of neighbours with up to three records on six cells; at twice epsilon the check refuses."""
    some = pairs(relation, range(6), 3)
    found = [
        loss(
            PermuteAndFlipQuantile(p, epsilon=epsilon, relation=relation).law,
            lambda table: in_memory(table, 6),
            some,
            lambda _: range(6),
        )
        for epsilon in (1, 3)
    ]
    assert found[0] <= 1 + 1e-9
    assert 1.05 < found[1] <= 3 + 1e-9


@pytest.mark.parametrize("summary", [in_memory, as_counts])
@pytest.mark.parametrize("slack", [2.0**-40, 0.9])
def test_samples_follow_the_law(summary, slack, monkeypatch):
    """Also where nearly all races are left to integers; the law of the exponential mechanism is refused."""
    monkeypatch.setattr(module, "SLACK", slack)
    table = (3,) * 9 + (5,) * 3
    records, mechanism = summary(table, 7), PermuteAndFlipQuantile(0.5, epsilon=Fraction(1, 2), relation="substitute")
    bits = SeededBits(f"flip {summary.__name__} {slack}")
    draws = np.concatenate(
        [
            mechanism.answers(records, bits)
            for _ in range(400 if slack > 0.5 else 8000 if summary is in_memory else 1500)
        ]
    )
    assert follows(draws, mechanism.law(records).probabilities)
    if len(draws) == 8000:
        other = GridInverseSensitivity(0.5, epsilon=Fraction(1, 2), relation="substitute")
        assert not follows(draws, other.law(records).pmf(np.arange(7)))


def test_refused_heads_leave_the_law_alone(monkeypatch):
    """Where records are taken together and most heads of a block do not count, draws follow the law all the same."""
    monkeypatch.setattr(levels_module, "LONG", 4)
    monkeypatch.setattr(levels_module, "ALIKE", 1.5)
    table = tuple(np.random.default_rng(8).integers(0, 40, 60).tolist())
    records, mechanism = in_memory(table, 40), PermuteAndFlipQuantile(0.3, epsilon=0.3)
    bits = SeededBits("refused")
    levels = mechanism.levels(len(table))
    assert levels.pieces(records, 1000).lengths.size < 40
    draws = np.concatenate([mechanism.answers(records, bits) for _ in range(3000)])
    law = mechanism.law(records)
    assert follows(draws, law.probabilities)
    wrong = PermuteAndFlipQuantile(0.3, epsilon=0.6).law(records)
    assert not follows(draws, wrong.probabilities)
    assert set(law.sample(5, bits=bits).tolist()) <= set(range(40))


def test_exact_races_agree_with_floats():
    """Between pieces that floats can tell apart, integers say the same."""
    mechanism = PermuteAndFlipQuantile(0.5, epsilon=1)
    levels = mechanism.levels(6)
    pieces = levels.pieces(in_memory((1, 4, 4, 9, 20, 30), 50), 100)
    for seed in range(30):
        race = module.Race(pieces, levels.rate, SeededBits(seed))
        middle = (race._low + race._high) / 2 * race._waits
        for i, j in ((0, 1), (2, 5), (3, 4), (5, 6)):
            assert race._before(i, j) == (middle[i] < middle[j])
            assert race._before(j, i) == (middle[j] < middle[i])


@pytest.mark.parametrize("count", [1, 2, 7, 1000, 2**40])
def test_the_largest_of_many_uniforms(count):
    """Its bits are those of U^(1/count), whatever the precision and the order in which it is asked for."""
    for word in (2**63, 2**60 + 12345, 2**64 - 2**40, 5 * 2**50):
        largest = module.Largest(word, count, SeededBits(word))
        low, high = largest(150)
        again = largest(60)
        assert again[0] == low >> 90
        assert high == low + 1
        expected = -np.expm1(np.log1p(-word * 2.0**-64) / count)
        assert 1 - low * 2.0**-150 == pytest.approx(float(expected), rel=1e-9, abs=1e-15)


def test_large_grids_are_sampled_and_not_listed():
    """The law is listed for small grids; draws come from any."""
    records = SortedRecords([5, 9, 2**39], cells=2**40)
    assert 0 <= PermuteAndFlipQuantile(0.5, epsilon=1).sample(records)[0] < 2**40
    with pytest.raises(InvalidParameter, match="cells"):
        PermuteAndFlipQuantile(0.5, epsilon=1).law(records)
