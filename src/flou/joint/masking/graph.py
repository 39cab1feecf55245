"""Who shares masks and shares with whom, and how many liars and losses that withstands.

Each party has k neighbours, who hold t-of-k shares of its two secrets: the self-mask b (opened if it is among the
survivors) and the mask key s (opened if it is not). Whoever has both can take the mask off its words.

Safe     as long as 2t > k + c, where c of the k neighbours collude. An honest neighbour gives one of the two shares, a
         colluding one both, so whoever asks n of the k - c honest ones for b and the others for s has n + c shares of b
         and at most k - c - n + c of s. Both reach t only if k + c >= 2t. A party gives b itself only after t
         neighbours have signed that it survives: again n + c >= t, so this adds nothing.
Alive    a party goes on when t neighbours have signed the same survivors, and one that is gone needs t neighbours to
         be recovered. With all parties as neighbours, k - t may be lost at any time. One more may be after everyone has
         signed, for then a gone party still has m - (k - t + 1) = t neighbours, and the others open b themselves.
Sparse   above 100 parties the neighbours are those at distance at most k/2 on a circle in random order. Colluders are
         chosen before the order is known, so they are a uniform sample of the places: the probability that any party
         has 2t - k of them as neighbours is at most m times a hypergeometric tail. Losses are the coordinator's to
         tell, after it knows the order. It could show the sums of two arcs by telling that all honest parties in two
         runs of k/2 places are lost, but the parties beside such a run go on only with t neighbours that sign, at
         most k/2 of them outside of the run: each run must hold t - k/2 colluders. There are m(m-1)/2 pairs of runs,
         and the colluders in two runs are negatively associated: both have so many with at most the product of the
         two probabilities. That a party is stuck is bounded for losses by accident. All in exact integers.
Privacy  the order follows from who is present and their nonces, and of several present sets the coordinator may try
         which one suits it: the bound of 2^-80 is the work of a search that nobody sees, and not a small chance once
Source   Bonawitz et al. (2017); Bell, Bonawitz, Gascon, Lepoint and Raykova (2020)
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import comb
from typing import TypeAlias, TypeVar

import numpy as np

from flou.bits import SeededBits
from flou.errors import InvalidParameter
from flou.parameters import Number, integer, probability

__all__ = ["Connectivity", "Resilience", "complete", "graph_for", "neighbours", "resilience"]

N = TypeVar("N", int, str)
Places: TypeAlias = np.ndarray[tuple[int], np.dtype[np.int64]]

SMALL, DENSE = 10, 100  # up to SMALL parties everyone is needed; up to DENSE everyone is everyone's neighbour
MOST_PARTIES = 10**6


@dataclass(frozen=True)
class Connectivity:
    """How many neighbours a party has, how many of them open a secret, and what that withstands."""

    neighbours: int
    threshold: int
    colluders: int  # how many parties may collude with the coordinator and learn no more than the sum
    dropouts: int  # how many parties may be lost at any time before the round fails


def complete(parties: int, threshold: int) -> Connectivity:
    """Everyone is everyone's neighbour, with a threshold of your own."""
    k = integer("parties", parties, 3, MOST_PARTIES) - 1
    t = integer("threshold", threshold, k // 2 + 1, k)  # below, neighbours could be asked for both secrets
    return Connectivity(k, t, 2 * t - k - 1, k - t)


def graph_for(
    parties: int,
    *,
    corrupt: Number = Fraction(1, 10),
    dropout: Number = Fraction(1, 20),
    privacy: int = 80,
    liveness: int = 30,
) -> Connectivity:
    """The fewest neighbours that withstand these shares of colluders and losses, up to 2^-privacy and 2^-liveness."""
    m = integer("parties", parties, 3, MOST_PARTIES)
    colluders = int(probability("corrupt", corrupt) * m)
    dropouts = int(probability("dropout", dropout) * m)
    if m <= DENSE:
        graph = complete(m, m - 1 if m <= SMALL else max(2 * (m - 1) // 3 + 1, (m + 1 + colluders) // 2))
        if graph.colluders < colluders or graph.dropouts < dropouts:
            raise _too_much()
        return graph
    return _sparse(m, colluders, dropouts, integer("privacy", privacy, 1, 256), integer("liveness", liveness, 1, 256))


def _too_much() -> InvalidParameter:
    return InvalidParameter(
        "No threshold withstands these shares of colluders and losses together.",
        "A threshold t needs 2t > k + colluders, and t neighbours that are still present.",
        "Assume fewer of either, for example corrupt=0.1 and dropout=0.05.",
    )


@lru_cache(maxsize=64)
def _sparse(m: int, colluders: int, dropouts: int, privacy: int, liveness: int) -> Connectivity:
    present = m - dropouts  # the fewest parties among whom the colluders may be
    for k in range(2, present - 1, 2):
        t = _threshold(m, k, dropouts, liveness)
        unsafe = _tail(present - 1, colluders, k, 2 * t - k)
        cut = _tail(present, colluders, k // 2, t - k // 2)
        if max(present * unsafe, comb(present, 2) * cut**2) * 2**privacy <= 1:
            return Connectivity(k, t, colluders, dropouts)
    graph = complete(m, (m + 1 + colluders) // 2)
    if graph.dropouts < dropouts:
        raise _too_much()
    return graph


def _tail(places: int, marked: int, sample: int, least: int) -> Fraction:
    """The probability that a sample of places has at least this many marked ones."""
    ways = sum(comb(marked, j) * comb(places - marked, sample - j) for j in range(max(least, 0), sample + 1))
    return Fraction(ways, comb(places, sample))


def _threshold(m: int, k: int, dropouts: int, liveness: int) -> int:
    """The largest threshold with which hardly ever any party is stuck."""
    total, marked = comb(m - 1, k), m - 1 - dropouts
    living = (comb(marked, j) * comb(dropouts, k - j) for j in range(k + 1))  # ways to have j living neighbours
    return sum(1 for few in itertools.accumulate(living) if m * few << liveness <= total)


def neighbours(names: Sequence[N], session: bytes, k: int) -> Mapping[N, tuple[N, ...]]:
    """The neighbours of every party, in the order of their names.

    The order on the circle is exactly uniform and drawn from the number of the session, which is public: every party
    draws the same one. It hides nothing, and only must not be known when somebody decides whom to corrupt.
    """
    ordered = sorted(set(names))
    m = len(ordered)
    if m != len(names) or m < 3:
        raise InvalidParameter(
            "The names must be distinct, and at least three.",
            "Names identify parties, and with only two parties each learns the sums of the other.",
            "List every party once.",
        )
    if k >= m - 1:
        return {name: tuple(ordered[:i] + ordered[i + 1 :]) for i, name in enumerate(ordered)}
    if k % 2 or k < 2:
        raise InvalidParameter(
            f"On a circle a party has an even number of neighbours, not {k}.",
            "There are as many to its left as to its right.",
            f"Pass k={max(k + 1, 2)}, or k={m - 1} for all of them.",
        )
    return _Circle(ordered, _shuffled(m, SeededBits(b"flou.joint.graph:" + session)), k)


class _Circle(Mapping[N, tuple[N, ...]]):
    """Parties on a circle. Neighbours are looked up when somebody asks: a party asks for its own only."""

    def __init__(self, names: Sequence[N], circle: Places, k: int) -> None:
        self._names: Sequence[N] = names
        self._circle = circle
        self._around = np.array([step for step in range(-(k // 2), k // 2 + 1) if step])
        self._places: dict[N, int] = {names[party]: place for place, party in enumerate(circle.tolist())}

    def __getitem__(self, name: N) -> tuple[N, ...]:
        near = np.sort(self._circle[(self._places[name] + self._around) % len(self._circle)])
        return tuple([self._names[other] for other in near.tolist()])

    def __iter__(self) -> Iterator[N]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


def _shuffled(m: int, bits: SeededBits) -> Places:
    """0, ..., m - 1 in uniform order: that of random words, all of which are drawn again if two are equal."""
    while np.unique(words := bits.words(m)).size < m:
        pass
    return np.argsort(words)


@dataclass(frozen=True)
class Resilience:
    """How many neighbours a party has, how many restore a secret, how many must agree, and what that withstands.

    A party has k neighbours who hold t-of-k shares of its two secrets, b and s. It gives out anything only after q
    neighbours have signed the same survivors as it has, and everyone signs one list a round.

    Safe     as long as c < q + t - k of the neighbours conspire with the coordinator. Let an honest party i be alive in
             its own list. At least q - c honest neighbours have signed this list and give no share of s; at most k - q
             honest ones do, and with the c others that makes k - q + c < t shares: s stays hidden, and with it the
             masks. Where n < t neighbours are left to hold shares, all n restore: at most n - q + c < n shares of s,
             for c < q
    Alive    when d parties are gone, q <= k - d neighbours are left to sign, and a party that is gone itself still has
             k - d + 1 >= t neighbours who can restore its secret
    Best     hence q = k - d and t = min(k, k - d + 1): with all others as neighbours (k = m - 1), c <= m - 2 when
             nobody may be lost, and c <= m - 2d - 1 when d may
    Limits   whoever excludes d honest parties has a sum over m - d; so that two honest ones are in it, c <= m - d - 2
    """

    neighbours: int
    threshold: int
    quorum: int
    colluders: int
    dropouts: int


def resilience(parties: int, dropouts: int | None = None) -> Resilience:
    """What this many parties withstand when up to ``dropouts`` of them may be lost; by default a quarter.

    Above 100 parties the neighbours are few, and 5 % may be lost while 10 % conspire, but for a probability of 2^-30 of
    being stuck and 2^-80 of being unsafe.
    """
    if parties > DENSE:
        sparse = graph_for(parties)
        if dropouts is not None and dropouts > sparse.dropouts:
            raise InvalidParameter(
                f"dropouts must be at most {sparse.dropouts} for {parties} parties.",
                "Each party shares masks with few others, and too many of them could be lost.",
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
            "Otherwise the coordinator could show two halves different lists, and both would accept them.",
            "Pass a smaller number, or leave it out.",
        )
    return Resilience(k, min(k, k - d + 1), k - d, colluders, d)
