"""Sessions for tests: parties with integers instead of rows, a statistic of several rounds, and what was given away."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flou.bits import SYSTEM, Bits, SeededBits
from flou.domain.table import checked_table
from flou.joint.agreement.canonical import decode, encode
from flou.joint.agreement.identity import Identity, Roster
from flou.joint.agreement.plan import Plan
from flou.joint.agreement.policy import Policy
from flou.joint.estimators.fit import Fit
from flou.joint.estimators.party_rows import Reading
from flou.joint.estimators.program import Ask, Opened, Program
from flou.joint.round.messages import Message
from flou.joint.session.coordinator import CoordinatorSession
from flou.joint.session.memory import Memory
from flou.joint.session.party import Address, PartySession
from flou.parameters import integer

ANY = Policy(rows_per_scalar=0, colluders=0, accept_differences=True)
STEPS: tuple[Address, ...] = (
    (0, "join"),
    (0, "reveal"),
    (1, "mask"),
    (1, "agree"),
    (1, "unmask"),
    (2, "confirm"),
)
IDENTITIES = [Identity.generate(f"p{i:04d}") for i in range(12)]


@dataclass(frozen=True)
class IntegersFit(Fit):
    sums: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Integers(Program):
    """The sums of the parties' integers, ``rounds`` times; in round r everyone's integers are multiplied by r."""

    length: int = 2
    limit: int = 2**40
    rounds: int = 1
    estimator = "integers"

    @property
    def columns(self) -> tuple[str, ...]:
        return ("v",)

    @property
    def scalars(self) -> int:
        return self.length * self.rounds

    def next(self, opened: Sequence[Opened]) -> Ask | None:
        number = len(opened) + 1
        last = [sums / 2 for sums in opened[-1].sums] if opened and self.limit < 2**52 else []
        parameters = {"times": number, "last": last}
        return Ask(f"times {number}", self.length, self.limit * number, parameters) if number <= self.rounds else None

    def words(self, ask: Ask, rows: Any) -> Sequence[int]:
        return [ask.parameters["times"] * word for word in rows.integers]

    def result(self, opened: Sequence[Opened]) -> IntegersFit:
        return IntegersFit(sums=tuple(one.sums for one in opened))

    def terms(self) -> dict[str, Any]:
        return {"length": self.length, "limit": self.limit, "rounds": self.rounds}

    @classmethod
    def from_terms(cls, terms: Mapping[str, Any]) -> Integers:
        checked = checked_table("estimate", terms, required=("length", "limit", "rounds"))
        return cls(**{name: integer(name, value, 1, 2**600) for name, value in checked.items()})


@dataclass(frozen=True)
class Given:
    """Integers in the place of rows."""

    integers: Sequence[int]
    reading: Reading

    def count(self, _columns: Sequence[str]) -> int:
        return 1000


def roster(m: int) -> Roster:
    return Roster.of(IDENTITIES[:m])


def plan_for(m: int, program: Program | None = None, **terms: Any) -> Plan:
    return Plan(roster(m), program or Integers(), **{"expires": "2099-01-01T00:00:00Z"} | terms)


def party(plan: Plan, number: int, integers: Sequence[int], memory: Memory | None = None, bits: Bits = SYSTEM):
    return PartySession(IDENTITIES[number], plan, Given(integers, plan.reading), ANY, memory, bits)


def parties(plan: Plan, integers: Sequence[Sequence[int]], *, seed: int | None = None) -> dict[int, PartySession]:
    """One session for each party; with a seed, the same messages every time."""
    return {
        number: party(plan, number, words, bits=SYSTEM if seed is None else SeededBits(f"{seed} {number}"))
        for number, words in enumerate(integers)
    }


def plain(m: int, length: int = 2) -> list[list[int]]:
    """Integers of m parties from which one sees who is in a sum: 3^i, with changing signs."""
    return [[3**i * (-1) ** (i * j) for j in range(length)] for i in range(m)]


def total(integers: Sequence[Sequence[int]], numbers: Sequence[int] | None = None) -> tuple[int, ...]:
    chosen = integers if numbers is None else [integers[i] for i in numbers]
    return tuple(map(sum, zip(*chosen, strict=True)))


def edited(**changes: Any) -> Callable[[bytes], bytes]:
    """A lie: these parts of a reply become others; a function is given what stood there."""

    def edit(reply: bytes) -> bytes:
        told = decode(reply)
        for key, value in changes.items():
            within = key == "record"  # which is encoded on its own
            found = decode(told[key]) if within and key in told else told.get(key)
            changed = value(found) if callable(value) else value
            told[key] = encode(changed) if within and callable(value) else changed
        return encode(told)

    return edit


def lie(at: Address, edit: Callable[[bytes], bytes], to: Sequence[int] | None = None):
    """For ``converse``: the reply of one step is changed, for everyone or for some."""

    def tampered(number: int, address: Address, reply: bytes) -> bytes:
        return edit(reply) if address == at and (to is None or number in to) else reply

    return tampered


def given_away(sessions: Mapping[int, PartySession], rounds: int = 3) -> dict[int, list[dict[str, Any]]]:
    """What each party has released, round by round: its memory has every message that it sent."""
    found: dict[int, list[dict[str, Any]]] = {}
    for number in range(1, rounds + 1):
        for who, session in sessions.items():
            data = session.memory.recall(f"{number}/unmask")
            if data is not None:
                message = Message.from_bytes(data)
                found.setdefault(number, []).append({"from": who} | message.content | message.enclosed)
    return found


def exposed(sessions: Mapping[int, PartySession], plan: Plan, colluders: int = 0) -> list[tuple[int, int]]:
    """Rounds and parties of which both secrets could be put together, with the help of so many conspirators."""
    found = []
    threshold = plan.resilience.threshold
    for number, released in given_away(sessions).items():
        for target in range(len(plan.roster)):
            own = any(one["from"] == target for one in released)
            alive = colluders + sum(str(target) in one["alive"] for one in released)
            gone = colluders + sum(str(target) in one["gone"] for one in released)
            if (own or alive >= threshold) and gone >= threshold:
                found.append((number, target))
    return found


class Recorder:
    """One party's side of an honest session, to be played again: what it sent, and what it was told."""

    def __init__(self, plan: Plan, integers: Sequence[Sequence[int]], seed: int = 1) -> None:
        from flou.joint.simulation import converse

        self.plan, self.integers, self.seed = plan, integers, seed
        self.coordinator = CoordinatorSession(plan)
        self.sessions = parties(plan, integers, seed=seed)
        self.replies: dict[tuple[int, Address], bytes] = {}

        def note(number: int, address: Address, reply: bytes) -> bytes:
            self.replies[number, address] = reply
            return reply

        self.outcome = converse(self.coordinator, self.sessions, tampered=note)

    def again(self, number: int = 0, memory: Memory | None = None) -> PartySession:
        """The same party once more: it draws the same secrets, and so says the same."""
        bits = SeededBits(f"{self.seed} {number}")
        drawn = 0 if memory is None else len(memory.keys("secret/"))
        bits.take(32 * drawn)  # it draws once for each round, and goes on where it was
        return party(self.plan, number, self.integers[number], memory, bits)

    def addresses(self, number: int = 0) -> list[Address]:
        return [address for who, address in self.replies if who == number]
