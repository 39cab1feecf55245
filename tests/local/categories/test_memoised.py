"""Repeated collection: memos, what a lifetime costs, and the attack that they are there for."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from flou.bits import SeededBits
from flou.errors import BudgetExceeded, InvalidData, InvalidParameter
from flou.laws import Bernoulli
from flou.local import GRR, OUE, SUE, DBitFlip, Hadamard, Memoised, SubsetSelection, Warner
from flou.local.categories.memoised import change, loss_after
from goodness import compatible
from local.enumerated import all_reports, index_of, laws

PEOPLE, ROUNDS = 100, 2_000


def attacked(oracle, reports) -> int:
    """The category that a collector guesses from all reports of one person: the one with the largest estimate."""
    return int(np.argmax(oracle.shares(oracle.aggregate(reports))))


@pytest.mark.parametrize("oracle", [GRR(8, epsilon=1), SUE(8, epsilon=1)], ids=["GRR", "SUE"])
def test_without_a_memo_everybody_is_averaged_to_the_truth(oracle):
    """2,000 fresh reports of a person give the answer away, for all people; kept reports do not."""
    bits = SeededBits("averaged")
    truth = np.arange(PEOPLE) % 8
    fresh = [attacked(oracle, oracle.sample(np.full(ROUNDS, x), bits=bits)) for x in truth]
    assert np.mean(fresh == truth) == 1
    kept = []
    for x in truth:
        client = Memoised(oracle, cap=1)
        reports = np.concatenate([client.report(int(x), bits=bits) for _ in range(50)])
        assert len(np.unique(reports, axis=0)) == 1
        kept.append(attacked(oracle, reports))
    assert np.mean(np.array(kept) == truth) < 0.6  # one report at epsilon = 1 tells no more


def test_a_blurred_memo_is_averaged_to_the_memo_only():
    """With ``lifetime`` a collector recovers what is kept, which is true only as often as its epsilon lets it be."""
    oracle, bits = GRR(4, epsilon=0.5), SeededBits("blurred")
    right = to_memo = 0
    for person in range(30):
        client = Memoised(oracle, cap=2, lifetime=1)
        reports = np.concatenate([client.report(person % 4, bits=bits) for _ in range(300)])
        assert len(np.unique(reports)) > 1
        guess = attacked(oracle, reports)
        right += guess == person % 4
        to_memo += guess == client.state()["memos"][str(person % 4)][0]
    assert to_memo >= 28
    assert right / 30 < GRR(4, epsilon=1).p + 4 * math.sqrt(0.25 / 30)


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize(("first", "lifetime"), [(0.5, 1), (1, 4), (0.01, 0.02)])
def test_one_blurred_report_follows_the_law_of_the_smaller_epsilon(k, first, lifetime):
    """The kept law times the change is GRR's law at ``first``, exactly; for a bit, SUE's."""
    again = Bernoulli(change(k, Fraction(str(first)), Fraction(str(lifetime))))
    step = np.where(np.eye(k), again.q, again.p / (k - 1))
    assert np.allclose(laws(GRR(k, epsilon=lifetime)) @ step, laws(GRR(k, epsilon=first)), rtol=1e-12)
    low, high = change(k, Fraction(str(first)), Fraction(str(lifetime)))(200)
    assert 0 <= high - low < 2**8


@pytest.mark.parametrize("oracle", [GRR(4, epsilon=1), SUE(4, epsilon=1), Warner(epsilon=1)], ids=["GRR", "SUE", "W"])
def test_first_reports_of_many_clients_follow_the_oracle(oracle):
    """So a collector uses the plain oracle, and another epsilon is refused."""
    bits, client = SeededBits("first reports"), Memoised(oracle, cap=2, lifetime=2)
    drawn = client._blurred(client.permanent.sample(np.ones(60_000, dtype=int), bits=bits), bits)
    counts = np.bincount(index_of(oracle, drawn), minlength=len(all_reports(oracle)))
    assert compatible(counts, oracle.law(1).pmf(all_reports(oracle)))
    for epsilon in (0.8, 2):
        wrong = type(oracle)(oracle.domain, epsilon=epsilon).law(1).pmf(all_reports(oracle))
        assert not compatible(counts, wrong)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("times", [1, 2, 3, 4])
def test_the_loss_of_several_reports_is_the_largest_ratio(k, times):
    """By adding up over the kept report, for all sequences of reports and pairs of answers."""
    first, lifetime = Fraction(1, 2), Fraction(2)
    again = Bernoulli(change(k, first, lifetime))
    step = np.where(np.eye(k), again.q, again.p / (k - 1))
    sequences = np.array(list(product(range(k), repeat=times)))
    likely = np.prod(step[:, sequences], axis=2)  # kept report, sequence
    law = laws(GRR(k, epsilon=2)) @ likely
    assert law.sum(axis=1) == pytest.approx(1)
    worst = np.log(law[:, None] / law[None]).max()
    assert loss_after(times, k, lifetime, again) == pytest.approx(worst, rel=1e-9)
    assert loss_after(times, k, lifetime, again) >= worst


def test_losses_grow_from_epsilon_to_lifetime():
    """Never beyond it, however often one reports."""
    again = Bernoulli(change(16, Fraction(1), Fraction(3)))
    losses = [loss_after(times, 16, Fraction(3), again) for times in (1, 2, 5, 50, 10**6)]
    assert losses == sorted(losses)
    assert losses[0] == pytest.approx(1)
    assert losses[-1] == pytest.approx(3)
    assert losses[-1] <= 3
    assert loss_after(1, 2, Fraction(4000), Bernoulli(change(2, Fraction(2000), Fraction(4000)))) == 4000


def test_the_account_charges_new_answers_and_refuses_beyond_the_cap():
    """The same answer is paid for once, a new one again, and nothing is charged for what is refused."""
    client, bits = Memoised(OUE(["a", "b", "c"], epsilon=1), cap=2), SeededBits(5)
    assert client.spent == 0
    first = client.report("a", bits=bits)
    for _ in range(20):
        assert np.array_equal(client.report("a", bits=bits), first)
    assert client.spent == 1
    client.report("b", bits=bits)
    assert client.spent == 2
    for _ in range(2):
        with pytest.raises(BudgetExceeded, match="lifetime"):
            client.report("c", bits=bits)
    assert client.spent == 2
    assert client.reports == 22
    assert np.array_equal(client.report("a", bits=bits), first)


def test_a_blurring_client_pays_report_by_report():
    """From epsilon up, and it stops where the cap says, though the answer never changed."""
    client, bits = Memoised(SUE(4, epsilon=1), cap=2, lifetime=3), SeededBits(6)
    paid = []
    for _ in range(100):
        try:
            client.report(1, bits=bits)
        except BudgetExceeded:
            break
        paid.append(client.spent)
    assert paid[0] == pytest.approx(1)
    assert paid == sorted(paid)
    assert paid[-1] <= 2
    assert 1 < len(paid) < 100


def test_a_memo_outlives_a_restart_and_shows_nothing():
    """The state goes through JSON; a state of another question, or a broken one, is refused."""
    bits = SeededBits(7)
    for oracle, more in (
        (GRR(4, epsilon=1), {}),
        (GRR(4, epsilon=1), {"lifetime": 2}),
        (SubsetSelection(12, epsilon=1), {}),
        (Hadamard(5, epsilon=1), {}),
        (DBitFlip(9, epsilon=1, d=2), {}),
    ):
        client = Memoised(oracle, cap=4, **more)
        before = client.report(3, bits=bits)
        state = json.loads(json.dumps(client.state()))
        again = Memoised(oracle, cap=4, state=state, **more)
        assert again.spent == client.spent
        assert again.state() == client.state()
        if not more:
            assert np.array_equal(again.report(3, bits=bits), before)
        assert "memo" not in repr(client)
        assert repr(Memoised(oracle, cap=4)) == repr(client)
        for wrong in ({}, {**state, "question": ""}, {**state, "memos": {"0": [99]}}, {**state, "times": {}}):
            with pytest.raises(InvalidData, match="state"):
                Memoised(oracle, cap=4, state=wrong, **more)


def test_lifetime_goes_with_few():
    """Only where a blurred report keeps its form, and only for a larger epsilon."""
    for oracle in (OUE(4, epsilon=1), Hadamard(4, epsilon=1), Warner(p=0.75, q=0.25), DBitFlip(4, epsilon=1, d=2)):
        with pytest.raises(InvalidParameter, match="lifetime"):
            Memoised(oracle, cap=4, lifetime=2)
    with pytest.raises(InvalidParameter, match="lifetime"):
        Memoised(GRR(4, epsilon=2), cap=4, lifetime=2)


def test_a_d_bit_flip_client_is_asked_about_the_same_categories_for_ever():
    """All answers it is not asked about share one memo: at most d + 1 different reports in a lifetime."""
    oracle, bits = DBitFlip(20, epsilon=1, d=3), SeededBits(8)
    client = Memoised(oracle, cap=4)
    reports = np.concatenate([client.report(int(x), bits=bits) for x in np.arange(300) % 20])
    assert len(np.unique(reports >> 1, axis=0)) == 1
    assert len(np.unique(reports, axis=0)) <= 4
    assert client.spent == 4
    assert oracle.aggregate(reports).people == 300


def test_d_bit_flip_clients_estimate_the_shares():
    """Many clients, one report each: within six standard deviations."""
    oracle, bits = DBitFlip(10, epsilon=3, d=4), SeededBits(9)
    answers = np.minimum(np.arange(20_000) % 16, 9)
    truth = np.bincount(answers, minlength=10) / answers.size
    found = oracle.estimate(oracle.sample(answers, bits=bits), consistent="none").value
    deviation = np.sqrt([oracle.variance(f) / answers.size for f in truth])
    assert np.all(np.abs(found - truth) < 6 * deviation)
