"""The privacy of a mechanism, computed: the laws of all pairs of neighbours of a tiny domain, compared exactly.

``loss`` is the largest log-ratio of probabilities, ``delta`` the exact hockey-stick divergence at a given epsilon, and
``renyi`` the Rényi divergence of a given order. A checker that has never refused anything proves nothing: the tests
feed planted faults to the same functions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

Table = tuple[int, ...]  # a sorted multiset of records


def tables(records: Iterable[int], sizes: Iterable[int]) -> list[Table]:
    """All tables with these records and sizes."""
    values = list(records)
    return [table for size in sizes for table in combinations_with_replacement(values, size)]


def neighbours(relation: str, every: Iterable[Table]) -> Iterator[tuple[Table, Table]]:
    """All ordered pairs of neighbouring tables among the given ones."""
    known = set(every)
    values = {value for table in known for value in table}
    for table in known:
        for i in range(len(table)):
            without = table[:i] + table[i + 1 :]
            replaced = [tuple(sorted((*without, value))) for value in values]
            others = [without] if relation == "add-remove" else replaced
            for other in others:
                if other in known and other != table:
                    yield table, other
                    yield other, table


def loss(
    law: Callable[[Any], Any],
    summary: Callable[[Table], Any],
    pairs: Iterable[tuple[Table, Table]],
    outcomes: Callable[[Any], Iterable[Hashable]],
) -> float:
    """sup over neighbours and outcomes of log P(outcome) - log P'(outcome)."""
    cache: dict[Any, dict[Hashable, float]] = {}

    def logs(table: Table) -> dict[Hashable, float]:
        if table not in cache:
            known = law(summary(table))
            points = list(outcomes(known))
            vector = _vectorised(known, points)
            cache[table] = dict(zip(points, vector, strict=True))
        return cache[table]

    worst = -math.inf
    for left, right in pairs:
        p, q = logs(left), logs(right)
        if p.keys() != q.keys():
            return math.inf
        for outcome, log_p in p.items():
            if log_p > -math.inf:
                worst = max(worst, log_p - q[outcome])
    return worst


def _vectorised(law: Any, points: list[Any]) -> list[float]:
    if points and isinstance(points[0], int):
        return np.asarray(law.log_pmf(np.array(points))).tolist()
    if points and isinstance(points[0], tuple) and hasattr(law, "noise"):
        return np.asarray(law.log_pmf(np.array(points))).tolist()
    return [float(law.log_pmf(point)) for point in points]


def delta(p: np.ndarray, q: np.ndarray, epsilon: float) -> float:
    """The least delta for which P <= e^epsilon Q + delta on every set."""
    return float(np.sum(np.maximum(p - math.exp(epsilon) * q, 0.0)))


def renyi(log_p: np.ndarray, log_q: np.ndarray, order: float) -> float:
    """The Rényi divergence of order above 1, in nats."""
    terms = order * log_p + (1 - order) * log_q
    top = float(np.max(terms))
    return (top + math.log(float(np.sum(np.exp(terms - top))))) / (order - 1)
