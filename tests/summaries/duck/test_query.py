"""One query for all requests, whose sums are exact in doubles, however many limbs and passes that takes."""

from __future__ import annotations

import math

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flou.domain import Categories, Integers, Interval
from flou.summaries import Code, Counts, MomentGrid, Sums, column, rows_of, source
from flou.summaries.duck import query as duck_query
from flou.summaries.duck import rows as duck_rows
from flou.summaries.duck.query import AVERAGED, LIMBS, SUMMED, Query
from flou.summaries.moments import OF_MEANS, OF_TOTALS
from summaries.engines import Made, as_duckdb

ROWS = 5000
generator = np.random.default_rng(20261119)
GROUPS = generator.choice(["a", "b", "c"], ROWS, p=[0.7, 0.2, 0.1]).tolist()
GROUP = Code("g", Categories(["a", "b", "c"]))
ENDS = {
    "at the upper bound": [100.0] * ROWS,
    "at the lower bound": [0.0] * ROWS,
    "beyond both": [math.inf, -math.inf] * (ROWS // 2),
    "alternating": [100.0, 0.0] * (ROWS // 2),
    "one after the other": [0.0] * (ROWS // 2) + [100.0] * (ROWS // 2),
    "anywhere": (generator.random(ROWS) * 100).tolist(),
}
MEAN, TOTAL = (MomentGrid.of("x", Interval(0, 100), cells) for cells in (OF_MEANS, OF_TOTALS))
LARGEST = OF_MEANS - 1  # in units of a half
N = Code("n", Integers(0, 2**31 - 1))
FINE = Code("x", Interval(0, 100, cells=2**31))
SPREAD = MEAN.request().terms[2][0]
TERMS = ((), (FINE,), (FINE, FINE), (FINE, N), (N, N), (N, SPREAD), (SPREAD, SPREAD))


def table(name="anywhere"):
    numbers = generator.integers(0, 2**31, ROWS).tolist()
    return Made({"x": ("double", ENDS[name]), "g": ("text", GROUPS), "n": ("long", numbers)})


def by_hand(made, request):
    """The sums in Python's integers, which have no size."""
    codes = {
        code: [int(v) for v in code.domain.encode(made.lists()[code.column])] for term in request.terms for code in term
    }
    groups = [0] * ROWS if request.by is None else request.by.domain.encode(made.lists()["g"]).tolist()
    sums = np.zeros((1 if request.by is None else request.by.domain.size, len(request.terms)), dtype=object)
    for row, group in enumerate(groups):
        sums[group] += [math.prod(codes[code][row] for code in term) for term in request.terms]
    return sums[0] if request.by is None else sums


@pytest.fixture
def asked(monkeypatch):
    """The queries that were sent."""
    queries, fetched = [], duck_rows.DuckRows._fetched
    monkeypatch.setattr(
        duck_rows.DuckRows, "_fetched", lambda self, relation: queries.append(relation) or fetched(self, relation)
    )
    return queries


def test_one_query(asked):
    """DuckDB reads the rows once, however many requests are asked together."""
    rows = rows_of(as_duckdb(table()))
    g, coarse = Code("n", Interval(0, 2**31, cells=4)), Code("x", Interval(0, 100, cells=2**10))
    requests = [Sums(TERMS), Sums(TERMS, by=g), Counts((g,)), MEAN.request(), MEAN.request(g), Counts((coarse, g))]
    together = rows.collect(requests)
    assert len(asked) == 1
    for request, answer in zip(requests, together, strict=True):
        assert (rows.collect([request])[0] == answer).all()


@pytest.mark.parametrize("name", ENDS)
@pytest.mark.parametrize("by", [None, GROUP], ids=["all", "groups"])
def test_limbs_give_the_same_integers(monkeypatch, asked, name, by):
    """One limb, two and four are tried until the rows allow it; all of them give Python's integers."""
    most = ROWS if by is None else GROUPS.count("a")
    made, limit = table(name), "SUMMED" if by is None else "AVERAGED"
    rows, request = rows_of(as_duckdb(made)), MEAN.request(by)
    expected = by_hand(made, request)
    # of 26 bits in one limb, of 13 each in two, beside a spread of 16, and of 7 and 8
    for limited, passes in ((most * LARGEST + 1, 1), (most * LARGEST, 2), ((most << 16) + 1, 2), (most << 16, 2)):
        asked.clear()
        monkeypatch.setattr(duck_query, limit, limited)
        assert (rows.collect([request])[0] == expected).all()
        assert len(asked) == passes


@pytest.mark.parametrize("by", [None, GROUP], ids=["all", "groups"])
def test_products_in_every_limb(monkeypatch, by):
    """Products of codes, of spreads too, are Python's integers in limbs of any width, also beyond 64 bits."""
    made = table()
    expected = [by_hand(made, Sums(TERMS, by)), by_hand(made, TOTAL.request(by))]
    assert expected[0].max() > 2**64
    for bits in (*LIMBS, 22, 5):
        monkeypatch.setattr(duck_rows, "LIMBS", (bits,))
        found = rows_of(as_duckdb(made)).collect([Sums(TERMS, by), TOTAL.request(by)])
        assert all((one == other).all() for one, other in zip(found, expected, strict=True))


def test_exactness_is_that_of_the_largest_limb():
    """A mean of 2^27 rows, or of 2^24 in its largest group, is one limb; one row more is not."""
    columns = rows_of(as_duckdb(table()))._columns
    for by, limit, rows in ((None, SUMMED, 2**27), (GROUP, AVERAGED, 2**24)):
        query = Query([MEAN.request(by)], columns, LIMBS[0])
        assert [len(limbs) for limbs in query.sums.values()] == [1, 1]
        assert rows * LARGEST < limit <= (rows + 3) * LARGEST
        assert query.exact(rows)
        assert not query.exact(rows + 3)
        assert Query([MEAN.request(by)], columns, LIMBS[1]).exact(2**33)


def test_one_limb_of_as_many_rows_as_it_holds():
    """DuckDB's own sum of the largest codes is exact up to the last row that one limb holds."""
    rows = 2**27
    values = f"SELECT ({LARGEST} - 2 * (i % 2)) / 2::DOUBLE AS c FROM range({rows}) t(i)"
    [(found,)] = duckdb.sql(f"SELECT sum(c) FROM ({values})").fetchall()
    assert int(2 * found) == rows * LARGEST - rows


@given(st.integers(1, 2**50), st.data())
def test_averages_hold_sums(rows, data):
    """A sum below 2^50 is found again from its rounded average, by a division or a reciprocal, of either sign."""
    for total in (data.draw(st.integers(1 - AVERAGED, AVERAGED - 1)), AVERAGED - 1, 1 - AVERAGED, 0, 1):
        for average in (float(total) / rows, float(total) * (1 / rows)):
            assert np.rint(average * rows) == total


def test_larger_sums_would_be_lost():
    """Beyond 2^52 the nearest whole number is another sum, which is what the limit is there for."""
    rows, totals = generator.integers(3, 2**26, 10**5), generator.integers(2**52, 2**53, 10**5)
    assert (np.rint(totals / rows * rows) != totals).any()


@pytest.mark.parametrize("filtered", [False, True])
def test_files_that_know_their_rows_spare_a_pass(monkeypatch, asked, tmp_path, filtered):
    """Where a Parquet file says that its rows are too many for one limb, two are taken at once."""
    path = str(tmp_path / "rows.parquet")
    made = table()
    as_duckdb(made).write_parquet(path)
    monkeypatch.setattr(source, "LARGE", 0)
    rows = rows_of(path)
    expected = rows.collect([MEAN.request(), MEAN.request(GROUP)])
    assert (expected[0] == by_hand(made, MEAN.request())).all()
    if filtered:
        rows = rows.where(column("n") >= 0)
    for request, rows_expected in ((MEAN.request(), ROWS), (MEAN.request(GROUP), ROWS // 2)):
        for name in ("SUMMED", "AVERAGED"):
            monkeypatch.setattr(duck_query, name, rows_expected * LARGEST)
        asked.clear()
        found = rows.collect([request])[0]
        assert (found == expected[request.by is not None]).all()
        assert len(asked) == 2  # the count, and one pass


def test_many_keys_take_several_passes(tmp_path):
    """What DuckDB cannot tell apart in one query is asked in two, and the answers are the same."""
    path = tmp_path / "t.csv"
    path.write_text("x\n" + "\n".join(str(i % 97) for i in range(500)) + "\n")
    requests = [Counts((Code("x", Interval(0, 97, cells=cells)),)) for cells in range(1, 140)]
    requests += [Sums(((), (Code("x", Interval(0, 97)),)), by=Code("x", Interval(0, 97, cells=9)))]
    rows, passes = rows_of(str(path)), []
    fetched = rows._fetched
    rows._fetched = lambda relation: passes.append(1) or fetched(relation)
    found = rows.collect(requests)
    expected = rows_of({"x": [i % 97 for i in range(500)]}).collect(requests)
    assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))
    assert len(passes) == 3
