"""RecExp: what it costs on every pair of neighbours, that it follows its law, and what it makes of ties."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from flou.bits import SeededBits
from flou.errors import InvalidParameter
from flou.mechanisms.quantiles import CellCounts, GridInverseSensitivity, SortedRecords
from flou.mechanisms.quantiles import dithered as dithering
from flou.mechanisms.quantiles.rec_exp import NodeRange, RecExp
from flou.mechanisms.quantiles.single import rank_rate
from mechanisms.quantiles.tiny import as_counts, follows, in_memory, pairs
from privacy.exhaustive import loss

THREE = [[0.25, 0.5, 0.75], [0.02, 0.5, 0.98], [0, 0.5, 1], [0.1, 0.2, 0.7]]
DECILES = [Fraction(i, 10) for i in range(1, 10)]


def measured(mechanism: RecExp, cells: int, most: int) -> float:
    """The largest log-ratio over all neighbours with up to ``most`` records."""
    return loss(
        mechanism.law,
        lambda table: in_memory(table, cells),
        pairs(mechanism.relation, range(cells), most),
        lambda law: list(law.outcomes()),
    )


# Privacy


@pytest.mark.parametrize("relation", ["add-remove", "substitute"])
@pytest.mark.parametrize("probabilities", [[0.5], [0.25, 0.75], *THREE])
@pytest.mark.parametrize(("places", "cells", "most"), [(1, 4, 4), (2, 3, 3)])
def test_loss_is_at_most_epsilon(relation, probabilities, places, cells, most):
    """sup log P(answers)/P'(answers) <= epsilon over all neighbours, with ties as they are and with ties divided."""
    mechanism = RecExp(probabilities, epsilon=1, places=places, relation=relation)
    assert 0.2 < measured(mechanism, cells, most) <= 1 + 1e-9


@pytest.mark.parametrize("relation", ["add-remove", "substitute"])
@pytest.mark.parametrize("probabilities", THREE)
def test_what_is_cut_off_costs_no_more(relation, probabilities, monkeypatch):
    """The same where scores are cut off after a few units already, in every node."""
    monkeypatch.setattr("flou.mechanisms.quantiles.targets.FARTHEST", 6)
    mechanism = RecExp(probabilities, epsilon=1, places=1, relation=relation)
    assert measured(mechanism, 4, 4) <= 1 + 1e-9


@pytest.mark.parametrize("epsilon", [0.1, 3])
def test_loss_is_at_most_epsilon_on_five_cells(epsilon):
    """The same on a longer grid."""
    assert measured(RecExp([0.3, 0.6], epsilon=epsilon, places=1), 5, 3) <= epsilon * (1 + 1e-9)


class Printed(RecExp):
    """The weights as document 000 prints them: the level's whole share for each rank, in every node."""

    def _rate(self, within, share, *, root):
        del within, root
        return share


class OneRecordOnly(RecExp):
    """As if a substitution touched one node of a level only."""

    def _rate(self, within, share, *, root):
        del root
        return rank_rate(within, share, "add-remove")


@pytest.mark.parametrize("fault", [Printed, OneRecordOnly])
def test_weights_that_are_too_sharp_are_refused(fault):
    """The same check sees the printed weights lose more than epsilon, and so does it see a forgotten second path."""
    assert measured(fault([0.25, 0.5, 0.75], epsilon=1, places=1, relation="substitute"), 4, 4) > 1.2


def worst_pair(relation: str) -> tuple[CellCounts, CellCounts, tuple[int, int, int]]:
    """Two neighbours and an outcome that turn against each other in all nodes, for the probabilities .02, .5, .98.

    Each answer lies in a gap of one cell with the wanted number of records below; a long gap follows one record later.
    Without the first record the answers are off by one, and the long gaps score better by one.
    """
    far = 2**38
    spots = {0: 2, 2: 1, far: 47, far + 2: 1, 2 * far: 47, 2 * far + 2: 1, 3 * far: 1}
    other = {**spots, 0: 1} if relation == "add-remove" else {**spots, 0: 1, 3 * far: 2}
    sides = [CellCounts(list(s), list(s.values()), cells=3 * far + 1) for s in (spots, other)]
    return sides[0], sides[1], (1, far + 1, 2 * far + 1)


def log_probability(mechanism: RecExp, records: CellCounts, outcome: tuple[int, ...]) -> float:
    """Of one outcome on any grid: the product over the nodes."""
    total, waiting = 0.0, [(mechanism.root, NodeRange((0, records.rows), (0, records.cells)))]
    while waiting:
        node, interval = waiting.pop()
        part = dithering.Part(records, interval.ranks, interval.places)
        answer = outcome[node.index]
        total += float(node.levels(part.rows).law(part).log_pmf(answer - interval.places[0]))
        lower, upper = interval.split(answer, interval.ranks[0] + part.below(answer - interval.places[0]))
        waiting += [(child, rest) for child, rest in ((node.lower, lower), (node.upper, upper)) if child]
    return total


@pytest.mark.parametrize(
    ("kind", "relation", "lost"),
    [
        (RecExp, "add-remove", 1),
        (RecExp, "substitute", 1),
        (Printed, "substitute", 2.92),
        (Printed, "add-remove", 1.46),
        (OneRecordOnly, "substitute", 2),
    ],
)
def test_the_claim_is_reached(kind, relation, lost):
    """On one long grid the loss is epsilon itself; the printed weights lose 2.92 epsilon there."""
    mechanism = kind([0.02, 0.5, 0.98], epsilon=1, places=1, relation=relation)
    left, right, outcome = worst_pair(relation)
    found = log_probability(mechanism, left, outcome) - log_probability(mechanism, right, outcome)
    assert found == pytest.approx(lost, abs=0.02)
    assert found <= lost + 1e-9


def test_one_outcome_is_priced_as_in_the_list():
    """The product over the nodes is the law that is listed."""
    mechanism = RecExp([0.2, 0.5, 0.8], epsilon=2, places=1)
    records = as_counts((0, 1, 1, 4), 5)
    law = mechanism.law(records)
    assert math.isclose(sum(map(law.pmf, law.outcomes())), 1, rel_tol=1e-12)
    for outcome in law.outcomes():
        assert log_probability(mechanism, records, outcome) == pytest.approx(law.log_pmf(outcome))


@pytest.mark.parametrize("m", [1, 2, 3, 9, 99, 1000])
def test_shares_on_every_path_add_up_to_epsilon(m):
    """The nodes on a path spend epsilon, also where the tree is not full; it is floor(log2 m) + 1 levels high."""
    mechanism = RecExp([Fraction(i, m + 1) for i in range(1, m + 1)], epsilon=1)
    spent, depths = [], []

    def follow(node, total, depth):
        total += 2 * max(node.within, 1 - node.within) * node.rate
        children = [child for child in (node.lower, node.upper) if child]
        if not children:
            spent.append(total)
            depths.append(depth)
        for child in children:
            follow(child, total, depth + 1)

    follow(mechanism.root, Fraction(0), 1)
    assert max(spent) == 1
    assert min(spent) > Fraction(1, 2)
    assert max(depths) == m.bit_length()
    assert sorted(node.index for node in mechanism.root.walk()) == list(range(m))


# The law


@pytest.mark.parametrize(
    ("places", "crowd", "relation"), [(1, 4096, "add-remove"), (2, 4096, "substitute"), (2, 0, "add-remove")]
)
def test_samples_follow_the_law(monkeypatch, places, crowd, relation):
    """Releases follow the law, also where ties are halved one by one; another law is refused."""
    monkeypatch.setattr(dithering, "CROWD", crowd)
    mechanism = RecExp([0.3, 0.5, 0.9], epsilon=4, places=places, relation=relation)
    records = in_memory((0, 1, 1, 1, 2), 3)
    law = mechanism.law(records)
    outcomes = list(law.outcomes())
    bits = SeededBits(f"RecExp {places} {crowd} {relation}")
    draws = [outcomes.index(tuple(mechanism.sample(records, bits=bits).tolist())) for _ in range(1500)]
    assert follows(draws, [law.pmf(o) for o in outcomes])
    other = RecExp([0.3, 0.5, 0.9], epsilon=8, places=places, relation=relation).law(records)
    assert not follows(draws, [other.pmf(o) for o in outcomes])


def test_one_quantile_is_inverse_sensitivity():
    """The root alone scores whole cells, as the method for one quantile does."""
    for relation in ("add-remove", "substitute"):
        records = in_memory((0, 1, 1, 3, 4), 6)
        one = GridInverseSensitivity(0.3, epsilon=1, relation=relation).law(records)
        law = RecExp(0.3, epsilon=1, relation=relation, places=1).law(records)
        assert [law.pmf((c,)) for c in range(6)] == pytest.approx(one.pmf(np.arange(6)))


def test_arrays_and_counts_give_the_same_answers():
    """The same bits give the same cells, whoever counts the records."""
    codes = np.sort(np.random.default_rng(1).integers(0, 300, 20_000))
    counts = CellCounts(*np.unique(codes, return_counts=True), cells=300)
    mechanism = RecExp(DECILES, epsilon=0.5)
    for seed in range(20):
        one = mechanism.sample(SortedRecords(codes, cells=300), bits=SeededBits(seed))
        assert one.tolist() == mechanism.sample(counts, bits=SeededBits(seed)).tolist()


def test_a_law_that_cannot_be_listed_is_refused():
    """The way out is said."""
    with pytest.raises(InvalidParameter, match="too many outcomes"):
        RecExp([0.2, 0.5, 0.8], epsilon=1).law(in_memory((0, 1), 5))
    with pytest.raises(InvalidParameter, match="too many outcomes"):
        RecExp([0.2, 0.5, 0.8], epsilon=1, places=1).law(in_memory((0, 1), 500))


# What it is good for

EDGE_CASES = [
    [],
    [3],
    [3, 700],
    [500] * 2000,
    [0] * 2000,
    [999] * 2000,
    [0] * 5000 + [999] * 5000,
]


@pytest.mark.parametrize("codes", EDGE_CASES, ids=lambda codes: f"{len(codes)} records")
@pytest.mark.parametrize("relation", ["add-remove", "substitute"])
def test_every_table_has_an_answer(codes, relation):
    """Any table, any list of probabilities: cells of the grid, increasing with the probability."""
    records = SortedRecords(np.array(codes, dtype=np.int64), cells=1000)
    for p in ([0.5], [0, 1], [0.5, 0.5, 0.1], DECILES, [Fraction(i, 999) for i in range(1000)]):
        found = RecExp(p, epsilon=1, relation=relation).sample(records, bits=SeededBits("edge"))
        in_order = found[np.argsort(np.array(p, dtype=float), kind="stable")]
        assert found.size == len(p)
        assert np.all(np.diff(in_order) >= 0)
        assert 0 <= in_order[0] <= in_order[-1] < 1000


def test_a_cell_with_most_records_is_found():
    """Where one cell holds 80 % of all records, the quantiles in it are that cell, though it must be divided."""
    rng = np.random.default_rng(2)
    codes = np.concatenate([rng.integers(0, 2**20, 1000), np.full(18_000, 12_345), rng.integers(0, 2**20, 1000)])
    records = SortedRecords(codes, cells=2**20)
    found = RecExp([0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8], epsilon=1).sample(records, bits=SeededBits("atom"))
    assert found.tolist() == [12_345] * 7


@pytest.mark.parametrize(("relation", "most"), [("add-remove", 8), ("substitute", 16)])
def test_errors_in_ranks(relation, most):
    """Nine deciles of 20000 records, epsilon 1: off by at most 2 (log2 m + 1) ranks, twice that (substitution)."""
    codes = np.sort(np.random.default_rng(3).integers(0, 2**32, 20_000))
    mechanism, bits = RecExp(DECILES, epsilon=1, relation=relation), SeededBits("ranks")
    records = SortedRecords(codes, cells=2**32, ordered=True)
    found = np.array([mechanism.sample(records, bits=bits) for _ in range(30)])
    off = np.abs(np.searchsorted(codes, found) - 2000 * np.arange(1, 10))
    assert 1 < off.mean() < most
