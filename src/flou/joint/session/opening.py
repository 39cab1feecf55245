"""How a session begins: everyone signs the plan and commits to a nonce, then the nonces are revealed.

The number of a session is the hash of the plan and of all nonces. Nobody can choose it, and no message of one session
fits into another. Keys for the first round come with the commitment to the nonce. A nonce is signed together with
everyone's commitments: whoever signs finds its own among them, so that nobody's can be replaced, nor the keys with it;
and whoever reads finds its own as well, so that they are as fresh as that.

Up to 100 parties everyone who has joined is everyone's neighbour, and shares for the first round come with the nonce;
who shows none counts as lost. Above, neighbours are drawn from the number of the session, and shares follow it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from flou.errors import ProtocolError
from flou.joint.agreement.canonical import digest, encode
from flou.joint.agreement.plan import Plan
from flou.joint.estimators.program import Ask, Opened
from flou.joint.masking.graph import DENSE, neighbours, resilience
from flou.joint.round.messages import bitmap
from flou.joint.round.setting import Ahead, Setting

__all__ = ["FULL", "NONCE", "Beginning", "at_once", "enough", "joining", "nonce_commitment"]

FULL = 100  # up to this many parties everyone checks everything; above, their neighbours' part, and auditors the rest
NONCE = 32


def nonce_commitment(plan: bytes, party: int, nonce: bytes) -> bytes:
    """What a party signs before anyone has shown a nonce."""
    return hashlib.sha256(b"flou joint nonce" + plan + party.to_bytes(4, "big") + nonce).digest()


def joining(plan: bytes, joined: bytes, commitments: bytes) -> bytes:
    """The place where nonces are revealed: everyone who has joined, and what they have committed to."""
    return digest("joined", plan, joined, commitments)


def at_once(plan: Plan, place: bytes, joined: tuple[int, ...]) -> Ahead | None:
    """How the secrets of the first round are shared together with the nonces; None if neighbours are not known yet."""
    if len(plan.roster) > DENSE:
        return None
    lost = len(plan.roster) - len(joined)  # who is absent counts already
    found = resilience(len(joined), max(0, resilience(len(plan.roster), plan.dropouts).dropouts - lost))
    return Ahead(plan.roster, (plan.hash, "join"), place, _graph(joined, b"", len(joined) - 1), found)


@dataclass(frozen=True)
class Beginning:
    """A session that has begun: who is there, its number, and how the secrets of the first round are shared."""

    plan: Plan
    present: tuple[int, ...]
    id: bytes
    ahead: Ahead

    @classmethod
    def of(cls, plan: Plan, place: bytes, joined: tuple[int, ...], present: Sequence[int], nonces: bytes) -> Beginning:
        enough(plan, len(present))
        number = digest("session", plan.hash, place, bitmap(present, len(plan.roster)), nonces)
        ahead = at_once(plan, place, joined)
        if ahead is None:
            found = resilience(len(plan.roster), plan.dropouts)
            graph = _graph(tuple(present), number, found.neighbours)
            ahead = Ahead(plan.roster, (plan.hash, "join"), number, graph, found)
        return cls(plan, tuple(present), number, ahead)

    def setting(self, head: bytes, number: int, ask: Ask, opened: Sequence[Opened], ahead: Ahead | None) -> Setting:
        """The setting of a round: its number hangs on everything that was opened before, and on what is asked."""
        if ahead is None:  # secrets serve once
            raise ProtocolError(
                "The coordinator asks for another round after the last one.",
                "All numbers of the plan are open, and no secrets were shared for another round.",
                "Begin a new session, or agree on a plan that opens more.",
            )
        plan, names = self.plan, self.plan.roster
        previous = frozenset(map(names.numbers.__getitem__, opened[-1].parties)) if opened else None
        return Setting(
            id=digest("round", head, number, encode(ask.to_dict())),
            ahead=ahead,
            last=sum(one.ask.length for one in opened) + ask.length >= plan.scalars,
            cohort=frozenset(self.present),
            minimum=plan.smallest,
            previous=previous,
            differences=plan.differences == "accept",
            width=plan.proof(ask).width,
            length=ask.length,
        )


def enough(plan: Plan, parties: int) -> None:
    """Refuse to begin with fewer parties than the plan asks for."""
    if parties < plan.smallest:
        raise ProtocolError(
            f"Only {parties} parties are there.",
            f"The plan asks for at least {plan.minimum}.",
            "Begin again when more parties are there.",
        )


@lru_cache(maxsize=8)
def _graph(parties: tuple[int, ...], session: bytes, degree: int) -> Mapping[int, tuple[int, ...]]:
    return neighbours(parties, session, degree)
