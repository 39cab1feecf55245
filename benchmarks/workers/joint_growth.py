"""What a sum of a thousand words costs one party, and the coordinator, when many parties take part.

python -m workers.joint_growth session M FOLDER    a session of M parties in this process; what the coordinator spends
python -m workers.joint_growth party FOLDER NAME   the first party again, alone in a process, told the same as before

The parties of a simulated session share what their process remembers (messages that were read, signatures that were
checked, the neighbours of everyone), so a party is measured by itself: with the same secrets it says the same and is
told the same. The coordinator shares nothing with them. Each prints a JSON object.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

import numpy as np
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from flou.bits import SeededBits
from flou.joint import Identity, Plan, Roster, VectorSum
from flou.joint.agreement.canonical import decode, encode
from flou.joint.masking.masks import add_mask, pair_key
from flou.joint.round.messages import Message
from flou.joint.session import party as party_session
from flou.joint.session import replies
from flou.joint.session.coordinator import CoordinatorSession
from flou.joint.session.memory import FileMemory
from flou.joint.session.party import Address, PartySession
from flou.joint.simulation import ANY, converse, simulated
from harness.tasks import resident_peak
from workers.joint_data import LENGTH, total, words

T = TypeVar("T")
LIMIT = 2**40
MASKS = 500
SEED = "the first party"


def share_reading() -> None:
    """Let the parties of this process share what they read, which is the same: ten thousand copies would not fit."""
    for name, size in (("decode", 2), ("members", 8), ("each", 4), ("nonce_commitment", None)):
        setattr(party_session, name, lru_cache(size)(getattr(party_session, name)))
    party_session.Message = replies.Message = SimpleNamespace(from_bytes=lru_cache(None)(Message.from_bytes))


class Measured(CoordinatorSession):
    """A coordinator with a clock, and a scale."""

    cpu, received, sent = 0.0, 0, 0

    def receive(self, address: Address, data: bytes) -> int:
        self.received += len(data)
        return self._timed(lambda: super(Measured, self).receive(address, data))

    def close(self) -> None:
        self._timed(super().close)

    def reply(self, address: Address, party: int) -> bytes | None:
        reply = super().reply(address, party)
        self.sent += len(reply or b"")
        return reply

    def _timed(self, call: Callable[[], T]) -> T:
        began = time.process_time()
        try:
            return call()
        finally:
            self.cpu += time.process_time() - began


def session(parties: int, folder: Path) -> dict[str, Any]:
    """All parties in one loop; what the first was told goes to the folder."""
    share_reading()
    gc.disable()  # it would go through what all parties hold, and count as time of the coordinator
    began = time.perf_counter()
    identities = [Identity.generate(f"party {i:05d}") for i in range(parties)]
    plan = Plan(Roster.of(identities), VectorSum("x", LENGTH, LIMIT))
    plan_file = plan.to_toml()
    (folder / "plan.toml").write_text(plan_file)
    identities[0].save(folder / "party.key")
    running = {
        i: PartySession(identity, plan, plan.rows({"x": words(i)}), ANY, bits=SeededBits(SEED if i == 0 else i))
        for i, identity in enumerate(identities)
    }
    memory = FileMemory(folder / "coordinator.memory")
    coordinator = Measured(Plan.from_toml(folder / "plan.toml"), memory)  # with a roster, and checks, of its own
    told: list[bytes] = []

    def note(party: int, _address: Address, reply: bytes) -> bytes:
        if party == 0:
            told.append(reply)
        return reply

    outcome = converse(coordinator, running, tampered=note)
    memory.close()
    if list(outcome.fit.exact) != total(parties) or len(outcome.fits) != parties:
        raise ValueError("a wrong sum")
    (folder / "told").write_bytes(encode(told))
    spent = {"cpu_seconds": coordinator.cpu, "received_bytes": coordinator.received, "sent_bytes": coordinator.sent}
    found = plan.resilience
    return {
        "parties": parties,
        "neighbours": found.neighbours,
        "threshold": found.threshold,
        "plan_bytes": len(plan_file.encode()),
        "coordinator": spent,
        "mask_seconds": mask_seconds(),
        "seconds": round(time.perf_counter() - began, 1),
        "peak_bytes": resident_peak(),
    }


def party(folder: Path, name: str) -> dict[str, Any]:
    """One party, from its first message to the result."""
    simulated([{"x": words(i)} for i in range(3)], VectorSum("x", LENGTH, LIMIT))  # imports what is imported on the way
    began = time.process_time()
    plan = Plan.from_toml(folder / "plan.toml")
    reading = time.process_time() - began
    identity, memory = Identity.load(folder / "party.key"), FileMemory(folder / f"{name}.memory")
    steps = PartySession(identity, plan, plan.rows({"x": words(0)}), ANY, memory, SeededBits(SEED)).run()
    told = decode((folder / "told").read_bytes())
    sent, spent = 0, {}
    began = time.process_time()
    (_, step), message = next(steps)
    for reply in told:
        sent += len(message)
        try:
            (_, following), message = steps.send(reply)
        except StopIteration as stop:
            fit = stop.value
        ended = time.process_time()
        spent[step], step, began = ended - began, following, ended
    memory.close()
    if list(fit.exact) != total(len(plan.roster)):
        raise ValueError("a wrong sum")
    return {
        "cpu_seconds": sum(spent.values()),
        "plan_seconds": reading,
        "steps": spent,
        "sent_bytes": sent,
        "received_bytes": sum(map(len, told)),
        "peak_bytes": resident_peak(),
    }


def mask_seconds() -> float:
    """Of the key of a pair, and its mask: what every party would spend on every other one."""
    one, other = (X25519PrivateKey.from_private_bytes(bytes([i]) * 32) for i in (1, 2))
    public, vector = other.public_key().public_bytes_raw(), np.zeros((1, LENGTH), dtype=np.uint64)
    began = time.process_time()
    for i in range(MASKS):
        add_mask(vector, pair_key(one, public, b"%d" % i), 1)
    return (time.process_time() - began) / MASKS


def main() -> None:
    kind, *arguments = sys.argv[1:]
    if kind == "session":
        found = session(int(arguments[0]), Path(arguments[1]))
    else:
        found = party(Path(arguments[0]), arguments[1])
    print(json.dumps(found))


if __name__ == "__main__":
    main()
