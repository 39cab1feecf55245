"""Every statistic on every engine: the same law, seen as the same release for the same bits."""

from __future__ import annotations

import numpy as np
import pytest

import flou
from flou.bits import SeededBits
from flou.central import Count, Histogram, Mean, Total, Variance
from summaries.engines import Made

DOMAINS = {
    "x": flou.Interval(0, 100),
    "y": flou.Interval(-5, 5),
    "k": flou.Integers(0, 300),
    "t": flou.Boolean(),
    "g": flou.Categories(["a", "b", "nobody"]),
}
ASK = [
    lambda t: t.ask(Count(1), Mean("x", 1), Histogram("g", 1), Total("y", 1, "g"), Variance("x", 1, "g")),
    lambda t: [t.where((flou.column("x") > 20) & (flou.column("g") == "a")).mean("y", epsilon=1)],
    lambda t: [t.std("x", epsilon=1), t.variance("k", rho=0.5), t.mean("t", epsilon=1, delta=1e-6)],
    lambda t: [t.histogram("x", bins=7, epsilon=1), t.histogram("k", epsilon=1)],
    lambda t: [t.mode("g", epsilon=1), t.top_k("k", 2, bins=10, epsilon=1), t.majority("t", epsilon=1)],
    lambda t: [t.density("x", points=9, epsilon=1), t.bounds("x", epsilon=1)],
    lambda t: [
        t.covariance("x", "y", epsilon=1),
        t.correlation("x", "k", epsilon=1),
        t.regression("y", "x", epsilon=1),
    ],
    lambda t: [t.group_by("g").histogram("t", epsilon=1), t.group_by("t").count(epsilon=1), t.ecdf("x", epsilon=1)],
]


def data(n: int = 400) -> dict[str, tuple[str, list[object]]]:
    generator = np.random.default_rng(11)
    x = generator.gamma(3, 8, n)
    return {
        "x": ("double", [None if i % 50 == 0 else value for i, value in enumerate(x.tolist())]),
        "y": ("double", (x / 10 - 3 + generator.normal(0, 1, n)).tolist()),
        "k": ("long", generator.integers(-20, 330, n).tolist()),
        "t": ("truth", (generator.random(n) < 0.6).tolist()),
        "g": ("text", np.array(["a", "b", "stranger"])[generator.integers(0, 3, n)].tolist()),
    }


@pytest.mark.parametrize("relation", ["add-remove", "substitute"])
def test_the_same_release_on_every_engine(source, relation):
    """Values and intervals agree to the last digit, for one question at a time and for several in one pass."""
    made = Made(data())
    found = []
    for rows in (made.lists(), source(made)):
        table = flou.open(rows, schema=flou.Schema(DOMAINS, relation=relation), bits=SeededBits(3))
        releases = [release.to_dict() for ask in ASK for release in ask(table)]
        found.append([(one["statistic"], one["labels"], one["value"], one["interval_95"]) for one in releases])
    assert found[0] == found[1]
