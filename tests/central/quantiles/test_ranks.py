"""Counts around public quantiles: where edges lie, what they cost, and intervals that hold for all data."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flou.bits import SeededBits
from flou.central.quantiles.ranks import RankMeasurement, Ranks, edges_around
from flou.laws.normal import binomial_quantile
from flou.mechanisms.quantiles import SortedRecords, Tree
from flou.mechanisms.quantiles.records import RecordsInRuns
from flou.theory.laplace_sums import rule
from flou.theory.tails import two_sided

HALF = (Fraction(1, 2),)


@given(
    st.lists(st.integers(0, 999), min_size=1, max_size=5),
    st.integers(1, 10**7),
    st.floats(0.1, 1e6),
    st.sampled_from([1, 16, 512]),
)
def test_edges_are_places_of_the_grid_and_hold_each_answer_alone(answers, rows, error, grain):
    answers = np.sort(np.array(answers))
    ps = tuple(Fraction(i + 1, answers.size + 1) for i in range(answers.size))
    edges = edges_around(answers, ps, rows, error, 1000, grain)
    assert edges[0] == 0
    assert edges[-1] == 1000
    assert np.all(np.diff(edges) > 0)
    assert set(answers.tolist()) | set((answers + 1).tolist()) <= set(edges.tolist())
    far = edges[np.min(np.abs(edges[:, None] - np.concatenate([answers, answers + 1])), axis=1) > grain]
    assert np.all((far % grain == 0) | (far == 1000))


def test_edges_are_close_where_an_interval_is_likely_to_end():
    cells, rows = 2**31, 10**5
    edges = edges_around(np.array([cells // 2]), HALF, rows, 200.0, cells, 1)
    at = cells // 2 + round(200 / rows * cells)
    gap = np.diff(edges)[np.searchsorted(edges, at) - 1]
    assert gap < 0.3 * (at - cells // 2)
    assert edges.size < 90


@given(st.lists(st.integers(0, 49), max_size=20), st.sets(st.integers(1, 49), max_size=6))
def test_runs_are_the_same_records(codes, inner):
    edges = np.array(sorted({0, 50} | inner))
    records = SortedRecords(np.array(codes, dtype=np.int64), cells=50)
    runs = RecordsInRuns(records, edges)
    expected = SortedRecords(
        np.searchsorted(edges, np.array(codes, dtype=np.int64), side="right") - 1, cells=runs.cells
    )
    assert np.array_equal(runs.ranked(1, 20), expected.ranked(1, 20))
    asked = np.arange(runs.cells + 1)
    assert np.array_equal(runs.below_each(asked), expected.below_each(asked))
    assert [runs.below(i) for i in asked.tolist()] == expected.below_each(asked).tolist()


@pytest.mark.parametrize("relation", ["add-remove", "substitute"])
@pytest.mark.parametrize("height", [1, 2])
def test_counts_of_neighbours_are_as_close_as_the_price_says(relation, height):
    """Every pair of neighbours with up to 3 records on 4 cells: the worst ratio of the law of all counts, exactly."""
    tree = Tree(HALF, epsilon=1, relation=relation, branching=2, height=height)
    edges = np.array([0, 1, 2, 4]) if height == 2 else np.array([0, 1, 4])
    everything = [tuple(codes) for n in range(4) for codes in np.ndindex(*(4,) * n) if list(codes) == sorted(codes)]
    worst = 0.0
    for one in everything:
        for other in everything:
            moved = len(one) != len(other)
            gone = _distance(one, other)
            if gone != (1 if relation == "add-remove" else 2) or moved != (relation == "add-remove"):
                continue
            counts = [
                tree.counts(RecordsInRuns(SortedRecords(np.array(c, dtype=np.int64), cells=4), edges))
                for c in (one, other)
            ]
            scale = float(tree.noise(edges.size - 1).noise.scale)
            worst = max(worst, float(np.abs(counts[0] - counts[1]).sum()) / scale)  # reached by counts far out
    assert worst == pytest.approx(1.0)


def _distance(one, other):
    left = list(other)
    missing = 0
    for code in one:
        if code in left:
            left.remove(code)
        else:
            missing += 1
    return missing + len(left)


SHAPES = {
    "even": lambda g, n: g.integers(0, 2**20, n),
    "in a corner": lambda g, n: g.integers(0, 50, n),
    "two atoms": lambda g, n: np.where(g.random(n) < 0.5, 1000, 900_000),
    "far apart": lambda g, n: (2.0 ** (g.random(n) * 20)).astype(np.int64) % 2**20,
}


@pytest.mark.parametrize("relation", ["add-remove", "substitute"])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_quantile_of_the_data_is_inside_whatever_they_are_and_whatever_was_answered(relation, shape):
    """Edges are laid around answers that are far off on purpose: intervals are long then, and hold."""
    held, total = 0, 0
    ps = (Fraction(1, 10), Fraction(1, 2), Fraction(9, 10))
    for seed in range(60):
        generator = np.random.default_rng(seed)
        codes = np.sort(SHAPES[shape](generator, 400))
        records = SortedRecords(codes, cells=2**20, ordered=True)
        answers = np.sort(generator.integers(0, 2**20, 3))
        ranks = RankMeasurement(Fraction(1), relation).measure(records, answers, ps, 1, SeededBits(seed))
        for p in ps:
            first, last = ranks.interval(p, 0.9, sampling=False)
            held += first <= codes[int(np.ceil(p * 400)) - 1] < last
            total += 1
    assert held / total >= 0.9 - 3 * np.sqrt(0.09 / total)


@pytest.mark.parametrize(("relation", "part"), [("substitute", 1.0), ("add-remove", 0.5)])
@pytest.mark.parametrize(("many", "about"), [(1, 20), (9, 40)])
def test_intervals_are_about_as_long_as_the_documentation_says(relation, part, many, about):
    """In ranks to one side, times what is paid: 20 for a median, 40 for deciles, half of that under add-remove."""
    rows = 100_000
    records = SortedRecords(np.arange(rows) * 20_000, cells=rows * 20_000, ordered=True)
    ps = tuple(Fraction(i, many + 1) for i in range(1, many + 1))
    answers = np.array([int(p * rows) * 20_000 for p in ps])
    found = []
    for seed in range(6):
        ranks = RankMeasurement(Fraction(1, 10), relation).measure(records, answers, ps, 1, SeededBits(seed))
        ends = [ranks.interval(p, 0.95, sampling=False) for p in ps]
        found += [(records.below(last) - records.below(first)) / 2 * 0.1 for first, last in ends]
    assert about * part / 1.5 < np.mean(found) < about * part * 1.5


def test_standard_errors_that_are_too_small_are_noticed():
    held = 0
    codes = np.arange(2**12)
    for seed in range(80):
        records = SortedRecords(codes, cells=2**12, ordered=True)
        ranks = RankMeasurement(Fraction(1), "add-remove").measure(records, np.array([2048]), HALF, 1, SeededBits(seed))
        wrong = Ranks(ranks.estimate, ranks.variances / 1000, ranks.spare / 1000)
        first, last = wrong.interval(HALF[0], 0.95, sampling=False)
        held += first <= 2047 < last
    assert held / 80 < 0.9


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.95, 0.99, 0.9999])
def test_sums_of_noises_have_no_longer_tails_than_one_noise_or_a_normal(level):
    generator = np.random.default_rng(0)
    scales = np.zeros((400, 7))
    for row in scales:
        many = generator.integers(1, 8)
        row[:many] = generator.random(many) ** generator.integers(1, 6)
    deviations = np.sqrt(2 * np.sum(scales**2, axis=1))
    tails = two_sided(scales, np.zeros(400), rule(level) * deviations)
    assert np.all(tails <= (1 - level) * 1.001 + 1e-9)
    assert np.any(two_sided(scales, np.zeros(400), 0.9 * rule(level) * deviations) > 1 - level)


def test_binomial_quantiles():
    from scipy.stats import binom

    for n, p, tail in [
        (10, 0.3, 0.025),
        (1000, 0.5, 0.975),
        (7, 0.0, 0.5),
        (7, 1.0, 0.5),
        (0, 0.5, 0.9),
        (100, 0.01, 0.1),
    ]:
        assert binomial_quantile(tail, n, p) == int(binom.ppf(tail, n, p))
