"""A party's cells are read one by one: none raises an error, none is quoted, and none changes how others are read."""

from __future__ import annotations

import datetime
import tracemalloc
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from flou.errors import FlouError, InvalidData
from flou.joint.estimators.distribution.distribution import Histogram
from flou.joint.estimators.linear.linear import LinearRegression
from flou.joint.estimators.party_rows import PartyRows, Reading
from flou.joint.estimators.private.histogram import PrivateHistogram
from flou.joint.estimators.private.linear import PrivateLinearRegression
from flou.joint.estimators.private.logistic import PrivateLogisticRegression
from flou.joint.estimators.private.quantiles import PrivateQuantiles
from flou.joint.estimators.private.row_by_row import RowByRow
from flou.joint.simulation import simulated
from joint.every_program import SCHEMA, planned, table

CANARY = "SECRET"


class Touchy:
    """A cell that raises its own content, whatever is done with it."""

    def __eq__(self, other):
        raise RuntimeError(CANARY)

    def __hash__(self):
        raise RuntimeError(CANARY)

    def __str__(self):
        raise SystemExit(CANARY)


UNREADABLE = {
    "NA": pd.NA,
    "NaT": pd.NaT,
    "not UTF-8": CANARY.encode() + b"\xff",
    "signalling NaN": Decimal("sNaN"),
    "a list": [CANARY],
    "an array": np.array([1, 2]),
    "a record": (CANARY, 1),
    "touchy": Touchy(),
}
READABLE = {
    "UTF-8": f"Zoë {CANARY}".encode(),
    "half a character": CANARY + "\udc80",
    "many digits": 10**5000,
    "a large ratio": -Fraction(10**5000, 3),
    "a text": f"{CANARY} text",
    "NUL": CANARY + "\0",
}
CELLS = UNREADABLE | READABLE
PRIVATE = {
    "histogram": (PrivateHistogram("g", categories=["a", "b"], epsilon=1, honest=2), "g"),
    "bins": (PrivateHistogram("y", edges=[-8, 0, 8], epsilon=1, honest=2), "y"),
    "ols": (PrivateLinearRegression("y ~ x + C(g)", SCHEMA, honest=2, norm=8, epsilon=1), "y"),
    "ols category": (PrivateLinearRegression("y ~ x + C(g)", SCHEMA, honest=2, norm=8, epsilon=1), "g"),
    "logit": (PrivateLogisticRegression("yes ~ log(x + 5)", SCHEMA, honest=2, rounds=2, epsilon=1), "x"),
    "quantiles": (PrivateQuantiles("y", (0.5,), (-8, 8), cells=64, honest=2, epsilon=1), "y"),
}
EXACT = {
    "histogram": (Histogram("g", categories=["a", "b"]), "g"),
    "bins": (Histogram("y", edges=[-8, 0, 8]), "y"),
    "ols": (LinearRegression("y ~ x + C(g)", SCHEMA), "y"),
    "clusters": (LinearRegression("y ~ x", covariance="cluster", cluster="k"), "k"),
}


def appended(column, *cells):
    """A table of objects, and one row more for each cell, which stands in one column."""
    rows = {name: [*values.tolist(), *(values.tolist()[0] for _ in cells)] for name, values in table().items()}
    rows[column][len(rows[column]) - len(cells) :] = cells
    return pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in rows.items()})


def words(program, frame):
    """What a party adds to the first sums, before its noise."""
    return [int(word) for word in program.words(program.next([]), planned(program).rows(frame))]


def said(error):
    """Everything that an error, or one that led to it, could show of a record."""
    found = []
    while error is not None:
        found += [str(error), repr(error), repr(getattr(error, "object", ""))]
        error = error.__context__
    return " ".join(found)


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("name", PRIVATE)
def test_a_cell_concerns_its_own_row(name, cell):
    """A private statistic adds the part of a cell's own row to those of the others, and never raises."""
    program, column = PRIVATE[name]
    others, both = words(program, appended(column)), words(program, appended(column, CELLS[cell]))
    alone = words(program, appended(column, CELLS[cell]).tail(1).reset_index(drop=True))
    assert both == [part + rest for part, rest in zip(alone, others, strict=True)]
    if cell in UNREADABLE:
        assert both == others


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("name", EXACT)
def test_an_exact_statistic_quotes_no_cell(name, cell):
    """It leaves out what cannot be read, and may refuse what it cannot compute with, in words of its own."""
    program, column = EXACT[name]
    others = words(program, appended(column))
    refusal = None
    try:
        found = words(program, appended(column, CELLS[cell]))
    except FlouError as error:
        refusal = error
    if refusal is None:
        assert found == others or cell in READABLE
    else:
        assert cell in READABLE
        assert CANARY not in said(refusal)


def test_exact_histograms_count_what_is_no_category():
    """A cell of bytes is the text that it spells, and a list is missing."""
    program, _ = EXACT["histogram"]
    other = [words(program, appended("g", cell))[-1] for cell in ("a", "z", b"z", b"a", [1])]
    assert other == [0, 1, 1, 0, 0]


@pytest.mark.parametrize("name", ["histogram", "ols", "logit", "quantiles"])
def test_sessions_end_alike(name):
    """A session with all of these cells is a session without them."""
    program, column = PRIVATE[name]
    assert simulated([appended(column, *CELLS.values()), table(2), table(3)], program).fit is not None


def batch(cells, texts=frozenset()):
    source = cells if isinstance(cells, np.ndarray) else np.fromiter(cells, dtype=object, count=len(cells))
    (found,) = PartyRows({"x": source}, Reading(("x",), texts=texts)).batches(("x",))
    return found["x"]


def test_a_long_text_takes_its_own_room():
    """Not the room of one so long in every row."""
    cells = ["a"] * 20_000 + ["b" * 2_000_000]
    rows = RowByRow(PartyRows({"x": cells}, Reading(("x",))))
    tracemalloc.start()
    try:
        assert not sum(len(found["x"]) for found in rows.batches(("x",)))
        assert tracemalloc.get_traced_memory()[1] < 2**25
    finally:
        tracemalloc.stop()


def test_numbers_of_all_types_are_read_as_doubles():
    """Whichever object holds them, and alone as among texts."""
    cells = [1, True, 2.5, Decimal("0.1"), Fraction(1, 3), np.float32(0.1), np.int8(-3), b"4", " 5 ", "TRUE", 2**70]
    cells += [10**5000, -Fraction(10**5000), np.longdouble(7), np.bool_(False)]
    wanted = [1, 1, 2.5, 0.1, 1 / 3, float(np.float32(0.1)), -3, 4, 5, 1, 2.0**70, np.inf, -np.inf, 7, 0]
    assert batch(cells).tolist() == wanted
    rows = RowByRow(PartyRows({"x": [*cells, "abc"]}, Reading(("x",))))
    assert [value for found in rows.batches(("x",)) for value in found["x"].tolist()] == wanted


def test_texts_stay_as_they_are_written():
    """In a column that is declared as texts, dates and intervals of pandas among them."""
    day, bins = datetime.date(2024, 2, 29), pd.Interval(0, 10)
    cells = ["1.0", 1, 1.0, True, b"1", "", day, bins, None, np.nan, pd.NaT]
    assert batch(cells, frozenset("x")).tolist() == ["1.0", "1", "1.0", "True", "1", "", "2024-02-29", "(0, 10]"]
    assert batch(np.array([1, 2]), frozenset("x")).tolist() == ["1", "2"]
    assert batch(np.array([b"a", b"\xff", "ë".encode()])).tolist() == ["a", "ë"]
    assert batch(np.array(["2024-02-29", "NaT"], dtype="M8[D]")).tolist() == ["2024-02-29"]


def test_a_signalling_nan_is_missing_without_a_warning():
    """Also where floats are widened."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert batch(np.array([0x7FA00000, 0x3F800000], dtype=np.uint32).view(np.float32)).tolist() == [1.0]


def test_a_text_among_numbers_is_refused_without_a_word_of_it():
    """An exact statistic that needs numbers says which column holds texts."""
    with pytest.raises(InvalidData, match="holds texts") as caught:
        words(EXACT["bins"][0], appended("y", CANARY))
    assert CANARY not in said(caught.value)
