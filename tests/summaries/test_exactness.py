"""Sums that no machine word holds, one query for all requests, and codes that a wrong rule would miss."""

from __future__ import annotations

import math

import duckdb
import numpy as np
import pytest

from flou.domain import Categories, Integers, Interval
from flou.errors import InvalidParameter
from flou.summaries import Code, Counts, MomentGrid, Sums, rows_of
from flou.summaries.array import rows as array_rows
from flou.summaries.duck import query as duck_query
from flou.summaries.duck import sql as duck_sql
from flou.summaries.edges import ends
from summaries.engines import Made, as_duckdb

generator = np.random.default_rng(20261117)
X = generator.random(5000) * 100
MADE = Made({"x": ("double", X.tolist()), "n": ("long", generator.integers(0, 2**31, 5000).tolist())})
FINE, COARSE, N = (
    Code("x", Interval(0, 100, cells=2**31)),
    Code("x", Interval(0, 100, cells=2**15)),
    Code("n", Integers(0, 2**31 - 1)),
)
TERMS = ((), (FINE,), (FINE, FINE), (FINE, N), (N, N), (COARSE, COARSE))


def by_hand(terms):
    """The sums in Python's integers, which have no size."""
    codes = {c: [int(v) for v in c.domain.encode(MADE.lists()[c.column])] for c in (FINE, COARSE, N)}
    return [sum(math.prod(codes[c][i] for c in term) for i in range(5000)) for term in terms]


@pytest.mark.parametrize("chunk", [1, 7, 1000, 2**20])
def test_chunks(monkeypatch, chunk):
    """Sums and counts do not depend on how many rows are read at a time."""
    monkeypatch.setattr(array_rows, "CHUNK", chunk)
    made = MADE.part(0, 300) if chunk == 1 else MADE
    g = Code("n", Interval(0, 2**31, cells=4))
    found = rows_of(made.lists()).collect([Sums(TERMS), Sums(TERMS, by=g), Counts((g,))])
    assert (found[1].sum(axis=0) == found[0]).all()
    assert (found[2] == found[1][:, 0]).all()
    if made is MADE:
        assert found[0].tolist() == by_hand(TERMS)


def test_sums_beyond_64_bits(opened):
    """All engines agree with Python's integers where sums need more than 64 bits."""
    found = opened(MADE).collect([Sums(TERMS)])[0]
    assert found.tolist() == by_hand(TERMS)
    assert max(found) > 2**64


DOMAINS = [
    Interval(0, 100, cells=2**31),
    Interval(0, 0.3, step=0.1),
    Interval(-1, 1, cells=3),
    Interval(-1e9, 1e-9, cells=1000),
    Interval(1e-9, 1.7e-9, cells=7),
    Interval(0, 1, cells=2**31),
    Interval(-8e307, 8e307, cells=2),
    Interval(math.pi, math.tau, step=math.pi / 11),
    Integers(-5, 5),
    Integers(2**53 - 1, 2**53 + 4),
    Integers(2**62 - 3, 2**62),
]


@pytest.mark.parametrize("domain", DOMAINS, ids=str)
def test_ends(domain):
    """The ends of a grid are the doubles at which its first and its last code begin, to the last bit."""
    first, last = ends(domain)
    for end, code in ((first, 1), (last, domain.size - 1)):
        below, at = domain.encode(np.array([math.nextafter(end, -math.inf), end])).tolist()
        assert below < code <= at


def wrong_engines():
    """Rules that look right: no floor, a last cell too many or none, a spread cut and not rounded, 32 bits."""
    read, clipped = duck_sql.ColumnSQL.cell, duck_sql.clipped_sql
    yield duck_sql.ColumnSQL, "cell", lambda *given: read(*given).replace("FLOOR(", "(")
    end = Interval(0, 100.1).fine(26).last / 2
    yield duck_query, "clipped_sql", lambda *given: clipped(*given).replace(f"'{end}'", f"'{end + 1}'")
    yield (
        duck_query,
        "clipped_sql",
        lambda cell, domain: clipped(cell, domain).replace(f"isfinite({cell} * ", "abs(1 / "),
    )
    yield (
        duck_query,
        "squared_sql",
        lambda cell, spread: f"floor({cell} * {cell} * {spread.scale}::DOUBLE)",
    )
    yield duck_sql, "_double", lambda number: f"{float(np.float32(number))!r}::DOUBLE"


@pytest.mark.parametrize(
    ("module", "name", "wrong"), list(wrong_engines()), ids=["no floor", "end", "no end", "spread", "float32"]
)
def test_wrong_rules_are_seen(monkeypatch, module, name, wrong):
    """The comparison has teeth: an engine with a wrong rule gives other integers, or none."""
    grid = MomentGrid.of("x", Interval(0, 100.1))
    made = Made({"x": ("double", [*X.tolist(), 100.1, -1.0, math.inf])})
    expected = rows_of(made.lists()).collect([grid.request()])[0]
    assert (rows_of(as_duckdb(made)).collect([grid.request()])[0] == expected).all()
    monkeypatch.setattr(module, name, wrong)
    try:
        found = rows_of(as_duckdb(made)).collect([grid.request()])[0]
    except Exception:
        return
    assert (found != expected).any()


def test_requests_that_cannot_be_summed_are_refused():
    """Products of three codes, empty tables of counts and tables beyond memory are refused before any row is read."""
    for wrong in (
        lambda: Sums(((N, N, N),)),
        lambda: Counts(()),
        lambda: Counts((N,)),
        lambda: Sums(((),), by=N),
        lambda: Code("x", Interval(0, 1, cells=2**31 + 1)),
    ):
        with pytest.raises(InvalidParameter):
            wrong()


@pytest.mark.parametrize("listed", [31, 32, 33])
@pytest.mark.parametrize("kind", ["text", "long", "unsigned"])
def test_places_in_lists(kind, listed):
    """Categories are found in short lists and in long ones, with and without a category for what is not found."""
    values = (
        list(range(2**62, 2**62 - listed, -1)) if kind != "text" else [f"c{i}'" for i in range(listed - 2)] + ["", "A"]
    )
    column = [*values, *values[3:7], None, None, "a" if kind == "text" else 5]
    made = Made({"g": (kind, column), "x": ("double", generator.random(len(column)).tolist())})
    requests = []
    for domain in (Categories(values), Categories(values, other=False, missing=values[4])):
        g, x = Code("g", domain), Code("x", Interval(0, 1, cells=2**31))
        requests += [Counts((g,)), Sums(((), (x,), (g,), (g, x)), by=g), Sums(((g,), (g, g)))]
    for together in (requests, *([request] for request in requests)):
        for one, other in zip(
            *(rows_of(source).collect(together) for source in (as_duckdb(made), made.lists())), strict=True
        ):
            assert (one == other).all()


def test_collations():
    """Texts that only a collation takes for equal are two texts."""
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t (g VARCHAR COLLATE NOCASE)")
    connection.execute("INSERT INTO t VALUES ('a'), ('A'), ('b')")
    for more in ([], [f"c{i}" for i in range(40)]):
        domain = Categories(["a", "b", *more])
        found = rows_of(connection.table("t")).collect([Counts((Code("g", domain),))])[0]
        assert found.tolist() == [1, 1, *[0] * len(more), 1]


def test_many_categories(opened):
    """Lists of some hundred categories have the same codes everywhere."""
    values = [f"c{i}" for i in range(300)]
    made = Made({"g": ("text", [values[i] for i in generator.integers(0, 300, 900)] + ["c", None])})
    requests = [Counts((Code("g", Categories(values)),))]
    assert (opened(made).collect(requests)[0] == rows_of(made.lists()).collect(requests)[0]).all()
