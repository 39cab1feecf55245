"""Grids and rows that an engine could round differently from batch to batch."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from flou.domain import Integers, Interval
from flou.summaries import MomentGrid

# Steps without an exact reciprocal, edges of decimals, bounds far from zero, fine grids and those that follow them.
DOMAINS: dict[str, Any] = {
    "fifths": Interval(0, 1, cells=5),
    "tenths": Interval(0, 0.3, step=0.1),
    "thirds": Interval(-1, 1, cells=3, missing=1),
    "hundreds": Interval(-7.3, 100, cells=1000),
    "49 fine": Interval(0, 49).fine(31),
    "49 coarse": Interval(0, 49).fine(31).coarser(16),
    "salaries": Interval(0, 300_000).fine(26),
    "far": Interval(1e9, 1e9 + 1).fine(26),
    "below": Interval(-2e9 - 0.5, -2e9, cells=7),
    "huge": Interval(-1e300, 1e299, cells=11),
    "tiny": Interval(1e-9, 1.7e-9, cells=7),
    "pi": Interval(math.pi, math.tau, step=math.pi / 11),
    "whole": Integers(-5, 5),
}
MOMENTS = MomentGrid.of("x", Interval(0, 300_000))  # sums of codes and of their spread
SIZES = (1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 33, 64, 65, 100, 127, 129, 1000, 1025, 4097, 10_000)


@lru_cache(maxsize=64)
def beside_edges(domain: Any) -> np.ndarray:
    """Doubles on edges and one unit in the last place beside them, and those outside."""
    generator = np.random.default_rng(20261118)
    if isinstance(domain, Integers):
        at = np.arange(domain.lower, domain.upper + 1) * 1.0
    else:
        last = int(domain.encode([domain.upper])[0])
        codes = np.unique(np.concatenate([np.arange(min(last + 1, 40)), generator.integers(0, last + 1, 400)]))
        middles = domain.lower + codes * domain.step
        near = [middles]
        for side in (-math.inf, math.inf):  # the edge is one of the doubles next to the decimal
            step = middles
            for _ in range(4):
                step = np.nextafter(step, side)
                near.append(step)
        at = np.concatenate(near)
    low, high = float(domain.lower), float(domain.upper)
    special = [low, high, 0.6, -0.0, 5e-324, -5e-324, 1e308, -1e308, math.inf, -math.inf, math.nan]
    shuffled = generator.permutation(np.concatenate([at, np.nextafter(at, math.inf), np.nextafter(at, -math.inf)]))
    return np.concatenate([shuffled[:2000], special, shuffled[2000:]])


def rows_for(domain: Any, size: int) -> np.ndarray:
    """So many rows, those that are hardest first."""
    return np.resize(beside_edges(domain), size)
