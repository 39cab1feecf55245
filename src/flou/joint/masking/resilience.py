"""How many parties a round may lose, and how many may conspire, given who holds shares of whose secrets.

A party has k neighbours who hold t-of-k shares of its two secrets, b and s. It gives out anything only after q
neighbours have signed the same survivors as it has, and everyone signs one list a round.

Safe     as long as c < q + t - k of the neighbours conspire with the coordinator. Let an honest party i be alive in its
         own list. At least q - c honest neighbours have signed this list and give no share of s; at most k - q honest
         ones do, and with the c others that makes k - q + c < t shares: s stays hidden, and with it the masks.
         Where n < t neighbours are left to hold shares, all n restore: at most n - q + c < n shares of s, for c < q.
Alive    when d parties are gone, q <= k - d neighbours are left to sign, and a party that is gone itself still has
         k - d + 1 >= t neighbours who can restore its secret
Best     hence q = k - d and t = min(k, k - d + 1): with all others as neighbours (k = m - 1), c <= m - 2 when nobody
         may be lost, and c <= m - 2d - 1 when d may
Limits   whoever excludes d honest parties has a sum over m - d; so that two honest ones are in it, c <= m - d - 2
"""

from __future__ import annotations

from dataclasses import dataclass

from flou.errors import InvalidParameter
from flou.joint.masking.graph import DENSE, graph_for

__all__ = ["Resilience", "resilience"]


@dataclass(frozen=True)
class Resilience:
    """How many neighbours a party has, how many restore a secret, how many must agree, and what that withstands."""

    neighbours: int
    threshold: int
    quorum: int
    colluders: int
    dropouts: int


def resilience(parties: int, dropouts: int | None = None) -> Resilience:
    """What so many parties withstand when up to ``dropouts`` of them may be lost; by default a quarter.

    Above 100 parties the neighbours are few, and 5 % may be lost while 10 % conspire, but for a probability of 2^-30 of
    being stuck and 2^-80 of being unsafe.
    """
    if parties > DENSE:
        sparse = graph_for(parties)
        if dropouts is not None and dropouts > sparse.dropouts:
            raise InvalidParameter(
                f"dropouts must be at most {sparse.dropouts} for {parties} parties.",
                "Each party shares masks with few others, and too many of these could be gone.",
                f"Pass dropouts={sparse.dropouts}, or leave it out.",
            )
        lost = sparse.dropouts if dropouts is None else dropouts
        return Resilience(sparse.neighbours, sparse.threshold, sparse.threshold, sparse.colluders, lost)
    k = parties - 1
    d = parties // 4 if dropouts is None else dropouts
    colluders = min(parties - 2 * d - 1, parties - d - 2)
    if colluders < 0 or k - d < 1:
        raise InvalidParameter(
            f"dropouts must be at most {(parties - 1) // 2} for {parties} parties.",
            "Otherwise two halves could be shown different lists of who is there, and both would believe them.",
            "Pass a smaller number, or leave it out.",
        )
    return Resilience(k, min(k, k - d + 1), k - d, colluders, d)
