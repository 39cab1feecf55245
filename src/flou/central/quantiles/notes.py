"""Words of caution about quantiles, from what is public: the plan, and estimated numbers of rows."""

from __future__ import annotations

import math
from collections.abc import Sequence

from flou.central.quantiles.plan import COUNTED, Drawn
from flou.central.question import few_rows

__all__ = ["note_of"]

FEW = 20  # times 1 / epsilon for each quantile that is paid for: of fewer rows, ranks are off by a good part
DOUBTFUL = 3.0  # standard errors: a group that seems to have fewer rows may be empty
WIDE = 20_000  # records seen, below which counts around the answers leave intervals that a tree has far narrower

UNPAID = "No share of epsilon went to intervals: the bounds are all that is certain of the values."
NARROWER = 'Intervals are several times narrower with the method "focused", whose answers are farther off.'


def note_of(drawn: Sequence[Drawn], groups: Sequence[str] | None, chosen_by_flou: bool) -> str:
    """What a reader should know about the quantiles of one set of records, or of each group."""
    found = []
    few = [place for place, one in enumerate(drawn) if _few(one)]
    if few and groups is None:
        found.append("Few rows next to the noise: the answers may be far off.")
    elif few and groups is not None:
        found.append(few_rows([groups[place] for place in few]))
    if any(one.ranks is None for one in drawn):
        found.append(UNPAID)
    elif chosen_by_flou and any(_wide(one) for place, one in enumerate(drawn) if place not in few):
        found.append(NARROWER)
    return " ".join(found)


def _few(one: Drawn) -> bool:
    plan, ranks = one.plan, one.ranks
    many = 1 if plan.choice[0] in COUNTED else len(set(plan.probabilities))  # counts serve all quantiles
    least = FEW * many / float(plan.epsilon)
    if plan.rows is not None and plan.relation == "substitute":
        return plan.rows < least
    if ranks is not None:
        return ranks.estimate.total < max(least, DOUBTFUL * math.sqrt(ranks.spare))
    return plan.rows is not None and plan.rows < least


def _wide(one: Drawn) -> bool:
    seen = one.plan.seen
    return one.plan.choice[0] == "joint" and seen is not None and seen < WIDE
