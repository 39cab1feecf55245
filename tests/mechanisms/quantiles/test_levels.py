"""The window of records around a target changes the work, never the law."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flou.bits import SeededBits
from flou.mechanisms.quantiles import GridInverseSensitivity, QExp, SortedRecords
from flou.mechanisms.quantiles import levels as module
from flou.mechanisms.quantiles.levels import NEGLIGIBLE
from mechanisms.quantiles.tiny import as_counts, follows, in_memory

KINDS = [QExp, GridInverseSensitivity]
DRAWS = 3000


def wanted(mechanism, table, cells) -> np.ndarray:
    """The law, cell by cell, from the definition."""
    t, p, n = float(mechanism.rate), float(mechanism.probability), len(table)
    lt = np.array([sum(x < c for x in table) for c in range(cells)])
    le = np.array([sum(x <= c for x in table) for c in range(cells)])
    score = np.abs(le - p * n) if isinstance(mechanism, QExp) else np.maximum(p * n - le, lt - p * n)
    weights = np.exp(-t * (score - score.min()))
    return weights / weights.sum()


@settings(deadline=None)
@given(
    st.lists(st.integers(0, 11), max_size=12),
    st.fractions(0, 1, max_denominator=12),
    st.sampled_from(KINDS),
    st.sampled_from(["add-remove", "substitute"]),
)
def test_the_law_is_the_definition(table, p, kind, relation):
    """Pieces give each cell the weight that its two ranks say, from arrays and from counts."""
    mechanism = kind(p, epsilon=1.5, relation=relation)
    expected = wanted(mechanism, table, 12)
    for records in (in_memory(tuple(table), 12), as_counts(tuple(table), 12)):
        np.testing.assert_allclose(mechanism.law(records).pmf(np.arange(12)), expected, rtol=1e-9)


@settings(deadline=None)
@given(st.lists(st.integers(0, 11), max_size=12), st.fractions(0, 1, max_denominator=6), st.integers(0, 4))
def test_beyond_the_window_scores_are_never_too_high(table, p, reach):
    """Inside the window scores are true, outside they are at most the true ones, for every table and every window."""
    records = in_memory(tuple(table), 12)
    for kind in KINDS:
        levels = kind(p, epsilon=1).levels(len(table))
        pieces = levels.pieces(records, reach)
        assert pieces.lengths.sum() == 12
        scores = np.repeat(pieces.scores, pieces.lengths)
        true = np.array([levels.true_score(c, records) for c in range(12)])
        assert np.all(scores <= true)
        assert np.array_equal(scores[pieces.first : pieces.last], true[pieces.first : pieces.last])


ATOMS = [
    (1, 1, 1, 1, 1, 1, 2, 3, 3, 3, 3, 7),  # the window begins and ends inside cells with many records
    (0, 3, 5, 5, 5, 5, 5, 5, 5, 5, 8, 9),
    (4, 4, 4, 4, 6, 6, 6, 6, 6),
    (0, 0, 0, 9, 9, 9),
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("table", "reach"), list(zip(ATOMS, [2, 1, 0, 0], strict=True)))
def test_a_window_that_is_too_small_gives_the_same_law(kind, reach, table):
    """With next to no window nearly every draw is decided one by one; the law stays, and a tilted one is refused."""
    records, mechanism = in_memory(table, 12), kind(Fraction(2, 5), epsilon=1)
    levels, bits = mechanism.levels(len(table)), SeededBits(f"window {kind} {reach} {table}")
    draws = [levels.sample(records, bits, reach=reach) for _ in range(DRAWS)]
    p = mechanism.law(records).pmf(np.arange(12))
    assert follows(draws, p)
    assert not follows(draws, kind(Fraction(2, 5), epsilon=2.5).law(records).pmf(np.arange(12)))


@pytest.mark.parametrize("kind", KINDS)
def test_blocks_give_the_same_law(kind, monkeypatch):
    """Where the rate is small records are taken together, and the draws still follow the law of single pieces."""
    rng = np.random.default_rng(5)
    codes = np.sort(np.concatenate([rng.integers(0, 4000, 400), np.full(60, 1000), np.full(300, 3000)]))
    records, mechanism = SortedRecords(codes, cells=4000), kind(0.4, epsilon=0.05)
    monkeypatch.setattr(module, "LONG", 10)
    levels, bits = mechanism.levels(codes.size), SeededBits(f"blocks {kind}")
    pieces = levels.pieces(records, levels.reach(records.cells))
    assert pieces.lengths.size < 400, "they were taken together"
    true = np.array([levels.true_score(c, records) for c in range(4000)])
    scores = np.repeat(pieces.scores, pieces.lengths)
    assert np.all(scores <= true)
    assert np.array_equal(scores[pieces.first : pieces.last], true[pieces.first : pieces.last])
    draws = np.array([levels.sample(records, bits) for _ in range(DRAWS)])
    p = mechanism.law(records).pmf(np.arange(4000)).reshape(-1, 80).sum(axis=1)
    assert follows(draws // 80, p)
    wrong = kind(0.4, epsilon=0.15).law(records).pmf(np.arange(4000)).reshape(-1, 80).sum(axis=1)
    assert not follows(draws // 80, wrong)


def test_an_atom_that_fills_the_window_does_not_stop_the_sampler():
    """QExp gives both sides of a large atom a high score; the window goes on behind it, and few draws are refused."""
    codes = np.concatenate([np.arange(0, 2_000_000, 4), np.full(10**6, 2_000_000), np.arange(2_000_001, 4_000_001, 4)])
    records, mechanism = SortedRecords(codes, cells=2**31, ordered=True), QExp(0.5, epsilon=1)
    levels = mechanism.levels(codes.size)
    reach = levels.reach(records.cells)
    pieces = levels.pieces(records, reach)
    weights = pieces.lengths * np.exp(-float(levels.rate) * (pieces.scores - pieces.scores.min()))
    assert weights[[0, -1]].sum() < 1e-12 * weights.sum()
    assert 2_000_000 - 4 * reach <= int(mechanism.sample(records, bits=SeededBits("atom"))[0]) <= 2_000_000 + 4 * reach


@pytest.mark.parametrize("kind", KINDS)
def test_what_lies_beyond_the_usual_window_is_negligible(kind):
    """All cells outside together weigh less than 2^-60 of the whole."""
    rng = np.random.default_rng(6)
    records = SortedRecords(rng.integers(0, 2**40, 10**5), cells=2**40)
    levels = kind(0.3, epsilon=1).levels(records.rows)
    pieces = levels.pieces(records, levels.reach(records.cells))
    weights = pieces.lengths * np.exp(-float(levels.rate) * pieces.scores)
    assert pieces.lengths.size < 2000
    assert weights[[0, -1]].sum() < 2.0**-60 * weights.sum()
    assert levels.reach(records.cells, negligible=NEGLIGIBLE / 2) < levels.reach(records.cells)
