"""Second looks on every engine: few spans, many spans, groups, nothing at all."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import flou
from flou.summaries import rows_of
from flou.summaries.duck.spans import rows_sql
from flou.summaries.duck.sql import ColumnSQL
from flou.summaries.request import Code
from summaries.engines import Made


@pytest.mark.parametrize("many", [0, 1, 3, 50])
def test_occupied_codes_of_spans(source, many):
    generator = np.random.default_rng(many)
    x, g = generator.uniform(0, 1, 800), np.array(["a", "b", "?"])[generator.integers(0, 3, 800)]
    rows = rows_of(source(Made({"x": ("double", [*x.tolist(), None]), "g": ("text", [*g.tolist(), None])})))
    code, by = Code("x", flou.Interval(0, 1, cells=2**12)), Code("g", flou.Categories(["a", "b"]))
    starts = np.sort(generator.choice(256, many, replace=False)) * 16
    spans = [(int(start), int(start) + 16) for start in starts]
    codes = np.append(code.domain.encode(x), code.domain.missing_code)
    groups = np.append(by.domain.encode(g), by.domain.missing_code)
    inside = np.array([any(a <= c < b for a, b in spans) for c in codes.tolist()], dtype=bool)
    for grouping, of in ((None, np.zeros_like(codes)), (by, groups)):
        expected = sorted(zip(of[inside].tolist(), codes[inside].tolist(), strict=True))
        found = rows.tally(code, spans, grouping)
        told = [(g, c) for g, c, n in zip(*(part.tolist() for part in found), strict=True) for _ in range(n)]
        assert told == expected


FINE = flou.Interval(-3, 300.7, cells=2**20, missing=40)
RUN = 2**8
EDGES = [-3 + FINE.step * edge for edge in (0, 5 * RUN, 6 * RUN, 7 * RUN, 2**19, 2**19 + RUN, 2**20 - RUN, 2**20)]
NUMBERS = {
    "double": [*EDGES, *(math.nextafter(e, side) for e in EDGES for side in (-math.inf, math.inf)),
               0.0, -0.0, 5e-324, 1e308, -1e308, math.inf, -math.inf, math.nan, None, 40.0, 150.0],
    "float": [*EDGES, math.inf, -math.inf, math.nan, None, 40.0, 1e-40],
    "long": [*range(-10, 310), 2**62, -(2**62), None],
    "byte": [*range(-128, 128), None],
    "decimal": [*(Decimal(f"{edge:.6f}") for edge in EDGES), Decimal("40.000001"), Decimal(10) ** 20, None],
    "text": ["40", "150", "nan", "", None],
    "truth": [True, False, None],
}  # fmt: skip
MISSING = FINE.missing_code // RUN * RUN
INSIDE = {
    "within": [(5 * RUN, 6 * RUN), (2**19, 2**19 + RUN)],
    "with what is missing": [(5 * RUN, 6 * RUN), (MISSING, MISSING + RUN), (2**19, 2**19 + 3 * RUN)],
    "with the first": [(0, RUN), (5 * RUN, 7 * RUN)],
    "with the last": [(6 * RUN, 7 * RUN), (2**20 - RUN, 2**20)],
    "all": [(0, 2**20)],
    "all but the ends": [(RUN, 2**20 - RUN)],
    "of any length": [(5 * RUN - 3, 6 * RUN + 1)],
}


@pytest.mark.parametrize("kind", NUMBERS)
def test_rows_at_the_edges_of_spans(source, kind):
    """A row is counted by its code, wherever it lies and whatever it is."""
    rows = rows_of(source(Made({"x": (kind, NUMBERS[kind])})))
    every = rows.tally(Code("x", FINE), INSIDE["all"])
    assert every[2].sum() == len(NUMBERS[kind])
    for spans in INSIDE.values():
        held = np.array([any(a <= code < b for a, b in spans) for code in every[1].tolist()])
        found = rows.tally(Code("x", FINE), spans)
        assert [part.tolist() for part in found] == [part[held].tolist() for part in every]


def test_nan_that_a_file_does_not_tell_of(tmp_path):
    """The smallest and largest values in a Parquet file leave NaN out: it is found all the same."""
    path = str(tmp_path / "x.parquet")
    pq.write_table(pa.table({"x": [1.0, 2.0, math.nan, 3.0]}), path)
    _, codes, counts = rows_of(path).tally(Code("x", FINE), [(MISSING, MISSING + RUN)])
    assert (codes.tolist(), counts.tolist()) == ([FINE.missing_code], [1])


@pytest.mark.parametrize("name", ["within", "with what is missing", "all but the ends"])
def test_spans_that_are_looked_for_before_codes(name):
    assert rows_sql(ColumnSQL("x", "DOUBLE", False), FINE, INSIDE[name]) is not None
    assert rows_sql(ColumnSQL("x", "VARCHAR", False), FINE, INSIDE[name]) is None


@pytest.mark.parametrize("name", ["with the first", "with the last", "all"])
def test_spans_that_rows_beyond_the_bounds_count_in(name):
    assert rows_sql(ColumnSQL("x", "DOUBLE", False), FINE, INSIDE[name]) is None
