"""The exact doubles at which the codes of numbers change.

An engine then needs two comparisons for the ends of a grid, and the arithmetic of the rule only in between:

    x < first             code 0
    first <= x < last     the rule, which cannot leave the grid there
    last <= x <= inf      the last code
    anything else         the code of missing: NULL, and NaN, which every engine sorts above infinity

Comparisons cost an engine less than LEAST and GREATEST, which are slow in DuckDB and differ on NaN elsewhere, and
between the two ends no division underflows, which PostgreSQL would answer with an error.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from flou.domain import Domain
from flou.domain.rule import Cells, Codes, Rule, Wholes

__all__ = ["edges", "ends"]


@lru_cache(maxsize=1024)
def ends(domain: Domain | Rule) -> tuple[float, float]:
    """The smallest doubles whose code is at least 1, and the last code, by a rule for numbers."""
    last = domain.rule.last
    first, final = edges(domain.rule, np.array([min(1, last), last]))
    return first, final


def edges(rule: Rule, codes: Codes) -> list[float]:
    """The smallest double whose code reaches each of these, by bisection: codes never decrease."""
    assert isinstance(rule, Cells | Wholes)
    bounds = np.array([rule.lower, rule.upper], dtype=np.float64)  # which may round a whole number
    first, last = _ranks(np.nextafter(bounds, [-np.inf, np.inf])).tolist()
    below, above = np.full(codes.size, first), np.full(codes.size, last)
    for _ in range(64):  # bits of a double
        middle = (below & above) + ((below ^ above) >> 1)  # half of their sum, which may not fit into 64 bits
        reached = rule.encode(_doubles(middle)) >= codes
        below, above = np.where(reached, below, middle), np.where(reached, middle, above)
    found: list[float] = _doubles(above).tolist()
    return found


def _ranks(doubles: NDArray[np.float64]) -> NDArray[np.int64]:
    """The ranks of doubles among all of them, zero at 0.0."""
    sizes = np.abs(doubles).view(np.int64)
    return np.where(doubles < 0, -sizes, sizes)


def _doubles(ranks: NDArray[np.int64]) -> NDArray[np.float64]:
    sizes = np.abs(ranks).view(np.float64)
    return np.where(ranks < 0, -sizes, sizes)
