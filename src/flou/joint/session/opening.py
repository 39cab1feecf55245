"""How a session begins: everyone signs the plan and commits to a nonce, then the nonces are revealed.

The number of a session is the hash of the plan and of all nonces. Nobody can choose it, and no message of one session
fits into another. The neighbours of everyone are drawn from it. A nonce is signed together with everyone's commitments,
and so are the keys for the first round that come with it. Whoever signs finds its own commitment among them, so that
nobody's can be replaced; and whoever reads finds its own as well, so that the keys are as fresh as that.
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
from flou.joint.masking.graph import neighbours
from flou.joint.masking.resilience import resilience
from flou.joint.round.messages import bitmap
from flou.joint.round.setting import Setting

__all__ = ["FULL", "NONCE", "Beginning", "joining", "nonce_commitment"]

FULL = 100  # up to so many parties everyone checks everything; above, their neighbours' part, and auditors the rest
NONCE = 32


def nonce_commitment(plan: bytes, party: int, nonce: bytes) -> bytes:
    """What a party signs before anyone has shown a nonce."""
    return hashlib.sha256(b"flou joint nonce" + plan + party.to_bytes(4, "big") + nonce).digest()


def joining(plan: bytes, joined: bytes, commitments: bytes) -> bytes:
    """The place where nonces are revealed: everyone who has joined, and what they have committed to."""
    return digest("joined", plan, joined, commitments)


@dataclass(frozen=True)
class Beginning:
    """A session that has begun: who is there, and its number."""

    plan: Plan
    joined: bytes  # the place where nonces were revealed
    present: tuple[int, ...]
    id: bytes

    @classmethod
    def of(cls, plan: Plan, joined: bytes, present: Sequence[int], nonces: bytes) -> Beginning:
        if len(present) < plan.smallest:
            raise ProtocolError(
                f"Only {len(present)} parties are there.",
                f"The plan asks for at least {plan.minimum}.",
                "Begin again when more parties are there.",
            )
        number = digest("session", plan.hash, joined, bitmap(present, len(plan.roster)), nonces)
        return cls(plan, joined, tuple(present), number)

    def setting(
        self, head: bytes, number: int, ask: Ask, opened: Sequence[Opened], before: Setting | None = None
    ) -> Setting:
        """The setting of a round: its number hangs on everything that was opened ``before``, and on what is asked."""
        plan, names = self.plan, self.plan.roster.names
        absent = len(names) - len(self.present)
        found = resilience(len(names), plan.dropouts)
        if found.neighbours >= len(names) - 1:  # everyone is a neighbour; who is absent already counts as lost
            left = min(found.dropouts - absent, len(self.present) - plan.smallest)
            found = resilience(len(self.present), max(0, left))
        previous = frozenset(map(plan.roster.numbers.__getitem__, opened[-1].parties)) if opened else None
        return Setting(
            roster=plan.roster,
            id=digest("round", head, number, encode(ask.to_dict())),
            keys=(self.joined, "reveal") if before is None else (before.id, "unmask"),
            last=sum(one.ask.length for one in opened) + ask.length >= plan.scalars,
            cohort=frozenset(self.present),
            graph=_graph(self.present, self.id, found.neighbours),
            resilience=found,
            minimum=plan.smallest,
            previous=previous,
            differences=plan.differences == "accept",
            width=plan.proof(ask).width,
            length=ask.length,
        )


@lru_cache(maxsize=8)
def _graph(present: tuple[int, ...], session: bytes, degree: int) -> Mapping[int, tuple[int, ...]]:
    return neighbours(present, session, degree)
