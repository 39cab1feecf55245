"""JointN: what the count and the answers cost together, that draws follow the law, and that it serves one relation."""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from flou.bits import SeededBits
from flou.errors import InvalidParameter
from flou.mechanisms.quantiles import SortedRecords
from flou.mechanisms.quantiles.dithered import Dithered
from flou.mechanisms.quantiles.joint_n import JointN
from goodness import tilted
from mechanisms.quantiles.test_joint_exp import drawn
from mechanisms.quantiles.tiny import as_counts, follows, in_memory, pairs

COUNTS = range(-3, 8)  # noisy numbers of records, some below 0 and some above all tables


def loss(mechanism, cells: int, most: int) -> float:
    """The largest log-ratio of (noisy number, answers) over all neighbours and the numbers of ``COUNTS``."""
    known = {}

    def logs(table):
        if table not in known:
            records = in_memory(table, cells)
            parts = []
            for noisy in COUNTS:
                law = mechanism.law_given(noisy, records)
                given = np.array([law.log_pmf(outcome) for outcome in law.outcomes()])
                parts.append(given + mechanism.noise.log_pmf(noisy - len(table)))
            known[table] = np.concatenate(parts)
        return known[table]

    return max(float(np.max(logs(a) - logs(b))) for a, b in pairs("add-remove", range(cells), most))


@pytest.mark.parametrize("probabilities", [[0.5], [0.25, 0.75], [0, 1], [0.1, 0.3, 0.77]])
@pytest.mark.parametrize("epsilon", [0.5, 2])
def test_loss_is_at_most_epsilon(probabilities, epsilon):
    """The noisy number and the answers together cost at most epsilon, on every pair of neighbours."""
    assert 0.5 * epsilon < loss(JointN(probabilities, epsilon=epsilon), 4, 3) <= epsilon * (1 + 1e-9)


class Greedy(JointN):
    """The exponent that one-sided scores would allow."""

    @property
    def rate(self):
        return 2 * super().rate


class Unpaid(JointN):
    """All of epsilon for the answers, and a count on top of it."""

    @property
    def rate(self):
        return self.epsilon / 2


@pytest.mark.parametrize("kind", [Greedy, Unpaid])
def test_overspending_is_refused(kind):
    """Twice the exponent, or a count that nobody paid for, costs more than epsilon."""
    assert loss(kind([0.25, 0.75], epsilon=1), 5, 3) > 1.02


CLOSE = [Fraction(1, 2), Fraction(1, 2) + Fraction(1, 10**9)]  # as good as one quantile, asked for twice
PLACES = 2


def dithered(mechanism, noisy: int, table, cells: int) -> dict[tuple[int, ...], float]:
    """P(answers) given the noisy number, when each record lies at one of two places of its cell."""
    found = defaultdict(float)
    codes = np.array(table, dtype=np.int64) * PLACES
    for dither in product(range(PLACES), repeat=len(table)):
        fine = SortedRecords(codes + np.array(dither, dtype=np.int64), cells=cells * PLACES)
        law = mechanism.law_given(noisy, fine)
        for outcome in law.outcomes():
            found[tuple(cell // PLACES for cell in outcome)] += law.pmf(outcome) / PLACES ** len(table)
    return found


def dithered_loss(mechanism, cells: int, most: int) -> float:
    """``loss``, all dithers taken together."""
    known = {}

    def logs(table):
        if table not in known:
            parts = []
            for noisy in COUNTS:
                given = dithered(mechanism, noisy, table, cells)
                parts.append(np.log([given[outcome] for outcome in sorted(given)]))
                parts[-1] += mechanism.noise.log_pmf(noisy - len(table))
            known[table] = np.concatenate(parts)
        return known[table]

    return max(float(np.max(logs(a) - logs(b))) for a, b in pairs("add-remove", range(cells), most))


@pytest.mark.parametrize(("probabilities", "cells", "most"), [([0.5], 2, 5), ([0.25, 0.75], 3, 3), (CLOSE, 5, 2)])
def test_loss_on_dithered_records_is_at_most_epsilon(probabilities, cells, most):
    """As quantiles are drawn by default: each record at a place of its own, answers are cells."""
    assert 0.5 < dithered_loss(JointN(probabilities, epsilon=1), cells, most) <= 1 + 1e-9


def test_thirty_percent_more_are_refused_on_dithered_records():
    """The same check sees what costs more than it says."""
    assert dithered_loss(JointN(CLOSE, epsilon=Fraction(13, 10)), 5, 2) > 1.05


@pytest.mark.parametrize("make", [in_memory, as_counts])
def test_draws_on_dithered_records_follow_the_law(make):
    """What was compared above is what is drawn."""
    mechanism, table, noisy = JointN([0.3, 0.8], epsilon=4), (0, 1, 1, 2), 5
    law, bits = dithered(mechanism, noisy, table, 3), SeededBits(f"dithered JointN {make.__name__}")
    place = {outcome: i for i, outcome in enumerate(sorted(law))}
    p = np.array([law[outcome] for outcome in place])
    draws = []
    for _ in range(800):
        answers = mechanism.answers_given(noisy, Dithered(make(table, 3), PLACES, bits), bits) // PLACES
        draws.append(place[tuple(answers.tolist())])
    assert follows(draws, p)
    assert not follows(draws, tilted(p, 0.5))


@pytest.mark.parametrize("make", [in_memory, as_counts])
@pytest.mark.parametrize("noisy", [-3, 0, 2, 4, 9])
@pytest.mark.parametrize("reach", [None, 1])
def test_draws_follow_the_law_given_the_count(make, noisy, reach):
    """Whatever number of records was released, answers follow their law."""
    mechanism, records = JointN([0.3, 0.8], epsilon=2), make((0, 1, 1, 3), 5)
    law = mechanism.law_given(noisy, records)
    draws, p = drawn(mechanism.gaps(noisy), records, law, 800, f"given {noisy} {make.__name__}", reach=reach)
    assert follows(draws, p)
    assert not follows(draws, tilted(p, 0.5))


def test_releases_follow_the_law():
    """Releases follow the average over all noisy numbers, the law of which has total mass one."""
    mechanism, records = JointN([0.3, 0.8], epsilon=4), in_memory((0, 1, 1, 3), 4)
    law = mechanism.law(records)
    answers = sorted({outcome[1:] for outcome in law.outcomes()})
    place = {answer: i for i, answer in enumerate(answers)}
    p = np.zeros(len(answers))
    for outcome in law.outcomes():
        p[place[outcome[1:]]] += law.pmf(outcome)
    assert p.sum() == pytest.approx(1, abs=1e-12)
    bits = SeededBits("releases of JointN")
    draws = [place[tuple(mechanism.sample(records, bits=bits).tolist())] for _ in range(800)]
    assert follows(draws, p)
    assert not follows(draws, tilted(p, 0.5))


def test_it_serves_one_relation():
    """Under substitution the number of records is public, and JointExp is the better choice."""
    with pytest.raises(InvalidParameter, match="JointExp"):
        JointN([0.5], epsilon=1, relation="substitute")


@pytest.mark.parametrize("codes", [[], [3], [0, 7], [4] * 50, [0] * 9])
@pytest.mark.parametrize("epsilon", [1e-9, 0.1, 100])
def test_there_is_always_an_answer(codes, epsilon):
    """Noisy numbers far from the true one, and below 0, still give answers in order."""
    records = SortedRecords(np.array(codes, dtype=np.int64), cells=8)
    for seed in range(5):
        answers = JointN([0, 0.5, 1, 0.2], epsilon=epsilon).sample(records, bits=SeededBits(seed))
        assert np.all(np.diff(answers[[0, 3, 1, 2]]) >= 0)
        assert 0 <= answers.min() <= answers.max() < 8


def test_the_count_is_bought_with_a_fifth():
    """Scale 5/epsilon for the count, exponent 2 epsilon/5 for the answers."""
    mechanism = JointN([0.5], epsilon=2)
    assert mechanism.noise.scale == Fraction(5, 2)
    assert mechanism.rate == Fraction(4, 5)
    assert math.isclose(2 * mechanism.rate + 1 / mechanism.noise.scale, 2)
