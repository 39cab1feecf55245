"""Dithered JointExp: its law as an average over all dithers, what it costs, and what it makes of ties."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from flou.bits import SeededBits
from flou.errors import InvalidParameter
from flou.mechanisms.quantiles import CellCounts, SortedRecords
from flou.mechanisms.quantiles.dithered_joint_exp import DitheredJointExp
from flou.mechanisms.quantiles.joint_exp import JointExp
from goodness import tilted
from mechanisms.quantiles.tiny import RELATIONS, as_counts, follows, in_memory, pairs
from privacy.exhaustive import loss


def measured(mechanism, cells: int, most: int) -> float:
    return loss(
        mechanism.law,
        lambda table: in_memory(table, cells),
        pairs(mechanism.relation, range(cells), most),
        lambda law: list(law.outcomes()),
    )


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("probabilities", [[0.5], [0.25, 0.75]])
@pytest.mark.parametrize(("places", "cells", "most"), [(2, 3, 4), (4, 2, 3)])
def test_loss_is_at_most_epsilon(relation, probabilities, places, cells, most):
    """sup log P(answers)/P'(answers) <= epsilon over all neighbours, all dithers taken together."""
    mechanism = DitheredJointExp(probabilities, epsilon=1, relation=relation, places=places)
    assert 0.1 < measured(mechanism, cells, most) <= 1 + 1e-9


class Greedy(DitheredJointExp):
    """Far too large an exponent."""

    @property
    def rate(self):
        return 6 * super().rate


@pytest.mark.parametrize("relation", RELATIONS)
def test_overspending_is_refused(relation):
    """The same check refuses a larger exponent."""
    assert measured(Greedy([0.5], epsilon=1, relation=relation, places=2), 3, 4) > 1.05


@pytest.mark.parametrize("make", [in_memory, as_counts])
@pytest.mark.parametrize("places", [1, 2, 4])
def test_draws_follow_the_law(make, places):
    """Releases have the average law over all dithers, from both kinds of records."""
    mechanism = DitheredJointExp([0.25, 0.75], epsilon=3, relation="substitute", places=places)
    records = make((0, 1, 1, 2), 3)
    law = mechanism.law(records)
    place = {outcome: i for i, outcome in enumerate(law.outcomes())}
    p = np.array([law.pmf(outcome) for outcome in place])
    assert p.sum() == pytest.approx(1, abs=1e-12)
    bits = SeededBits(f"dithered {places} {make.__name__}")
    draws = [place[tuple(mechanism.sample(records, bits=bits).tolist())] for _ in range(800)]
    assert follows(draws, p)
    assert not follows(draws, tilted(p, 0.5))


def test_one_place_is_no_dither():
    """With one place a cell the law is JointExp's."""
    records = in_memory((0, 1, 1, 2), 3)
    plain = JointExp([0.25, 0.75], epsilon=1).law(records)
    dithered = DitheredJointExp([0.25, 0.75], epsilon=1, places=1).law(records)
    for outcome in plain.outcomes():
        assert dithered.pmf(outcome) == pytest.approx(plain.pmf(outcome))


def test_ties_cost_nothing():
    """Rounded salaries: the right cells at epsilon = 1, and from counts as well as from rows."""
    salaries = np.random.default_rng(3).lognormal(10.5, 0.5, 50_000)
    codes = np.sort((salaries / 1000).round().astype(np.int64).clip(0, 499))
    deciles = [Fraction(i, 10) for i in range(1, 10)]
    exact = codes[[5000 * i - 1 for i in range(1, 10)]]
    held, counts = np.unique(codes, return_counts=True)
    for records in (SortedRecords(codes, cells=500), CellCounts(held, counts, cells=500)):
        mechanism = DitheredJointExp(deciles, epsilon=1, relation="substitute")
        answers = [mechanism.sample(records, bits=SeededBits(seed)) for seed in range(5)]
        assert np.mean([answer != exact for answer in answers]) < 0.1


def test_a_crowd_in_one_cell():
    """Millions of records in one cell are not drawn one by one, and the cell is the answer."""
    records = CellCounts([3, 5, 2**30], [10, 5_000_000, 10], cells=2**40)
    assert DitheredJointExp([0.1, 0.5, 0.9], epsilon=1).sample(records, bits=SeededBits("crowd")).tolist() == [5, 5, 5]


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("codes", [[], [3], [0, 7], [4] * 50, [0] * 9, [7] * 9])
def test_there_is_always_an_answer(relation, codes):
    """Whatever the data, answers lie on the grid and increase."""
    records = SortedRecords(np.array(codes, dtype=np.int64), cells=8)
    mechanism = DitheredJointExp([0, 0.2, 0.5, 0.5, 1], epsilon=0.5, relation=relation)
    answers = mechanism.sample(records, bits=SeededBits(f"always {codes}"))
    assert np.all(np.diff(answers) >= 0)
    assert 0 <= answers.min() <= answers.max() < 8


def test_places_are_a_power_of_two_that_fits():
    """Three places, or too many of them, are refused; by default there are as many as fit."""
    with pytest.raises(InvalidParameter, match="power of two"):
        DitheredJointExp([0.5], epsilon=1, places=3)
    with pytest.raises(InvalidParameter, match="places"):
        DitheredJointExp([0.5], epsilon=1, places=2**50).sample(in_memory((0,), 2**20))
    assert DitheredJointExp([0.5], epsilon=1).places_in(2**40) == 2**20
    assert DitheredJointExp([0.5], epsilon=1).places_in(3) == 2**58
    with pytest.raises(InvalidParameter, match="Samples are not affected"):
        DitheredJointExp([0.5], epsilon=1).law(in_memory((0, 1, 2), 3))
    assert DitheredJointExp([0.5], epsilon=1, places=2) != DitheredJointExp([0.5], epsilon=1, places=4)
