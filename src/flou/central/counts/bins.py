"""How a column is cut into bins for counting, and what the bins are called.

An interval is cut into equal cells. Whole numbers are counted one by one where they are few, or cut into runs of equal
length, of which the last may be longer than what is left; categories are their own bins. Nothing here looks at a row.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from flou.domain import Integers, Interval
from flou.errors import InvalidParameter
from flou.parameters import integer
from flou.release import Layout

__all__ = ["Runs", "binned", "for_histogram", "layout_of", "names_of"]

BINS, MOST = 20, 2**20
ONE_BY_ONE = 200  # whole numbers that a histogram shows each for itself, unless it is told otherwise
BY_NAME = 12  # whole numbers that are drawn as categories are
EXACT = 2**49  # between bounds of this size whole numbers are whole numbers of units (``domain/units.py``)


class Runs(Interval):
    """Whole numbers in runs of equal length: cells of an interval whose edges are whole numbers.

    Whole numbers are whole numbers of units, so that the edges are exact.
    """

    largest: int

    @classmethod
    def of(cls, domain: Integers, bins: int) -> Runs:
        length = -(-domain.size // bins)
        count = -(-domain.size // length)
        runs = cls(domain.lower, domain.lower + length * count, step=length, missing=domain.missing)
        object.__setattr__(runs, "largest", domain.upper)
        return runs

    @property
    def names(self) -> tuple[str, ...]:
        edges = [int(edge) for edge in self.edges()]
        ends = [(a, min(b - 1, self.largest)) for a, b in pairwise(edges)]
        return tuple(str(a) if a == b else f"{a} to {b}" for a, b in ends)


def binned(column: str, domain: Any, bins: int | None) -> Any:
    """The domain on so many bins, or on fewer where whole numbers cannot be shared out; its own codes without bins."""
    if isinstance(domain, Interval):
        return domain.with_cells(integer("bins", BINS if bins is None else bins, 1, MOST))
    if bins is None:
        return domain
    if not isinstance(domain, Integers):
        raise InvalidParameter(
            f"Column {column!r} has {domain.size} codes of its own, and takes no bins.",
            "Only numbers can be cut into bins.",
            "Leave bins out.",
        )
    if max(abs(domain.lower), abs(domain.upper)) >= EXACT:
        raise InvalidParameter(
            f"Column {column!r} has bounds beyond 2^49, and takes no bins.",
            "Whole numbers of that size are not told apart by their bins.",
            "Declare it with bounds below 2^49, or as an interval.",
        )
    return Runs.of(domain, integer("bins", bins, 1, MOST))


def for_histogram(column: str, domain: Any, bins: int | None) -> Any:
    """What a histogram counts: as ``binned``, and many whole numbers in bins without being asked to."""
    many = isinstance(domain, Integers) and domain.size > ONE_BY_ONE
    return binned(column, domain, BINS if bins is None and many else bins)


def names_of(domain: Any) -> tuple[str, ...]:
    """What the codes of a domain are called in tables and plots."""
    if isinstance(domain, Runs):
        return domain.names
    if isinstance(domain, Interval):
        edges = domain.edges()
        return tuple(f"{a:g} to {b:g}" for a, b in pairwise(edges.tolist()))
    return tuple(str(label) for label in domain.decode(np.arange(domain.size)).tolist())


def layout_of(domain: Any, groups: tuple[str, ...] | None = None) -> Layout:
    """How counts of the codes of a domain lie: bins on an axis of numbers, or names."""
    if isinstance(domain, Integers) and domain.size > BY_NAME:
        edges = tuple(domain.lower - 0.5 + code for code in range(domain.size + 1))
    elif isinstance(domain, Interval):
        edges = tuple(domain.edges().tolist())
    else:
        return Layout("values", groups, names_of(domain))
    return Layout("bins", groups, places=edges)
