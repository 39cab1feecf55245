"""One round at the coordinator: its steps, each of which turns the parties' messages into replies. Pure.

The coordinator proposes the survivors, gathers what they release, adds up, and relays keys and sealed shares for the
next round. It learns the sum and, about everything else, uniform words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from flou.arrays import Words
from flou.errors import ProtocolError
from flou.joint.agreement.canonical import encode
from flou.joint.masking import codec
from flou.joint.round.keys import check_keys
from flou.joint.round.messages import Message, Messages, Replies, bitmap, malformed, members, near
from flou.joint.round.party import KINDS, agreement, mask_digest, released_digest, words_digest
from flou.joint.round.record import Record, inclusions, open_sums, record_hash
from flou.joint.round.setting import Setting
from flou.joint.round.sharing import check_sealed, meant_for

__all__ = ["CoordinatorRound"]

Close: TypeAlias = Callable[[Messages], Mapping[int, bytes]]


class CoordinatorRound:
    """The state of a round at the coordinator."""

    def __init__(self, setting: Setting, adverts: Messages, sealed: Messages) -> None:
        self.setting = setting
        self.there = frozenset(sealed)  # who takes part in the next step
        self.step = ""
        self.survivors: frozenset[int] = frozenset()
        self._adverts = adverts  # the messages that show everyone's keys
        self._sealed = sealed  # those with their shares
        self._masked: Messages = {}
        self._agreed: Messages = {}
        self.released: Messages = {}
        self.record: Record
        self.sums: Words
        self.hash = b""
        self._agreement_on = b""

    def steps(self) -> Iterator[tuple[str, Callable[[Message], None], Close]]:
        """The steps in their order: name, what a message must be like, and how the step ends."""
        yield "mask", self._check_masked, self._propose
        if not self.setting.ahead.unanimous:
            yield "agree", self._check_agreed, self._agreement
        yield "unmask", self._check_released, self._open

    def _count(self, messages: Messages, needed: int) -> None:
        """Stop when too many are gone to go on; nothing was released yet."""
        self.there = frozenset(messages)
        if len(messages) < needed:
            raise ProtocolError(
                f"Only {len(messages)} parties are left at the step {self.step!r}.",
                f"The step needs {needed}. Nothing was opened in this round.",
                "Begin a new session when more parties are there.",
            )

    def _neighbours(self, party: int, messages: Messages) -> list[int]:
        return [other for other in self.setting.graph[party] if other in messages]

    # 1. mask

    def _check_masked(self, message: Message) -> None:
        codec.from_bytes(message.attachment, self.setting.width, self.setting.length)
        peers = members(message.content.get("peers"), self.setting.size)
        if message.content.get("digest") != mask_digest(self.setting, message.attachment):
            raise malformed("Masked words do not have the hash that was signed.")
        if list(peers) != sorted(self._neighbours(message.sender, self._sealed)):
            raise malformed("A party has not masked for all of its neighbours.")
        if self.setting.ahead.unanimous:
            self._check_list(message, agreement(self.setting, frozenset(self._sealed)))

    def _propose(self, messages: Messages) -> Mapping[int, bytes]:
        unanimous = self.setting.ahead.unanimous
        self._count(messages, len(self._sealed) if unanimous else self.setting.minimum)
        survivors = frozenset(messages)
        self.setting.check_survivors(survivors)
        self._masked, self.survivors = messages, survivors
        self._agreement_on = agreement(self.setting, survivors)
        told = {"survivors": bitmap(survivors, self.setting.size)}
        if not unanimous:
            return dict.fromkeys(messages, encode(told))
        self._agreed = {party: message.alone for party, message in messages.items()}
        agreed = near(self.setting.graph, self._agreed)
        return Replies(messages, lambda party: told | {"agreed": agreed(party)})

    # 2. agree

    def _check_list(self, message: Message, wanted: bytes) -> None:
        if message.content.get("survivors") != wanted:
            raise malformed("A party has signed another list of survivors.")
        if not self.setting.last:
            check_keys(message)

    def _check_agreed(self, message: Message) -> None:
        self._check_list(message, self._agreement_on)
        if message.content.get("masked") != words_digest(self._masked[message.sender].body):
            raise malformed("A party has signed other masked words than it has sent.")

    def _agreement(self, messages: Messages) -> Mapping[int, bytes]:
        self._count(messages, self.setting.resilience.quorum + 1)
        self._agreed = messages
        agreed = near(self.setting.graph, messages)
        return Replies(messages, lambda party: {"agreed": agreed(party)})

    # 3. unmask

    def _check_released(self, message: Message) -> None:
        message.field("own", bytes, 32)
        following = self.setting.following
        if message.enclosed.keys() != {*KINDS} | ({"sealed"} if following is not None else set()):
            raise malformed("A message does not hold shares of both kinds, and for the next round.")
        for kind in KINDS:
            shares = message.enclosed[kind]
            if type(shares) is not dict or not all(isinstance(share, bytes) for share in shares.values()):
                raise malformed("A released share is not made of bytes.")
        if message.content.get("shares") != released_digest(self.setting, message.enclosed):
            raise malformed("Released shares do not have the hash that was signed.")
        if following is not None:
            check_sealed(following, message, self._agreed)

    def _open(self, messages: Messages) -> Mapping[int, bytes]:
        self.there = frozenset(messages)
        self.released = messages
        record = {party: _without_sealed(message) for party, message in messages.items()}
        agreed = {} if self.setting.ahead.unanimous else self._agreed
        self.record = Record(self._adverts, self._masked, agreed, record)
        self.sums = open_sums(self.setting, self.record)
        self.hash = record_hash(self.setting, self.record.root(), self.survivors, codec.to_bytes(self.sums))
        return {}

    def next(self, setting: Setting) -> CoordinatorRound:
        """The round after this one."""
        return type(self)(setting, self._agreed, self.released)

    def opened_replies(self, next_ask: Any, *, full: bool) -> Mapping[int, bytes]:
        """The sums, what is asked next, and the proof: the whole record, or the place of a party's words in it.

        With them go, if anything is asked, the sealed shares for the next round.
        """
        told = {
            "sums": codec.to_bytes(self.sums),
            "survivors": bitmap(self.survivors, self.setting.size),
            "root": self.record.root(),
            "hash": self.hash,
            "ask": next_ask,
        }
        following = self.setting.following if next_ask is not None else None
        paths: Mapping[int, list[bytes]] = {}
        if full:
            told["record"] = self.record.to_bytes()  # encoded once
        else:
            order = sorted(self._masked)
            paths = dict(zip(order, inclusions([self._masked[party].body for party in order]), strict=True))

        def reply(party: int) -> dict[str, Any]:
            path = {} if full else {"path": paths[party]}
            return told | path | ({} if following is None else {"sealed": meant_for(following, self.released, party)})

        return Replies(self.there, reply)


def _without_sealed(message: Message) -> Message:
    """A message with what it releases in this round, and not with what it shares for the next one."""
    if "sealed" not in message.enclosed:
        return message
    shares = {kind: message.enclosed[kind] for kind in KINDS}
    return Message(message.sender, message.body, message.signature, encode(shares))
