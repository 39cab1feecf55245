"""The same rows have the same codes in SQL: floor first, then cast."""

from __future__ import annotations

import math

import duckdb
import numpy as np
import pytest

from flou.domain import Integers, Interval

INTERVALS = [
    Interval(0, 100),
    Interval(0, 0.3, step=0.1),
    Interval(-1, 1, cells=3),
    Interval(0, 1, step=0.01),
    Interval(-1e9, 3e9, cells=2**32),
    Interval(0, 300_000, granularity=1),
    Interval(1e-9, 1.7e-9, cells=7, missing=1e-9),
    Interval(0, 1, cells=2**52, missing=1),
    Interval(-8e307, 8e307, cells=1000),
    Interval(math.pi, math.tau, step=math.pi / 11),
]


def interesting(domain):
    """Random rows, all edges that fit, their neighbours, and every special value."""
    generator = np.random.default_rng(20260101)
    span = domain.upper - domain.lower
    inside = domain.lower + generator.random(20_000) * span
    around = domain.lower + (generator.random(5000) - 0.5) * min(4 * span, 1e307)
    codes = np.unique(np.concatenate([np.arange(min(domain.cells, 3000)), generator.integers(0, domain.cells, 3000)]))
    edges = domain.lower + codes * domain.step
    decimals = np.round(inside[:3000] / 2, 2) if span < 1e300 else inside[:0]
    special = [-0.0, 0.0, 5e-324, 1.7e308, -1.7e308, math.inf, -math.inf, math.nan, domain.lower, domain.upper]
    return np.concatenate(
        [inside, around, edges, np.nextafter(edges, math.inf), np.nextafter(edges, -math.inf), decimals, special]
    )


def in_sql(domain, rule, x):
    """The codes that DuckDB computes."""
    connection = duckdb.connect()
    connection.register("rows", {"place": np.arange(len(x)), "x": x})
    query = f"SELECT CASE WHEN x IS NULL OR isnan(x) THEN {domain.missing_code} ELSE {rule} END AS code"
    return connection.sql(f"{query} FROM rows ORDER BY place").fetchnumpy()["code"]


def rule(domain, whole="floor"):
    """The rule of an interval in SQL: double operations, then the floor, the clamp, and last the cast."""

    def double(value):
        return f"CAST('{float(value)!r}' AS DOUBLE)"

    clamped = f"greatest(least(x, {double(domain.upper)}), {double(domain.lower)})"
    if domain.units is None:
        quotient = f"({clamped} - {double(domain.lower)}) / {double(domain.step)}"
    else:
        units = domain.units
        near = f"CASE WHEN abs({clamped}) < 1 AND {units.near_zero} THEN floor({clamped}) ELSE {clamped} END"
        counted = f"floor((({near}) - {double(units.origin)}) * {double(units.scale)}) - {double(units.start)}"
        quotient = f"({counted}) / {double(units.width)}"
    return f"CAST(greatest(least({whole}({quotient}), {domain.cells - 1}), 0) AS BIGINT)"


@pytest.mark.parametrize("domain", INTERVALS, ids=str)
def test_interval_in_sql(domain):
    """DuckDB gives every row the code that NumPy gives it, on edges and for special values too."""
    x = interesting(domain)
    codes = in_sql(domain, rule(domain), x)
    assert codes.dtype == np.int64
    assert (codes == domain.encode(x)).all()


@pytest.mark.parametrize("domain", INTERVALS[:3], ids=str)
def test_a_cast_is_not_a_floor(domain):
    """The comparison has teeth: leaving the floor out, so that the cast rounds, gives other codes."""
    x = interesting(domain)
    assert (in_sql(domain, rule(domain, whole=""), x) != domain.encode(x)).any()


@pytest.mark.parametrize("domain", [Integers(-5, 5), Integers(2**53, 2**53 + 1000, missing=2**53)], ids=str)
def test_integers_in_sql(domain):
    """Whole numbers have the same codes in SQL, beyond 2**53 too."""
    generator = np.random.default_rng(20260102)
    x = np.concatenate(
        [
            generator.integers(domain.lower - 9, domain.upper + 9, 5000),
            [-(2**63), 2**63 - 1, 0, domain.lower, domain.upper],
        ]
    )
    connection = duckdb.connect()
    connection.register("rows", {"place": np.arange(len(x)), "x": x})
    clamped = f"greatest(least(x, {domain.upper}), {domain.lower}) - {domain.lower}"
    codes = connection.sql(f"SELECT {clamped} AS code FROM rows ORDER BY place").fetchnumpy()["code"]
    assert (codes == domain.encode(x)).all()


@pytest.mark.parametrize("domain", [Integers(-5, 5), Integers(-(2**40), 2**40)], ids=str)
def test_floats_to_integers_in_sql(domain):
    """Floats are floored before they are cast."""
    generator = np.random.default_rng(20260103)
    scaled = (generator.random(5000) - 0.5) * 3 * domain.upper
    x = np.concatenate([scaled, np.round(scaled * 2) / 2, [math.inf, -math.inf, math.nan, 1e300, -0.5, 0.5, -0.0]])
    clamped = f"greatest(least(floor(x), {float(domain.upper)}), {float(domain.lower)})"
    codes = in_sql(domain, f"CAST({clamped} AS BIGINT) - ({domain.lower})", x)
    assert (codes == domain.encode(x)).all()
