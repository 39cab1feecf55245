"""Requests asked together of a lazy engine share one pass over its rows."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import polars as pl
import pytest
from polars.io.plugins import register_io_source

import flou
from flou.bits import SeededBits
from flou.central import Count, Histogram, Mean
from flou.central.counts.outer_bounds import EDGES, OuterBounds
from flou.domain import Boolean, Categories, Integers, Interval
from flou.summaries import Code, Counts, Sums, rows_of
from flou.summaries.lazy import rows as lazy_rows
from flou.summaries.lazy import shared_pass as lazy_pass
from flou.summaries.lazy.shared_pass import Pass, planned
from flou.summaries.moments import MomentGrid
from summaries.engines import SPECIAL, Made

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]
lazy = pytest.mark.parametrize("engine", ["polars lazy", "ibis duckdb", "ibis postgres", "spark"])

generator = np.random.default_rng(20261118)
BESIDE = [math.nextafter(edge, way) for edge in EDGES[::7] for way in (-math.inf, math.inf)]
DOUBLES = [*SPECIAL, *EDGES, *BESIDE, *(generator.standard_cauchy(100) * 30).tolist()]
SIZE = len(DOUBLES)
MADE = Made(
    {
        "x": ("double", DOUBLES),
        "g": ("text", [["a", "b", None, "?"][i] for i in generator.integers(0, 4, SIZE)]),
        "t": ("truth", [[True, False, None][i] for i in generator.integers(0, 3, SIZE)]),
        "n": ("long", [None if i % 7 == 0 else int(i) - 50 for i in generator.integers(0, 2**31, SIZE)]),
        "d": ("decimal", [None if i % 5 == 0 else Decimal(i) / 8 for i in range(SIZE)]),
        "f": ("float", [math.nan if i % 9 == 0 else i / 3 for i in range(SIZE)]),
    }
)
G, T = Code("g", Categories(["a", "b"])), Code("t", Boolean(missing=True))
X, N = Code("x", Interval(0, 100, cells=2**31)), Code("n", Integers(0, 2**31 - 1, missing=5))
BINS = Code("x", Interval(-10, 90, cells=20, missing=0))
POWERS = OuterBounds("x", 1).counts
MIXED = [
    Sums(((), (X,), (X, X), (X, N))),
    Counts((G,)),
    Sums(((), (X,), (N, X)), by=G),
    Counts((BINS, G)),
    Counts((T, G, T)),
    Sums(((N, N), ()), by=T),
    MomentGrid.of("x", Interval(0, 50)).request(BINS),
    Counts((BINS,)),
    Sums(((),)),
    Counts((G,)),
    *POWERS[:4],
]


@pytest.fixture
def passes(monkeypatch):
    """The frames that were collected."""
    collected, fetched = [], lazy_rows._fetched
    monkeypatch.setattr(lazy_rows, "_fetched", lambda frame: collected.append(frame) or fetched(frame))
    return collected


def agree(rows, made, requests):
    """The answers are NumPy's, in value and type."""
    found, expected = rows.collect(requests), rows_of(made.lists()).collect(requests)
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        assert (one == other).all()
        assert one.dtype != object or all(type(value) is int for value in one.ravel())
    return found


@lazy
def test_mixed_requests(opened, passes):
    """Counts of several codes, and sums with and without groups, of columns with missing values: one pass."""
    found = agree(opened(MADE), MADE, MIXED)
    assert len(passes) == 1
    assert found[1] is not found[9]  # two answers, though one request


@lazy
def test_small_grids(opened, passes):
    """Sixty-one grids of four cells take one pass, whatever the type of their column."""
    rows = opened(MADE)
    for column in MADE.columns:
        passes.clear()
        agree(rows, MADE, OuterBounds(column, 1).counts)
        assert len(passes) == 1


@lazy
def test_no_rows(opened, passes):
    """A table without rows is read once as well, and all its answers are zero."""
    made = MADE.part(0, 0)
    assert not any(answer.any() for answer in agree(opened(made), made, MIXED))
    assert len(passes) == 1


@lazy
def test_limbs(opened):
    """Products that just fit into one limb or two, and those that just do not, are summed exactly."""
    tops = [2**11 - 1, 2**22 - 1, 2**22, 2**31 - 1]
    made = Made({f"c{i}": ("long", [top, top - 1, 0, None, top] * 9) for i, top in enumerate(tops)})
    codes = [Code(f"c{i}", Integers(0, top, missing=top)) for i, top in enumerate(tops)]
    pairs = [(one, other) for one in codes for other in codes]
    by = Code("c0", Interval(0, 1, cells=2))
    agree(opened(made), made, [Sums((*((code,) for code in codes), *pairs)), Sums(tuple(pairs), by=by)])


@lazy
def test_names(opened, passes):
    """Columns may have the names that a pass gives to its own."""
    names = ["flou_0", "flou_1", "FLOU_X0", "flou_number", "flou_n", "flou_s0_0"]
    made = Made({name: ("double", generator.uniform(0, 9, 20).tolist()) for name in names})
    rows = opened(made)
    for one, other in zip(names, reversed(names), strict=True):
        passes.clear()
        code, by = Code(one, Interval(0, 9, cells=3)), Code(other, Interval(0, 9, cells=3))
        grid = Code(other, Interval(0, 8, cells=4))
        agree(rows, made, [Sums(((code,), (code, by)), by=by), Counts((grid,)), Counts((code, grid))])
        assert len(passes) == 1


SCHEMA = flou.Schema({"x": Interval(0, 100), "g": Categories(["a", "b"]), "n": Integers(0, 100)})


@lazy
def test_questions(source, passes):
    """Questions asked together take one pass, and so do bounds."""
    table = flou.open(source(MADE), schema=SCHEMA, bits=SeededBits(1))
    table.ask(Mean("x", 1), Histogram("g", 1), Mean("n", 1, "g"), Count(1))
    assert len(passes) == 1
    table.bounds("x", epsilon=1)
    assert len(passes) == 2
    table.ask(OuterBounds("x", 1), OuterBounds("n", 1), Count(1))
    assert len(passes) == 3


def test_the_source_is_read_once():
    """Polars itself reads the rows once, however often a code is used."""
    frame, reads = MADE.arrow(), []

    def read(columns, predicate, rows, batch):
        del predicate, rows, batch
        reads.append(columns)
        found = pl.from_arrow(frame)
        yield found if columns is None else found.select(columns)

    source = register_io_source(read, schema=pl.from_arrow(frame).schema)
    agree(rows_of(source), MADE, [*MIXED, *POWERS])
    assert len(reads) == 1
    agree(rows_of(source), MADE, [Counts((Code(name, Interval(0, 1, cells=2**16)),)) for name in "xn"])
    assert len(reads) == 3


@lazy
def test_large_grids(opened, passes):
    """Large grids of two columns take a pass each, and what is small shares a third one."""
    x, n = Code("x", Interval(0, 100, cells=2**16)), Code("n", Integers(0, 2**16))
    agree(opened(MADE), MADE, [Sums(((), (X,), (X, N))), Counts((x,)), Counts((n,)), Counts((G,)), Sums(((),))])
    assert len(passes) == 3


@lazy
def test_grids_of_one_column(opened, passes):
    """A large grid and bins of the same column share a pass: few of their combinations can occur."""
    agree(opened(MADE), MADE, [Counts((Code("x", Interval(0, 100, cells=2**16)),)), Counts((BINS,)), Sums(((),))])
    assert len(passes) == 1


COMBINED = [
    BINS,
    Code("x", Integers(-3, 3)),
    Code("x", Boolean()),
    Code("x", Categories([-2, 1, 7])),
    Code("x", Categories([1], other=False, missing=1)),
    Code("x", Interval(-5, 5, cells=4)),
    Code("x", MomentGrid.of("x", Interval(-5, 5)).request().terms[2][0].domain),
]


@pytest.mark.parametrize("size", range(1, len(COMBINED) + 1))
def test_groups_are_bounded(size):
    """The combinations that occur in one column are at most as many as a pass expects, and few next to all."""
    values = np.append(np.linspace(-12, 95, 50_000), [math.nan, *range(-12, 95)])
    for keys in (COMBINED[:size], COMBINED[-size:]):
        occurring = {*zip(*(key.domain.encode(values).tolist() for key in keys), strict=True)}
        assert len(occurring) <= Pass(tuple(keys)).groups


@pytest.mark.parametrize("most", ["MOST_COLUMNS", "MOST_CELLS", "LARGEST_NUMBER"])
def test_limits(monkeypatch, passes, most):
    """A pass that would be too large is cut into smaller ones, with the same answers."""
    rows = rows_of(pl.from_arrow(MADE.arrow()).lazy())
    agree(rows, MADE, MIXED)
    assert len(passes) == 1
    monkeypatch.setattr(lazy_pass, most, 10)
    agree(rows, MADE, MIXED)
    assert 2 < len(passes) <= 1 + len(MIXED)


def test_a_request_alone_has_no_limit(monkeypatch):
    """A request that is too large for company has a pass of its own, which others join if it stays as it is."""
    monkeypatch.setattr(lazy_pass, "MOST_CELLS", 1)
    plan = planned([Sums(((),)), Counts((BINS, G)), Sums(((X,),)), Counts((BINS,))])
    assert sorted(places for _, places in plan) == [[1, 3, 0], [2]]


def test_everything_is_answered_once():
    """Every request has one pass, also where there are many, and passes are fewer than requests."""
    requests = [Counts((Code(f"c{i}", Integers(0, i % 9 + 1)),)) for i in range(100)] + [Sums(((X,),))] * 3
    plan = planned(requests)
    assert sorted(i for _, places in plan for i in places) == list(range(len(requests)))
    assert len(plan) < 25
    for one, places in plan:
        assert one.cells <= lazy_pass.MOST_CELLS
        assert {key for i in places if isinstance(requests[i], Counts) for key in requests[i].codes} == {*one.keys}


def test_no_requests(passes):
    """Without requests the rows are not read."""
    assert rows_of(pl.from_arrow(MADE.arrow()).lazy()).collect([]) == []
    assert passes == []


@lazy
def test_no_value_in_a_message(opened, monkeypatch):
    """An engine that fails in a shared pass says nothing about the rows."""

    def fails(frame):
        del frame
        raise RuntimeError("Maria Musterfrau")

    monkeypatch.setattr(lazy_rows, "_fetched", fails)
    with pytest.raises(flou.InvalidData) as caught:
        opened(MADE).collect(MIXED)
    assert "Maria" not in str(caught.value)
