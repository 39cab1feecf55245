"""Tiny tables on tiny grids, where every pair of neighbours can be looked at, and draws counted."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from flou.mechanisms.quantiles import CellCounts, SortedRecords
from goodness import compatible
from privacy.exhaustive import Table, neighbours, tables

RELATIONS = ["add-remove", "substitute"]
PROBABILITIES = [Fraction(0), Fraction(1, 10), Fraction(1, 3), Fraction(1, 2), Fraction(1)]
FAR = 4000  # cells of a grid that is long enough for its empty part to outweigh the rest


def pairs(relation: str, codes, most: int) -> tuple[tuple[Table, Table], ...]:
    """All neighbours with up to ``most`` records among these codes."""
    return tuple(neighbours(relation, tables(codes, range(most + 1))))


def in_memory(table: Table, cells: int) -> SortedRecords:
    return SortedRecords(np.array(table[::-1], dtype=np.int64), cells=cells)


def as_counts(table: Table, cells: int) -> CellCounts:
    codes, counts = np.unique(np.array(table, dtype=np.int64), return_counts=True)
    return CellCounts(codes, counts, cells=cells)


def follows(draws, p: np.ndarray) -> bool:
    """Whether draws of 0..k-1 are compatible with these probabilities (false alarms 1e-9); rare ones are pooled."""
    draws, p = np.asarray(draws), np.asarray(p, dtype=float)
    counts = np.bincount(draws, minlength=p.size).astype(float)
    assert counts.size == p.size
    common = p * draws.size >= 5
    if common.all():
        return compatible(counts, p / p.sum())
    rest = max(float(p[~common].sum()), 0.0)
    if rest * draws.size < 1e-9:
        return counts[~common].sum() == 0 and compatible(counts[common], p[common] / p[common].sum())
    return compatible(np.append(counts[common], counts[~common].sum()), np.append(p[common], rest))
