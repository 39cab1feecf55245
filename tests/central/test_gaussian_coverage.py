"""Intervals hold what they promise with Gaussian noise too: the checks of ``test_coverage.py``, at other prices."""

from __future__ import annotations

import pytest

from central.test_coverage import MANY, RUNS, enough, hits, not_too_many
from flou.central import Count, Histogram, Mean, Price, Total

MAKE = {
    "mean": lambda price: Mean("x", price),
    "sum": lambda price: Total("x", price),
    "count": lambda price: Count(price),
    "histogram": lambda price: Histogram("x", price, 2),
    "group mean": lambda price: Mean("x", price, "g"),
}
WIDE, NARROW = Price.of(rho=0.005), Price.of(rho=0.5)
EITHER = Price.of(0.5, 0.3)  # a delta at which Gaussian noise is the smaller one
CASES = [
    (kind, relation, n, price)
    for kind in MAKE
    for relation in ("add-remove", "substitute")
    for n, price in ((100, WIDE), (1000, NARROW), (1000, EITHER))
]


@pytest.mark.parametrize(("kind", "relation", "n", "price"), CASES)
def test_intervals_cover(kind, relation, n, price):
    """95 % intervals hold the truth at least 94.5 % of the time, and no more than 98 % where that would be a waste."""
    capped = price is NARROW and kind in {"mean", "sum"}
    seed = 1000 + CASES.index((kind, relation, n, price))
    held, asked = hits(MAKE[kind](price), relation, "beta", n, seed, runs=MANY if capped else RUNS)
    for which in range(2):
        if asked[which] and not (kind == "count" and relation == "substitute"):
            assert enough(held[which], asked[which])
            if capped:
                assert not_too_many(held[which], asked[which])


def test_half_as_wide_intervals_are_refused():
    """The check can fail."""
    held, asked = hits(Mean("x", NARROW), "add-remove", "beta", 1000, 1, shrink=0.5)
    assert not enough(held[0], asked[0])
    assert not enough(held[1], asked[1])
