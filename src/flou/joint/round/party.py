"""One round at a party: mask, agree, unmask; or mask and agree at once. Pure: messages in, messages out.

Secrets  were shared before (sharing.py)
Masked   y = words + PRG(b) + sum over peers j of ± PRG(K_ij), the sign by which of the two numbers is smaller
Choice   for every peer exactly one kind of share is given: of b when it is among the survivors, of s when not. The
         party signs one set of survivors a round, ever, and releases nothing before enough neighbours signed the same
At once  where nobody may be lost there is one list only, and a party signs it together with its masked words
Why      docs/explanation/proofs/masked-sums.md
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flou.arrays import Words
from flou.errors import ProtocolError
from flou.joint.agreement.canonical import digest, encode
from flou.joint.masking import codec
from flou.joint.masking.masks import add_mask, pair_key
from flou.joint.round.keys import RoundKeys, shown
from flou.joint.round.messages import Message, bitmap, malformed
from flou.joint.round.setting import Setting
from flou.joint.round.sharing import Sharing

__all__ = ["KINDS", "PartyRound", "agreement", "mask_digest", "released_digest", "words_digest"]

KINDS = ("alive", "gone")  # of shares: of a survivor's b, or of the s of a party that is gone


def mask_digest(setting: Setting, words: bytes) -> bytes:
    """What a party signs for its masked words."""
    return digest("masked words", setting.id, words)


def words_digest(body: bytes) -> bytes:
    """What a party signs again of the body that came with its masked words."""
    return digest("masked", body)


def released_digest(setting: Setting, shares: Mapping[str, Any]) -> bytes:
    """What a party signs for the shares of both kinds that it gives away."""
    return digest("released shares", setting.id, encode({kind: shares.get(kind) for kind in KINDS}))


def agreement(setting: Setting, survivors: frozenset[int]) -> bytes:
    """What parties sign to agree on the survivors."""
    return digest("survivors", setting.id, bitmap(survivors, setting.size))


class PartyRound:
    """The state of one party in one round."""

    def __init__(self, setting: Setting, sharing: Sharing) -> None:
        self.setting, self.party, self.sharing = setting, sharing.party, sharing
        self.neighbours, self.peers = setting.graph[self.party], sharing.peers
        self.survivors: frozenset[int] | None = None
        self.next: Sharing | None = None  # for the round that may follow
        self._agreement = b""

    # 1. mask

    def mask(self, words: Words, ahead: RoundKeys | None = None) -> tuple[dict[str, Any], bytes]:
        """The masked words, and what is signed about them. ``words`` is masked in place.

        If everyone has to sign that everyone survives, this is signed at once, with the keys for another round.
        """
        if words.shape != (self.setting.width // codec.LIMB, self.setting.length):
            raise malformed("The words do not have the agreed length and width.")
        keys = self.sharing.keys
        add_mask(words, keys.own, 1)
        for peer in self.peers:
            public = shown(self.sharing.adverts[peer], "masking")
            key = pair_key(keys.masking, public, b"mask:" + self.setting.pair(self.party, peer))
            add_mask(words, key, 1 if self.party < peer else -1)
        data = codec.to_bytes(words)
        content = {"digest": mask_digest(self.setting, data), "peers": bitmap(self.peers, self.setting.size)}
        return (content | self._signed(self.everyone, ahead) if self.setting.ahead.unanimous else content), data

    @property
    def everyone(self) -> frozenset[int]:
        """All whose shares came, and the party itself."""
        return frozenset({self.party, *self.peers})

    # 2. agree

    def agree(self, survivors: frozenset[int], masked: bytes, ahead: RoundKeys | None = None) -> dict[str, Any]:
        """Sign the survivors: once, for they decide which shares are released; and once more what was masked.

        With them go the keys for another round.
        """
        return self._signed(survivors, ahead) | {"masked": words_digest(masked)}

    def _signed(self, survivors: frozenset[int], ahead: RoundKeys | None) -> dict[str, Any]:
        self.settle(survivors)
        content: dict[str, Any] = {"survivors": self._agreement}
        return content if ahead is None else content | {"keys": ahead.public()}

    def settle(self, survivors: frozenset[int]) -> None:
        """Take a list as the one that this party signs, or has signed; refuse any other."""
        if self.party not in survivors:
            raise ProtocolError(
                "The coordinator reports this party as lost, but it is present.",
                "Its neighbours would be asked for the key that removes its masks.",
                "Stop, and begin a new session.",
            )
        known = self.everyone if self.setting.ahead.unanimous else self.survivors
        if known is not None and known != survivors:
            raise both_lists()
        self.setting.check_survivors(survivors)
        if any(other in survivors and other not in self.peers for other in self.neighbours):
            raise ProtocolError(
                "The coordinator lists a neighbour as present, but its shares never arrived.",
                "Without masks between the two, a sum without this neighbour could be passed off as one with it.",
                "Stop, and ask who relays the messages.",
            )
        self.survivors, self._agreement = survivors, agreement(self.setting, survivors)

    # 3. unmask

    def unmask(self, agreed: Mapping[int, Message], ahead: RoundKeys | None = None) -> tuple[dict[str, Any], bytes]:
        """The seed of the own mask and, enclosed, one share for every peer, of one kind; and for another round."""
        if self.survivors is None:
            raise malformed("The survivors are not agreed on yet.")
        same = {
            neighbour: agreed[neighbour]
            for neighbour in self.neighbours
            if neighbour in agreed and neighbour in self.survivors and self._signed_same(neighbour, agreed[neighbour])
        }
        quorum = self.setting.resilience.quorum
        if len(same) < quorum:
            raise ProtocolError(
                f"Only {len(same)} neighbours have signed the same list of survivors; {quorum} are needed.",
                "With different lists, the coordinator could collect both kinds of shares of one party.",
                "Stop, and compare the lists that were shown.",
            )
        held = self.sharing.held
        alive = {str(peer): held[peer][0] for peer in self.peers if peer in self.survivors}
        gone = {str(peer): held[peer][1] for peer in self.peers if peer not in self.survivors}
        shares = {"alive": alive, "gone": gone}
        content: dict[str, Any] = {"own": self.sharing.keys.own, "shares": released_digest(self.setting, shares)}
        following = self.setting.following
        if ahead is None or following is None:
            return content, encode(shares)
        self.next = Sharing(following, ahead, same)
        return content | self.next.content(), encode(shares | {"sealed": self.next.sealed})

    def _signed_same(self, neighbour: int, message: Message) -> bool:
        if message.sender != neighbour:
            return False
        message.check(self.setting.roster, self.setting.id, self.setting.ahead.agreeing)
        return bool(message.content.get("survivors") == self._agreement)


def both_lists() -> ProtocolError:
    return ProtocolError(
        "This party already signed another list of survivors in this round.",
        "With two lists a party could be treated both as present and as lost, and its words would be unmasked.",
        "Stop: the coordinator asks for a signature that must not be given.",
    )
