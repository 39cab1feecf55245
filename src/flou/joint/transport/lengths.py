"""How long messages can be, which follows from the plan."""

from __future__ import annotations

from flou.joint.agreement.plan import Plan
from flou.joint.masking.codec import WIDEST
from flou.joint.session.opening import FULL

__all__ = ["LONGEST_PLAN", "longest_message", "longest_reply"]

LONGEST_PLAN = 1 << 25  # bytes of a plan file: 100,000 parties take 9 million
SIGNED = 1 << 12  # a body without lists, and its signature
SHARES = 256  # for a neighbour: its number and two sealed shares


def longest_message(plan: Plan, step: str) -> int:
    """No message of a party in this step has more bytes."""
    size = SIGNED + len(plan.roster) // 8  # a set of parties
    if step == "mask":
        return size + plan.program.scalars * WIDEST // 8
    return size + plan.resilience.neighbours * SHARES * (2 if step == "unmask" else step in ("reveal", "share"))


def longest_reply(plan: Plan) -> int:
    """No reply of the coordinator has more bytes: sums, the next question, and the messages of those who are seen."""
    words, shares = longest_message(plan, "mask"), longest_message(plan, "unmask")
    seen = min(len(plan.roster), FULL)
    return 3 * words + 64 * len(plan.roster) + seen * (words + shares + 4 * SIGNED)
