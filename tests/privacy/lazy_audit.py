"""A program: audit histograms of a lazy Polars frame through the public API, with the rule as it is and as it was.

Two neighbours, two rows of 0.6 and three, are asked for the same histogram again and again. Half of the releases choose
an event, the other half bound from below how much more often it happens with one table than with the other.
"""

from __future__ import annotations

import json
import sys

import numpy as np
import polars as pl
from scipy.stats import beta

import flou
from flou.bits import SeededBits
from flou.central import Histogram
from flou.summaries.lazy import codes as lazy_codes

EPSILON, ALPHA, TOGETHER = 1, 1e-3, 100


def scores(rows: int, releases: int) -> np.ndarray:
    """How far the third bin is above the fourth, in many releases of one table."""
    table = flou.open(
        pl.LazyFrame({"x": [0.6] * rows}), schema={"x": flou.Interval(0, 1)}, bits=SeededBits(f"{rows} rows")
    )
    asked = [Histogram("x", EPSILON, bins=5) for _ in range(TOGETHER)]
    found = [release.value for _ in range(releases // TOGETHER) for release in table.ask(*asked)]
    return np.array([int(value[2]) - int(value[3]) for value in found])


def bound(one: np.ndarray, other: np.ndarray) -> float:
    """A lower bound on epsilon that holds with probability 1 - ALPHA, after Clopper and Pearson."""
    half = len(one) // 2
    events = [(sign, t) for sign in (1, -1) for t in range(-8, 9)]

    def counted(part: np.ndarray, event: tuple[int, int]) -> int:
        return int(np.sum(event[0] * part >= event[1]))

    def lower(a: np.ndarray, b: np.ndarray, event: tuple[int, int], level: float) -> float:
        hits, others = counted(a, event), counted(b, event)
        low = beta.ppf(level / 2, hits, len(a) - hits + 1) if hits else 0.0
        high = beta.ppf(1 - level / 2, others + 1, len(b) - others) if others < len(b) else 1.0
        return float(np.log(low / high)) if low > 0 else -np.inf

    sides = [(one, other), (other, one)]
    a, b, event = max(
        ((a, b, event) for a, b in sides for event in events), key=lambda t: lower(t[0][:half], t[1][:half], t[2], 0.1)
    )
    return lower(a[half:], b[half:], event, ALPHA)


def before(x: lazy_codes.nw.Expr, domain: flou.Interval) -> lazy_codes.nw.Expr:
    """The rule whose last bit depends on the engine."""
    return ((x - lazy_codes.nw.lit(domain.lower)) / lazy_codes.nw.lit(domain.step)).floor()


if __name__ == "__main__":
    releases = int(sys.argv[1])
    now = bound(scores(2, releases), scores(3, releases))
    lazy_codes._cell = before
    json.dump({"now": now, "before": bound(scores(2, releases), scores(3, releases))}, sys.stdout)
