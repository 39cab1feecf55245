"""One of a public list of values."""

from __future__ import annotations

import dataclasses
import enum
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from flou.domain import Categories

DEPARTMENTS = ["care", "research", "administration"]

value = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=4) | st.integers(
    -(2**62), 2**62
)
values = st.lists(value | st.booleans(), min_size=1, max_size=8, unique_by=lambda v: (type(v), v))
anything = value | st.booleans() | st.none() | st.floats() | st.integers(-3, 3).map(float) | st.fractions()


def expected(domain, element):
    """The rule, spelled out for one element."""
    for code, category in enumerate(domain.values):
        if isinstance(category, str) and isinstance(element, str) and category == element:
            return code
        if isinstance(category, bool) or isinstance(element, bool):
            if isinstance(category, bool) and isinstance(element, bool) and category == element:
                return code
        elif not isinstance(category, str) and not isinstance(element, str) and category == element:
            return code
    return domain.missing_code


def test_codes_by_hand():
    """A value has the code of its place, and unknown values and NULL have the last one."""
    domain = Categories(DEPARTMENTS)
    rows = ["research", "care", "Care", "administration", None, math.nan, 1, b"care", "", "care "]
    assert domain.encode(rows).tolist() == [1, 0, 3, 2, 3, 3, 3, 0, 3, 3]
    assert (domain.size, domain.missing_code, domain.labels) == (4, 3, (*DEPARTMENTS, "other"))


def test_without_other():
    """Without "other", unknown values and NULL count as the declared value."""
    domain = Categories(DEPARTMENTS, other=False, missing="research")
    assert domain.encode(["care", "x", None, math.nan]).tolist() == [0, 1, 1, 1]
    assert (domain.size, domain.labels) == (3, tuple(DEPARTMENTS))


def test_one_is_not_true():
    """The category 1 is 1.0 and Decimal(1), and is not True; the category True is not 1."""
    rows = [1, 1.0, np.int8(1), Decimal(1), Fraction(1), np.longdouble(1), True, np.True_, "1", b"1"]
    assert Categories([1]).encode(rows).tolist() == [0] * 6 + [1] * 4
    assert Categories([True]).encode(rows).tolist() == [1] * 6 + [0, 0, 1, 1]
    assert Categories(["1"]).encode(rows).tolist() == [1] * 8 + [0, 0]
    assert Categories([True, 1]).encode(rows).tolist() == [1] * 6 + [0, 0, 2, 2]


def test_typed_arrays():
    """The same holds for arrays that have a type."""
    ones = np.array([1, 0, 2])
    for dtype in ["i1", "u8", "f2", "f8", ">i8", "g"]:
        assert Categories([2, 1]).encode(ones.astype(dtype)).tolist() == [1, 2, 0]
        assert Categories([True, False]).encode(ones.astype(dtype)).tolist() == [2, 2, 2]
    assert Categories([0, 1]).encode(np.array([True, False])).tolist() == [2, 2]
    assert Categories([True]).encode(np.array([True, False])).tolist() == [0, 1]
    assert Categories([False, True]).encode(np.array([True, False])).tolist() == [1, 0]


def test_arrays_of_texts():
    """Texts of NumPy in all three types match the same categories."""
    rows = ["care", "x", "administration", "carelessness"]
    for dtype in ["U", "S", np.dtypes.StringDType(), object]:
        assert Categories(DEPARTMENTS).encode(np.array(rows, dtype=dtype)).tolist() == [0, 3, 2, 3]
    lost = np.array(["care", None], dtype=np.dtypes.StringDType(na_object=None))
    assert Categories(DEPARTMENTS).encode(lost).tolist() == [0, 3]
    assert Categories([1]).encode(np.array(["1"])).tolist() == [1]
    assert Categories(["é"]).encode(np.array(["é".encode(), b"\xff"])).tolist() == [0, 1]


def test_whole_numbers_beyond_floats():
    """Integers beyond 2**53 match exactly, in every type that can hold them."""
    big = 2**53
    domain = Categories([big + 1, -(2**62), 2**62, 0])
    rows = [big, big + 1, big + 2, 2**62, 0]
    for column in (rows, np.array(rows), np.array(rows, dtype=np.uint64)):
        assert domain.encode(column).tolist() == [4, 0, 4, 2, 3]
    floats = [float(big), float(big + 2), 2.0**62, -(2.0**62), 2.0**63, -(2.0**63), 1e300, np.inf, np.nan, 0.5, -0.0]
    assert domain.encode(np.array(floats)).tolist() == [4, 4, 2, 1, 4, 4, 4, 4, 4, 4, 3]
    assert domain.encode(floats).tolist() == domain.encode(np.array(floats)).tolist()
    assert domain.encode(np.array([2**64 - 1, 2**63, 0], dtype=np.uint64)).tolist() == [4, 4, 3]
    assert domain.encode(np.array([-(2**63), 2**63 - 1, 0])).tolist() == [4, 4, 3]


@given(values, st.lists(anything, max_size=20))
@example([True, 1, 0, False, "1"], [1, True, 1.0, 0, False, 0.0, "1", math.nan, None])
def test_rule(listed, x):
    """Every element has the code of the category that it equals, texts, numbers and booleans apart."""
    domain = Categories(listed, other_label="none of them")
    assert domain.encode(x).tolist() == [expected(domain, element) for element in x]


@given(
    st.lists(st.integers(-9, 9) | st.integers(-(2**62), 2**62), min_size=1, unique=True, max_size=9),
    st.sampled_from(["i1", "i8", "u1", "u8", "f2", "f4", "f8"]),
    st.binary(max_size=64),
)
def test_rule_in_arrays(listed, dtype, content):
    """Arrays of numbers follow the rule of their elements, whatever bits they hold and however far apart."""
    rows = np.frombuffer(content[: len(content) // 8 * 8], dtype=dtype)
    rows = np.concatenate([rows, np.array(range(4), dtype=dtype)])
    domain = Categories(listed)
    assert domain.encode(rows).tolist() == [expected(domain, element) for element in rows.tolist()]


@given(values)
def test_round_trip(listed):
    """A category decodes to itself, with its type."""
    domain = Categories(listed, other_label="none of them")
    decoded = domain.decode(domain.encode(listed)).tolist()
    assert [(type(v), v) for v in decoded] == [(type(v), v) for v in listed]
    assert domain.decode([len(listed)]).tolist() == ["none of them"]


def test_many_rows():
    """Rows beyond one block keep their order."""
    rows = np.array(DEPARTMENTS)[np.arange(200_001) % 3]
    assert (Categories(DEPARTMENTS).encode(rows) == np.arange(200_001) % 3).all()


def test_equality():
    """Lists that differ in 1 and True are different, and order matters."""
    assert Categories([0, 1]) != Categories([False, True])
    assert Categories(["a", "b"]) != Categories(["b", "a"])
    assert Categories(["a"]) != Categories(["a"], other_label="rest")
    assert Categories(["a", "b"], other=False, missing="a") != Categories(["a", "b"], other=False, missing="b")
    assert Categories(["a"]) != "a"
    assert Categories(["a", 1]) == Categories(("a", np.int64(1)))
    assert len({Categories(["a"]), Categories(["a"]), Categories(np.array(["a"]))}) == 1
    assert dataclasses.replace(Categories(["a"]), other_label="rest") == Categories(["a"], other_label="rest")


def test_enum_members():
    """A member of an Enum that is a text or a number stands for its value."""
    colour = enum.Enum("colour", {"RED": "red"}, type=str)
    level = enum.IntEnum("level", {"LOW": 1})
    assert Categories([colour.RED, level.LOW]).values == ("red", 1)
    assert Categories(["red", 1]).encode([colour.RED, level.LOW]).tolist() == [0, 1]


@pytest.mark.parametrize(
    "bad", [[], (), "care", None, 5, {"care"}, {"care": 1}, np.array([["a"]]), np.array([]), np.array("a"), iter("ab")]
)
def test_values_must_be_a_list(refuses, bad):
    """Categories come as a list with at least one of them."""
    refuses(lambda: Categories(bad), "values")


@pytest.mark.parametrize(
    "bad",
    [
        None,
        1.0,
        math.nan,
        2**62 + 1,
        10**400,
        b"a",
        [1],
        (1,),
        "a\0",
        "\ud800",
        np.timedelta64(1),
        np.datetime64("2020"),
    ],
)
def test_values_must_be_texts_or_numbers(refuses, bad):
    """A category is a text, a whole number or a boolean."""
    refuses(lambda: Categories(["x", bad]), "values")
    if bad is not None:
        refuses(lambda: Categories(["x"], other=False, missing=bad), "missing")


@pytest.mark.parametrize("twice", ["x", 1, True, ""])
def test_values_must_be_distinct(refuses, twice):
    """No category is listed twice."""
    refuses(lambda: Categories([twice, "y", twice]), "values", repr(twice))


@pytest.mark.parametrize("missing", [None, "x", 0, True])
def test_missing_must_be_a_value(refuses, missing):
    """Without "other", the missing value is one of the values, and 1 is not True."""
    refuses(lambda: Categories(["care", False, 1], other=False, missing=missing), "missing")


def test_missing_or_other(refuses):
    """With "other", there is no missing value."""
    refuses(lambda: Categories(["care"], missing="care"), "missing", "other")


def test_other_label_must_be_free(refuses):
    """The name of "other" is not one of the values, unless there is no other."""
    refuses(lambda: Categories(["care", "other"]), "other_label")
    refuses(lambda: Categories(["care", "rest"], other_label="rest"), "other_label")
    assert Categories(["care", "other"], other=False, missing="other").encode(["x"]).tolist() == [1]


@pytest.mark.parametrize("bad", [None, 1, "", "a\0"])
def test_other_label_must_be_a_text(refuses, bad):
    """The name of "other" is a text."""
    refuses(lambda: Categories(["care"], other_label=bad), "other_label")


@pytest.mark.parametrize("bad", [None, 1, 0, "true"])
def test_other_must_be_boolean(refuses, bad):
    """Whether there is an "other" is True or False."""
    refuses(lambda: Categories(["care"], other=bad), "other")
