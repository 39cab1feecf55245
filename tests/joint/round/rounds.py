"""One round, step by step, with a coordinator that may withhold, change and invent."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from flou.bits import SeededBits
from flou.errors import FlouError
from flou.joint.agreement.canonical import decode, encode
from flou.joint.agreement.identity import Identity, Roster
from flou.joint.agreement.plan import Plan
from flou.joint.estimators.distribution.vector_sum import VectorSum
from flou.joint.masking import codec
from flou.joint.masking.masks import add_mask, pair_key
from flou.joint.round.keys import RoundKeys, shown
from flou.joint.round.messages import Message, bitmap, signed
from flou.joint.round.party import KINDS, PartyRound, released_digest
from flou.joint.round.sharing import Sharing, sealed_digest
from flou.joint.session.opening import Beginning, joining

IDENTITIES = [Identity.generate(f"p{i:03d}") for i in range(12)]


def setting_for(m: int, length: int = 3, *, limit: int = 2**40, number: int = 1, opened=(), session=0, **terms: Any):
    """The setting of a round of m parties."""
    terms = {"expires": "2099-01-01T00:00:00Z"} | terms
    plan = Plan(Roster.of(IDENTITIES[:m]), VectorSum("v", length, limit), **terms)
    place = joining(plan.hash, bitmap(range(m), m), SeededBits(f"joined {session}").take(32 * m).tobytes())
    begun = Beginning.of(plan, place, tuple(range(m)), range(m), SeededBits(f"nonces {session}").take(32 * m).tobytes())
    ask = plan.program.next([])
    ahead = (
        begun.ahead.after(begun.setting(begun.id, number - 1, ask, [], begun.ahead).id) if number > 1 else begun.ahead
    )
    return begun.setting(begun.id, number, ask, list(opened), ahead)


def keys_of(setting, party: int, seed: bytes) -> RoundKeys:
    return RoundKeys(setting.ahead.keys[0], party, seed)


def advert_of(setting, party: int, seed: bytes) -> Message:
    """The message that shows a party's keys."""
    at, step = setting.ahead.keys
    return signed(IDENTITIES[party], party, at, step, {"keys": keys_of(setting, party, seed).public()})


class Party(PartyRound):
    """A party with its signature."""

    def __init__(self, setting, party: int, seed: bytes, adverts: Mapping[int, Message]) -> None:
        super().__init__(setting, Sharing(setting.ahead, keys_of(setting, party, seed), adverts))

    def receive(self, sealed: Mapping[int, bytes]) -> None:
        self.sharing.receive(sealed)
        self.peers = self.sharing.peers

    def seal(self, sealed: Any) -> Message:
        """A message with sealed shares."""
        content = {"sealed": sealed_digest(self.setting.ahead.place, sealed)}
        return self.say("share", content, encode({"sealed": sealed}))

    def release(self, told: Mapping[str, Any]) -> Message:
        """What :meth:`unmask` gives away, as a message."""
        shares = {kind: told[kind] for kind in KINDS}
        return self.say("unmask", {"own": told["own"], "shares": released_digest(self.setting, shares)}, encode(shares))

    def agree(self, survivors: frozenset[int], masked: bytes = b"") -> dict[str, Any]:
        return super().agree(survivors, masked)

    def say(self, step: str, content: dict[str, Any], attachment: bytes = b"") -> Message:
        return signed(IDENTITIES[self.party], self.party, self.setting.id, step, content, attachment)


class Trusting(Party):
    """A party that believes any list of survivors, as if it did not matter who has masked with whom."""

    def agree(self, survivors: frozenset[int], masked: bytes = b"") -> dict[str, Any]:
        peers = self.peers
        self.peers = self.neighbours
        try:
            return super().agree(survivors, masked)
        finally:
            self.peers = peers


Withheld = Callable[[int, int], bool]


def nothing(_sender: int, _receiver: int) -> bool:
    return False


class Game:
    """All parties of a round up to their masked words, with messages of some withheld from others."""

    def __init__(
        self,
        setting,
        words: Sequence[Sequence[int]],
        *,
        kind: type[Party] = Party,
        adverts_withheld: Withheld = nothing,
        shares_withheld: Withheld = nothing,
    ) -> None:
        self.setting, m = setting, len(words)
        seeds = [SeededBits(f"seed {i}").take(32).tobytes() for i in range(m)]
        self.adverts = {i: advert_of(setting, i, seed) for i, seed in enumerate(seeds)}
        self.parties: dict[int, Party] = {}
        for i, seed in enumerate(seeds):
            told = {j: advert for j, advert in self.adverts.items() if j != i and not adverts_withheld(j, i)}
            self.parties[i] = kind(setting, i, seed, told)
        self.sealed = {i: one.sharing.sealed for i, one in self.parties.items()}
        self.masked: dict[int, Message] = {}
        self.refused: dict[int, FlouError] = {}
        for i, one in self.parties.items():
            boxes = {j: box[str(i)] for j, box in self.sealed.items() if str(i) in box and j in one.sharing.adverts}
            try:
                one.receive({j: box for j, box in boxes.items() if not shares_withheld(j, i)})
            except FlouError as error:
                self.refused[i] = error
                continue
            self.masked[i] = one.say("mask", *one.mask(codec.encode(words[i], setting.width)))

    def shared(self) -> dict[int, Message]:
        """The messages with which everyone has shared its secrets."""
        return {i: one.seal(self.sealed[i]) for i, one in self.parties.items()}

    def agree(self, lists: Mapping[int, Collection[int]]) -> dict[int, FlouError]:
        """Show each of these parties a list of survivors; who refuses, and why."""
        self.agreed: dict[int, Message] = {}
        refused = {}
        for i, survivors in lists.items():
            try:
                if self.setting.ahead.unanimous:  # signed with the words
                    self.parties[i].settle(frozenset(survivors))
                    self.agreed[i] = self.masked[i].alone
                    continue
                told = self.parties[i].agree(frozenset(survivors), self.masked[i].body if i in self.masked else b"")
                self.agreed[i] = self.parties[i].say("agree", told)
            except FlouError as error:
                refused[i] = error
        return refused

    def unmask(self, asked: Collection[int] | None = None) -> dict[int, FlouError]:
        """Ask for the shares; who refuses, and why."""
        self.released: dict[int, dict[str, Any]] = {}
        refused = {}
        for i in self.agreed if asked is None else asked:
            try:
                content, shares = self.parties[i].unmask({j: told for j, told in self.agreed.items() if j != i})
            except FlouError as error:
                refused[i] = error
            else:
                self.released[i] = content | decode(shares)
        return refused

    def opened(self, group: Collection[int]) -> tuple[int, ...]:
        """What a coordinator sees that adds the words of a group only, and takes off every mask that it can make.

        It has the own masks that were revealed, and restores the keys of those that are said to be gone.
        """
        from flou.joint.masking.shares import join

        setting = self.setting
        whole = np.zeros((setting.width // 64, setting.length), dtype=np.uint64)
        keys = {}
        for i in group:
            codec.add(whole, codec.from_bytes(self.masked[i].attachment, setting.width, setting.length))
            add_mask(whole, self.released[i]["own"], -1)
        for i in self.parties:
            shares = {j + 1: told["gone"][str(i)] for j, told in self.released.items() if str(i) in told["gone"]}
            if len(shares) >= setting.resilience.threshold:
                keys[i] = join(shares, setting.resilience.threshold)
        from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

        for i in group:
            for j in self.parties[i].peers:
                if j in keys and j not in group:
                    secret = X25519PrivateKey.from_private_bytes(keys[j])
                    key = pair_key(secret, shown(self.adverts[i], "masking"), b"mask:" + setting.pair(i, j))
                    add_mask(whole, key, -1 if i < j else 1)
        return codec.decode(whole)
