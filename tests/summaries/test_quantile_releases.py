"""The same bits give the same quantiles on every engine: coarse counts, a finer look, and groups."""

from __future__ import annotations

import numpy as np
import pytest

import flou
from flou.bits import SeededBits
from summaries.engines import Made

DOMAINS = {"x": flou.Interval(0, 100), "g": flou.Categories(["a", "b"])}


@pytest.mark.parametrize("relation", ["add-remove", "substitute"])
def test_quantiles(source, relation):
    generator = np.random.default_rng(5)
    x = generator.gamma(3, 8, 500)
    g = np.array(["a", "b"])[generator.integers(0, 2, 500)]
    made = Made({"x": ("double", x.tolist()), "g": ("text", g.tolist())})
    found = []
    for rows in ({"x": x, "g": g}, source(made)):
        table = flou.open(rows, schema=flou.Schema(DOMAINS, relation=relation), bits=SeededBits(9))
        deciles = table.quantiles("x", flou.deciles, epsilon=2).to_dict()
        medians = table.group_by("g").median("x", epsilon=2).to_dict()
        found.append([(one["value"], one["interval_95"]) for one in (deciles, medians)])
    assert found[0] == found[1]
