"""A made-up table with a column of every kind, and what is public about it."""

from __future__ import annotations

import numpy as np

import flou

SCHEMA = {
    "age": flou.Integers(18, 100),
    "pay": flou.Interval(0, 5000, cells=500),
    "town": flou.Categories(["a", "b", "c"]),
    "smokes": flou.Boolean(missing=True),
    "steps": flou.Integers(0, 300_000),
}


def people(rows: int, seed: int = 0) -> dict:
    generator = np.random.default_rng(seed)
    return {
        "age": generator.integers(18, 101, rows),
        "pay": generator.uniform(-100, 6000, rows),
        "town": np.array(["a", "b", "c", "d"])[generator.integers(0, 4, rows)],
        "smokes": generator.random(rows) < 0.3,
        "steps": generator.integers(0, 300_001, rows),
    }
