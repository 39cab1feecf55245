"""Every mechanism on a tiny domain: how a table becomes its summary, and what can be released.

A case is pure: its claim is an epsilon. ``tight`` cases must also reach nine tenths of their claim, so that no budget
is wasted by a bound that is too careful, and no test passes because it looked away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from flou.mechanisms import (
    AboveThreshold,
    BernoulliMean,
    Exponential,
    GeneralisedRandomisedResponse,
    InverseSensitivity,
    Laplace,
    Majority,
    Mechanism,
    NoisyMax,
    PermuteAndFlip,
    PiecewiseExponential,
    RandomisedResponse,
    Staircase,
)
from privacy.exhaustive import Table, neighbours, tables

WINDOW = range(-25, 40)


@dataclass(frozen=True)
class Case:
    mechanism: Mechanism
    summary: Callable[[Table], Any]
    pairs: tuple[tuple[Table, Table], ...]
    outcomes: Callable[[Any], Iterable[Any]]
    tight: bool = True

    def __repr__(self) -> str:
        return f"{self.mechanism!r} {self.mechanism.guarantee.relation} {self.summary.__name__}"


def pairs(relation: str, records: Iterable[int], sizes: Iterable[int]) -> tuple[tuple[Table, Table], ...]:
    return tuple(neighbours(relation, tables(records, sizes)))


def both_ways(some: Iterable[tuple[Table, Table]]) -> tuple[tuple[Table, Table], ...]:
    return tuple(pair for a, b in some for pair in ((a, b), (b, a)))


def count(table: Table) -> int:
    return len(table)


def total(table: Table) -> int:
    return sum(table)


def histogram(table: Table) -> list[int]:
    return [table.count(value) for value in range(3)]


def votes(table: Table) -> tuple[int, int]:
    return table.count(1), table.count(0)


def truth(table: Table) -> int:
    return table[0]


def median_utilities(table: Table) -> list[int]:
    """-|below - above| for the candidates 0, 1, 2: one substitution moves a utility by at most 2, one addition by 1."""
    return [-abs(sum(x < c for x in table) - sum(x > c for x in table)) for c in range(3)]


def median_lengths(table: Table) -> list[int]:
    """Substitutions until the lower median of a table of odd size is c."""
    half = len(table) // 2 + 1
    return [max(0, half - sum(x <= c for x in table), half - sum(x >= c for x in table)) for c in range(3)]


def is_small_lengths(table: Table) -> list[int]:
    """Substitutions until the answer to "is the sum of ones at most 1?" is yes, and until it is no."""
    ones = table.count(1)
    return [max(0, ones - 1), max(0, 2 - ones)]


def gap_pieces(table: Table) -> tuple[list[int], list[int]]:
    """QExp's pieces on the grid 0..5: between consecutive records the rank, twice the distance to the middle rank."""
    edges = [0, *table, 6]
    lengths = np.diff(edges).tolist()
    utilities = [-abs(2 * i - len(table)) for i in range(len(table) + 1)]
    return lengths, utilities


def ahead(table: Table) -> list[int]:
    """Ones - zeros and its opposite: two utilities that move in opposite directions."""
    return [table.count(1) - table.count(0), table.count(0) - table.count(1)]


def two_counts(table: Table) -> list[int]:
    """Zeros and ones: two utilities that move in the same direction under add/remove."""
    return [table.count(0), table.count(1)]


def wide_gap_pieces(table: Table) -> tuple[list[int], list[int]]:
    """QExp's pieces for two records on the grid 0..399: a short piece in the middle ranks, or a long one."""
    lengths, utilities = gap_pieces(table)
    return [*lengths[:-1], lengths[-1] + 394], utilities


def opposing_queries(table: Table) -> list[int]:
    """Queries that stay low with the number of records, and a last one that falls with it."""
    return [len(table)] * 60 + [-len(table)]


def last_only(law: Any) -> list[tuple[int, ...]]:
    return [(law.size - 1,), ()]


def running_counts(table: Table) -> list[int]:
    """How many records are at most c, for c = 0..3: monotone queries under add/remove."""
    return [sum(x <= c for x in table) for c in range(4)]


def window(_: Any) -> range:
    return WINDOW


def plane(_: Any) -> Iterable[tuple[int, ...]]:
    return product(range(-3, 7), repeat=3)


def positions(law: Any) -> range:
    return range(law.probabilities.size)


def cells(law: Any) -> range:
    return range(int(law.ends[-1]))


def up_to(n: int) -> Callable[[Any], range]:
    return lambda _: range(n + 1)


AR, SUB = "add-remove", "substitute"
COUNTS = {AR: pairs(AR, [0, 1, 2], range(5)), SUB: pairs(SUB, [0, 1, 2], [3, 4])}
BITS = {AR: pairs(AR, [0, 1], range(8)), SUB: pairs(SUB, [0, 1], [4, 5, 6, 7])}
ONE_PERSON = tuple(((a,), (b,)) for a in range(4) for b in range(4) if a != b)
CASES: list[Case] = []

for epsilon in (0.1, 1, 3):
    CASES += [
        Case(Laplace(sensitivity=1, epsilon=epsilon), count, COUNTS[AR], window),
        Case(Laplace(sensitivity=2, epsilon=epsilon), total, COUNTS[AR], window),
        Case(Laplace(sensitivity=2, epsilon=epsilon, relation=SUB), total, COUNTS[SUB], window),
        Case(Laplace(sensitivity=1, epsilon=epsilon), histogram, COUNTS[AR], plane),
        Case(Laplace(sensitivity=2, epsilon=epsilon, relation=SUB), histogram, COUNTS[SUB], plane),
        Case(Staircase(sensitivity=2, epsilon=epsilon), total, COUNTS[AR], window),
        Case(Staircase(sensitivity=2, epsilon=epsilon, r=2, relation=SUB), total, COUNTS[SUB], window),
        Case(Staircase(sensitivity=2, epsilon=epsilon, cost="squared", relation=SUB), total, COUNTS[SUB], window),
    ]
    far = range(max(8, int(24 / epsilon)))  # far enough for the smaller probability to become negligible
    FAR = {
        AR: both_ways(((0,) * i, (0,) * (i + 1)) for i in far),
        SUB: both_ways(((0,) * i + (0,), (0,) * i + (1,)) for i in far),
    }
    for kind in (Exponential, PermuteAndFlip, NoisyMax):
        CASES += [
            Case(kind(sensitivity=1, epsilon=epsilon), ahead, FAR[AR], positions),
            Case(
                kind(sensitivity=2, epsilon=epsilon, relation=SUB),
                ahead,
                FAR[SUB],
                positions,
            ),
            Case(
                kind(sensitivity=1, epsilon=epsilon, utility="monotone"),
                two_counts,
                FAR[AR],
                positions,
            ),
        ]
        # the utilities of a median move in both directions; those of counts in one only, under add/remove
        CASES += [
            Case(kind(sensitivity=1, epsilon=epsilon), median_utilities, COUNTS[AR], positions, tight=False),
            Case(
                kind(sensitivity=2, epsilon=epsilon, relation=SUB),
                median_utilities,
                COUNTS[SUB],
                positions,
                tight=False,
            ),
            Case(
                kind(sensitivity=1, epsilon=epsilon, utility="monotone"), histogram, COUNTS[AR], positions, tight=False
            ),
            Case(kind(sensitivity=1, epsilon=epsilon, relation=SUB), histogram, COUNTS[SUB], positions, tight=False),
        ]
    CASES += [
        Case(
            InverseSensitivity(epsilon=epsilon), median_lengths, pairs(SUB, [0, 1, 2], [3, 5]), positions, tight=False
        ),
        Case(InverseSensitivity(epsilon=epsilon), is_small_lengths, BITS[SUB], positions),
        Case(
            PiecewiseExponential(sensitivity=1, epsilon=epsilon),
            gap_pieces,
            pairs(AR, range(7), range(4)),
            cells,
            tight=False,
        ),
        Case(
            PiecewiseExponential(sensitivity=2, epsilon=epsilon, relation=SUB),
            gap_pieces,
            pairs(SUB, range(7), [2, 3]),
            cells,
            tight=False,
        ),
        Case(
            PiecewiseExponential(sensitivity=2, epsilon=epsilon, relation=SUB),
            wide_gap_pieces,
            pairs(SUB, [0, 1, 400], [2]),
            cells,
        ),
        Case(
            AboveThreshold(threshold=0, sensitivity=1, epsilon=epsilon),
            opposing_queries,
            pairs(AR, [0], range(3)),
            last_only,
        ),
        Case(BernoulliMean(rows=7, epsilon=epsilon), total, pairs(SUB, [0, 1], [7]), up_to(7), tight=False),
        Case(RandomisedResponse(epsilon=epsilon), truth, ONE_PERSON[:1] + ONE_PERSON[3:4], up_to(1)),
        Case(GeneralisedRandomisedResponse(k=4, epsilon=epsilon), truth, ONE_PERSON, positions),
    ]
    for relation in (AR, SUB):
        for version in ("geometric", "exponential", "logistic", "inverse-sensitivity"):
            mechanism = Majority(epsilon=epsilon, version=version, relation=relation)
            wide = pairs(relation, [0, 1], range(50) if relation == AR else [4, 5, 60, 61])
            CASES.append(Case(mechanism, votes, wide, up_to(1)))
        for answers in (1, 2):
            for split in (None, 0.5):
                options = {"threshold": 2, "sensitivity": 1, "epsilon": epsilon, "answers": answers, "split": split}
                monotone = relation == AR
                CASES.append(
                    Case(
                        AboveThreshold(monotone=monotone, relation=relation, **options),
                        running_counts,
                        COUNTS[relation],
                        lambda law: list(law.outcomes()),
                        tight=False,
                    )
                )

for p, q in ((0.75, 0.25), (0.9, 0.5), (0.2, 0.7), (0.5, 0.001)):
    CASES.append(Case(RandomisedResponse(p=p, q=q), truth, ONE_PERSON[:1] + ONE_PERSON[3:4], up_to(1)))
