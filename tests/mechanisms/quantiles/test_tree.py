"""Tree: what the counts cost, that least squares are least squares, and how far the answers are off."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flou.bits import SeededBits
from flou.errors import InvalidParameter
from flou.laws import DiscreteLaplace
from flou.mechanisms import Laplace
from flou.mechanisms.quantiles import CellCounts, HistogramMethod, SortedRecords
from flou.mechanisms.quantiles.tree import Tree, TreeDistribution
from flou.mechanisms.quantiles.tree_consistency import consistent, evened, increasing, prefix_variances
from mechanisms.quantiles.tiny import RELATIONS, as_counts, in_memory, pairs
from privacy.exhaustive import loss, tables

DECILES = [Fraction(i, 10) for i in range(1, 10)]


# Privacy


def measured(tree: Tree, law, cells: int, most: int) -> float:
    """The largest log-ratio of the noisy counts; it is reached where these equal the counts of some table."""
    points = {tuple(tree.counts(in_memory(t, cells)).tolist()) for t in tables(range(cells), range(most + 1))}
    return loss(law, lambda t: in_memory(t, cells), pairs(tree.relation, range(cells), most), lambda _: sorted(points))


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("epsilon", [0.1, 1, 3])
@pytest.mark.parametrize(("branching", "height", "cells"), [(2, 2, 4), (3, 1, 5), (2, 3, 6)])
def test_the_loss_is_epsilon(relation, epsilon, branching, height, cells):
    """sup log P(counts)/P'(counts) over all neighbours is epsilon, no more and no less."""
    tree = Tree(0.5, epsilon=epsilon, branching=branching, height=height, relation=relation)
    assert measured(tree, tree.law, cells, 3) == pytest.approx(epsilon)


@pytest.mark.parametrize(("relation", "moved"), [("add-remove", 1), ("substitute", 2), ("substitute", 3)])
def test_too_little_noise_is_refused(relation, moved):
    """Noise for one level instead of two, or for one node of a level instead of two, loses more than epsilon."""
    tree = Tree(0.5, epsilon=1, branching=2, height=2, relation=relation)
    wrong = Laplace(sensitivity=moved, epsilon=1, relation=relation)
    assert measured(tree, lambda records: wrong.law(tree.counts(records)), 4, 3) > 1.3


def test_counts_are_those_of_the_nodes():
    """Level by level from the top, from arrays and from counts of cells."""
    tree = Tree(0.5, epsilon=1, branching=2, height=2)
    for records in (in_memory((0, 0, 1, 5, 7), 8), as_counts((0, 0, 1, 5, 7), 8)):
        assert tree.counts(records).tolist() == [3, 2, 3, 0, 1, 1]
        assert tree.law(records).centre.tolist() == [3, 2, 3, 0, 1, 1]


def test_the_tree_is_only_as_high_as_it_needs():
    """Levels without more cells would cost for nothing."""
    tree = Tree(0.5, epsilon=1)
    assert [tree.levels(cells) for cells in (1, 32, 33, 1024, 5000, 2**40)] == [1, 1, 2, 2, 3, 3]
    assert tree.noise(32).sensitivity == 1
    assert Tree(0.5, epsilon=1, relation="substitute").noise(2**32).sensitivity == 6
    assert tree.edges(2**32)[[0, 1, -1]].tolist() == [0, 2**17, 2**32]
    with pytest.raises(InvalidParameter, match="leaves"):
        Tree(0.5, epsilon=1, branching=100, height=4)


# Least squares


def design(branching: int, height: int) -> np.ndarray:
    """Which leaves each node holds, level by level from the top."""
    leaves = branching**height
    return np.vstack([np.kron(np.eye(branching**k), np.ones(leaves // branching**k)) for k in range(1, height + 1)])


@pytest.mark.parametrize(("branching", "height"), [(2, 1), (2, 3), (3, 2), (4, 2), (5, 1)])
@pytest.mark.parametrize("known", [False, True])
def test_the_estimate_is_least_squares(branching, height, known):
    """As the normal equations say, with and without a public total; so are the variances of prefix sums."""
    nodes = design(branching, height)
    noisy = np.random.default_rng(5).normal(size=nodes.shape[0]) * 3
    inverse = np.linalg.inv(nodes.T @ nodes)
    wanted = inverse @ nodes.T @ noisy
    covariance = inverse
    total = 7
    if known:
        ones = np.ones(nodes.shape[1])
        gain = inverse @ ones / (ones @ inverse @ ones)
        wanted = wanted + gain * (total - wanted.sum())
        covariance = inverse - np.outer(gain, ones @ inverse)
    levels = np.split(noisy, np.cumsum([branching**k for k in range(1, height)]))
    assert consistent(levels, branching, total if known else None) == pytest.approx(wanted)
    prefixes = np.tril(np.ones((nodes.shape[1] + 1, nodes.shape[1])), -1)
    exact = np.einsum("ij,jk,ik->i", prefixes, covariance, prefixes)
    assert prefix_variances(branching, height, known_total=known) == pytest.approx(exact, abs=1e-12)


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=30), st.data())
def test_increasing_brings_sequences_no_farther_apart(values, data):
    """An increasing sequence stays, and the largest distance between two sequences never grows."""
    moves = data.draw(st.lists(st.floats(-3, 3), min_size=len(values), max_size=len(values)))
    one, other = np.array(values), np.array(values) + np.array(moves)
    found = increasing(one)
    assert np.all(np.diff(found) >= -1e-9)
    assert increasing(np.sort(one)) == pytest.approx(np.sort(one))
    assert np.max(np.abs(found - increasing(other))) <= np.max(np.abs(one - other)) + 1e-9


@pytest.mark.parametrize("relation", RELATIONS)
def test_standard_errors_are_those_of_the_estimates(relation):
    """Over many releases the cumulative counts are unbiased and vary as stated; ten percent more would be noticed."""
    tree = Tree(0.5, epsilon=1, branching=4, height=3, relation=relation)
    records = SortedRecords(np.random.default_rng(6).integers(0, 64, 500), cells=64)
    truth = np.array([records.below(c) for c in range(65)])
    bits = SeededBits(f"standard errors {relation}")
    releases = [tree.distribution(records, bits) for _ in range(1000)]
    errors = np.array([r.cumulative - truth for r in releases])
    stated = releases[0].standard_errors
    inside = slice(1, 64)
    assert np.all(np.abs(errors.mean(axis=0)[inside]) < 5.5 * stated[inside] / np.sqrt(1000))
    ratio = np.mean(errors[:, inside] ** 2 / stated[inside] ** 2)
    assert abs(ratio - 1) < 0.08
    assert stated[0] == 0
    assert (stated[-1] == 0) == (relation == "substitute")
    assert releases[0].edges.tolist() == list(range(65))


# Evening out


@given(st.sampled_from([(2, 3), (6, 2), (16, 1), (7, 2)]), st.floats(0, 1e4), st.randoms(use_true_random=False))
def test_evening_out_moves_records_inside_families_only(shape, noise, random):
    """The total stays, and what families of leaves differ by never grows; without noise nothing moves."""
    branching, height = shape
    leaves = np.array([random.uniform(-50, 50) for _ in range(branching**height)])
    cells = np.full(leaves.size, 7)
    found = evened(leaves, cells, branching, noise)
    assert found.sum() == pytest.approx(leaves.sum(), abs=1e-6)
    families = [one.reshape(branching, -1).sum(axis=1) for one in (leaves, found)]
    assert np.ptp(families[1]) <= np.ptp(families[0]) + 1e-6
    assert evened(leaves, cells, branching, 0.0) == pytest.approx(leaves)
    if branching < 7:  # it might lose
        assert found == pytest.approx(leaves)


def test_what_is_noise_goes_and_what_is_not_stays():
    """Counts that differ less than noise does become even, by cells; one that stands out by far keeps all but 1 %."""
    cells = np.array([1] * 8 + [3] * 8)
    calm = np.tile([99.0, 101.0], 8)
    assert evened(calm, cells, 16, 1e6) == pytest.approx(1600 * cells / cells.sum())
    peak = np.zeros(16)
    peak[5] = 1000.0
    found = evened(peak, np.ones(16, dtype=np.int64), 16, 1000.0)
    assert found == pytest.approx(peak, abs=10)


@pytest.mark.parametrize(
    ("truth", "least", "most"), [("even", 0.0, 0.5), ("one peak", 0.9, 1.05), ("slope", 0.5, 1.05)]
)
def test_evening_out_is_no_loss(truth, least, most):
    """Over many noises the mean square of the error falls by half at least where records are even, and grows nowhere.

    Within chance: for normal noise that is a theorem, and here it is Laplace's.
    """
    rows = {"even": np.full(32, 40.0), "one peak": np.eye(32)[9] * 1280, "slope": np.arange(32) * 2.58}[truth]
    law = DiscreteLaplace(20)
    noise = law.sample((400, 32), bits=SeededBits(truth))
    known = rows + noise - noise.mean(axis=1, keepdims=True)  # as where the total is public
    found = np.array([evened(one, np.ones(32, dtype=np.int64), 32, law.variance) for one in known])
    ratio = np.mean((found - rows) ** 2) / np.mean((known - rows) ** 2)
    assert least <= ratio <= most


# Quantiles


def even(total: float, increasing_by=(0, 0, 5, 5, 0)) -> TreeDistribution:
    cumulative = np.concatenate([[0], np.cumsum(increasing_by)]).astype(float)
    return TreeDistribution(np.arange(6) * 10, cumulative, np.zeros(6), total)


def test_quantiles_are_read_off_between_the_edges():
    """Records are taken to be spread evenly inside a leaf; the ends are where they begin and end."""
    p = [Fraction(0), Fraction(1, 10), Fraction(1, 2), Fraction(3, 4), Fraction(1)]
    assert even(10.0).quantiles(p).tolist() == [20, 22, 29, 35, 39]
    assert even(10.0).quantiles(p[::-1]).tolist() == [39, 35, 29, 22, 20]
    assert even(-3.0).quantiles(p).tolist() == [0, 4, 24, 36, 49]


@pytest.mark.parametrize(
    "codes", [[], [3], [3, 700], [500] * 2000, [0] * 2000, [999] * 2000], ids=lambda codes: f"{len(codes)} records"
)
@pytest.mark.parametrize("relation", RELATIONS)
def test_every_table_has_an_answer(codes, relation):
    """Any table, any list of probabilities, any tree: cells of the grid, increasing with the probability."""
    records = SortedRecords(np.array(codes, dtype=np.int64), cells=1000)
    for p in ([0.5], [0, 1], [0.5, 0.5, 0.1], DECILES, [Fraction(i, 999) for i in range(1000)]):
        for branching, height in ((2, 3), (16, 4)):
            tree = Tree(p, epsilon=1, branching=branching, height=height, relation=relation)
            found = tree.sample(records, bits=SeededBits("edge"))
            in_order = found[np.argsort(np.array(p, dtype=float), kind="stable")]
            assert np.all(np.diff(in_order) >= 0)
            assert 0 <= in_order[0] <= in_order[-1] < 1000


def test_one_cell_is_enough():
    """A grid of one cell, or of fewer cells than branches."""
    for cells in (1, 2, 5):
        found = Tree(DECILES, epsilon=1).sample(in_memory((0,) * 50, cells), bits=SeededBits(1))
        assert 0 <= found[0] <= found[-1] < cells


def test_a_cell_with_most_records_is_found():
    """Where leaves are cells, a cell that holds 80 % of all records is the answer."""
    codes = np.concatenate([np.arange(1000), np.full(8000, 345), np.arange(1000)])
    found = Tree([0.3, 0.5, 0.7], epsilon=1).sample(SortedRecords(codes, cells=1000), bits=SeededBits("atom"))
    assert found.tolist() == [345] * 3


@pytest.mark.parametrize(("relation", "most"), [("add-remove", 22), ("substitute", 40)])
def test_errors_in_ranks(relation, most):
    """Nine deciles of 20000 records, epsilon 1: about the stated standard error; arrays and counts alike."""
    codes = np.sort(np.random.default_rng(3).integers(0, 2**32, 20_000))
    tree = Tree(DECILES, epsilon=1, relation=relation)
    counts = CellCounts(*np.unique(codes, return_counts=True), cells=2**32)
    found = []
    for seed in range(10):
        found.append(tree.sample(SortedRecords(codes, cells=2**32, ordered=True), bits=SeededBits(seed)))
        assert found[-1].tolist() == tree.sample(counts, bits=SeededBits(seed)).tolist()
    off = np.abs(np.searchsorted(codes, np.array(found)) - 2000 * np.arange(1, 10))
    assert 4 < off.mean() < most


@pytest.mark.parametrize("bits", [40, 47, 48, 55, 62])
def test_edges_of_the_largest_grids_increase(bits):
    """A record is in one node of each level however many cells there are: products of 64 bits would wrap."""
    cells = (1 << bits) - 3
    for tree in (Tree([0.5], epsilon=1), Tree([0.5], epsilon=1, branching=10, height=4)):
        edges = tree.edges(cells)
        assert edges.tolist() == [i * cells // (edges.size - 1) for i in range(edges.size)]
        for code in (0, 1, cells // 3, cells - 1):
            moved = np.abs(
                tree.counts(SortedRecords([code], cells=cells)) - tree.counts(SortedRecords([], cells=cells))
            )
            assert moved.sum() == tree.noise(cells).sensitivity
    assert np.all(np.diff(HistogramMethod([0.5], epsilon=1).edges(cells)) > 0)
