"""What must not be forgotten is not forgotten, what must not be kept is not kept, and one process at a time."""

from __future__ import annotations

import os
import stat
import subprocess
import sys

import pytest

from flou.errors import InvalidParameter, ProtocolError
from flou.joint.session.coordinator import CoordinatorSession
from flou.joint.session.memory import FileMemory, Memory
from flou.joint.session.party import PartySession
from joint.session.sessions import ANY, parties, plain, plan_for


@pytest.fixture(params=["process", "file"])
def memory(request, tmp_path):
    made = Memory() if request.param == "process" else FileMemory(tmp_path / "state")
    yield made
    made.close()


def test_a_value_is_kept_once_and_for_all(memory):
    """The same again is the same; another one contradicts."""
    assert memory.recall("a") is None
    assert memory.keep("a", b"1") == b"1"
    assert memory.keep("a", b"1", sure=True) == b"1"
    with pytest.raises(ProtocolError, match="contradicts"):
        memory.keep("a", b"2")
    assert memory.recall("a") == b"1"
    memory.keep("empty", b"")
    with pytest.raises(ProtocolError, match="contradicts"):
        memory.keep("empty", b"2")


def test_what_is_forgotten_goes_by_its_beginning(memory):
    """Only keys that begin alike, and the others stay."""
    for key in ("1/secret", "11/secret", "1/mask", "1/secrets"):
        memory.keep(key, key.encode())
    assert memory.keys("1/") == ["1/secret", "1/mask", "1/secrets"]
    memory.forget("1/secret")
    memory.forget("nothing")
    assert memory.keys("") == ["11/secret", "1/mask"]
    memory.keep("later", b"x")
    assert memory.recall("later") == b"x"


def test_a_file_remembers(tmp_path):
    """All of it, in its order, for its owner only, also after something was forgotten."""
    first = FileMemory(tmp_path / "deep" / "state")
    for number in range(20):
        first.keep(str(number), bytes([number]) * number, sure=number % 3 == 0)
    first.forget("1")
    first.keep("more", b"more")
    first.close()
    again = FileMemory(tmp_path / "deep" / "state")
    assert again.keys("") == ["0", *map(str, range(2, 10)), "more"]
    assert [again.recall(str(number)) for number in range(2, 10)] == [bytes([n]) * n for n in range(2, 10)]
    again.close()
    for path in (tmp_path / "deep").iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def entries(path):
    """The file as it was after every entry."""
    memory = FileMemory(path)
    states = [path.read_bytes()]
    for number in range(4):
        memory.keep(f"key {number}", os.urandom(30 + number))
        states.append(path.read_bytes())
    memory.close()
    return states


def test_a_torn_tail_is_dropped(tmp_path):
    """Cut anywhere, the file holds every whole entry before the cut, and goes on from there."""
    states = entries(tmp_path / "whole")
    whole = states[-1]
    for end in sorted({*range(0, len(whole), 5), *map(len, states), *(len(state) - 1 for state in states)}):
        path = tmp_path / "torn"
        path.write_bytes(whole[:end])
        memory = FileMemory(path)
        kept = sum(end >= len(state) for state in states[1:])
        assert memory.keys("") == [f"key {number}" for number in range(kept)]
        memory.keep("new", b"value")
        memory.close()
        again = FileMemory(path)
        assert again.keys("") == [f"key {number}" for number in range(kept)] + ["new"]
        again.close()


@pytest.mark.parametrize("tail", [bytes(1), bytes(8), bytes(5000), b"\xff" * 100, b"\0\0\0\x05\0\0\0\0hello"])
def test_what_a_power_cut_leaves_behind_is_dropped(tmp_path, tail):
    """Zeros or noise behind the last entry: the entries are there, and new ones follow."""
    whole = entries(tmp_path / "state")[-1]
    (tmp_path / "state").write_bytes(whole + tail)
    memory = FileMemory(tmp_path / "state")
    assert len(memory.keys("")) == 4
    memory.close()
    assert (tmp_path / "state").read_bytes() == whole


def test_another_file_is_not_written_over(tmp_path):
    """A table that was named by mistake stays what it is."""
    (tmp_path / "rows.csv").write_text("age,income\n30,1000\n")
    with pytest.raises(InvalidParameter, match="cannot be used"):
        FileMemory(tmp_path / "rows.csv")
    assert (tmp_path / "rows.csv").read_text() == "age,income\n30,1000\n"
    with pytest.raises(InvalidParameter, match="cannot be used"):
        FileMemory(tmp_path)


def test_two_memories_side_by_side(tmp_path):
    """Files whose names differ in their ending only do not get into each other's way."""
    one, other = FileMemory(tmp_path / "north.party"), FileMemory(tmp_path / "north.coordinator")
    one.keep("secret", b"one")
    other.keep("secret", b"other")
    one.keep("more", b"one")
    other.keep("more", b"other")
    one.forget("secret")
    other.forget("secret")
    assert (one.recall("more"), other.recall("more")) == (b"one", b"other")
    one.close()
    other.close()
    again = FileMemory(tmp_path / "north.party")
    assert again.recall("more") == b"one"
    again.close()


def test_one_process_at_a_time(tmp_path):
    """Neither a second one here nor one elsewhere, not even after something was forgotten; then it is free."""
    memory = FileMemory(tmp_path / "state")
    memory.keep("secret", b"x")
    memory.keep("rest", b"y")
    code = f"from flou.joint.session.memory import FileMemory; FileMemory({str(tmp_path / 'state')!r})"
    for forget in (False, True):
        if forget:
            memory.forget("secret")
        with pytest.raises(InvalidParameter, match="cannot be used"):
            FileMemory(tmp_path / "state")
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "another process is using it" in other.stderr
    memory.close()
    again = FileMemory(tmp_path / "state")
    assert again.keys("") == ["rest"]
    again.close()


def test_a_memory_belongs_to_one_plan_and_one_party(tmp_path):
    """Neither another plan, nor another party, nor the coordinator takes it over."""
    plan, other = plan_for(3), plan_for(3, name="other")
    memory = FileMemory(tmp_path / "state")
    sessions = parties(plan, plain(3))
    first = sessions[0]

    def begun(plan, who):
        return PartySession(who.identity, plan, who.rows, policy=ANY, memory=memory)

    begun(plan, first)
    begun(plan, first)
    for wrong in (
        lambda: begun(other, first),
        lambda: begun(plan, sessions[1]),
        lambda: CoordinatorSession(plan, memory),
    ):
        with pytest.raises(ProtocolError, match="contradicts"):
            wrong()
    memory.close()
