"""Where the codes of a grid change, found exactly among the doubles.

An engine then needs two comparisons for the ends of a grid, and the arithmetic of the rule only in between:

    x < first             code 0
    first <= x < last     the rule, which cannot leave the grid there
    last <= x <= inf      the last code
    anything else         the code of missing: NULL, and NaN, which every engine sorts above infinity

Comparisons cost an engine less than LEAST and GREATEST, which are slow in DuckDB and differ on NaN elsewhere, and
between the two ends no division underflows, which PostgreSQL would answer with an error.
"""

from __future__ import annotations

import math
import struct
from functools import lru_cache

import numpy as np

from flou.domain import Integers, Interval
from flou.summaries.condition import Comparison, fitted

__all__ = ["ends"]


@lru_cache(maxsize=1024)
def ends(domain: Interval | Integers) -> tuple[float, float]:
    """The smallest doubles whose code is at least 1, and the last one."""
    if isinstance(domain, Integers):
        return _at_least(domain.lower + 1), _at_least(domain.upper)
    return _edge(domain, min(1, domain.last)), _edge(domain, domain.last)


def _at_least(whole: int) -> float:
    stated = fitted(Comparison("", ">=", whole), None)
    assert isinstance(stated, tuple)
    return float(stated[1])


def _edge(domain: Interval, code: int) -> float:
    """By bisection: codes never decrease, and the doubles between two others can be counted."""
    below, above = _place(domain.lower) - 1, _place(domain.upper)
    while above - below > 1:
        middle = (below + above) // 2
        reached = int(domain.encode(np.array([_double(middle)]))[0]) >= code
        below, above = (below, middle) if reached else (middle, above)
    return _double(above)


def _place(x: float) -> int:
    """The place of a double among all doubles, zero at 0.0."""
    return int(math.copysign(1, x)) * int(struct.unpack("<q", struct.pack("<d", abs(x)))[0])


def _double(place: int) -> float:
    size: float = struct.unpack("<d", struct.pack("<q", abs(place)))[0]
    return math.copysign(size, place)
