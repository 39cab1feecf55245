"""A party from its signature under the plan to the result. Pure: it yields messages and is sent replies.

Each message has an address, the number of the round (0 before the first) and the step. What was sent is kept in the
party's memory before it is sent, so after a restart the same message is sent again, never another one. The questions
are the party's own: it runs the program itself and refuses a coordinator that asks for anything else.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from flou.arrays import Words
from flou.bits import SYSTEM, Bits
from flou.errors import InvalidData, ProtocolError
from flou.joint.agreement.canonical import decode, digest, encode
from flou.joint.agreement.identity import Identity
from flou.joint.agreement.plan import Plan
from flou.joint.agreement.policy import Policy
from flou.joint.estimators.fit import Fit
from flou.joint.estimators.party_rows import PartyRows
from flou.joint.estimators.program import Ask, Opened
from flou.joint.masking import bounds, codec
from flou.joint.round.keys import RoundKeys
from flou.joint.round.messages import TAG, Message, bitmap, malformed, members, signed
from flou.joint.round.party import PartyRound
from flou.joint.round.record import Record, included, open_sums, record_hash
from flou.joint.round.setting import Setting
from flou.joint.round.sharing import Sharing
from flou.joint.session.conclusion import concluded, confirmations, next_ask
from flou.joint.session.memory import Memory
from flou.joint.session.opening import FULL, NONCE, Beginning, at_once, enough, joining, nonce_commitment
from flou.joint.session.replies import Told, adverts, each, listed, messages, reason, table

__all__ = ["Address", "Outgoing", "PartySession", "asked"]

SURE = ("reveal", "mask", "confirm")  # said once and for all, whatever happens to the machine; and so are shares

Address: TypeAlias = tuple[int, str]
Outgoing: TypeAlias = tuple[Address, bytes]
Steps: TypeAlias = Generator[Outgoing, bytes, Told]


class PartySession:
    """One party in one session."""

    def __init__(
        self,
        identity: Identity,
        plan: Plan,
        rows: PartyRows,
        policy: Policy | None = None,
        memory: Memory | None = None,
        bits: Bits = SYSTEM,
    ) -> None:
        self.identity, self.plan, self.rows, self.bits = identity, plan, rows, bits
        self.memory = memory or Memory()
        self.party = plan.roster.index(identity)
        self.opened: list[Opened] = []
        self._ready: tuple[Ask, Sequence[int]] | None = None
        plan.check_date()
        plan.check_reading(rows)
        limits = policy or Policy()
        limits.check_terms(plan)  # before anything is read
        self.count = count = rows.count(plan.program.columns)
        limits.check_rows(plan, count)
        if count > plan.max_rows:
            raise InvalidData(
                "There are more rows than the plan allows a party to have.",
                "The proof that no sum overflows counts on it.",
                "Agree on a plan with a larger max_rows.",
            )
        self.memory.keep("plan", digest("memory of a party", plan.hash, self.party))  # and of no other

    # Messages

    def _say(
        self, at: bytes, address: Address, content: Mapping[str, Any], attachment: bytes = b"", *, sure: bool = False
    ) -> Steps:
        """Send a message, the same one if it was sent before, and return the table of the reply."""
        number, step = address
        key = f"{number}/{step}"
        message = self.memory.recall(key)
        if message is None:
            made = signed(self.identity, self.party, at, step, content, attachment)
            self.plan.roster.trust(self.party, made.signature, TAG, made.body)
            message = self.memory.keep(key, made.to_bytes(), sure=sure or step in SURE or "sealed" in content)
        reply = yield address, message
        self.memory.keep(f"{key}/reply", digest("reply", reply), later=True)  # before the next message is sent
        told = decode(reply)
        if not isinstance(told, dict):
            raise malformed("A reply is not a table.")
        if "failed" in told:
            raise reason(told["failed"])
        return told

    def _drawn(self, key: str, size: int) -> bytes:
        """Secret bytes, the same ones after a restart; they are surely on disk when masked words are."""
        return self.memory.recall(key) or self.memory.keep(key, self.bits.take(size).tobytes(), later=True)

    # The session

    def run(self) -> Generator[Outgoing, bytes, Fit]:
        """Everything from the first message to the result."""
        plan, program = self.plan, self.plan.program
        if self.memory.recall("1/mask") is None and (first := next_ask(program, [])) is not None:
            self._ready = first, self._plain_words(first)  # before anyone waits for this party
        begun, shared, told = yield from self._begin()
        head, number, setting = begun.id, 0, None
        sharing: Sharing | None = shared  # for the next round, if there may be one
        while (mine := next_ask(program, self.opened)) is not None:
            number += 1
            ask = asked(told, mine)
            setting = begun.setting(head, number, ask, self.opened, None if sharing is None else sharing.ahead)
            done = self.memory.recall(f"{number}/done")
            if done is not None:
                told, sharing = decode(done), None
                if setting.following is not None:
                    sharing = Sharing(setting.following, self._keys(number + 1, setting.id), messages(told, "same"))
            elif sharing is not None:
                self._check_scalars(ask)
                sharing.receive(table(told, "sealed"))
                state = PartyRound(setting, sharing)
                told = yield from self._round(state, ask, number)
                self._check_sums(setting, number, ask, told)
                told = {key: value for key, value in told.items() if key not in ("record", "path")}
                self.memory.keep(f"{number}/done", encode(told), later=True)
                sharing = state.next
            survivors = members(told["survivors"], setting.size)
            sums = codec.decode(codec.from_bytes(told["sums"], setting.width, setting.length))
            self.opened.append(Opened(ask, sums, tuple(plan.roster.names[party] for party in survivors)))
            head = digest("head", head, told["hash"])
        told = yield from self._say(head, (number + 1, "confirm"), {})
        self._check_confirmations(told, head, setting)
        self.memory.forget("secret/")
        return concluded(plan, self.opened, head)

    def _keys(self, number: int, place: bytes) -> RoundKeys:
        """The keys for a round, shown at this place before it."""
        return RoundKeys(place, self.party, self._drawn(f"secret/{number}", 32))

    def _begin(self) -> Generator[Outgoing, bytes, tuple[Beginning, Sharing, Told]]:
        """The session, what is shared for its first round, and the last reply."""
        plan, size = self.plan, len(self.plan.roster)
        keys = self._keys(1, plan.hash)
        nonce = self.memory.recall("0/nonce") or self.memory.keep("0/nonce", keys.nonce, later=True)
        committed = nonce_commitment(plan.hash, self.party, nonce)
        told = yield from self._say(plan.hash, (0, "join"), {"commitment": committed, "keys": keys.public()})
        joined = members(told.get("joined"), size)
        commitments = each(told.get("commitments"), joined, 32)
        if commitments.get(self.party) != committed:
            raise ProtocolError(
                "This party is missing from the list of those who joined.",
                "It signed the plan, but the coordinator left it out.",
                "Stop, and begin again.",
            )
        enough(plan, len(joined))
        place = joining(plan.hash, told["joined"], told["commitments"])
        ahead, sharing, sealed = at_once(plan, place, joined), None, b""
        content: dict[str, Any] = {"nonce": nonce}
        if ahead is not None:
            sharing = Sharing(ahead, keys, adverts(told, commitments, joined))
            content, sealed = content | sharing.content(), encode({"sealed": sharing.sealed})
        told = yield from self._say(place, (0, "reveal"), content, sealed)
        present = members(told.get("present"), size)
        nonces = each(told.get("nonces"), present, NONCE)
        for party, revealed in nonces.items():
            if nonce_commitment(plan.hash, party, revealed) != commitments.get(party):
                raise ProtocolError(
                    "A party revealed another nonce than it committed to.",
                    "A party that chooses its nonce late could choose its neighbours.",
                    "Stop, and begin again.",
                )
        if nonces.get(self.party) != nonce:
            raise malformed("The nonce of this party was left out.")
        begun = Beginning.of(plan, place, joined, present, b"".join(nonces.values()))
        if sharing is None:
            near = begun.ahead.graph[self.party]
            sharing = Sharing(begun.ahead, keys, adverts(told, commitments, near))
            content, sealed = sharing.content(), encode({"sealed": sharing.sealed})
            shared = yield from self._say(begun.id, (1, "share"), content, sealed)
            told = {"ask": told.get("ask"), "sealed": shared.get("sealed")}
        told = {key: value for key, value in told.items() if key != "nonces"}  # nobody needs them any more
        return begun, sharing, told

    def _round(self, state: PartyRound, ask: Ask, number: int) -> Steps:
        """One round; its last reply, with the sums, and who has signed the same survivors with keys for another one."""
        setting = state.setting
        following = None if setting.last else self._keys(number + 1, setting.id)
        content, masked, fresh = Told(), b"", self.memory.recall(f"{number}/mask") is None
        if fresh:
            content, masked = state.mask(self._words(setting, ask), following)
        told = yield from self._say(setting.id, (number, "mask"), content, masked)
        survivors = frozenset(members(told.get("survivors"), setting.size))
        if setting.ahead.unanimous:
            state.settle(survivors)
        else:
            lost, sent = survivors != state.everyone, Message.from_bytes(self.memory.recall(f"{number}/mask"))
            if lost and not fresh and self.memory.recall(f"{number}/agree") is None:
                raise forgotten()  # the list of everyone is on disk already, with the peers
            content = state.agree(survivors, sent.body, following)
            told = yield from self._say(setting.id, (number, "agree"), content, sure=lost)
        told = yield from self._say(setting.id, (number, "unmask"), *state.unmask(messages(told, "agreed"), following))
        if told.get("survivors") != bitmap(survivors, setting.size):
            raise wrong_sums()
        same = {} if state.next is None else state.next.adverts
        return told | {"same": {str(party): message.to_bytes() for party, message in same.items()}}

    def _check_scalars(self, ask: Ask) -> None:
        """Refuse to open more than the plan says."""
        if sum(opened.ask.length for opened in self.opened) + ask.length > self.plan.scalars:
            raise ProtocolError(
                f"More than {self.plan.scalars} numbers would be opened.",
                "The plan sets this limit, and the policies of all parties rely on it.",
                "Begin a new session, or agree on a plan that opens more.",
            )

    def _plain_words(self, ask: Ask) -> Sequence[int]:
        """The party's own words, checked."""
        words = self.plan.program.words(ask, self.rows)
        if len(words) != ask.length:
            raise malformed("The program does not give the number of words that it asks for.")
        bounds.check(words, ask.limit)
        return words

    def _words(self, setting: Setting, ask: Ask) -> Words:
        """The party's own words, noised, ready to be masked."""
        ready, self._ready = self._ready, None
        words = ready[1] if ready is not None and ready[0] == ask else self._plain_words(ask)
        if ask.noise is not None:
            noise = ask.noise.law.sample(ask.length, bits=self.bits).tolist()
            words = [int(word) + extra for word, extra in zip(words, noise, strict=True)]
        return codec.encode(words, setting.width)

    def _check_sums(self, setting: Setting, number: int, ask: Ask, told: Told) -> None:
        """Refuse sums that are not the sums of what the parties have sent."""
        data, top = told.get("sums"), told.get("root")
        survivors = frozenset(members(told.get("survivors"), setting.size))
        if not isinstance(data, bytes) or not isinstance(top, bytes) or self.party not in survivors:
            raise malformed("The sums did not come.")
        if told.get("hash") != record_hash(setting, top, survivors, data):
            raise malformed("The record does not have the hash that it should have.")
        own = Message.from_bytes(self.memory.recall(f"{number}/mask"))
        if setting.size > FULL:
            true = included(own.body, listed(told, "path"), top)
        else:
            record = Record.from_bytes(told.get("record"))
            record.check_signatures(setting, needed=True)
            true = record.survivors == survivors and record.root() == top and record.masked[self.party] == own
            true = true and codec.to_bytes(open_sums(setting, record)) == data
        largest, words = self.plan.proof(ask).largest, codec.from_bytes(data, setting.width, ask.length)
        if not true or any(abs(word) > largest for word in codec.decode(words)):
            raise wrong_sums()

    def _check_confirmations(self, told: Told, head: bytes, setting: Setting | None) -> None:
        """Refuse a result that too few neighbours have seen as well."""
        if setting is None:
            return
        same = set()
        for data in listed(told, "confirmed"):
            message = Message.from_bytes(data).check(self.plan.roster, head, "confirm")
            same.add(message.sender)
        if len(same & set(setting.graph[self.party])) < confirmations(setting):
            raise ProtocolError(
                f"Only {len(same)} parties have confirmed the same sums.",
                "The others may have received different sums.",
                "Compare transcripts before anyone uses the result.",
            )


def forgotten() -> ProtocolError:
    return ProtocolError(
        "The coordinator reports lost parties, and this party was restarted after it sent its words.",
        "A party signs one list of survivors a round. This one may have signed the full list without saving it.",
        "The others finish the round without it; its words still count.",
    )


def wrong_sums() -> ProtocolError:
    return ProtocolError(
        "The sums do not follow from what the parties have sent.",
        "Whoever relays the messages has changed them, or a party's words.",
        "Stop, and do not use the result.",
    )


def asked(told: Told, mine: Ask) -> Ask:
    """The coordinator's question, if it is the party's own."""
    theirs, own = told.get("ask"), mine.to_dict()
    given = theirs.get("parameters") if isinstance(theirs, dict) else None
    ask = replace(mine, parameters=given if isinstance(given, dict) else {})
    if not isinstance(given, dict) or encode(theirs) != encode(own | {"parameters": given}) or not mine.agrees(ask):
        raise ProtocolError(
            "The coordinator asks for other sums than the plan does.",
            "Each party computes the next question itself, from what was opened.",
            "Stop, and ask who runs the coordinator.",
        )
    return ask
