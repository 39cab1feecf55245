"""Keys for a round: shown ahead, fresh, and bound to the place where they are shown."""

from __future__ import annotations

import itertools

import pytest

from flou.errors import ProtocolError
from flou.joint.round.keys import RoundKeys, check_keys, commitment, shown
from flou.joint.round.messages import Message, signed
from flou.joint.session.coordinator import CoordinatorSession
from flou.joint.simulation import converse
from joint.round.rounds import IDENTITIES
from joint.session.sessions import Integers, parties, plain, plan_for

PLACE, SEED = bytes(range(32)), bytes(range(1, 33))


def secrets(keys):
    drawn = keys.bits(b"round", [1, 2, 3], 2).take(32).tobytes()
    return keys.sharing.private_bytes_raw(), keys.masking.private_bytes_raw(), keys.own, drawn


def test_every_use_and_every_place_has_its_own_secret():
    """Nothing is used twice, and the same seed in the same place gives the same again after a restart."""
    keys = RoundKeys(PLACE, 0, SEED)
    others = [RoundKeys(bytes(32), 0, SEED), RoundKeys(PLACE, 0, bytes(32))]
    found = [*secrets(keys), *itertools.chain.from_iterable(map(secrets, others))]
    assert len(set(found)) == 12
    assert secrets(RoundKeys(PLACE, 0, SEED)) == secrets(keys)


def test_what_is_shown_hides_what_is_not():
    """Public halves and a commitment; no secret is among them, and no secret is written into a message by mistake."""
    keys = RoundKeys(PLACE, 3, SEED)
    public = keys.public()
    assert public["own"] == commitment(PLACE, 3, keys.own)
    assert len({commitment(*one) for one in [(PLACE, 3, SEED), (PLACE, 4, SEED), (bytes(32), 3, SEED)]}) == 3
    assert not set(public.values()) & {*secrets(keys), SEED}


@pytest.mark.parametrize("name", ["sharing", "masking", "own"])
@pytest.mark.parametrize("value", [None, b"", bytes(31), bytes(33), "x" * 32, 5])
def test_a_message_without_proper_keys(name, value):
    """Each of the three is 32 bytes."""
    public = RoundKeys(PLACE, 0, SEED).public()
    check_keys(signed(IDENTITIES[0], 0, PLACE, "join", {"keys": public}))
    message = signed(IDENTITIES[0], 0, PLACE, "join", {"keys": public | {name: value}})
    for refused in (check_keys, lambda one: shown(one, name)):
        with pytest.raises(ProtocolError, match="lacks the keys"):
            refused(message)


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_keys_are_shown_once_a_round_and_never_again(rounds):
    """As many as there are rounds, all different; the last round shows none."""
    plan = plan_for(4, Integers(rounds=rounds))
    sessions = parties(plan, plain(4))
    assert converse(CoordinatorSession(plan), sessions).fit.sums
    for session in sessions.values():
        said = [Message.from_bytes(session.memory.recall(key)) for key in ("0/join", *agreements(rounds))]
        assert ["keys" in message.content for message in said] == [True] * rounds + [False]
        assert len({message.content["keys"]["masking"] for message in said[:-1]}) == rounds


def agreements(rounds):
    return [f"{number}/agree" for number in range(1, rounds + 1)]


def test_a_party_that_shows_no_keys_is_refused_when_another_round_may_follow():
    """By the coordinator, before anyone waits for them."""
    plan = plan_for(4, Integers(rounds=2))
    coordinator, sessions = CoordinatorSession(plan), parties(plan, plain(4))

    def silent(session, steps):
        address, data = next(steps)
        while True:
            if address == (1, "agree"):
                message = Message.from_bytes(data)
                content = {name: part for name, part in message.content.items() if name not in ("keys", "at", "step")}
                data = signed(session.identity, 0, message.content["at"], "agree", content).to_bytes()
            address, data = steps.send((yield address, data))

    run = sessions[0].run
    sessions[0].run = lambda: silent(sessions[0], run())
    outcome = converse(coordinator, sessions)
    assert "lacks" in outcome.refusals[IDENTITIES[0].name.replace("p000", "p0000")].what
