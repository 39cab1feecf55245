"""The same rows give the same integers on every engine."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from flou.domain import Boolean, Categories, Integers, Interval
from flou.summaries import Code, Counts, Sums, rows_of
from summaries.engines import HOSTILE, KINDS, SPECIAL, Made

generator = np.random.default_rng(20261116)


def reference(made, requests):
    """What NumPy says, element by element."""
    return rows_of(made.lists()).collect(requests)


def same(found, expected):
    """Equal arrays, of Python integers for sums and of 64-bit integers for counts."""
    for one, other in zip(found, expected, strict=True):
        assert one.shape == other.shape
        assert one.dtype == other.dtype
        assert (one == other).all(), (one, other)
        if one.dtype == object:
            assert all(type(value) is int for value in one.ravel())


def values(size):
    """Doubles on edges, beside edges, outside, and every special one."""
    inside = np.concatenate([generator.random(size) * 120 - 10, generator.integers(-2, 103, size) / 1.0])
    decimals = np.round(generator.random(size) * 100, 1)
    return [*SPECIAL, *inside.tolist(), *decimals.tolist(), 100.0, math.nextafter(100.0, 0), math.nextafter(100.0, 101)]


DOUBLES = values(60)
FILLED = [text for text in HOSTILE if text]  # an empty cell of a file is NULL
GROUPS = [FILLED[i] for i in generator.integers(0, len(FILLED), len(DOUBLES))]
GROUPS[5], GROUPS[6] = None, "unknown"
INTERVALS = [
    Interval(0, 100, cells=2**31),
    Interval(0, 100, cells=2**15),
    Interval(-7.3, 100, cells=1000, missing=-7.3),
    Interval(0, 0.3, step=0.1),
    Interval(1e-9, 1.7e-9, cells=7),
    Interval(-8e307, 8e307, cells=1000),
    Interval(0.1, 100, cells=1),
    Interval(0, 1, cells=2, missing=1),
    Interval(math.pi, math.tau, step=math.pi / 11),
]


def test_doubles(opened):
    """Every interval gives every double the same cell: sums, squares, products and groups agree."""
    made = Made({"x": ("double", DOUBLES), "the group": ("text", GROUPS)})
    group = Code("the group", Categories(HOSTILE))
    requests = []
    for domain in INTERVALS:
        x = Code("x", domain)
        requests += [Sums(((), (x,), (x, x))), Sums(((), (x,), (x, x)), by=group)]
    rows = opened(made)
    same(rows.collect(requests), reference(made, requests))


def test_counts(opened):
    """Counts of one code, of two, and of one code twice agree in every cell."""
    made = Made(
        {"x": ("double", DOUBLES), "g": ("text", GROUPS), "t": ("truth", ([True, False, None] * 99)[: len(GROUPS)])}
    )
    x, g, t = Code("x", Interval(0, 100, cells=50)), Code("g", Categories(HOSTILE)), Code("t", Boolean(missing=True))
    requests = [Counts((x,)), Counts((g,)), Counts((x, g)), Counts((g, t)), Counts((t, g)), Counts((x, x))]
    same(opened(made).collect(requests), reference(made, requests))


LONGS = [0, 1, -1, 2**53, 2**53 + 1, 2**53 + 2, 2**53 - 1, 2**62, -(2**62), 2**63 - 1, -(2**63), None, 7, 100, 101]
LAZY = {"polars lazy", "ibis duckdb", "ibis postgres", "spark"}
DECIMALS = {pa.decimal128(30, 6), "numeric(20,0)", "numeric(30,6)", "decimal(20,0)", "decimal(30,6)"}
WHOLES = [
    Integers(0, 100),
    Integers(-1, 1, missing=-1),
    Integers(2**53 - 3, 2**53 + 1000, missing=2**53),
    Integers(2**62 - 2**31 + 1, 2**62),
    Integers(-(2**62), -(2**62) + 5),
]


@pytest.mark.parametrize(
    ("kind", "column"),
    [
        ("long", LONGS),
        ("byte", [0, 1, -1, 127, -128, None, 100, 101]),
        ("unsigned", [0, 1, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1, None, 100, 101]),
        ("double", [*SPECIAL, 0.5, -0.5, 99.999, 2.0**53, 2.0**53 + 2, 2.0**62, -(2.0**62), 1.0, 100.0, 101.0]),
        ("float", [0.0, 0.1, 99.9, 100.5, math.inf, -math.inf, math.nan, None, 1e30, 16777217.0]),
        (
            "decimal",
            [Decimal("0.1"), Decimal("-0.000001"), Decimal("99.999999"), Decimal(2**53 + 1), None, Decimal(10**23)],
        ),
        ("truth", [True, False, None]),
    ],
)
def test_numbers_of_every_type(opened, engine, kind, column):
    """Whole numbers are exact beyond 2^53 and beyond every bound, whatever the type of the column."""
    if engine == "csv" and kind == "truth":
        pytest.skip("true and false are words in a file, and no numbers")
    if engine in LAZY and KINDS[kind][4 if engine == "spark" else 3 if "postgres" in engine else 0] in DECIMALS:
        column = [value for value in column if value is None or abs(value) < 2**53]  # read as doubles there
    made = Made({"n": (kind, column)})
    domains = [*WHOLES, *INTERVALS, Boolean(), Boolean(missing=True), Categories([0, 1, 2**53 + 1, 2**53, -1])]
    domains += [
        Categories([True, False]),
        Categories(["none"]),
        Categories([-(2**62), 2**62, 300], other=False, missing=300),
    ]
    requests = [Sums(((), (Code("n", domain),), (Code("n", domain),) * 2)) for domain in domains]
    requests += [Counts((Code("n", domain),)) for domain in domains if domain.size < 20]
    same(opened(made).collect(requests), reference(made, requests))


def test_text(opened, engine):
    """Texts are equal to themselves only, with quotes and metacharacters, and are no numbers unless a file says so."""
    column = [*HOSTILE, None, "unknown", "It's", "1", "true", "nan", " say"]
    made = Made({'a "quoted" name; --': ("text", column)})
    name = next(iter(made.columns))
    domains = [
        Categories(HOSTILE),
        Categories(HOSTILE[:3], other=False, missing="it's"),
        Categories([f"c{i}" for i in range(300)] + HOSTILE),
    ]
    if engine != "csv":
        domains += [Interval(0, 10), Integers(0, 5), Boolean(missing=True), Categories([1, 2, True])]
    requests = [Counts((Code(name, domain),)) for domain in domains]
    if engine == "csv":  # an empty cell is NULL
        made, name = Made({name: ("text", [value or None for value in column])}), name
    same(opened(made).collect(requests), reference(made, requests))


PAIR = (Code("a", Interval(0, 1, cells=2**31)), Code("b", Integers(0, 2**31 - 1)))


def test_products_of_31_bits(opened):
    """Products of two codes of 31 bits, more than 64 bits in sum, are exact."""
    size = 300
    made = Made(
        {
            "a": ("double", [1.0] * size + [0.999, None]),
            "b": ("long", [2**31 - 1] * size + [2**31 - 7, 5]),
            "g": ("long", [1, 2] * 151),
        }
    )
    g = Code("g", Integers(0, 3))
    requests = [Sums((PAIR, PAIR[::-1], (PAIR[0], PAIR[0]), (PAIR[1],), ())), Sums((PAIR, ()), by=g)]
    found = opened(made).collect(requests)
    same(found, reference(made, requests))
    assert found[0][0] > 2**64


@pytest.mark.parametrize("size", [0, 1])
def test_small_tables(opened, size):
    """Tables without rows and with one row have answers of the same shape as any other."""
    made = Made({"x": ("double", [3.0]), "g": ("text", ["b"]), "n": ("long", [3])}).part(0, size)
    x, g, n = Code("x", Interval(0, 10, cells=10)), Code("g", Categories(["a", "b"])), Code("n", Integers(0, 5))
    requests = [Sums(((), (x,), (x, n))), Sums(((), (x,)), by=g), Counts((g,)), Counts((g, n)), Sums(((),))]
    found = opened(made).collect(requests)
    same(found, reference(made, requests))
    assert [answer.shape for answer in found] == [(3,), (3, 2), (3,), (3, 6), (1,)]
    assert found[0][0] == size


def test_parts_add_up(opened):
    """Answers for two tables add up to that for both, and requests asked alone equal requests asked together."""
    made = Made({"x": ("double", DOUBLES), "g": ("text", GROUPS)})
    x, g = Code("x", Interval(0, 100, cells=2**31)), Code("g", Categories(HOSTILE))
    requests = [Sums(((), (x,), (x, x)), by=g), Counts((g,)), Sums(((x,),))]
    whole = opened(made).collect(requests)
    parts = [opened(part).collect(requests) for part in (made.part(0, 70), made.part(70, len(DOUBLES)))]
    same([a + b for a, b in zip(*parts, strict=True)], whole)
    rows = opened(made)
    same([rows.collect([request])[0] for request in requests], whole)
