"""A second look at rows in memory, with and without what a first one kept."""

import numpy as np
import pytest

import flou
from flou.summaries.array.rows import ArrayRows
from flou.summaries.request import Code, Counts

FINE = flou.Interval(0, 100, cells=2**31, missing=7)
ALIGNED = [(0, 2**15), (5 * 2**15, 9 * 2**15), (2**27, 2**28), (2**31 - 2**15, 2**31)]
SPANS = [(0, 2**15), (5 * 2**15, 9 * 2**15 - 3), (2**27, 2**28), (2**31 - 2**15, 2**31)]
ROWS = 5000


def _column(kind):
    rng = np.random.default_rng(3)
    values = rng.uniform(-5, 105, ROWS)
    if kind == "holes":
        values[::7], values[1::7], values[2::7] = np.nan, np.inf, -np.inf
    elif kind == "narrow":
        return values.astype(np.float32)
    elif kind == "whole":
        return rng.integers(-5, 105, ROWS)
    elif kind == "masked":
        return np.ma.MaskedArray(values, rng.random(ROWS) < 0.2)
    elif kind == "objects":
        return [None if i % 5 == 0 else "text" if i % 7 == 0 else float(v) for i, v in enumerate(values)]
    return values[::-1] if kind == "strided" else values


@pytest.mark.parametrize("spans", [SPANS, ALIGNED])
@pytest.mark.parametrize("cells", [2**16, 2**12, 1000, 2**20])
@pytest.mark.parametrize("kind", ["plain", "holes", "narrow", "whole", "masked", "objects", "strided"])
def test_a_first_look_changes_no_second_one(kind, cells, spans):
    """What a first look keeps makes a second one faster, and leaves its answer as it is."""
    group = Code("g", flou.Categories(["a", "b"]))
    columns = {"x": _column(kind), "g": np.array(["a", "b", "?"] * ROWS)[:ROWS]}
    for narrowed in (False, True):
        fresh, looked = (ArrayRows(columns) for _ in range(2))
        if narrowed:
            fresh, looked = (rows.where(flou.column("x") > 20) for rows in (fresh, looked))
        looked.collect([Counts((group, Code("x", FINE.with_cells(cells))))])
        for by in (None, group):
            expected, found = (rows.tally(Code("x", FINE), spans, by) for rows in (fresh, looked))
            assert all(np.array_equal(a, b) for a, b in zip(expected, found, strict=True))
            assert expected[2].sum() > 0 or narrowed


def test_a_first_look_through_other_eyes_is_not_used():
    """Codes of another grid, or of another value for what is missing, say nothing about the fine ones."""
    x = _column("holes")
    expected = ArrayRows({"x": x}).tally(Code("x", FINE), SPANS)
    for other in (flou.Interval(0, 101, cells=2**16, missing=7), flou.Interval(0, 100, cells=2**16, missing=50)):
        rows = ArrayRows({"x": x})
        rows.collect([Counts((Code("x", other),))])
        assert all(np.array_equal(a, b) for a, b in zip(expected, rows.tally(Code("x", FINE), SPANS), strict=True))
        few = Code("x", FINE.with_cells(1000))
        assert rows.tally(few, [(0, 1000)])[2].sum() == ROWS


def test_columns_longer_than_a_block_are_encoded_as_short_ones():
    """A row's code depends on that row alone, wherever the blocks begin."""
    x = np.tile(_column("holes"), 20)
    assert np.array_equal(FINE.encode(x), np.tile(FINE.encode(x[:ROWS]), 20))
    assert np.array_equal(FINE.encode(x[:ROWS]), [FINE.encode([value])[0] for value in x[:ROWS].tolist()])
