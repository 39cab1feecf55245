"""A small made-up table, and releases of every shape."""

import numpy as np
import pytest

import flou

LABELS = ["care", "<script>alert(1)</script>", "a & b"]


@pytest.fixture(scope="session")
def table():
    """Two thousand rows; nobody's."""
    draw = np.random.default_rng(1)
    rows = {
        "salary": draw.gamma(4, 11_000, 2000),
        "department": draw.choice(LABELS, 2000),
        "age": draw.integers(18, 67, 2000),
    }
    schema = {
        "salary": flou.Interval(0, 300_000),
        "department": flou.Categories(LABELS),
        "age": flou.Integers(0, 100),
    }
    return flou.open(rows, schema=schema, budget=1000)


@pytest.fixture(scope="session")
def releases(table):
    return {
        "count": table.count(epsilon=0.5),
        "mean": table.mean("salary", epsilon=0.5),
        "sum": table.sum("salary", epsilon=0.5),
        "histogram": table.histogram("salary", bins=6, epsilon=0.5),
        "many": table.histogram("salary", bins=80, epsilon=0.5),
        "groups": table.group_by("department").mean("salary", epsilon=0.5),
        "mode": table.mode("department", epsilon=0.5),
        "top": table.top_k("department", 2, epsilon=0.5),
    }
