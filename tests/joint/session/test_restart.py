"""Killed at any moment, a party or coordinator goes on where it was, says the same, and hears nothing else."""

from __future__ import annotations

import shutil

import pytest

from flou.bits import SYSTEM
from flou.errors import ProtocolError
from flou.joint.agreement.canonical import decode, encode
from flou.joint.round.messages import bitmap
from flou.joint.session.coordinator import CoordinatorSession
from flou.joint.session.memory import FileMemory
from flou.joint.simulation import converse
from joint.session.sessions import Integers, Recorder, parties, party, plain, plan_for, total

ROUNDS = 2


class Filmed(FileMemory):
    """A memory that leaves a copy of its file after every change."""

    def __init__(self, path) -> None:
        self.film: list[bytes] = []
        super().__init__(path)

    def _store(self, key, value, sure, later):
        super()._store(key, value, sure, later)
        if later:  # the file may have it already, or not yet
            self.film.append(self.path.read_bytes())
            self._file.flush()
        self.film.append(self.path.read_bytes())

    def forget(self, prefix):
        before = self.keys(prefix)
        super().forget(prefix)
        if before:
            self.film.append(self.path.read_bytes())


@pytest.fixture(scope="module")
def recorded():
    return Recorder(plan_for(5, Integers(rounds=ROUNDS)), plain(5))


@pytest.fixture(scope="module")
def filmed(recorded, tmp_path_factory):
    """Party 0's file after every change, and what it said at every step."""
    memory = Filmed(tmp_path_factory.mktemp("film") / "state")
    said, result = play(recorded, memory)
    assert result.sums == recorded.outcome.fit.sums
    memory.close()
    return memory.film, said


def play(recorded, memory, lies=None):
    """Party 0 with a memory hears what it was told in the recorded session, or a lie at some step."""
    steps = recorded.again(0, memory).run()
    said = {}
    address, message = next(steps)
    while True:
        said[address] = message
        reply = (lies or {}).get(address, recorded.replies[0, address])
        try:
            address, message = steps.send(reply)
        except StopIteration as stop:
            return said, stop.value


def restored(tmp_path, state):
    (tmp_path / "copy").write_bytes(state)
    return FileMemory(tmp_path / "copy")


def test_a_party_can_be_killed_after_every_change_of_its_file(recorded, filmed, tmp_path):
    """It says again what it has said, word for word, and comes to the same result."""
    film, said = filmed
    assert len(film) > 20
    for state in film:
        memory = restored(tmp_path, state)
        again, result = play(recorded, memory)
        memory.close()
        assert result == recorded.outcome.fits["p0000"]
        assert all(said[address] == message for address, message in again.items())


def test_a_party_draws_nothing_twice(recorded, filmed, tmp_path):
    """With other random bits after the restart, everything that was sent before is still the same."""
    film, said = filmed
    plan = recorded.plan
    for state in film:
        memory = restored(tmp_path, state)
        kept = {key for key in memory.keys("") if not key.endswith("/reply")}
        steps = party(plan, 0, recorded.integers[0], memory, SYSTEM).run()
        try:
            address, message = next(steps)
            while f"{address[0]}/{address[1]}" in kept:
                assert message == said[address]
                address, message = steps.send(recorded.replies[0, address])
        except StopIteration:
            pass
        memory.close()


def test_after_a_restart_no_other_answer_is_heard(recorded, filmed, tmp_path):
    """Every reply that was heard before the kill is the only one from then on, above all the list of survivors."""
    film, _ = filmed
    memory = restored(tmp_path, film[-1])
    heard = [address for address in recorded.addresses() if memory.recall(f"{address[0]}/{address[1]}/reply")]
    memory.close()
    assert len(heard) == len(recorded.addresses())
    tried = 0
    for address in heard:
        if address[0] in (1, 2) and address[1] != "confirm":
            name = f"{address[0]}/{address[1]}/reply"
            states = [state for state in film if name.encode() in state and f"{address[0]}/done".encode() not in state]
        else:
            states = [state for state in film if f"{address[0]}/{address[1]}/reply".encode() in state]
        for state in states[:2]:
            told = decode(recorded.replies[0, address]) | {"more": 1}
            memory = restored(tmp_path, state)
            with pytest.raises(ProtocolError, match="contradicts an earlier message"):
                play(recorded, memory, {address: encode(told)})
            memory.close()
            tried += 1
    assert tried >= len(heard)


def test_another_list_after_a_restart_is_refused(recorded, filmed, tmp_path):
    """The party has signed that all are there; killed and then told that one is gone, it refuses."""
    film, said = filmed
    other = encode({"survivors": bitmap([0, 1, 2, 3], 5)})
    signed = [state for state in film if b"1/agree" in state and b"1/done" not in state]
    assert len(signed) >= 3
    for state in signed:
        memory = restored(tmp_path, state)
        with pytest.raises(ProtocolError, match="contradicts"):
            play(recorded, memory, {(1, "mask"): other})
        assert memory.recall("1/agree") == said[1, "agree"]
        memory.close()


def test_secrets_are_wiped_at_the_end(filmed):
    """The seeds of the rounds are in the file as long as the session lasts, and not afterwards."""
    film, _ = filmed
    for number in range(1, ROUNDS + 1):
        name = f"secret/{number}".encode()
        having = [place for place, state in enumerate(film) if name in state]
        assert having == list(range(having[0], len(film) - 1))
    secret = next(state for state in film if b"secret/1" in state)
    start = secret.index(b"secret/1") + len(b"secret/1") + 2
    seed = secret[start : start + 32]
    assert len(seed) == 32
    assert any(seed in state for state in film)
    assert seed not in film[-1]
    assert film[-1].startswith(b"flou joint memory 1\n")


def test_a_kill_between_the_end_and_the_wiping_is_made_up_for(recorded, filmed, tmp_path):
    """Who is killed when all is said and the secrets are not yet wiped, wipes them at the next start."""
    film, _ = filmed
    memory = restored(tmp_path, film[-2])
    assert memory.keys("secret/")
    play(recorded, memory)
    memory.close()
    assert b"secret/1" not in (tmp_path / "copy").read_bytes()


@pytest.mark.parametrize("stop", range(13))
def test_all_parties_killed_at_one_step(stop, tmp_path):
    """Everyone stops with a message on its lips, everyone is started again from its file, and the session ends well."""
    plan = plan_for(5, Integers(rounds=ROUNDS))

    class Stubborn:
        """A party that is killed once, and hears again what it had heard."""

        def __init__(self, number):
            self.number, self.heard, self.count = number, {}, 0

        def start(self):
            self.memory = FileMemory(tmp_path / f"{self.number}")
            steps = party(plan, self.number, plain(5)[self.number], self.memory).run()
            return steps, next(steps)

        def run(self):
            steps, said = self.start()
            while True:
                if self.count == stop:
                    self.memory.close()
                    before, (steps, said) = said, self.start()
                    while said[0] != before[0]:
                        said = steps.send(self.heard[said[0]])
                    assert said == before
                self.count += 1
                self.heard[said[0]] = yield said
                try:
                    said = steps.send(self.heard[said[0]])
                except StopIteration as result:
                    self.memory.close()
                    return result.value

    outcome = converse(CoordinatorSession(plan), {number: Stubborn(number) for number in range(5)})
    once = total(plain(5))
    assert outcome.fit.sums == (once, tuple(2 * word for word in once))
    assert len(outcome.fits) == 5


# The coordinator


def test_a_coordinator_can_be_killed_after_every_change_of_its_file(tmp_path):
    """Started again from any state of its file it has the same replies, takes the other messages, and ends alike."""
    plan = plan_for(5, Integers(rounds=ROUNDS))
    memory = Filmed(tmp_path / "state")
    first = CoordinatorSession(plan, memory)
    sessions = parties(plan, plain(5), seed=3)
    said, told = [], {}

    def lost(number, address):
        gone = number == 4 and address >= (2, "unmask")
        if not gone:
            said.append((number, address))
        return gone

    def note(number, address, reply):
        told[number, address] = reply
        return reply

    outcome = converse(first, sessions, lost=lost, tampered=note)
    memory.close()
    messages = [(address, sessions[number].memory.recall(f"{address[0]}/{address[1]}")) for number, address in said]
    assert len(memory.film) > 50
    for state in memory.film[:: max(1, len(memory.film) // 25)] + memory.film[-1:]:
        again = CoordinatorSession(plan, restored(tmp_path, state))
        for place, (address, message) in enumerate(messages):
            if address >= again.step.address and not again.done:
                again.receive(address, message)
            following = messages[place + 1][0] if place + 1 < len(messages) else None
            if following != address and address == again.step.address and not again.done:
                again.close()
        assert again.fit == outcome.fit
        assert again.transcript.to_bytes() == first.transcript.to_bytes()
        for (number, address), reply in told.items():
            assert again.reply(address, number) == reply
        again.memory.close()


def test_a_restarted_coordinator_refuses_a_changed_message(tmp_path):
    """What it has on file is what the party said."""
    plan = plan_for(3)
    session = CoordinatorSession(plan, FileMemory(tmp_path / "state"))
    one, other = (next(parties(plan, plain(3))[0].run()) for _ in range(2))
    session.receive(*one)
    session.memory.close()
    shutil.copy(tmp_path / "state", tmp_path / "copy")
    again = CoordinatorSession(plan, FileMemory(tmp_path / "copy"))
    assert again.missing == {1, 2}
    again.receive(*one)
    with pytest.raises(ProtocolError, match="contradicts"):
        again.receive(*other)
    again.memory.close()


def test_a_failed_session_stays_failed(tmp_path):
    """After a restart the parties hear the same reason."""
    plan = plan_for(3)
    memory = FileMemory(tmp_path / "state")
    outcome = converse(CoordinatorSession(plan, memory), parties(plan, plain(3)), lost=lambda number, _: number == 1)
    memory.close()
    again = CoordinatorSession(plan, FileMemory(tmp_path / "state"))
    assert again.done
    assert str(again.failure) == str(outcome.coordinator.failure)
    assert again.reply((0, "join"), 0) == outcome.coordinator.reply((0, "join"), 0)
    again.memory.close()
