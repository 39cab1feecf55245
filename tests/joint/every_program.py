"""A table, and every statistic that a plan may name, with the terms that make it read a column or say something."""

from __future__ import annotations

import numpy as np

from flou import Categories, Integers, Interval, Schema
from flou.joint.agreement.identity import Identity, Roster
from flou.joint.agreement.plan import Plan
from flou.joint.estimators.distribution.distribution import Ecdf, Histogram
from flou.joint.estimators.distribution.quantiles import Quantiles
from flou.joint.estimators.distribution.vector_sum import VectorSum
from flou.joint.estimators.likelihood.likelihood import MaximumLikelihood
from flou.joint.estimators.likelihood.logistic import LogisticRegression
from flou.joint.estimators.linear.linear import LinearRegression
from flou.joint.estimators.linear.moments import Moments
from flou.joint.estimators.private.histogram import PrivateHistogram
from flou.joint.estimators.private.linear import PrivateLinearRegression
from flou.joint.estimators.private.logistic import PrivateLogisticRegression
from flou.joint.estimators.private.quantiles import PrivateQuantiles

__all__ = ["PROGRAMS", "ROSTER", "planned", "private_programs", "table"]

ROWS = 60
SCHEMA = Schema(
    {
        "y": Interval(-8, 8),
        "yes": Integers(0, 1),
        "x": Interval(-4, 4),
        "g": Categories(["a", "b"]),
        "k": Categories(["u", "v", "w"]),
        "count": Integers(0, 50),
    },
    unit="person",
    max_rows_per_unit=2,
)
ROSTER = Roster.of([Identity.generate(name) for name in ("north", "south", "west")])


def table(seed=1):
    """Columns that statistics use, and some that none does."""
    made = np.random.default_rng(seed)
    x = made.uniform(-2, 2, ROWS)
    return {
        "x": x,
        "y": x + made.uniform(-1, 1, ROWS),
        "yes": (x + made.normal(size=ROWS) > 0).astype(float),
        "count": made.poisson(3, ROWS).astype(float),
        "g": np.array(["a", "b"])[made.integers(0, 2, ROWS)],
        "k": np.array(["u", "v", "w"])[made.integers(0, 3, ROWS)],
        "age": made.integers(20, 80, ROWS).astype(float),
        "id": np.arange(ROWS) + 1000.0 * seed,
    }


def private_programs(**cost):
    """Every statistic with noise, at this cost."""
    return [
        PrivateLinearRegression("y ~ x + C(g)", SCHEMA, honest=2, norm=8, **cost),
        PrivateLogisticRegression("yes ~ log(x + 5)", SCHEMA, honest=2, rounds=2, **cost),
        PrivateHistogram("y", edges=[-8, 0, 3.5, 8], honest=2, **cost),
        PrivateHistogram("g", categories=["a", "b"], honest=2, relation="substitute", **cost),
        PrivateQuantiles("y", (0.25, 0.5), (-8, 8), cells=64, honest=2, **cost),
    ]


PROGRAMS = [
    VectorSum("count", ROWS, 100, 3),
    Moments(["x", "y"], SCHEMA),
    LinearRegression("y ~ log(x + 5)*C(g) + I(count**2)", SCHEMA, covariance="HC3"),
    LinearRegression("y ~ x", SCHEMA, covariance="cluster", cluster="k"),
    LinearRegression("y ~ `x`", covariance="cluster", cluster="age", fixed_effects="party"),
    LogisticRegression("yes ~ x + C(k)", SCHEMA, max_rounds=12),
    MaximumLikelihood("poisson", "count ~ x", SCHEMA, covariance="sandwich", max_rounds=20),
    Histogram("y", edges=[-8, 0, 3.5, 8]),
    Histogram("g", categories=["a", "b"]),
    Ecdf("x", [-1, 0, 1.5]),
    Quantiles("x", (0.1, 0.5), (-4, 4), granularity=0.25, level=0.9),
    Quantiles("x", 0.5, exact=True),
    *private_programs(epsilon=1),
    PrivateHistogram("y", edges=[-8, 0, 8], honest=2, epsilon="1/3", delta=1e-6, noise="discrete-gaussian"),
    PrivateHistogram("y", edges=[-8, 0, 8], honest=2, rho=0.5, noise="skellam"),
]


def planned(program, **terms):
    """A plan of three parties."""
    return Plan(ROSTER, program, **{"expires": "2099-01-31T00:00:00Z"} | terms)
