"""The transcript of a session: everything that anyone needs to check the result, and nothing that was hidden.

One file in canonical encoding: the plan, the signed joins and nonces, and the record of every round. :func:`verified`
goes through it from the beginning: signatures, commitments, the numbers of session and rounds, the questions (by
running the program), the sums (by taking off the masks again) and the confirmations; and it returns the result.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flou.errors import InvalidParameter, ProtocolError
from flou.joint.agreement.canonical import decode, digest, encode
from flou.joint.agreement.plan import Plan
from flou.joint.estimators.fit import Fit
from flou.joint.estimators.program import Ask, Opened
from flou.joint.masking import codec
from flou.joint.round.messages import Message, bitmap, in_order, malformed
from flou.joint.round.record import Record, open_sums, record_hash
from flou.joint.round.setting import Ahead
from flou.joint.session.conclusion import concluded, confirmations, next_ask
from flou.joint.session.opening import Beginning, joining, nonce_commitment
from flou.joint.session.party import asked

if TYPE_CHECKING:
    from flou.joint.round.coordinator import CoordinatorRound

__all__ = ["Transcript", "verified"]

FORMAT = "flou joint transcript 1"


@dataclass
class Transcript:
    """What the coordinator writes down."""

    plan: Plan
    joined: list[bytes] = field(default_factory=list)
    revealed: list[bytes] = field(default_factory=list)
    rounds: list[dict[str, Any]] = field(default_factory=list)
    confirmed: list[bytes] = field(default_factory=list)

    def begin(self, joined: Mapping[int, Message], revealed: Mapping[int, Message]) -> None:
        self.joined = [joined[party].to_bytes() for party in sorted(joined)]
        self.revealed = [revealed[party].to_bytes() for party in sorted(revealed)]

    def add(self, number: int, ask: Ask, state: CoordinatorRound) -> None:
        sums = codec.to_bytes(state.sums)
        self.rounds.append({"number": number, "ask": ask.to_dict(), "sums": sums, "record": state.record.lists})

    def confirm(self, confirmed: Mapping[int, Message]) -> None:
        self.confirmed = [confirmed[party].to_bytes() for party in sorted(confirmed)]

    def to_bytes(self) -> bytes:
        return encode(
            {
                "format": FORMAT,
                "plan": self.plan.to_dict(),
                "joined": self.joined,
                "revealed": self.revealed,
                "rounds": self.rounds,
                "confirmed": self.confirmed,
            }
        )

    def write(self, path: str | os.PathLike[str]) -> None:
        Path(path).write_bytes(self.to_bytes())


def verified(data: bytes | str | os.PathLike[str], plan: Plan | None = None) -> Fit:
    """The result of a transcript, after every part of it was checked; with a plan, also that it is this plan's."""
    told = _read(data)
    found = Plan.from_dict(told.get("plan", {}))
    if plan is not None and plan.hash != found.hash:
        raise ProtocolError(
            "The transcript belongs to another plan.",
            "The parties signed another plan than you expect.",
            "Compare the two plans.",
        )
    if encode(found.to_dict()) != encode(told["plan"]):
        raise _false("The plan is not in canonical form.")
    begun = _begun(found, told)
    head, opened, setting = begun.id, list[Opened](), None
    ahead: Ahead | None = begun.ahead
    for number, entry in enumerate(told["rounds"], 1):
        mine = next_ask(found.program, opened)
        if mine is None or ahead is None or not isinstance(entry, dict) or entry.get("number") != number:
            raise _false("The rounds are not those of the plan, one after the other.")
        ask = asked(entry, mine)
        setting = begun.setting(head, number, ask, opened, ahead)
        ahead, record = setting.following, Record.from_dict(entry.get("record"))
        joined = [data for data in told["joined"] if Message.from_bytes(data).sender in setting.graph]
        if number == 1 and record.lists["adverts"] != joined:
            raise _false("The keys of the first round are not those with which parties joined.")
        record.check_signatures(setting)
        sums = open_sums(setting, record)
        if codec.to_bytes(sums) != entry.get("sums"):
            raise _false("The sums do not follow from the masked words.")
        names = tuple(found.roster.names[party] for party in sorted(record.survivors))
        opened.append(Opened(ask, codec.decode(sums), names))
        head = digest("head", head, record_hash(setting, record.root(), record.survivors, entry["sums"]))
    if setting is None or next_ask(found.program, opened) is not None:
        raise _false("The session was not finished.")
    confirmed = in_order(told["confirmed"])
    for message in confirmed.values():
        message.check(found.roster, head, "confirm")
    if len(confirmed) <= confirmations(setting):
        raise _false("Too few parties have confirmed the sums.")
    return concluded(found, opened, head)


def _read(data: bytes | str | os.PathLike[str]) -> dict[str, Any]:
    if not isinstance(data, bytes):
        try:
            data = Path(data).read_bytes()
        except OSError:
            raise InvalidParameter(
                f"The transcript {os.fspath(data)!r} cannot be read.",
                "It is the file that flou coordinator has written.",
                "Check the path.",
            ) from None
    told = decode(data)
    lists = ("joined", "revealed", "rounds", "confirmed")
    sound = isinstance(told, dict) and told.get("format") == FORMAT and told.keys() == {"format", "plan", *lists}
    if not sound or not all(isinstance(told.get(key), list) for key in lists):
        raise malformed("The file is not a transcript.")
    return dict(told)


def _begun(plan: Plan, told: Mapping[str, Any]) -> Beginning:
    """The session, from the signatures under the plan and the nonces."""
    joined = in_order(told["joined"])
    commitments = {
        party: message.check(plan.roster, plan.hash, "join").field("commitment", bytes, 32)
        for party, message in joined.items()
    }
    place = joining(plan.hash, bitmap(joined, len(plan.roster)), b"".join(commitments.values()))
    nonces = {}
    for party, message in in_order(told["revealed"]).items():
        nonces[party] = message.check(plan.roster, place, "reveal").field("nonce", bytes, 32)
        if message.attachment:
            raise _false("A nonce comes with something that nobody has signed.")
        if nonce_commitment(plan.hash, party, nonces[party]) != commitments.get(party):
            raise _false("A party revealed another nonce than it committed to.")
    return Beginning.of(plan, place, tuple(joined), tuple(nonces), b"".join(nonces.values()))


def _false(what: str) -> ProtocolError:
    return ProtocolError(
        what,
        "The transcript does not prove its result.",
        "Do not use the result, and ask who wrote the transcript.",
    )
