"""What is left of a round: enough for anyone to take off the masks again and to check every signature.

The record holds the messages that show the keys, the masked words, the survivors with the signatures under them, and
the shares that were released. From these the sum follows; :func:`open_sums` is what the coordinator runs, what every
party runs again before it believes the sum, and what an auditor runs years later. A Merkle tree (as in RFC 6962) gives
one hash for all masked words, and a short proof for each party that its own are among them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from flou.arrays import Words
from flou.errors import ProtocolError
from flou.joint.agreement.canonical import decode, digest, encode
from flou.joint.masking import codec
from flou.joint.masking.masks import add_mask, pair_key
from flou.joint.masking.shares import SHARE, join
from flou.joint.round.keys import commitment, shown
from flou.joint.round.messages import Message, bitmap, in_order, malformed, members
from flou.joint.round.party import KINDS, agreement, mask_digest, released_digest, words_digest
from flou.joint.round.setting import Setting

__all__ = ["Record", "included", "inclusions", "open_sums", "record_hash", "root"]


def _leaf(text: bytes) -> bytes:
    return hashlib.sha256(b"\x00" + text).digest()


def _node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()


def _levels(texts: Sequence[bytes]) -> list[list[bytes]]:
    """From the leaves up; a node without a partner moves up as it is."""
    levels = [[_leaf(text) for text in texts]]
    while len(levels[-1]) > 1:
        below = levels[-1]
        above = [_node(below[i], below[i + 1]) for i in range(0, len(below) - 1, 2)]
        levels.append(above + below[len(above) * 2 :])
    return levels


def root(texts: Sequence[bytes]) -> bytes:
    """The hash of all texts, in their order."""
    return _levels(texts)[-1][0] if texts else hashlib.sha256(b"").digest()


def inclusions(texts: Sequence[bytes]) -> list[list[bytes]]:
    """For each text the hashes on its way to the root, each with a leading byte: 0 when it stands to the left."""
    levels = _levels(texts)[:-1]
    paths = []
    for start in range(len(texts)):
        path, position = [], start
        for level in levels:
            partner = position ^ 1
            if partner < len(level):
                path.append(bytes([int(partner > position)]) + level[partner])
            position //= 2
        paths.append(path)
    return paths


def included(text: bytes, path: Sequence[bytes], top: bytes) -> bool:
    """Whether a path proves that a text is under a root."""
    found = _leaf(text)
    for step in path:
        if not isinstance(step, bytes) or len(step) != 33:
            return False
        found = _node(found, step[1:]) if step[0] else _node(step[1:], found)
    return found == top


PARTS = ("adverts", "masked", "agreed", "released")


def record_hash(setting: Setting, top: bytes, survivors: frozenset[int], sums: bytes) -> bytes:
    """What the next round builds on: the masked words, the survivors and the sums."""
    return digest("record", setting.id, top, bitmap(survivors, setting.size), sums)


@dataclass(frozen=True)
class Record:
    """The messages of a round that matter for its sum."""

    adverts: Mapping[int, Message]  # what shows the keys
    masked: Mapping[int, Message]  # of the survivors, words attached
    agreed: Mapping[int, Message]  # none where survivors are signed with the masked words
    released: Mapping[int, Message]

    @property
    def survivors(self) -> frozenset[int]:
        return frozenset(self.masked)

    def root(self) -> bytes:
        """The Merkle root of what the survivors signed about their masked words."""
        return root([self.masked[party].body for party in sorted(self.masked)])

    @cached_property
    def lists(self) -> dict[str, list[bytes]]:
        """All messages, as they are sent and stored."""
        return {name: [message.to_bytes() for _, message in sorted(getattr(self, name).items())] for name in PARTS}

    def to_bytes(self) -> bytes:
        return encode(self.lists)

    @classmethod
    def from_bytes(cls, data: Any) -> Record:
        return cls.from_dict(decode(data) if type(data) is bytes else None)

    @classmethod
    def from_dict(cls, told: Any) -> Record:
        if not isinstance(told, dict) or told.keys() != {*PARTS}:
            raise malformed("The record of a round is not complete.")
        return cls(**{name: in_order(told[name]) for name in PARTS})

    def check_signatures(self, setting: Setting, *, needed: bool = False) -> None:
        """Refuse a record in which anything is not signed by whom it is said to be from.

        With ``needed`` only those signatures are checked from which the sums follow: who agrees on the survivors signs
        the own masked words once more, and released secrets are held against the commitments of signed messages.
        """
        for message in self.adverts.values():
            setting.ahead.check_advert(message)
        for message in self.agreed.values():
            message.check(setting.roster, setting.id, "agree")
        for party, message in self.masked.items():
            if not needed or not self._signed_again(party):
                message.check(setting.roster, setting.id, "mask")
        if not needed:
            for message in self.released.values():
                message.check(setting.roster, setting.id, "unmask")
        setting.check_survivors(self.survivors)
        senders = self.masked.keys() | self.agreed.keys() | self.released.keys()
        if not senders <= self.adverts.keys() & setting.cohort or not self.adverts.keys() <= setting.graph.keys():
            raise malformed("The record of a round has messages of parties that have not taken part in it.")
        if setting.ahead.unanimous and self.agreed:
            raise malformed("The record of a round has lists of survivors that were signed before.")
        wanted, lists = agreement(setting, self.survivors), self.masked if setting.ahead.unanimous else self.agreed
        signers = {party for party, message in lists.items() if message.content.get("survivors") == wanted}
        for party in self.released:
            if party not in signers or len(signers.intersection(setting.graph[party])) < setting.resilience.quorum:
                raise ProtocolError(
                    "Too few parties have signed the survivors of this record.",
                    "The sum may be over other parties than those who agreed to it.",
                    "Ask for the true record.",
                )

    def _signed_again(self, party: int) -> bool:
        """Whether a survivor has signed its masked words together with the survivors."""
        again = self.agreed.get(party)
        return again is not None and again.content.get("masked") == words_digest(self.masked[party].body)


def open_sums(setting: Setting, record: Record) -> Words:
    """Add the masked words and take off every mask."""
    survivors = record.survivors
    peers = {party: _peers(setting, record, party) for party in survivors}
    gone = frozenset().union(*peers.values()) - survivors
    for party, message in record.released.items():
        told = message.enclosed
        if told.keys() != {*KINDS} or message.content.get("shares") != released_digest(setting, told):
            raise _changed(setting, party)
    total = np.zeros((setting.width // codec.LIMB, setting.length), dtype=np.uint64)
    for party in sorted(survivors):
        message = record.masked[party]
        if message.content.get("digest") != mask_digest(setting, message.attachment):
            raise _changed(setting, party)
        if not survivors.intersection(setting.graph[party]) <= peers[party]:
            raise ProtocolError(
                "Two parties have not masked for each other.",
                "Somebody withheld a message, so that the sum of some parties could be opened on its own.",
                "Begin a new session, and ask who relays the messages.",
            )
        codec.add(total, codec.from_bytes(message.attachment, setting.width, setting.length))
        add_mask(total, _own_secret(setting, record, party), -1)
    for party in sorted(gone):
        secret = _masking_secret(setting, record, party)
        for other in sorted(survivors):
            if party in peers[other]:
                public = shown(record.adverts[other], "masking")
                key = pair_key(secret, public, b"mask:" + setting.pair(party, other))
                add_mask(total, key, -1 if other < party else 1)
    return total


def _peers(setting: Setting, record: Record, party: int) -> frozenset[int]:
    """With whom a survivor has masked its words."""
    peers = frozenset(members(record.masked[party].content.get("peers"), setting.size))
    if not peers <= record.adverts.keys() or not peers.issubset(setting.graph[party]):
        raise malformed("A party has masked for others than its neighbours.")
    return peers


def _own_secret(setting: Setting, record: Record, party: int) -> bytes:
    """The seed of a survivor's own mask: revealed by itself, or joined from shares if it went after masking."""
    if party in record.released:
        secret = record.released[party].field("own", bytes, 32)
    else:
        secret = _joined(setting, record, party, "alive")
    if commitment(setting.ahead.keys[0], party, secret) != shown(record.adverts[party], "own"):
        raise _changed(setting, party)
    return bytes(secret)


def _masking_secret(setting: Setting, record: Record, party: int) -> X25519PrivateKey:
    """The key of a party that went before its words were in, joined from shares."""
    secret = X25519PrivateKey.from_private_bytes(_joined(setting, record, party, "gone"))
    if secret.public_key().public_bytes_raw() != shown(record.adverts[party], "masking"):
        raise _changed(setting, party)
    return secret


def _joined(setting: Setting, record: Record, party: int, kind: str) -> bytes:
    """A secret from the shares that its holders have released."""
    found = {}
    holders = [other for other in setting.graph[party] if other in record.adverts]
    for holder in holders:
        if holder in record.released:
            shares = record.released[holder].enclosed.get(kind)
            share = shares.get(str(party)) if isinstance(shares, dict) else None
            if isinstance(share, bytes) and len(share) == SHARE:
                found[holder + 1] = share
    return join(found, setting.ahead.threshold(len(holders)))


def _changed(setting: Setting, party: int) -> ProtocolError:
    return ProtocolError(
        f"What {setting.roster.names[party]} has sent does not match its commitment.",
        "Removing a wrong mask leaves random numbers instead of a sum.",
        "Begin a new session; if it happens again, ask that party.",
    )
