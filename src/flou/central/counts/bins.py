"""Into how many bins a column is cut for counting: as many as were asked for, or as many as a reader can take in.

How it is cut, and what the bins are called, the domain knows. Nothing here looks at a row.
"""

from __future__ import annotations

from typing import Any

from flou.domain import Domain
from flou.parameters import integer
from flou.release import Layout

__all__ = ["binned", "for_histogram", "layout_of", "names_of"]

BINS, MOST = 20, 2**20
ONE_BY_ONE = 200  # numbers that a histogram shows each for itself, unless it is told otherwise
BY_NAME = 12  # numbers that are drawn as categories are


def binned(column: str, domain: Domain, bins: int | None) -> Domain:
    """The domain on so many bins, or on fewer where numbers cannot be shared out; its own codes without bins."""
    if bins is None and domain.discrete:
        return domain
    return domain.binned(column, integer("bins", BINS if bins is None else bins, 1, MOST))


def for_histogram(column: str, domain: Domain, bins: int | None) -> Domain:
    """What a histogram counts: as ``binned``, and many numbers in bins without being asked to."""
    many = domain.measured and domain.size > ONE_BY_ONE
    return binned(column, domain, BINS if bins is None and many else bins)


def names_of(domain: Any) -> tuple[str, ...]:
    """What the codes of a domain are called in tables and plots."""
    names: tuple[str, ...] = domain.names
    return names


def layout_of(domain: Domain, groups: tuple[str, ...] | None = None) -> Layout:
    """How counts of the codes of a domain lie: bins on an axis of numbers, or names."""
    numbers = domain.numbers if domain.measured else None
    if numbers is None or (domain.discrete and domain.size <= BY_NAME):
        return Layout("values", groups, names_of(domain))
    return Layout("bins", groups, places=tuple(numbers.places(range(domain.size + 1)).tolist()))
