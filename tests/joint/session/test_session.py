"""Whole sessions: exact sums whoever is lost when, and refusals where too few are left."""

from __future__ import annotations

import dataclasses
import itertools
from fractions import Fraction

import numpy as np
import pytest

from flou.errors import InvalidData, ProtocolError
from flou.joint.agreement.policy import Policy
from flou.joint.estimators.distribution.vector_sum import VectorSum
from flou.joint.masking.noise import polya_share
from flou.joint.round.messages import Message
from flou.joint.session.coordinator import CoordinatorSession
from flou.joint.session.party import PartySession
from flou.joint.simulation import converse, simulated
from joint.session.sessions import (
    ANY,
    IDENTITIES,
    STEPS,
    Integers,
    exposed,
    given_away,
    parties,
    party,
    plain,
    plan_for,
    total,
)

AT_ONCE = [step for step in STEPS if step[1] != "agree"]  # where nobody may be lost, survivors are signed with words
BEFORE = ("join", "reveal", "share", "mask")  # whoever goes here is not in the sum


def held(m, integers, losses, **terms):
    """A session in which each of these parties goes at its step."""
    plan = plan_for(m, **terms)
    sessions = parties(plan, integers)
    gone = {}

    def lost(number, address):
        gone[number] = gone.get(number, False) or losses.get(number) == address
        return gone[number]

    return plan, sessions, converse(CoordinatorSession(plan), sessions, lost=lost)


@pytest.mark.parametrize("m", [3, 4, 5, 8, 12])
def test_everyone_gets_the_exact_sum(m):
    """The coordinator and every party have the same numbers, and the same transcript."""
    integers = plain(m)
    _, _, outcome = held(m, integers, {})
    assert outcome.fit.sums == (total(integers),)
    assert len(outcome.fits) == m
    assert not outcome.refusals
    assert {fit.provenance for fit in outcome.fits.values()} == {outcome.fit.provenance}
    assert outcome.fit.provenance.parties == tuple(identity.name for identity in IDENTITIES[:m])
    assert (outcome.fit.provenance.rounds, outcome.fit.provenance.scalars) == (1, 2)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("who", [0, 2, 4])
def test_five_parties_lose_one_at_any_step(who, step):
    """The sum is that of the others, or of all if its words were in; exactly, and everyone left gets it."""
    integers = plain(5)
    plan, sessions, outcome = held(5, integers, {who: step})
    counted = [i for i in range(5) if i != who or step[1] not in BEFORE]
    assert outcome.fit.sums == (total(integers, counted),)
    assert outcome.fit.provenance.parties == tuple(IDENTITIES[i].name for i in counted)
    assert set(outcome.fits) == {IDENTITIES[i].name for i in range(5) if i != who}
    assert not outcome.refusals
    assert not exposed(sessions, plan)


@pytest.mark.parametrize(("first", "second"), list(itertools.combinations_with_replacement(STEPS, 2)))
def test_eight_parties_lose_two_at_different_steps(first, second):
    """Whatever the two steps are."""
    integers = plain(8)
    plan, sessions, outcome = held(8, integers, {1: first, 6: second})
    counted = [i for i in range(8) if {1: first, 6: second}.get(i, (9, ""))[1] not in BEFORE]
    assert outcome.fit.sums == (total(integers, counted),)
    assert len(outcome.fits) == 6
    assert not exposed(sessions, plan)


@pytest.mark.parametrize("step", AT_ONCE)
def test_three_parties_cannot_lose_any(step):
    """Of two, each would learn the other's: nothing is opened, and nothing confirmed unless all three are there."""
    integers = plain(3)
    plan, sessions, outcome = held(3, integers, {1: step})
    assert not outcome.fits
    with pytest.raises(ProtocolError, match="Only 2 parties"):
        outcome.fit  # noqa: B018
    if step[1] not in ("unmask", "confirm"):
        assert not given_away(sessions)
    assert not exposed(sessions, plan)


@pytest.mark.parametrize("step", STEPS[:4])
def test_more_losses_than_planned_end_the_session(step):
    """Two of five: the coordinator stops, it does not try for ever, and nobody has released anything."""
    _, sessions, outcome = held(5, plain(5), {1: step, 2: step})
    assert outcome.coordinator.done
    assert outcome.coordinator.failure is not None
    assert not given_away(sessions)
    assert not outcome.fits


@pytest.mark.parametrize("rounds", [1, 3])
@pytest.mark.parametrize(("m", "terms"), [(3, {}), (5, {"dropouts": 0}), (12, {"dropouts": 0})])
def test_where_nobody_may_be_lost_survivors_are_signed_at_once(m, terms, rounds):
    """Two exchanges a round; the list of everyone is signed with the words, and no share of a mask key is given."""
    plan = plan_for(m, Integers(rounds=rounds), **terms)
    sessions = parties(plan, plain(m))
    outcome = converse(CoordinatorSession(plan), sessions)
    assert outcome.fit.sums[0] == total(plain(m))
    for session in sessions.values():
        assert not session.memory.keys("1/agree")
        assert "survivors" in Message.from_bytes(session.memory.recall("1/mask")).content
    assert not any(one["gone"] for released in given_away(sessions).values() for one in released)


def test_who_was_absent_counts_as_lost_already():
    """One of four may be lost and does not join: the others need each other, and sign at once."""
    plan = plan_for(4)
    sessions = parties(plan, plain(4))
    outcome = converse(CoordinatorSession(plan), sessions, lost=lambda who, _: who == 2)
    assert outcome.fit.sums == (total(plain(4), [0, 1, 3]),)
    assert not sessions[0].memory.keys("1/agree")


def test_too_few_are_left_for_another_round():
    """One of three is lost when the first sums are opened: the session is over at once, not when patience is."""
    plan = plan_for(3, Integers(rounds=2))
    outcome = converse(
        CoordinatorSession(plan), parties(plan, plain(3)), lost=lambda who, at: who == 1 and at == (1, "unmask")
    )
    assert outcome.coordinator.done
    assert outcome.coordinator.step.address == (1, "unmask")
    assert {error.what for error in outcome.refusals.values()} == {"Only 2 parties are there; missing: p0001."}


def test_losses_are_only_those_that_the_minimum_leaves():
    """A plan that may lose two of eight, and asks for all eight in the sum, may lose none before their words are in."""
    integers = plain(8)
    for step in STEPS[3:]:
        lost = held(8, integers, {3: step, 5: step}, minimum=8)[2]
        assert lost.fit.sums == (total(integers),)
    for step in STEPS[:3]:
        _, sessions, outcome = held(8, integers, {3: step}, minimum=8)
        assert outcome.coordinator.failure is not None
        assert not given_away(sessions)
    assert held(8, integers, {}, minimum=8)[2].fit.sums == (total(integers),)


@pytest.mark.parametrize("width", [64, 128, 192, 256, 512])
@pytest.mark.parametrize("m", [3, 5])
def test_extreme_sums(width, m):
    """Zero, the largest and the smallest sums that the words hold, and their neighbours."""
    limit = (2 ** (width - 1) - 1) // m
    columns = [
        [limit] * m,
        [-limit] * m,
        [limit - 1] + [limit] * (m - 1),
        [limit, -limit] + [0] * (m - 2),
        [0] * m,
        [-1] + [0] * (m - 1),
        [1] * m,
        [(-1) ** i * (limit // 3 + i) for i in range(m)],
    ]
    integers = [list(row) for row in zip(*columns, strict=True)]
    plan, _, outcome = held(m, integers, {}, program=Integers(len(columns), limit))
    assert plan.proof(plan.program.next([])).width == width
    assert outcome.fit.sums == (tuple(map(sum, columns)),)
    assert outcome.fit.sums[0][:5] == (m * limit, -m * limit, m * limit - 1, 0, 0)
    assert len(outcome.fits) == m


def test_too_large_a_word_is_refused_by_its_own_party():
    """It leaves without saying which word or how large; the others go on without it."""
    integers = plain(5)
    integers[2][1] = 2**40 + 1
    plan, sessions, outcome = held(5, integers, {})
    refused = outcome.refusals[IDENTITIES[2].name]
    assert isinstance(refused, InvalidData)
    assert str(2**40 + 1) not in str(refused)
    assert sessions[2].memory.recall("1/mask") is None
    assert outcome.fit.sums == (total(integers, [0, 1, 3, 4]),)
    integers[2][1] = -(2**40)
    assert held(5, integers, {})[2].fit.sums == (total(integers),)
    assert not exposed(sessions, plan)


def test_another_number_of_words_is_refused_by_its_own_party():
    """The words do not have the agreed length."""
    integers = plain(5)
    integers[0] = [1, 2, 3]
    outcome = held(5, integers, {})[2]
    assert "number of words" in outcome.refusals[IDENTITIES[0].name].what
    assert outcome.fit.sums == (total(integers[1:]),)


def test_a_policy_is_checked_before_the_first_message():
    """Nothing is sent, not even that one is there."""
    plan = plan_for(5)
    with pytest.raises(ProtocolError, match="your policy allows one in 1000"):
        PartySession(IDENTITIES[0], plan, parties(plan, plain(5))[0].rows, Policy(rows_per_scalar=1000))


def test_an_expired_plan_is_refused_by_everyone():
    """By the coordinator and by parties."""
    plan = plan_for(3, expires="2020-01-01T00:00:00Z")
    with pytest.raises(ProtocolError, match="expired"):
        CoordinatorSession(plan)
    with pytest.raises(ProtocolError, match="expired"):
        party(plan, 0, [1, 2])


def test_a_foreign_key_cannot_take_part():
    """A party with another key than the listed one stops by itself."""
    with pytest.raises(ProtocolError, match="does not list"):
        PartySession(IDENTITIES[5], plan_for(3), None, ANY)


class Noisy(Integers):
    """The same sums, with noise of standard deviation about 141 from all four, three of which make a scale of 100."""

    def next(self, opened):
        ask = super().next(opened)
        return ask and dataclasses.replace(ask, noise=polya_share(epsilon=Fraction(1, 100), sensitivity=1, honest=3))


def test_noise_is_added_before_the_masks():
    """Each party adds its share: the sums are off by as much as the law says, and everyone has the same ones."""
    length = 2000
    integers = [[i] * length for i in range(4)]
    _, sessions, outcome = held(4, integers, {}, program=Noisy(length, 10))
    errors = np.array(outcome.fit.sums[0], dtype=float) - 6
    variance = 4 * sessions[0].plan.program.next([]).noise.law.variance
    assert float(variance) == pytest.approx(4 / 3 * 2 * 100**2, rel=0.01)
    assert np.mean(errors**2) == pytest.approx(float(variance), rel=0.4)
    assert abs(np.mean(errors)) < 6 * float(variance / length) ** 0.5
    assert len(outcome.fits) == 4
    assert {fit.sums for fit in outcome.fits.values()} == {outcome.fit.sums}


def test_vectors_of_numbers():
    """The estimator of sums of vectors: fractions on the grid, and missing parties."""
    tables = {f"n{i}": {"v": np.array([0.25 * i, -1.5, 2.0**20])} for i in range(5)}
    outcome = simulated(tables, VectorSum("v", 3, 2**20, 2))
    assert outcome.fit.totals.tolist() == [2.5, -7.5, 5 * 2.0**20]
    fewer = simulated(
        tables, VectorSum("v", 3, 2**20, 2), lost=lambda number, address: (number, address) == (4, (1, "mask"))
    )
    assert fewer.fit.exact == (6, -24, 4 * 2**22)
