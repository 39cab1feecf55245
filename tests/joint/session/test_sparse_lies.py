"""Above a hundred parties everyone checks its own part: what is noticed at once, and what the transcript shows."""

from __future__ import annotations

import pytest

from flou.errors import ProtocolError
from flou.joint.agreement.canonical import decode, encode
from flou.joint.agreement.identity import Identity, Roster
from flou.joint.agreement.plan import Plan
from flou.joint.estimators import program
from flou.joint.masking import codec
from flou.joint.round.coordinator import CoordinatorRound
from flou.joint.round.messages import bitmap
from flou.joint.round.record import record_hash
from flou.joint.session import coordinator as coordinating
from flou.joint.session.coordinator import CoordinatorSession
from flou.joint.session.party import PartySession
from flou.joint.session.transcript import verified
from flou.joint.simulation import converse
from joint.session.sessions import ANY, Given, Integers, given_away

M = 104
IDENTITIES = [Identity.generate(f"p{i:03d}") for i in range(M)]
WORDS = [[i, -1] for i in range(M)]


def lied_to(monkeypatch, lying, rounds=1, **how):
    plan = Plan(Roster.of(IDENTITIES), Integers(2, 1000, rounds), expires="2099-01-01T00:00:00Z")
    assert plan.resilience.neighbours < 40
    sessions = {i: PartySession(one, plan, Given(WORDS[i], plan.reading), ANY) for i, one in enumerate(IDENTITIES)}
    monkeypatch.setattr(coordinating, "CoordinatorRound", lying)
    return sessions, converse(CoordinatorSession(plan), sessions, **how)


def test_other_survivors_than_those_who_were_signed(monkeypatch):
    """After a sum with everyone, all are told that party 7 was not in it, so that the next may be without: refused."""

    class Lying(CoordinatorRound):
        def opened_replies(self, next_ask, *, full):
            others = self.survivors - {7}
            words = codec.to_bytes(self.sums)
            self.hash = record_hash(self.setting, self.record.root(), others, words)
            replies = super().opened_replies(next_ask, full=full)
            told = {"survivors": bitmap(others, M), "hash": self.hash}
            return {party: encode(decode(reply) | told) for party, reply in replies.items()}

    sessions, outcome = lied_to(monkeypatch, Lying, rounds=2)
    assert len(outcome.refusals) == M
    assert {error.what for error in outcome.refusals.values()} == {
        "The sums do not follow from what the parties have sent."
    }
    assert given_away(sessions).keys() == {1}


def test_a_party_whose_words_were_left_away(monkeypatch):
    """A root without its words has no path for them."""

    def shortened(party, address, reply):
        if address == (1, "unmask") and party < 5:
            return encode(decode(reply) | {"path": decode(reply)["path"][1:]})
        return reply

    _, outcome = lied_to(monkeypatch, CoordinatorRound, tampered=shortened)
    assert set(outcome.refusals) == {IDENTITIES[i].name for i in range(5)}
    assert len(outcome.fits) == M - 5


def test_a_wrong_sum_is_shown_by_the_transcript(monkeypatch):
    """So many parties do not add up all words again: a lie to everyone is believed, and anyone who checks finds it."""

    class Lying(CoordinatorRound):
        def _open(self, messages):
            super()._open(messages)
            self.sums[0, 0] += 1
            self.hash = record_hash(self.setting, self.record.root(), self.survivors, codec.to_bytes(self.sums))
            return {}

    monkeypatch.setitem(program.ESTIMATORS, "integers", f"{Integers.__module__}.Integers")
    _, outcome = lied_to(monkeypatch, Lying)
    assert outcome.fit.sums == ((sum(range(M)) + 1, -M),)
    with pytest.raises(ProtocolError, match="do not follow from the masked words"):
        verified(outcome.coordinator.transcript.to_bytes())


def test_a_neighbour_left_out_in_secret(monkeypatch):
    """Nobody gets the shares of party 7, which is said to survive: its neighbours refuse, and the sum stays closed."""

    class Lying(CoordinatorRound):
        def _check_masked(self, message):
            pass

    def withheld(_party, address, reply):
        if address != (1, "share"):
            return reply
        return encode({"sealed": {key: box for key, box in decode(reply)["sealed"].items() if key != "7"}})

    sessions, outcome = lied_to(monkeypatch, Lying, tampered=withheld)
    neighbours = {one for one, error in outcome.refusals.items() if "its shares never arrived" in error.what}
    assert len(neighbours) == Plan(Roster.of(IDENTITIES), Integers()).resilience.neighbours
    released = given_away(sessions).get(1, [])
    assert not any("7" in one["gone"] for one in released)
    assert outcome.coordinator.fit is None
