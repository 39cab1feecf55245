"""What a party draws for a round, and what it shows of it ahead.

Keys     fresh in every round, all derived from one secret seed: an X25519 key c for shares, another s for masks, and
         32 bytes b for the mask of its own
Ahead    both public halves and a commitment to b are shown two messages before the round, for in the one between
         shares are sealed (sharing.py): with the commitment to the nonce, or with the survivors of the round before
Fresh    the message is signed for the round before, or has the commitment on which the session was founded
         (opening.py): keys of another session or round are refused
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

from flou.bits import SeededBits
from flou.joint.agreement.canonical import digest
from flou.joint.round.messages import Message, malformed

__all__ = ["RoundKeys", "check_keys", "commitment", "shown"]

SIZE = 32  # bytes of each


def commitment(place: bytes, party: int, secret: bytes) -> bytes:
    """What a party publishes about the seed of its own mask, so that nobody can pass another off as it."""
    return digest("self mask", place, party, secret)


class RoundKeys:
    """The secrets of one party for one round, from the seed that it keeps."""

    def __init__(self, place: bytes, party: int, seed: bytes) -> None:
        self.place, self.party, self._seed = place, party, seed  # the place is that of the message that shows them

    def _derived(self, use: str) -> bytes:
        return HKDFExpand(SHA256(), SIZE, f"flou joint {use}".encode() + self.place).derive(self._seed)

    @cached_property
    def sharing(self) -> X25519PrivateKey:
        return X25519PrivateKey.from_private_bytes(self._derived("sharing"))

    @cached_property
    def masking(self) -> X25519PrivateKey:
        return X25519PrivateKey.from_private_bytes(self._derived("masking"))

    @cached_property
    def own(self) -> bytes:
        return self._derived("own mask")

    @cached_property
    def nonce(self) -> bytes:
        """What is shown of the seed to begin a session: whoever commits to it has these keys and no others."""
        return self._derived("nonce")

    def bits(self, place: bytes, holders: Sequence[int], threshold: int) -> SeededBits:
        """Randomness for the shares of both secrets, for these holders only: another sharing shares nothing with it."""
        return SeededBits(self._derived("shares") + digest("sharing", place, list(holders), threshold))

    def public(self) -> dict[str, bytes]:
        """Two public keys, and a commitment to the own mask."""
        return {
            "sharing": self.sharing.public_key().public_bytes_raw(),
            "masking": self.masking.public_key().public_bytes_raw(),
            "own": commitment(self.place, self.party, self.own),
        }


def shown(message: Message, name: str) -> bytes:
    """One of the three that a message shows."""
    keys: Mapping[str, Any] = message.field("keys", dict)
    value = keys.get(name)
    if type(value) is not bytes or len(value) != SIZE:
        raise malformed("A message lacks the keys of its sender for the next round.")
    return value


def check_keys(message: Message) -> None:
    """Refuse a message that does not show all three."""
    for name in ("sharing", "masking", "own"):
        shown(message, name)
