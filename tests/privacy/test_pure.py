"""Pure mechanisms keep their epsilon for every pair of neighbours, under both relations, and faults are caught."""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest

import flou.mechanisms
from flou.laws import Bernoulli, DiscreteLaplace, Shifted, WeightedChoice
from flou.mechanisms import AboveThreshold, Exponential, InverseSensitivity, Laplace, NoisyMax, PermuteAndFlip
from privacy import cases
from privacy.cases import CASES, Case
from privacy.exhaustive import loss


def measured(case: Case, law=None) -> float:
    return loss(law or case.mechanism.law, case.summary, case.pairs, case.outcomes)


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_loss_is_at_most_epsilon(case):
    """sup log P(outcome)/P'(outcome) <= epsilon over all neighbours, and comes close where the claim is tight."""
    claim = case.mechanism.guarantee.epsilon
    found = measured(case)
    assert found <= claim * (1 + 1e-9) + 1e-12
    if case.tight:
        assert found >= 0.9 * claim


def test_every_mechanism_has_its_cases():
    """A mechanism without an exhaustive check does not ship."""
    checked = {type(case.mechanism).__name__ for case in CASES} | {"Gaussian"}  # test_gaussian.py
    assert checked == set(flou.mechanisms.__all__) - {"Mechanism"}


@pytest.mark.parametrize("relation", ["add-remove", "substitute"])
def test_both_relations_have_cases(relation):
    """The checks cover additions and removals as well as substitutions."""
    assert sum(case.mechanism.guarantee.relation == relation for case in CASES) > 20


HALF_NOISE = [
    (Laplace(sensitivity=Fraction(1, 2), epsilon=1), cases.count, "add-remove", cases.window),
    (Laplace(sensitivity=1, epsilon=1, relation="substitute"), cases.total, "substitute", cases.window),
    (Laplace(sensitivity=1, epsilon=1, relation="substitute"), cases.histogram, "substitute", cases.plane),
    (flou.mechanisms.Staircase(sensitivity=1, epsilon=1), cases.total, "add-remove", cases.window),
    (Exponential(sensitivity=Fraction(1, 2), epsilon=1), cases.median_utilities, "substitute", cases.positions),
    (PermuteAndFlip(sensitivity=Fraction(1, 2), epsilon=1), cases.median_utilities, "substitute", cases.positions),
    (NoisyMax(sensitivity=Fraction(1, 2), epsilon=1), cases.median_utilities, "substitute", cases.positions),
]


@pytest.mark.parametrize(("mutant", "summary", "relation", "outcomes"), HALF_NOISE)
def test_half_the_noise_is_caught(mutant, summary, relation, outcomes):
    """The same check refuses a mechanism that was calibrated for half the true sensitivity."""
    assert measured(Case(mutant, summary, cases.COUNTS[relation], outcomes)) > 1.001


@pytest.mark.parametrize("kind", [Exponential, PermuteAndFlip, NoisyMax])
def test_the_monotone_exponent_is_refused_for_utilities_that_move_both_ways(kind):
    """Claiming utility="monotone" for the utilities of a median overspends, and the check says so."""
    wrong = kind(sensitivity=1, epsilon=1, utility="monotone")
    assert measured(Case(wrong, cases.median_utilities, cases.COUNTS["add-remove"], cases.positions)) > 1.001


def test_two_outcomes_alone_do_not_sharpen_the_exponential_mechanism():
    """With utilities that move in opposite directions the sharper exponent would cost 2 epsilon."""

    def ahead(table):  # ones - zeros and its opposite: each moves by 1 under add/remove, in opposite directions
        return [table.count(1) - table.count(0), table.count(0) - table.count(1)]

    sharp = Case(
        Exponential(sensitivity=1, epsilon=1, utility="regret"), ahead, cases.BITS["add-remove"], cases.positions
    )
    careful = dataclasses.replace(sharp, mechanism=Exponential(sensitivity=1, epsilon=1))
    assert measured(sharp) > 1.9
    assert 0.9 <= measured(careful) <= 1 + 1e-12


def test_inverse_sensitivity_with_the_sharper_exponent_is_refused_for_three_outcomes():
    """What is right for two outcomes is wrong for three."""
    case = Case(
        InverseSensitivity(epsilon=1),
        cases.median_lengths,
        cases.pairs("substitute", [0, 1, 2], [3, 5]),
        cases.positions,
    )
    assert measured(case, law=lambda lengths: WeightedChoice(np.array(lengths), rate=1)) > 1.05


def test_majority_with_twice_the_exponent_is_caught():
    """The log-odds may move by epsilon, not by more."""
    case = next(
        c for c in CASES if repr(c).startswith("Majority(epsilon=1, version='exponential', relation='substitute")
    )
    law = lambda votes: Bernoulli(1 / (1 + math.exp(-(votes[0] - votes[1]))))  # noqa: E731
    assert measured(case, law=law) > 1.5


@pytest.mark.parametrize("fault", ["no threshold noise", "half query noise", "monotone claimed"])
def test_faults_of_the_sparse_vector_are_caught(fault):
    """The published mistakes of the sparse vector technique lose more than epsilon, and the check sees it."""

    def alternating(table):  # queries that move in opposite directions: +records, -records
        ones = table.count(1)
        return [ones, -ones] * 8

    def law(queries):
        right = AboveThreshold(threshold=0, sensitivity=1, epsilon=1, answers=1, split=0.5)
        found = right.law(queries)
        if fault == "no threshold noise":
            found._weights = (np.arange(found._weights.size) == found._weights.size // 2).astype(float)
        else:
            scale = right.query_noise.scale / (2 if fault == "monotone claimed" else 4)
            reach = found._weights.size // 2
            gaps = np.arange(-reach, reach + 1)[:, None] - np.array(queries)
            found._passes, found._fails = DiscreteLaplace(scale).sf(gaps - 1), DiscreteLaplace(scale).cdf(gaps - 1)
        return found

    queries = AboveThreshold(threshold=0, sensitivity=1, epsilon=1)
    many = cases.pairs("add-remove", [1], range(12))
    case = Case(queries, alternating, many, lambda law: list(law.outcomes()))
    assert measured(case) <= 1 + 1e-9
    assert measured(case, law=law) > 1.02


def test_outcomes_that_appear_for_one_table_only_are_an_infinite_loss():
    """A support that depends on the data is the worst of leaks, and counts as one."""
    case = Case(Laplace(sensitivity=1, epsilon=1), cases.count, cases.COUNTS["add-remove"], cases.window)
    shifting = dataclasses.replace(case, outcomes=lambda law: range(law.centre, law.centre + 3))
    assert measured(shifting) == math.inf
    assert measured(case, law=lambda n: Shifted(DiscreteLaplace(1), 2 * n)) == pytest.approx(2)
