"""What travels: a signed body, and what the body vouches for by its hash; and the replies of the coordinator.

A reply is encoded when its party asks. With ten thousand parties, the replies to all would fill the memory.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

import numpy as np

from flou.errors import ProtocolError
from flou.joint.agreement.canonical import decode, encode
from flou.joint.agreement.identity import Identity, Roster

__all__ = [
    "Message",
    "Messages",
    "Replies",
    "bitmap",
    "in_order",
    "malformed",
    "members",
    "near",
    "signed",
    "table",
    "unsigned",
]

TAG = "message"
SHORT = 1 << 10  # bytes
ENCLOSING = ("reveal", "share", "mask", "unmask")  # steps whose bodies have the hash of what is attached


@dataclass(frozen=True)
class Message:
    """A party's words, signed: the number of the sender, the body, the signature, and what it is attached to."""

    sender: int
    body: bytes
    signature: bytes
    attachment: bytes = b""

    def to_bytes(self) -> bytes:
        return encode([self.sender, self.body, self.signature, self.attachment])

    @staticmethod
    def from_bytes(data: Any) -> Message:
        if type(data) is not bytes:
            raise _not_a_message()
        return _known(data) if len(data) <= SHORT else _parsed(data)

    @cached_property
    def content(self) -> dict[str, Any]:
        """What the body says."""
        return _decoded(self.body)

    @cached_property
    def enclosed(self) -> dict[str, Any]:
        """What the attachment says, if it is a table and no words."""
        return _decoded(self.attachment)

    @property
    def alone(self) -> Message:
        """The message without its attachment, for those to whom that is not addressed."""
        return Message(self.sender, self.body, self.signature)

    def check(self, roster: Roster, at: bytes, step: str) -> Message:
        """Refuse a message that is not signed by its sender, for this place and step."""
        roster.verify(self.sender, self.signature, TAG, self.body)
        if self.attachment and step not in ENCLOSING:  # nothing vouches for it
            raise unsigned()
        if self.content.get("at") != at or self.content.get("step") != step:
            raise ProtocolError(
                f"A message of {roster.names[self.sender]} belongs to another place in the protocol.",
                "It was sent in another round or to other parties, and somebody replays it.",
                "Stop, and ask who relays the messages.",
            )
        return self

    def field(self, name: str, kind: Any, size: int | None = None) -> Any:
        """A part of the body, of the right type and length."""
        value: Any = self.content.get(name)
        if type(value) is not kind or (size is not None and len(value) != size):
            raise malformed(f"A message lacks a proper field {name!r}.")
        return value


def _parsed(data: bytes) -> Message:
    parts = decode(data)
    sound = isinstance(parts, list) and [type(part) for part in parts] == [int, bytes, bytes, bytes]
    if not sound or not 0 <= parts[0] < 1 << 32:
        raise _not_a_message()
    return Message(*parts)


_known = lru_cache(maxsize=512)(_parsed)  # keys and signatures come once in a step, and once more in the record


def _not_a_message() -> ProtocolError:
    return malformed("A message is not made of sender, body, signature and attachment.")


def signed(
    identity: Identity, sender: int, at: bytes, step: str, content: Mapping[str, Any], attachment: bytes = b""
) -> Message:
    """A message, signed."""
    body = encode({"at": at, "step": step, **content})
    return Message(sender, body, identity.sign(TAG, body), attachment)


def _decoded(data: bytes) -> dict[str, Any]:
    found = decode(data)
    if not isinstance(found, dict):
        raise malformed("A part of a message is not a table.")
    return found


def bitmap(numbers: Iterable[int], size: int) -> bytes:
    """A set of party numbers below ``size`` as bits, the lowest number first."""
    bits = bytearray(-(-size // 8))
    for number in numbers:
        bits[number >> 3] |= 1 << (number & 7)
    return bytes(bits)


def members(bits: Any, size: int) -> tuple[int, ...]:
    """The numbers in a bitmap."""
    if not isinstance(bits, bytes) or len(bits) != -(-size // 8):
        raise malformed("A set of parties has the wrong length.")
    found = np.flatnonzero(np.unpackbits(np.frombuffer(bits, dtype=np.uint8), bitorder="little")).tolist()
    if found and found[-1] >= size:
        raise malformed("A set of parties names a party that does not exist.")
    return tuple(found)


def in_order(listed: Any) -> dict[int, Message]:
    """Messages of a list by their senders, one of each, in the order of their numbers."""
    if not isinstance(listed, list):
        raise malformed("A list of messages is missing.")
    found = [Message.from_bytes(data) for data in listed]
    senders = [message.sender for message in found]
    if senders != sorted(set(senders)):
        raise malformed("A list holds two messages of one sender, or is not in order.")
    return dict(zip(senders, found, strict=True))


def unsigned() -> ProtocolError:
    return malformed("A message has something attached that its sender has not signed.")


def malformed(what: str) -> ProtocolError:
    return ProtocolError(
        what,
        "A message that cannot be read is refused, because guessing would be unsafe.",
        "Check that everyone runs the same version of flou.",
    )


Messages: TypeAlias = dict[int, Message]


class Replies(Mapping[int, bytes]):
    """The replies to some parties; a function gives the content of each."""

    def __init__(self, parties: Collection[int], told: Callable[[int], Mapping[str, Any]]) -> None:
        self._parties, self._told = frozenset(parties), told

    def __getitem__(self, party: int) -> bytes:
        if party not in self._parties:
            raise KeyError(party)
        return encode(self._told(party))

    def __iter__(self) -> Iterator[int]:
        return iter(self._parties)

    def __len__(self) -> int:
        return len(self._parties)


def table(messages: Messages) -> dict[str, bytes]:
    """Messages by the numbers of their senders, as they are relayed."""
    return {str(party): message.to_bytes() for party, message in messages.items()}


def near(graph: Mapping[int, tuple[int, ...]], messages: Messages) -> Callable[[int], dict[str, bytes]]:
    """For each party the messages of its neighbours, each encoded once."""
    told = table(messages)
    return lambda party: {key: told[key] for other in graph[party] if (key := str(other)) in told}
