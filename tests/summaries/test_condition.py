"""Rows are chosen by what each of them holds, in the same way on every engine."""

# ruff: noqa: SIM300  a column stands on the left, as users write it

from __future__ import annotations

import math

import pytest

from flou.domain import Integers
from flou.errors import InvalidData, InvalidParameter
from flou.summaries import Code, Counts, column, rows_of
from summaries.engines import Made

TEXTS = ["it's", "b", None, "'; DROP TABLE kept; --", "B", "a", "c"]
MADE = Made(
    {
        "id": ("long", [0, 1, 2, 3, 4, 5, 6]),
        "x": ("double", [1.0, math.nan, None, math.inf, -math.inf, 2.5, -0.0]),
        "n": ("long", [2**53, 2**53 + 1, None, -(2**63), 2**63 - 1, 3, 0]),
        'a "name"': ("text", TEXTS),
        "t": ("truth", [True, False, None, True, False, True, False]),
    }
)
X, N, S, T = column("x"), column("n"), column('a "name"'), column("t")
CASES = [
    (X < 2.5, {0, 4, 6}),
    (X <= 2.5, {0, 4, 5, 6}),
    (X > 1, {3, 5}),
    (X >= 1, {0, 3, 5}),
    (X == 0, {6}),
    (X != 1, {3, 4, 5, 6}),
    (X < math.inf, {0, 4, 5, 6}),
    (X == math.inf, {3}),
    (X > 10**400, {3}),
    (X != 2**53 + 1, {0, 3, 4, 5, 6}),
    (~(X < 2.5), {1, 2, 3, 5}),
    (~(X != 1), {0, 1, 2}),
    (N == 2**53, {0}),
    (N == 2**53 + 1, {1}),
    (N > 2**53, {1, 4}),
    (N >= 2.0**53, {0, 1, 4}),
    (N < 2.5, {3, 6}),
    (N > 2.5, {0, 1, 4, 5}),
    (N != 2.5, {0, 1, 3, 4, 5, 6}),
    (N == 2.5, set()),
    (N < 10**30, {0, 1, 3, 4, 5, 6}),
    (N > -math.inf, {0, 1, 3, 4, 5, 6}),
    (N < -(10**30), set()),
    (S == "it's", {0}),
    (S == TEXTS[3], {3}),
    (S != "b", {0, 3, 4, 5, 6}),
    (S < "b", {3, 4, 5}),
    (S >= "b", {0, 1, 6}),
    (~(S == "b"), {0, 2, 3, 4, 5, 6}),
    (S == "' OR 1=1 --", set()),
    (T == True, {0, 3, 5}),  # noqa: E712
    (T != True, {1, 4, 6}),  # noqa: E712
    (T >= False, {0, 1, 3, 4, 5, 6}),
    (~(T == True), {1, 2, 4, 6}),  # noqa: E712
    ((X > 1) & (T == True), {3, 5}),  # noqa: E712
    ((X > 1) | (S == "b"), {1, 3, 5}),
    (~((X > 1) | (S == "b")) & (N < 5), {6}),
]
NEVER = [S == 1, X == "1", ~~(T == "true"), N < "z", S < 5]  # another type is nothing comparable


def test_conditions(opened, engine):
    """Every operator and combination keeps the same rows; NULL and NaN hold in no comparison, and under ~ always."""
    rows = opened(MADE)
    ident = [Counts((Code("id", Integers(0, 6)),))]
    cases = CASES + ([] if engine == "csv" else [(never, set()) for never in NEVER])
    for condition, expected in cases:
        found = rows.where(condition).collect(ident)[0]
        assert set(found.nonzero()[0].tolist()) == expected, condition
    twice = rows.where(X > 1).where(X < math.inf).collect(ident)[0]
    assert twice.tolist() == [0, 0, 0, 0, 0, 1, 0]


def test_unknown_columns(opened):
    """A column that is not there is refused by its name, in conditions, caps and requests."""
    rows = opened(MADE)
    for call in (
        lambda: rows.where(~((X > 1) & (column("nowhere") > 1))),
        lambda: rows.capped("nowhere", 1),
        lambda: rows.collect([Counts((Code("nowhere", Integers(0, 1)),))]),
    ):
        with pytest.raises(InvalidData, match="no column 'nowhere'"):
            call()


@pytest.mark.parametrize("wrong", [None, True, "x > 1", lambda row: row, X])
def test_what_is_no_condition_is_refused(opened, wrong):
    """Texts, functions, truth values and columns without a comparison are no conditions."""
    with pytest.raises(InvalidParameter):
        opened(MADE).where(wrong)


@pytest.mark.parametrize("constant", [None, math.nan, [1], 1j, X, b"a", "\0", "\ud800"])
def test_constants_of_another_type_are_refused(constant):
    """A column can be compared with a number, a text or a truth value."""
    with pytest.raises(InvalidParameter):
        column("x").__eq__(constant)


def test_conditions_have_no_truth_of_their_own():
    """Python's "and" would drop half of a condition, so it is refused."""
    with pytest.raises(InvalidParameter):
        bool(X > 1)
    with pytest.raises(InvalidParameter):
        assert 1 < X < 2
    with pytest.raises(InvalidParameter):
        _ = (X > 1) & True


def test_mixed_columns_are_compared_row_by_row():
    """In a column of objects, what has another type than the constant is nothing comparable."""
    rows = rows_of({"id": list(range(6)), "x": [1, "1", 1.0, True, None, object()]})
    ident = [Counts((Code("id", Integers(0, 5)),))]
    assert rows.where(X == 1).collect(ident)[0].tolist() == [1, 0, 1, 1, 0, 0]
    assert rows.where(X != "2").collect(ident)[0].tolist() == [0, 1, 0, 0, 0, 0]
