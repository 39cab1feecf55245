from __future__ import annotations

import ast
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flou.errors import InvalidParameter
from flou.joint.estimators.design.expression import EVERYTHING, Expression, Extent

REFUSED = [
    "__import__('os').system('touch here')",
    "open('here', 'w')",
    "x.__class__",
    "x.__class__.__bases__[0].__subclasses__()",
    "np.random.normal(0, 1)",
    "np.load('here')",
    "np.linalg.log(x)",
    "os.log(x)",
    "log(x).sum()",
    "(lambda: x)()",
    "f'{x}'",
    "[v for v in x]",
    "x[0]",
    "x if x else y",
    "x and y",
    "x > 1",
    "not x",
    "x @ x",
    "x % 2",
    "x // 2",
    "x << 2",
    "~x",
    "x := 1",
    "'text'",
    "b'text'",
    "True",
    "1j",
    "None",
    "...",
    "9 ** 9 ** 9",
    "x ** 17",
    "x ** -17",
    "x ** y",
    "2 ** x",
    "x ** True",
    "1e300 * x",
    f"x + {10**400}",
    "log(x, 2)",
    "log(x=1)",
    "log(*x)",
    "log()",
    "C(x)",
    "C(x, contr.sum)",
    "center(x)",
    "scale(x)",
    "poly(x, 2)",
    "bs(x, df=4)",
    "lag(x)",
    "eval(x)",
    "exec('x')",
    "getattr(x, 'y')",
    "I(x).real",
    "",
    "x y",
    "x;",
    "x\n+ 1; y",
    "(" * 300 + "x" + ")" * 300,
    "-" * 3000 + "x",
    "x" + "+x" * 1900,
    "x" * 5000,
]


@pytest.mark.parametrize("text", REFUSED)
def test_whatever_is_not_plain_arithmetic_is_refused(text, tmp_path, monkeypatch):
    """Nothing of it is evaluated: no file appears, and no function runs."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidParameter):
        Expression.of(text)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x + 0 * y", lambda x, y: x + 0 * y),
        ("I(x ** 2) - y", lambda x, y: x**2 - y),
        ("x ** -1.5 * y ** 3", lambda x, y: x**-1.5 * y**3),
        ("log(x) + log10(y) - log1p(x) * log2(y)", lambda x, y: np.log(x) + np.log10(y) - np.log1p(x) * np.log2(y)),
        ("np.exp(-x) / np.sqrt(y)", lambda x, y: np.exp(-x) / np.sqrt(y)),
        ("abs(x - 3 * +y)", lambda x, y: np.abs(x - 3 * y)),
    ],
)
def test_arithmetic_means_what_it_means_in_numpy(text, expected):
    x, y = np.array([1.0, 2.5, 7.0]), np.array([3.0, 0.5, 2.0])
    np.testing.assert_array_equal(Expression.of(text).values({"x": x, "y": y}), expected(x, y))


def test_columns_with_unusual_names_stand_between_backticks():
    expression = Expression.of("log(`my col`) * x + `np` + `my col`")
    assert expression.columns == ("my col", "x", "np")
    values = expression.values({"my col": np.array([1.0]), "x": np.array([5.0]), "np": np.array([7.0])})
    assert values.tolist() == [8.0]


def test_a_function_name_is_not_a_column():
    """The name of a function may also be a column's: only the column is read."""
    assert Expression.of("log(log)").columns == ("log",)
    assert Expression.of("log(log)").values({"log": np.array([1.0])}).tolist() == [0.0]


@pytest.mark.parametrize("text", ["1 / log(x)", "log(x) ** -1", "log(x) ** -2", "1 / exp(1000 + x)", "1 / (1 / x)"])
def test_what_has_no_answer_on_the_way_has_none_at_the_end(text):
    """An infinite part of an expression does not become a finite number that no bounds foresee."""
    assert np.isnan(Expression.of(text).values({"x": np.array([0.0])})).all()
    assert np.isfinite(Expression.of("1 / log(x)").values({"x": np.array([2.0])})).all()


LEAVES = st.sampled_from(["x", "y", "k", "2", "0.5", "3"])
FUNCTIONS = st.sampled_from(["I", "abs", "exp", "log", "log10", "log1p", "log2", "sqrt"])
TEXTS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*/"), inner).map(lambda p: f"({p[0]} {p[1]} {p[2]})"),
        st.tuples(inner, st.sampled_from(["2", "3", "-1", "0.5", "-2", "0", "-0.5"])).map(
            lambda p: f"({p[0]}) ** {p[1]}"
        ),
        st.tuples(FUNCTIONS, inner).map(lambda p: f"{p[0]}({p[1]})"),
        inner.map(lambda p: f"(-{p})"),
    ),
    max_leaves=6,
)
ENDS = st.lists(st.floats(-100, 100), min_size=2, max_size=2).map(sorted)


@settings(deadline=None)
@given(TEXTS, ENDS, ENDS, st.integers(-5, 5), st.lists(st.floats(0, 1), min_size=2, max_size=30))
def test_the_extent_holds_for_every_value_between_the_bounds(text, x, y, k, shares):
    """Whatever rows hold, a finite result lies in the interval; whole numbers stay whole."""
    expression = Expression.of(text)
    columns = {"x": Extent(*x), "y": Extent(*y), "k": Extent(k, k + 3.0, whole=True)}
    extent = expression.extent(columns)
    shares = np.array([0.0, 1.0, *shares])
    rows = {
        "x": np.clip(x[0] + shares * (x[1] - x[0]), *x),
        "y": np.clip(y[1] - shares[::-1] * (y[1] - y[0]), *y),
        "k": k + np.floor(shares * 3),
    }
    values = expression.values(rows) + np.zeros(len(shares))
    values = values[np.isfinite(values)]
    slack = 1e-12 * max(extent.size, 1e-300) if math.isfinite(extent.size) else 0.0
    assert np.all(values >= extent.lower - slack)
    assert np.all(values <= extent.upper + slack)
    if extent.whole:
        assert np.all(values == np.floor(values))


@pytest.mark.parametrize(
    ("text", "lower", "upper", "whole"),
    [
        ("x", -2.0, 3.0, False),
        ("x ** 2", 0.0, 9.0, False),
        ("x ** 3", -8.0, 27.0, False),
        ("k ** 2 - 3 * k", -11.0, 13.0, True),
        ("k / 2", 0.5, 2.0, False),
        ("1 / x", -math.inf, math.inf, False),
        ("1 / k", 0.25, 1.0, False),
        ("abs(x)", 0.0, 3.0, False),
        ("log(k)", 0.0, math.log(4), False),
        ("sqrt(x)", 0.0, math.sqrt(3), False),
        ("exp(x)", math.exp(-2), math.exp(3), False),
    ],
)
def test_extents_are_as_narrow_as_interval_arithmetic_makes_them(text, lower, upper, whole):
    columns = {"x": Extent(-2.0, 3.0), "k": Extent(1.0, 4.0, whole=True)}
    found = Expression.of(text).extent({name: columns[name] for name in Expression.of(text).columns})
    assert (found.lower, found.upper, found.whole) == (pytest.approx(lower), pytest.approx(upper), whole)


def test_a_logarithm_of_an_undeclared_column_has_the_bounds_of_doubles():
    extent = Expression.of("log(x)").extent({"x": EVERYTHING})
    assert extent.lower == pytest.approx(-744.44, abs=0.01)
    assert extent.upper == pytest.approx(40 * math.log(2))
    assert not extent.declared


def test_the_tree_is_what_is_interpreted():
    """A tree that skipped the check is not computed either."""
    with pytest.raises(AssertionError):
        Expression("x.y", ast.parse("x.y", mode="eval").body, {}).values({"x": np.ones(1)})
