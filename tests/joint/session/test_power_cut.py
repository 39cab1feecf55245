"""After a power cut a party has what was on disk for sure, and nothing else: enough to say nothing a second time."""

from __future__ import annotations

import os

import pytest

from flou.errors import ProtocolError
from flou.joint.agreement.canonical import decode, encode
from flou.joint.round.keys import RoundKeys
from flou.joint.round.messages import Message, bitmap
from flou.joint.session.coordinator import CoordinatorSession
from flou.joint.session.memory import FileMemory
from joint.round.rounds import Party, advert_of, setting_for
from joint.session.sessions import Integers, Recorder, party, plain, plan_for

ONCE = ("reveal", "mask", "unmask", "confirm")  # with shares for the next round in the first and the third


class Machine:
    """A party's file, and how much of it is on disk for sure."""

    def __init__(self, path, monkeypatch) -> None:
        self.path, self.sure, synced = path, b"", os.fsync

        def fsync(handle):
            synced(handle)
            if path.exists() and os.fstat(handle).st_ino == path.stat().st_ino:
                self.sure = path.read_bytes()

        monkeypatch.setattr(os, "fsync", fsync)
        self.memory = FileMemory(path)

    def cut(self) -> FileMemory:
        self.memory.close()
        self.path.write_bytes(self.sure)
        self.memory = FileMemory(self.path)
        return self.memory


@pytest.fixture
def machine(tmp_path, monkeypatch):
    made = Machine(tmp_path / "state", monkeypatch)
    yield made
    made.memory.close()


def test_what_is_said_once_is_on_disk_before_it_is_sent(machine):
    """Shares, masked words and confirmations, in every round; what is unmasked last holds no more shares."""
    recorded = Recorder(plan_for(5, Integers(rounds=2)), plain(5))
    steps = recorded.again(0, machine.memory).run()
    address, message = next(steps)
    seen = []
    while True:
        if address[1] in ONCE and address != (2, "unmask"):
            assert message in machine.sure
            seen.append(address[1])
        try:
            address, message = steps.send(recorded.replies[0, address])
        except StopIteration:
            break
    assert seen == ["reveal", "mask", "unmask", "mask", "confirm"]


def until_masked(steps, replies):
    """What a party says when it is told who survives, by whoever asks next."""
    address, _ = next(steps)
    while address != (1, "mask"):
        address, _ = steps.send(replies[0, address])
    return lambda survivors: steps.send(encode({"survivors": bitmap(survivors, 5)}))


def test_one_list_is_signed_whatever_was_on_disk(machine):
    """All whose shares came: that list follows from what is on disk. Any other one is on disk before it is sent."""
    recorded = Recorder(plan_for(5), plain(5))
    said = until_masked(recorded.again(0, machine.memory).run(), recorded.replies)(range(5))
    assert said[1] not in machine.sure
    for survivors in ([0, 1, 2, 3], [0, 1, 3, 4]):  # after the power cut it may be signed already, and nobody knows
        again = until_masked(recorded.again(0, machine.cut()).run(), recorded.replies)
        with pytest.raises(ProtocolError, match="was restarted after it sent its words"):
            again(survivors)
    assert until_masked(recorded.again(0, machine.cut()).run(), recorded.replies)(range(5)) == said


def test_another_list_is_on_disk_before_it_is_sent(machine):
    """And is the only one from then on."""
    recorded = Recorder(plan_for(5), plain(5))
    said = until_masked(recorded.again(0, machine.memory).run(), recorded.replies)([0, 1, 2, 3])
    assert said[1] in machine.sure
    again = until_masked(recorded.again(0, machine.cut()).run(), recorded.replies)
    with pytest.raises(ProtocolError, match=r"another list of survivors|contradicts"):
        again(range(5))
    assert until_masked(recorded.again(0, machine.cut()).run(), recorded.replies)([0, 1, 2, 3]) == said


def test_shares_are_not_made_again_for_others_after_a_power_cut(machine):
    """Told of fewer neighbours, cut off, and told the truth: two sharings of one secret could be put together."""
    plan, integers = plan_for(4, Integers(rounds=2), dropouts=1), plain(4)
    sessions = {0: party(plan, 0, integers[0], machine.memory)}
    sessions |= {number: party(plan, number, integers[number]) for number in (1, 2, 3)}
    coordinator = CoordinatorSession(plan)
    running = {number: session.run() for number, session in sessions.items()}
    outgoing = {number: next(steps) for number, steps in running.items()}
    while coordinator.step.address != (1, "unmask"):
        for address, message in outgoing.values():
            coordinator.receive(address, message)
        coordinator.close()
        for number, (address, _) in list(outgoing.items()):
            reply = coordinator.reply(address, number)
            if (number, address) == (0, (1, "agree")):
                told = decode(reply)
                reply = encode(told | {"agreed": {key: told["agreed"][key] for key in ("1", "3")}})
            outgoing[number] = running[number].send(reply)
    address, first = outgoing[0]
    assert Message.from_bytes(first).enclosed["sealed"].keys() == {"1", "3"}
    lied = {"agreed": {key: told["agreed"][key] for key in ("1", "3")}}
    for truth in (False, True):
        again = party(plan, 0, integers[0], machine.cut()).run()
        address, message = next(again)
        while address != (1, "agree"):
            address, message = again.send(coordinator.reply(address, 0))
        if truth:
            with pytest.raises(ProtocolError, match="contradicts an earlier message"):
                again.send(encode(told))
        else:
            assert again.send(encode(told | lied)) == ((1, "unmask"), first)


def test_who_commits_to_a_nonce_has_its_keys(machine):
    """Wherever the file was cut while a party joined: the same commitment comes with the same keys."""
    plan, found = plan_for(4), {}
    next(party(plan, 0, plain(4)[0], machine.memory).run())
    machine.memory.close()
    whole = machine.path.read_bytes()
    for end in range(0, len(whole) + 1):
        machine.sure = whole[:end]
        _, message = next(party(plan, 0, plain(4)[0], machine.cut()).run())
        content = Message.from_bytes(message).content
        assert found.setdefault(content["commitment"], content["keys"]) == content["keys"]
    assert len(found) > 1


def test_two_sharings_have_nothing_in_common():
    """Other holders or another threshold: other coefficients, and other nonces of the boxes."""
    keys = RoundKeys(bytes(32), 0, bytes(range(32)))
    uses = [(b"round", [2, 3, 4], 3), (b"round", [2, 3, 4], 2), (b"round", [2, 3], 2), (b"other", [2, 3, 4], 3)]
    assert len({keys.bits(*use).take(64).tobytes() for use in uses}) == 4
    assert keys.bits(*uses[0]).take(64).tobytes() == keys.bits(*uses[0]).take(64).tobytes()
    setting = setting_for(8, dropouts=2)
    adverts = {i: advert_of(setting, i, bytes([i]) * 32) for i in range(8)}
    some = {i: adverts[i] for i in range(7)}
    one, other = (Party(setting, 0, bytes(32), told).sharing.sealed for told in (adverts, some))
    assert all(one[holder][:12] != other[holder][:12] for holder in other)
