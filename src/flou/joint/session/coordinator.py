"""The coordinator of a session: relays, adds up, takes off masks. Pure: messages in, replies out, no clock, no network.

A step is open for a set of parties. :meth:`CoordinatorSession.receive` takes their messages one by one, and
:meth:`CoordinatorSession.close` ends the step with those that are there: the replies of a closed step stay available,
so a party that asks again gets the same answer. The coordinator draws nothing at random; kept messages and closings
bring it back, after a restart, to the very state in which it stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from flou.errors import FlouError, ProtocolError
from flou.joint.agreement.canonical import decode, digest, encode
from flou.joint.agreement.plan import Plan
from flou.joint.estimators.fit import Fit
from flou.joint.estimators.program import Ask, Opened
from flou.joint.masking import codec
from flou.joint.round.coordinator import CoordinatorRound
from flou.joint.round.keys import check_keys
from flou.joint.round.messages import Message, Messages, Replies, bitmap, malformed, near, table, unsigned
from flou.joint.round.setting import Ahead
from flou.joint.round.sharing import check_sealed, meant_for
from flou.joint.session.conclusion import concluded, confirmations, next_ask
from flou.joint.session.memory import Memory
from flou.joint.session.opening import FULL, NONCE, Beginning, at_once, joining, nonce_commitment
from flou.joint.session.party import Address
from flou.joint.session.transcript import Transcript

__all__ = ["CoordinatorSession", "OpenStep"]


@dataclass(frozen=True)
class OpenStep:
    """What the coordinator waits for."""

    address: Address
    at: bytes  # what the messages refer to
    expected: frozenset[int]
    check: Callable[[Message], None] = field(default=lambda _: None)


class CoordinatorSession:
    """The coordinator's side of one session."""

    def __init__(self, plan: Plan, memory: Memory | None = None) -> None:
        plan.check_date()
        self.plan, self.memory = plan, memory or Memory()
        self.memory.keep("plan", digest("memory of a coordinator", plan.hash))  # and of no other
        self.transcript = Transcript(plan)
        self.opened: list[Opened] = []
        self.fit: Fit | None = None
        self.failure: FlouError | None = None
        self.done = False
        self._replies: dict[Address, Mapping[int, bytes]] = {}
        self._received: Messages = {}
        self._steps = self._run()
        self.step = next(self._steps)
        self._restore()

    # Messages

    @property
    def names(self) -> tuple[str, ...]:
        return self.plan.roster.names

    @property
    def missing(self) -> frozenset[int]:
        """Who has not sent the message of the open step."""
        return self.step.expected - self._received.keys()

    def receive(self, address: Address, data: bytes) -> int:
        """Take a message of the open step; one that came before may come again, another one may not."""
        message = Message.from_bytes(data)
        if address != self.step.address or self.done:
            self._check_repeated(address, message, data)
            return message.sender
        message.check(self.plan.roster, self.step.at, address[1])
        if message.sender not in self.step.expected:
            raise _too_late(self.names[message.sender])
        self.step.check(message)
        self.memory.keep(_key(address, message.sender), data, later=True)  # it is sent again until it is answered
        self._received[message.sender] = message
        return message.sender

    def _check_repeated(self, address: Address, message: Message, data: bytes) -> None:
        known = self.memory.recall(_key(address, message.sender))
        if known is None and address in self._replies and 0 <= message.sender < len(self.names):
            raise _too_late(self.names[message.sender])
        if known != data:
            raise malformed("A message is for a step that is not open.")

    def reply(self, address: Address, party: int) -> bytes | None:
        """The reply to a party at the end of a step, or None while the step is open."""
        replies = self._replies.get(address)
        return None if replies is None else replies[party]

    # Steps

    def close(self) -> None:
        """End the open step with the messages that are there."""
        self.memory.keep(f"{_key(self.step.address)}/closed", encode(sorted(self._received)))
        self._advance()

    def _advance(self) -> None:
        address, received = self.step.address, self._received
        self._received = {}
        try:
            self.step = self._steps.send(received)
        except StopIteration:
            self.done = True
        except FlouError as error:
            self.failure, self.done = error, True
            self._answer(address, dict.fromkeys(received, encode({"failed": [error.what, error.why, error.do]})))

    def _restore(self) -> None:
        """Go through everything that was kept before a restart."""
        while not self.done:
            for party in self.step.expected:
                data = self.memory.recall(_key(self.step.address, party))
                if data is not None:
                    self._received[party] = Message.from_bytes(data)
            closed = self.memory.recall(f"{_key(self.step.address)}/closed")
            if closed is None:
                return
            self._received = {party: self._received[party] for party in decode(closed)}
            self._advance()

    def _answer(self, address: Address, replies: Mapping[int, bytes]) -> None:
        self._replies[address] = replies

    def _all(self, address: Address, parties: Iterable[int], told: Mapping[str, Any]) -> None:
        """The same reply for everyone, encoded once."""
        self._answer(address, dict.fromkeys(parties, encode(told)))

    # The session

    def _run(self) -> Generator[OpenStep, Messages, None]:
        ask = next_ask(self.plan.program, self.opened)
        if ask is None:
            raise malformed("The plan asks for nothing.")
        begun, state = yield from self._begin(ask)
        head, number, full = begun.id, 1, len(self.names) <= FULL
        while True:
            yield from self._round(state, number)
            names = tuple(self.names[party] for party in sorted(state.survivors))
            self.opened.append(Opened(ask, codec.decode(state.sums), names))
            head = digest("head", head, state.hash)
            self.transcript.add(number, ask, state)
            following = next_ask(self.plan.program, self.opened)
            told = None if following is None else following.to_dict()
            self._answer((number, "unmask"), state.opened_replies(told, full=full))
            number += 1
            if following is None:
                break
            self._enough(state.released, state.setting.resilience.quorum + 1)
            ask, setting = following, begun.setting(head, number, following, self.opened, state.setting.following)
            state = state.next(setting)
        confirmed = yield OpenStep((number, "confirm"), head, state.there)
        self._enough_confirmed(state, confirmed)
        self.transcript.confirm(confirmed)
        self.fit = concluded(self.plan, self.opened, head)
        same = near(state.setting.graph, confirmed)
        self._answer((number, "confirm"), Replies(confirmed, lambda party: {"confirmed": [*same(party).values()]}))

    def _enough_confirmed(self, state: CoordinatorRound, confirmed: Messages) -> None:
        """Refuse a result that too few parties have confirmed."""
        needed = confirmations(state.setting) + 1
        if len(confirmed) < needed:
            raise ProtocolError(
                f"Only {len(confirmed)} parties have confirmed the sums; {needed} are needed.",
                "The other parties refused them or are lost.",
                "Ask the parties for their reasons.",
            )

    def _begin(self, ask: Ask) -> Generator[OpenStep, Messages, tuple[Beginning, CoordinatorRound]]:
        """The session, and its first round."""
        plan, everyone = self.plan, frozenset(range(len(self.names)))
        joined = yield OpenStep((0, "join"), plan.hash, everyone, _check_join)
        self._enough(joined)
        order = tuple(sorted(joined))
        commitments = {party: joined[party].content["commitment"] for party in order}
        told = {"joined": bitmap(joined, len(everyone)), "commitments": b"".join(commitments.values())}
        place = joining(plan.hash, told["joined"], told["commitments"])
        ahead = at_once(plan, place, order)
        self._all((0, "join"), joined, told if ahead is None else told | {"adverts": table(joined)})

        def revealed(message: Message) -> None:
            nonce = message.field("nonce", bytes, NONCE)
            if nonce_commitment(plan.hash, message.sender, nonce) != commitments[message.sender]:
                raise malformed("A party revealed another nonce than it committed to.")
            if ahead is not None:
                _check_shares(ahead, message, joined)
            elif message.attachment:
                raise unsigned()

        present = yield OpenStep((0, "reveal"), place, frozenset(joined), revealed)
        self._enough(present, 0 if ahead is None else ahead.resilience.quorum + 1)
        nonces = b"".join(present[party].content["nonce"] for party in sorted(present))
        self.transcript.begin(joined, {party: message.alone for party, message in present.items()})
        begun = Beginning.of(plan, place, order, sorted(present), nonces)
        setting = begun.setting(begun.id, 1, ask, self.opened, begun.ahead)
        started = {"present": bitmap(present, len(everyone)), "nonces": nonces, "ask": ask.to_dict()}
        if ahead is not None:
            self._answer((0, "reveal"), _sealed(ahead, present, started))
            return begun, CoordinatorRound(setting, joined, present)
        adverts = {party: joined[party] for party in present}
        shown = near(begun.ahead.graph, adverts)
        self._answer((0, "reveal"), Replies(present, lambda party: started | {"adverts": shown(party)}))
        shared = yield OpenStep(
            (1, "share"), begun.id, frozenset(present), lambda message: _check_shares(begun.ahead, message, adverts)
        )
        self._enough(shared)
        self._answer((1, "share"), _sealed(begun.ahead, shared, {}))
        return begun, CoordinatorRound(setting, adverts, shared)

    def _enough(self, messages: Messages, least: int = 0) -> None:
        needed = max(least, self.plan.smallest)
        if len(messages) < needed:
            absent = ", ".join(name for party, name in enumerate(self.names) if party not in messages)
            raise ProtocolError(
                f"Only {len(messages)} parties are there; missing: {absent[:200]}.",
                f"It takes at least {needed}, as the plan says.",
                "Begin again when more parties are there.",
            )

    def _round(self, state: CoordinatorRound, number: int) -> Generator[OpenStep, Messages, None]:
        """The steps of one round, up to its sums."""
        for step, check, close in state.steps():
            state.step = step
            messages = yield OpenStep((number, step), state.setting.id, state.there, check)
            replies = close(messages)
            if step != "unmask":
                self._answer((number, step), replies)


def _key(address: Address, party: int | None = None) -> str:
    number, step = address
    return f"{number}/{step}" if party is None else f"{number}/{step}/{party}"


def _check_join(message: Message) -> None:
    message.field("commitment", bytes, 32)
    check_keys(message)


def _check_shares(ahead: Ahead, message: Message, adverts: Messages) -> None:
    if message.enclosed.keys() != {"sealed"}:
        raise unsigned()
    check_sealed(ahead, message, adverts)


def _sealed(ahead: Ahead, shared: Messages, told: Mapping[str, Any]) -> Replies:
    """The reply to each party that has shared: what everyone gets, and the boxes meant for this party."""
    return Replies(shared, lambda party: {**told, "sealed": meant_for(ahead, shared, party)})


def _too_late(name: str) -> ProtocolError:
    return ProtocolError(
        f"The message of {name} came too late.",
        "The others continued without it. A subtraction could single out a party that joins late.",
        "Take part in the next session.",
    )
