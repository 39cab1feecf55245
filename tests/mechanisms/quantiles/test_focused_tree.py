"""FocusedTree: what two trees cost together, where the second one counts, and how far answers are off."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flou.bits import SeededBits
from flou.mechanisms.quantiles import CellCounts, FocusedTree, SortedRecords, Tree
from flou.mechanisms.quantiles.focus import expected_below, focused_edges
from flou.mechanisms.quantiles.focused_tree import FIRST
from flou.mechanisms.quantiles.tree import TreeDistribution, TreeOfRuns
from flou.mechanisms.quantiles.tree_consistency import best_shape, prefix_variances, typical_variance
from mechanisms.quantiles.tiny import RELATIONS, in_memory, pairs
from privacy.exhaustive import loss, tables

HUNDREDTHS = [Fraction(i, 100) for i in range(1, 100)]


# Privacy


def as_runs(edges: np.ndarray, table: tuple[int, ...]) -> SortedRecords:
    """The records of a table as the runs that hold them."""
    return in_memory(tuple(np.searchsorted(edges, table, side="right") - 1), edges.size - 1)


def counts_of(tree: Tree, edges: np.ndarray, every) -> np.ndarray:
    """The counts of all tables, each once."""
    return np.array(sorted({tuple(tree.counts(as_runs(edges, table)).tolist()) for table in every}))


def worst(mechanism: FocusedTree, cells: int, most: int, second=None) -> float:
    """The largest log-ratio of everything that is released: counts of the first tree, then those of the second.

    The second tree depends on the counts of the first; ratios are largest where counts are those of some table. Every
    number of records has its own rough estimate where that number is public, so that it is fixed there.
    """
    second = second or mechanism.second
    whole, found = np.arange(cells + 1), 0.0
    every = tables(range(cells), range(most + 1))
    for rows in range(most + 1) if mechanism.relation == "substitute" else [None]:
        near = [
            (a, b) for a, b in pairs(mechanism.relation, range(cells), most) if rows is None or len(a) == len(b) == rows
        ]
        for seen in counts_of(mechanism.first, whole, every):
            then = second(mechanism.first.estimate(seen, cells, rows))
            points = counts_of(then.tree, then.edges, every)
            logs = {
                table: mechanism.first.law(in_memory(table, cells)).log_pmf(seen)
                + then.tree.law(as_runs(then.edges, table)).log_pmf(points)
                for table in every
            }
            found = max([found, *(float(np.max(logs[a] - logs[b])) for a, b in near)])
    return found


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("epsilon", [0.1, 1, 3])
@pytest.mark.parametrize(
    ("branching", "height", "cells", "most"), [(32, 3, 4, 3), (2, 2, 4, 3), (32, 3, 6, 2), (32, 3, 3, 5)]
)
def test_the_loss_is_epsilon(relation, epsilon, branching, height, cells, most):
    """sup log P(counts of both trees)/P'(...) over all neighbours is epsilon, no more and no less."""
    mechanism = FocusedTree([0.2, 0.5], epsilon=epsilon, branching=branching, height=height, relation=relation)
    assert worst(mechanism, cells, most) == pytest.approx(epsilon)


@pytest.mark.parametrize("relation", RELATIONS)
def test_two_trees_at_the_price_of_one_are_refused(relation):
    """A second tree that costs all of epsilon, as if the first were free, loses more."""
    mechanism = FocusedTree(0.5, epsilon=1, relation=relation)

    def dear(rough):
        then = mechanism.second(rough)
        tree = Tree(0.5, epsilon=1, branching=then.tree.branching, height=then.tree.height, relation=relation)
        return TreeOfRuns(tree, then.edges, then.below)

    assert worst(mechanism, 4, 2, dear) > 1.1


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("cells", [4, 5])
def test_the_second_tree_is_worth_its_share_wherever_its_edges_are(relation, cells):
    """For each set of edges on the grid: none of them makes the counts of neighbours differ by more."""
    for chosen in range(2 ** (cells - 1)):
        edges = np.array([0, *(c for c in range(1, cells) if chosen >> (c - 1) & 1), cells])
        tree = Tree(0.5, epsilon=1, branching=2, height=2, relation=relation)
        points = [tuple(one) for one in counts_of(tree, edges, tables(range(cells), range(4))).tolist()]
        near = pairs(relation, range(cells), 3)
        found = loss(tree.law, partial(as_runs, edges), near, lambda _, points=points: points)
        assert found <= 1 + 1e-9


@pytest.mark.parametrize("relation", RELATIONS)
def test_what_is_released_are_the_two_trees(relation):
    """With the same bits: the first tree, then the one that follows from it, and nothing else reads the records."""
    records = SortedRecords(np.random.default_rng(1).integers(0, 2**20, 5_000), cells=2**20)
    mechanism = FocusedTree(HUNDREDTHS, epsilon=1, relation=relation)
    assert mechanism.first.epsilon == FIRST
    one, bits = mechanism.distribution(records, SeededBits(3)), SeededBits(3)
    then = mechanism.second(mechanism.first.distribution(records, bits))
    other = then.distribution(records, bits)
    assert then.tree.epsilon + mechanism.first.epsilon == 1
    assert np.array_equal(one.edges, other.edges)
    assert np.array_equal(one.cumulative, other.cumulative)
    assert mechanism.sample(records, bits=SeededBits(3)).tolist() == other.quantiles(HUNDREDTHS).tolist()


# Where the second tree counts


def rough_of(heights, cells: int, noise: float = 0.0, branching: int = 4) -> TreeDistribution:
    cumulative = np.concatenate([[0.0], np.cumsum(heights)])
    edges = np.arange(cumulative.size) * cells // (cumulative.size - 1)
    return TreeDistribution(edges, cumulative, np.zeros(cumulative.size), float(cumulative[-1]), branching, noise)


@given(
    st.lists(st.floats(-50, 500), min_size=16, max_size=16),
    st.lists(st.fractions(0, 1), min_size=1, max_size=8, unique=True),
    st.sampled_from([1, 2, 5, 16, 1003, 2**31]),
    st.sampled_from([1, 8, 2**16]),
    st.sampled_from([1e-3, 1.0, 1e4]),
)
def test_edges_increase_from_end_to_end(heights, probabilities, cells, grain, scale):
    """Whatever the rough estimate says, all cells are in some run, and runs are expected to hold something."""
    rough = rough_of(heights, cells, 100.0)
    edges = focused_edges(rough, sorted(probabilities), scale, grain)
    assert edges[0] == 0
    assert edges[-1] == cells
    assert np.all(np.diff(edges) > 0)
    assert np.all(np.diff(expected_below(rough, edges)) > 0)


def test_edges_are_close_around_the_targets():
    """A target at a quarter of a million even records: runs around it are short, and much longer elsewhere."""
    rough = rough_of(np.full(4096, 250.0), 2**31, noise=1000.0, branching=16)
    edges = focused_edges(rough, [Fraction(1, 4)], 1.0) / 2**31
    at = np.searchsorted(edges, 0.25)
    lengths = np.diff(edges)
    assert lengths[at - 2 : at + 2].max() < 1e-4
    assert lengths[0] > 0.1
    assert lengths[-1] > 0.1
    assert 30 < edges.size < 100
    expected = expected_below(rough, (edges * 2**31).astype(np.int64))
    assert expected == pytest.approx(edges * 4096 * 250, rel=0.01)


def test_edges_move_to_multiples_where_that_is_no_loss():
    """Then counts of coarse cells say everything; close ones stay where they are."""
    rough = rough_of(np.full(4096, 100.0), 2**31, noise=1000.0, branching=16)
    wide, narrow = (focused_edges(rough, [Fraction(1, 2)], 100.0, grain) for grain in (2**10, 2**26))
    assert np.all(wide % 2**10 == 0)
    assert np.any(narrow % 2**26 != 0)
    assert np.any(narrow[1:-1] % 2**26 == 0)


def test_no_more_records_are_looked_at_than_memory_holds():
    """By the rough estimate, which is public: of a billion records and a thousand quantiles all edges are multiples."""
    few, many = (
        focused_edges(
            rough_of(np.full(4096, held), 2**31, 1000.0, 16), [Fraction(i, 1000) for i in range(1, 1000)], 1.0, 2**16
        )
        for held in (1_000.0, 250_000.0)
    )
    assert np.any(few % 2**16 > 0)
    assert np.all(many % 2**16 == 0)
    assert np.all(np.diff(many) > 0)
    assert many[-1] == 2**31


@pytest.mark.parametrize("leaves", [3, 7, 99, 1_000, 30_000])
def test_the_best_shape_errs_least(leaves):
    """Of all shapes with so many leaves, by the exact variances; the typical one is their mean, nearly."""
    branching, height = best_shape(leaves)
    assert branching**height >= leaves

    def exact(b, h):
        return h * h * float(np.mean(prefix_variances(b, h, known_total=True)))

    others = [(b, h) for h in range(1, 7) for b in range(2, 1025) if leaves <= b**h < 4 * max(leaves, 2)]
    assert exact(branching, height) <= 1.05 * min(exact(*shape) for shape in others)
    near = 0.06 if leaves > 50 else 0.35
    assert height**2 * typical_variance(branching, height) == pytest.approx(exact(branching, height), rel=near)


# Errors


KINDS = {
    "even": lambda g, n: g.random(n),
    "in a corner": lambda g, n: 0.3 + 0.001 * g.random(n),
    "bent": lambda g, n: np.clip(0.5 + 0.05 * g.standard_normal(n), 0, 1),
    "far apart": lambda g, n: 2.0 ** (-20 * g.random(n)),
}


@pytest.mark.parametrize(("relation", "most"), [("add-remove", 13), ("substitute", 24)])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rows", [20_000, 200_000])
def test_errors_grow_with_neither_records_nor_bounds(relation, most, kind, rows):
    """99 quantiles at epsilon 1; arrays and counts of cells alike."""
    values = np.sort(KINDS[kind](np.random.default_rng(3), rows))
    codes = np.minimum((values * 2**31).astype(np.int64), 2**31 - 1)
    mechanism, off = FocusedTree(HUNDREDTHS, epsilon=1, relation=relation), []
    counts = CellCounts(*np.unique(codes, return_counts=True), cells=2**31)
    for seed in range(4):
        found = mechanism.sample(SortedRecords(codes, cells=2**31, ordered=True), bits=SeededBits(seed))
        assert found.tolist() == mechanism.sample(counts, bits=SeededBits(seed)).tolist()
        off.append(np.abs(np.searchsorted(codes, found) - rows * np.arange(1, 100) / 100))
    assert 3 < np.mean(off) < most


@pytest.mark.parametrize("relation", RELATIONS)
def test_standard_errors_are_those_of_the_estimates(relation):
    """For edges that stay where they are: unbiased, and as far off as stated; ten percent more would be noticed."""
    records = SortedRecords(np.random.default_rng(6).integers(0, 4096, 3000), cells=4096)
    mechanism = FocusedTree(HUNDREDTHS, epsilon=1, relation=relation)
    then = mechanism.second(mechanism.first.distribution(records, SeededBits("rough")))
    truth = records.below_each(then.distribution(records, SeededBits(0)).edges)
    bits = SeededBits(f"standard errors {relation}")
    releases = [then.distribution(records, bits) for _ in range(600)]
    stated, inside = releases[0].standard_errors, slice(1, -1)
    errors = np.array([one.cumulative - truth for one in releases])[:, inside]
    assert np.all(np.abs(errors.mean(axis=0)) < 5.5 * stated[inside] / np.sqrt(600))
    assert abs(np.mean(errors**2 / stated[inside] ** 2) - 1) < 0.08


def test_a_public_value_with_many_records_is_found():
    """Where cells are possible values, ties are answered exactly."""
    codes = np.sort(np.concatenate([np.arange(3000).repeat(20), np.full(30_000, 1234)]))
    found = FocusedTree(HUNDREDTHS, epsilon=1).sample(SortedRecords(codes, cells=3000), bits=SeededBits("atom"))
    assert found[30:59].tolist() == [1234] * 29
    exact = codes[(np.arange(1, 100) * codes.size / 100).astype(np.int64)]
    assert np.abs(found - exact).max() <= 3


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("epsilon", [100, 10_000])
def test_no_noise_at_all_is_no_trouble(relation, epsilon):
    """At a huge epsilon the estimate is exact, and zones are as narrow as a rank; so are the errors."""
    codes = np.sort(np.random.default_rng(0).integers(0, 2**31, 3000))
    mechanism = FocusedTree(HUNDREDTHS, epsilon=epsilon, relation=relation)
    for rows in (0, 1, 3000):
        records = SortedRecords(codes[:rows], cells=2**31, ordered=True)
        off = (
            np.searchsorted(codes[:rows], mechanism.sample(records, bits=SeededBits(1)))
            - rows * np.arange(1, 100) / 100
        )
        assert np.abs(off).max() <= 3
        few = SortedRecords(codes[:rows] % 20, cells=20)  # the rough tree has one level, and its noise no variance
        assert mechanism.sample(few, bits=SeededBits(1)).max() < 20


@pytest.mark.parametrize("place", [0, 2**16 - 1, 12_345], ids=["first", "last", "inside"])
@pytest.mark.parametrize("relation", RELATIONS)
def test_heaps_between_wide_gaps_are_found(place, relation):
    """Wherever in a leaf of the rough tree they lie: answers for ranks inside a heap are next to it."""
    heaps = np.array([4_000, 12_000, 16_384, 20_000, 28_000]) * 2**16 + place
    records = SortedRecords(heaps.repeat(4000), cells=2**31)
    asked = [Fraction(i, 100) for i in range(1, 100) if i % 20 not in (0, 1, 19)]
    found = FocusedTree(asked, epsilon=1, relation=relation).sample(records, bits=SeededBits("heaps"))
    off = np.abs(found - heaps[[int(p * 5) for p in asked]])
    assert off.max() < 2**16  # a 32,768th of the range


@pytest.mark.parametrize(("cells_of_data", "rows"), [(300, 3 * 10**7), (10**6, 10**9)])
def test_many_records_between_wide_bounds_are_looked_at(cells_of_data, rows):
    """The codes are what takes memory, not the records: edges stay close where all rows share a few coarse cells."""
    heights = np.zeros(32**3)
    heights[1000 : 1000 + max(cells_of_data // 2**16, 1)] = rows
    heights *= rows / heights.sum()
    edges = focused_edges(rough_of(heights, 2**31, 1000.0, 32), HUNDREDTHS, 1.0, 2**16)
    assert np.count_nonzero(edges % 2**16) > 1000


def test_nothing_but_noise_is_no_trouble():
    """Few records, or none, at a small epsilon."""
    for rows in (0, 1, 50):
        for relation in RELATIONS:
            mechanism = FocusedTree(HUNDREDTHS, epsilon=0.01, relation=relation)
            for seed in range(5):
                found = mechanism.sample(SortedRecords(np.arange(rows), cells=2**31), bits=SeededBits(seed))
                assert np.all(np.diff(found) >= 0)
                assert 0 <= found[0] <= found[-1] < 2**31
