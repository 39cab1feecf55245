"""One round at a party: share, mask, agree, unmask. Pure: messages in, messages out.

Keys     were shown one message ahead (keys.py)
Masked   y = words + PRG(b) + sum over peers j of ± PRG(K_ij), the sign by which of the two numbers is smaller
Shares   b and s in threshold-many-of-neighbours shares, each sealed for its holder (ChaCha20-Poly1305)
Choice   for every peer exactly one kind of share is given: of b when it is among the survivors, of s when not. The
         party signs one set of survivors a round, ever, and releases nothing before enough neighbours signed the same
Why      docs/explanation/proofs/masked-sums.md
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from flou.errors import ProtocolError
from flou.joint.agreement.canonical import digest, encode
from flou.joint.masking import codec
from flou.joint.masking.masks import add_mask, pair_key
from flou.joint.masking.shares import SHARE, split
from flou.joint.round.keys import RoundKeys, check_advert, shown
from flou.joint.round.messages import Message, bitmap, malformed
from flou.joint.round.setting import Setting

__all__ = ["PartyRound", "agreement", "mask_digest", "released_digest", "words_digest"]


def mask_digest(setting: Setting, words: bytes) -> bytes:
    """What a party signs for its masked words."""
    return digest("masked words", setting.id, words)


def words_digest(body: bytes) -> bytes:
    """What a party signs again of the body that came with its masked words."""
    return digest("masked", body)


def released_digest(setting: Setting, shares: bytes) -> bytes:
    """What a party signs for the shares that it gives away."""
    return digest("released shares", setting.id, shares)


def agreement(setting: Setting, survivors: frozenset[int]) -> bytes:
    """What parties sign to agree on the survivors."""
    return digest("survivors", setting.id, bitmap(survivors, setting.size))


SALT = 11  # bytes, of the 12 of a nonce


class PartyRound:
    """The state of one party in one round."""

    def __init__(self, setting: Setting, keys: RoundKeys) -> None:
        self.setting, self.party, self.keys = setting, keys.party, keys
        self.neighbours = setting.graph[self.party]
        self.adverts: dict[int, Message] = {}
        self.peers: tuple[int, ...] = ()
        self._held: dict[int, tuple[bytes, bytes]] = {}  # shares of a peer's b and of its s
        self._ciphers: dict[int, ChaCha20Poly1305] = {}
        self.survivors: frozenset[int] | None = None
        self._agreement = b""

    # 1. share

    def share(self, adverts: Mapping[int, Message]) -> dict[str, Any]:
        """Sealed shares of both secrets, for every neighbour that is there."""
        there = [neighbour for neighbour in self.neighbours if neighbour in adverts]
        if len(there) < self.setting.resilience.quorum:
            raise ProtocolError(
                f"Only {len(there)} of {len(self.neighbours)} neighbours are there.",
                f"The plan asks for {self.setting.resilience.quorum} that agree on who is there.",
                "Begin again when more parties are there.",
            )
        for neighbour in there:
            advert = adverts[neighbour]
            if advert.sender != neighbour:
                raise malformed("A key is not from the party that it is said to be from.")
            check_advert(self.setting, advert)
            self.adverts[neighbour] = advert
        numbers = [neighbour + 1 for neighbour in there]  # at 0 stands the secret
        threshold = self.setting.threshold(len(there))
        fresh = self.keys.bits(self.setting.id, numbers, threshold)
        own = split(self.keys.own, numbers, threshold, fresh)
        masking = split(self.keys.masking.private_bytes_raw(), numbers, threshold, fresh)
        salt = fresh.take(SALT).tobytes()  # a box of another sharing has another nonce
        sealed = {str(holder): self._seal(holder, salt, own[holder + 1] + masking[holder + 1]) for holder in there}
        return {"sealed": sealed}

    def _cipher(self, other: int) -> ChaCha20Poly1305:
        """The cipher between two parties."""
        if other not in self._ciphers:
            public = shown(self.adverts[other], "sharing")
            key = pair_key(self.keys.sharing, public, b"shares:" + self.setting.pair(self.party, other))
            self._ciphers[other] = ChaCha20Poly1305(key)
        return self._ciphers[other]

    def _seal(self, holder: int, salt: bytes, secret: bytes) -> bytes:
        nonce = salt + bytes([self.party > holder])  # one way, and the other way back
        return nonce + self._cipher(holder).encrypt(nonce, secret, self.setting.id)

    # 2. mask

    def receive_shares(self, sealed: Mapping[int, bytes]) -> None:
        """Open the shares that were sent here; whoever sent one is a peer."""
        for sender, data in sealed.items():
            if sender not in self.adverts:
                raise malformed("A share came from a party whose key is not known.")
            nonce, box = data[: SALT + 1], data[SALT + 1 :]
            try:
                opened = self._cipher(sender).decrypt(nonce, box, self.setting.id)
            except (InvalidTag, TypeError, ValueError):
                opened = b""
            if nonce[SALT:] != bytes([sender > self.party]):  # reflected
                opened = b""
            if len(opened) != 2 * SHARE:
                raise ProtocolError(
                    f"A share of {self.setting.roster.names[sender]} cannot be opened.",
                    "It was changed on its way.",
                    "Stop, and ask who relays the messages.",
                )
            self._held[sender] = opened[:SHARE], opened[SHARE:]
        self.peers = tuple(sorted(sealed))
        if len(self.peers) < self.setting.resilience.quorum:
            raise ProtocolError(
                f"Only {len(self.peers)} neighbours have shared their secrets.",
                "With fewer masks the words are less well hidden than the plan promises.",
                "Begin again when more parties are there.",
            )

    def mask(self, words: codec.Words) -> tuple[dict[str, Any], bytes]:
        """The masked words, and what is signed about them. ``words`` is masked in place."""
        if words.shape != (self.setting.width // codec.LIMB, self.setting.length):
            raise malformed("The words do not have the agreed length and width.")
        add_mask(words, self.keys.own, 1)
        for peer in self.peers:
            public = shown(self.adverts[peer], "masking")
            key = pair_key(self.keys.masking, public, b"mask:" + self.setting.pair(self.party, peer))
            add_mask(words, key, 1 if self.party < peer else -1)
        data = codec.to_bytes(words)
        content = {"digest": mask_digest(self.setting, data), "peers": bitmap(self.peers, self.setting.size)}
        return content, data

    # 3. agree

    def agree(self, survivors: frozenset[int], masked: bytes) -> dict[str, Any]:
        """Sign the survivors: once, for they decide which shares are released; and once more what was masked."""
        if self.party not in survivors:
            raise ProtocolError(
                "This party is said to be gone, and it is here.",
                "Its neighbours would be asked for the key that takes off its masks.",
                "Stop, and begin a new session.",
            )
        if self.survivors is not None and self.survivors != survivors:
            raise both_lists()
        self.setting.check_survivors(survivors)
        if any(other in survivors and other not in self.peers for other in self.neighbours):
            raise ProtocolError(
                "A neighbour is said to be there, and its shares have not come.",
                "Without masks between the two, the others' sum could be opened without it and told as one with it.",
                "Stop, and ask who relays the messages.",
            )
        self.survivors, self._agreement = survivors, agreement(self.setting, survivors)
        return {"survivors": self._agreement, "masked": words_digest(masked)}

    # 4. unmask

    def unmask(self, agreed: Mapping[int, Message], ahead: RoundKeys | None = None) -> tuple[dict[str, Any], bytes]:
        """The seed of the own mask and, enclosed, one share for every peer, of one kind; and keys for another round."""
        if self.survivors is None:
            raise malformed("Nothing was agreed on yet.")
        same = {
            neighbour
            for neighbour in self.neighbours
            if neighbour in agreed and neighbour in self.survivors and self._signed_same(neighbour, agreed[neighbour])
        }
        quorum = self.setting.resilience.quorum
        if len(same) < quorum:
            raise ProtocolError(
                f"Only {len(same)} neighbours have signed the same list of survivors; {quorum} are needed.",
                "If parties are shown different lists, both kinds of shares of one party could be collected.",
                "Stop, and compare the lists that were shown.",
            )
        alive = {str(peer): self._held[peer][0] for peer in self.peers if peer in self.survivors}
        gone = {str(peer): self._held[peer][1] for peer in self.peers if peer not in self.survivors}
        shares = encode({"alive": alive, "gone": gone})
        content: dict[str, Any] = {"own": self.keys.own, "shares": released_digest(self.setting, shares)}
        return (content if ahead is None else content | {"keys": ahead.public()}), shares

    def _signed_same(self, neighbour: int, message: Message) -> bool:
        if message.sender != neighbour:
            return False
        message.check(self.setting.roster, self.setting.id, "agree")
        return bool(message.content.get("survivors") == self._agreement)


def both_lists() -> ProtocolError:
    return ProtocolError(
        "Another list of survivors was signed in this round before.",
        "With two lists the same party could be treated as alive and as gone, and its words would be unmasked.",
        "Stop: whoever relays the messages asks for something that must not be answered.",
    )
