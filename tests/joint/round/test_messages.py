"""Messages and sets of parties: read as they were written, and nothing else is read."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flou.errors import ProtocolError
from flou.joint.agreement.canonical import encode
from flou.joint.agreement.identity import Identity, Roster
from flou.joint.round.messages import Message, bitmap, members, signed

IDENTITIES = [Identity.generate(f"p{i}") for i in range(3)]
ROSTER = Roster.of(IDENTITIES)


def message(attachment=b"", step="mask"):
    return signed(IDENTITIES[1], 1, b"place", step, {"x": 5}, attachment)


def test_a_message_comes_back():
    """With sender, body, signature and attachment; and it is for its place and step."""
    for attachment in (b"", b"words"):
        found = Message.from_bytes(message(attachment).to_bytes())
        assert found == message(attachment)
        assert found.check(ROSTER, b"place", "mask").content == {"at": b"place", "step": "mask", "x": 5}


def test_a_message_is_for_one_place():
    """Another place or step is a replay; another sender or body is a forgery."""
    for at, step in ((b"elsewhere", "mask"), (b"place", "agree"), (b"", "mask")):
        with pytest.raises(ProtocolError, match="another place"):
            message().check(ROSTER, at, step)
    for lie in (
        {"sender": 0},
        {"sender": 3},
        {"sender": 2**31},
        {"body": encode({"at": b"place"})},
        {"signature": b""},
    ):
        with pytest.raises(ProtocolError, match="signature"):
            dataclasses.replace(message(), **lie).check(ROSTER, b"place", "mask")


def test_what_nobody_has_signed_is_refused():
    """Only masked words are attached, for their hash is in the body."""
    with pytest.raises(ProtocolError, match="has not signed"):
        dataclasses.replace(message(step="agree"), attachment=b"x").check(ROSTER, b"place", "agree")


@pytest.mark.parametrize(
    "data",
    [
        None,
        5,
        "text",
        b"",
        b"\xff",
        encode(None),
        encode({}),
        encode([]),
        encode([1, b"", b""]),
        encode([1, b"", b"", b"", b""]),
        encode([True, b"", b"", b""]),
        encode([-1, b"", b"", b""]),
        encode([1.0, b"", b"", b""]),
        encode([2**32, b"", b"", b""]),
        encode(["1", b"", b"", b""]),
        encode([1, "", b"", b""]),
        encode([1, b"", None, b""]),
        encode([1, b"", b"", []]),
        encode([1, b"", b"", b""]) + b"\0",
    ],
)
def test_what_is_no_message_is_refused(data):
    """Of another shape or type."""
    with pytest.raises(ProtocolError):
        Message.from_bytes(data)


@pytest.mark.parametrize("body", [b"", b"\xff", encode(5), encode([]), encode(None)])
def test_a_signed_body_that_is_no_table_is_refused(body):
    """The signature is good, and the content is not."""
    with pytest.raises(ProtocolError):
        Message(1, body, IDENTITIES[1].sign("message", body)).check(ROSTER, b"place", "mask")


@pytest.mark.parametrize(
    ("value", "kind", "size"),
    [(b"x", bytes, 2), (5, bytes, None), (True, int, None), (None, dict, None), ("x", bytes, 1)],
)
def test_fields_have_types_and_lengths(value, kind, size):
    """A part of another type or length is as good as missing."""
    found = signed(IDENTITIES[0], 0, b"", "", {"x": value})
    with pytest.raises(ProtocolError, match="proper field 'x'"):
        found.field("x", kind, size)
    with pytest.raises(ProtocolError, match="proper field 'y'"):
        found.field("y", kind, size)


@given(st.integers(1, 70).flatmap(lambda size: st.tuples(st.just(size), st.sets(st.integers(0, size - 1)))))
@settings(max_examples=100, deadline=None)
def test_sets_of_parties(case):
    """A set is its bits; bits beyond the last party and other lengths are refused."""
    size, numbers = case
    bits = bitmap(numbers, size)
    assert members(bits, size) == tuple(sorted(numbers))
    wrong = [bits + b"\0", bits[:-1], bits.hex(), None, 5, list(bits)]
    if size % 8:
        wrong.append(bits[:-1] + bytes([bits[-1] | 1 << (size % 8)]))
    for one in wrong:
        with pytest.raises(ProtocolError):
            members(one, size)
