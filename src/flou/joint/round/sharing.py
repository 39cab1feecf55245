"""The secrets of a round, shared among neighbours one message before it begins. Pure.

Shares   b and s in threshold-many-of-neighbours shares, both in one box for each holder (ChaCha20-Poly1305)
Boxes    are sealed under a key of the two parties alone, for one place: nobody opens them elsewhere or later
Peers    whoever has sent a share that opens; with them a party masks its words, and with nobody else
Why      docs/explanation/proofs/masked-sums.md
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from flou.errors import ProtocolError
from flou.joint.agreement.canonical import digest, encode
from flou.joint.masking.masks import pair_key
from flou.joint.masking.shares import SHARE, split
from flou.joint.round.keys import RoundKeys, shown
from flou.joint.round.messages import Message, malformed
from flou.joint.round.setting import Ahead, pair

__all__ = ["Sharing", "check_sealed", "meant_for", "sealed_digest"]

SALT = 11  # bytes, of the 12 of a nonce


def sealed_digest(place: bytes, sealed: Mapping[str, bytes]) -> bytes:
    """What a party signs for its sealed shares."""
    return digest("sealed shares", place, encode(sealed))


class Sharing:
    """What one party shares of its secrets for one round, and what it is given of others'."""

    def __init__(self, ahead: Ahead, keys: RoundKeys, adverts: Mapping[int, Message]) -> None:
        self.ahead, self.keys, self.party = ahead, keys, keys.party
        there = [neighbour for neighbour in ahead.graph[self.party] if neighbour in adverts]
        if len(there) < ahead.resilience.quorum:
            raise ProtocolError(
                f"Only {len(there)} of {len(ahead.graph[self.party])} neighbours are there.",
                f"The plan asks for {ahead.resilience.quorum} that agree on who is present.",
                "Begin again when more parties are there.",
            )
        self.adverts: dict[int, Message] = {}
        for neighbour in there:
            advert = adverts[neighbour]
            if advert.sender != neighbour:
                raise malformed("A key is not from the party that it is said to be from.")
            self.adverts[neighbour] = ahead.check_advert(advert)
        self.peers: tuple[int, ...] = ()
        self.held: dict[int, tuple[bytes, bytes]] = {}  # shares of a peer's b and of its s
        self._ciphers: dict[int, ChaCha20Poly1305] = {}

    @cached_property
    def sealed(self) -> dict[str, bytes]:
        """Shares of both secrets, for every neighbour that is there."""
        numbers = [neighbour + 1 for neighbour in self.adverts]  # at 0 stands the secret
        threshold = self.ahead.threshold(len(numbers))
        fresh = self.keys.bits(self.ahead.place, numbers, threshold)
        own = split(self.keys.own, numbers, threshold, fresh)
        masking = split(self.keys.masking.private_bytes_raw(), numbers, threshold, fresh)
        salt = fresh.take(SALT).tobytes()  # a box of another sharing has another nonce
        return {str(holder): self._seal(holder, salt, own[holder + 1] + masking[holder + 1]) for holder in self.adverts}

    def content(self) -> dict[str, bytes]:
        """What is signed about the sealed shares."""
        return {"sealed": sealed_digest(self.ahead.place, self.sealed)}

    def _cipher(self, other: int) -> ChaCha20Poly1305:
        """The cipher between two parties."""
        if other not in self._ciphers:
            context = b"shares:" + pair(self.ahead.place, self.party, other)
            key = pair_key(self.keys.sharing, shown(self.adverts[other], "sharing"), context)
            self._ciphers[other] = ChaCha20Poly1305(key)
        return self._ciphers[other]

    def _seal(self, holder: int, salt: bytes, secret: bytes) -> bytes:
        nonce = salt + bytes([self.party > holder])  # one way, and the other way back
        return nonce + self._cipher(holder).encrypt(nonce, secret, self.ahead.place)

    def receive(self, sealed: Mapping[int, bytes]) -> None:
        """Open the shares that were sent here; whoever sent one is a peer."""
        for sender, data in sealed.items():
            if sender not in self.adverts:
                raise malformed("A share came from a party whose key is not known.")
            nonce, box = data[: SALT + 1], data[SALT + 1 :]
            try:
                opened = self._cipher(sender).decrypt(nonce, box, self.ahead.place)
            except (InvalidTag, TypeError, ValueError):
                opened = b""
            if nonce[SALT:] != bytes([sender > self.party]):  # reflected
                opened = b""
            if len(opened) != 2 * SHARE:
                raise ProtocolError(
                    f"A share of {self.ahead.roster.names[sender]} cannot be opened.",
                    "It was changed on its way.",
                    "Stop, and ask who relays the messages.",
                )
            self.held[sender] = opened[:SHARE], opened[SHARE:]
        self.peers = tuple(sorted(sealed))
        if len(self.peers) < self.ahead.resilience.quorum:
            raise ProtocolError(
                f"Only {len(self.peers)} neighbours have shared their secrets.",
                "With fewer masks the words are less well hidden than the plan promises.",
                "Begin again when more parties are there.",
            )


def check_sealed(ahead: Ahead, message: Message, adverts: Mapping[int, Message]) -> None:
    """Refuse a message at the coordinator that does not hold one share for each neighbour whose keys were shown."""
    sealed = message.enclosed.get("sealed")  # what else there is, the caller knows
    wanted = {str(other) for other in ahead.graph[message.sender] if other in adverts}
    if type(sealed) is not dict or sealed.keys() != wanted or not all(type(box) is bytes for box in sealed.values()):
        raise malformed("A message does not hold one share for each neighbour.")
    if message.content.get("sealed") != sealed_digest(ahead.place, sealed):
        raise malformed("Sealed shares do not have the hash that was signed.")


def meant_for(ahead: Ahead, messages: Mapping[int, Message], party: int) -> dict[str, bytes]:
    """The boxes of a party's neighbours that it can open."""
    found = {other: messages[other].enclosed["sealed"] for other in ahead.graph[party] if other in messages}
    return {str(other): boxes[str(party)] for other, boxes in found.items()}
