from __future__ import annotations

import json
import time

import numpy as np
import pandas as pd
import pytest
from formulaic import model_matrix

from flou import Boolean, Categories, Integers, Interval, Schema
from flou.errors import InvalidData, InvalidParameter
from flou.joint.estimators.design.design import RegressionDesign
from flou.joint.estimators.linear.linear import LinearRegression
from flou.joint.estimators.party_rows import PartyRows, Reading

SCHEMA = Schema(
    {
        "g": Categories(["a", "b", "c"]),
        "h": Categories(["u", "v"]),
        "b": Boolean(),
        "k": Integers(1, 3),
        "d": Interval(0, 10),
    }
)
FORMULAS = [
    "y ~ 1",
    "y ~ x",
    "y ~ x - 1",
    "y ~ 0 + x",
    "y ~ x + z + x:z",
    "y ~ x * z",
    "y ~ (x + z + d) ** 2 - x:z",
    "log(x) ~ z",
    "y ~ I(x ** 2) + log(x) + exp(z) + log10(x) + abs(z)",
    "y ~ np.log(x) + np.sqrt(x) + log1p(x)",
    "y ~ I(x / z ** 2) + I(-x) + I(1 - 2 * x)",
    "y ~ {x + 1} + `x`",
    "y ~ `my col` + log(`my col`)",
    "y ~ b",
    "y ~ C(b)",
    "y ~ C(k)",
    "y ~ k",
    "y ~ g",
    "y ~ C(g)",
    "y ~ 0 + g",
    "y ~ 0 + g + h",
    "y ~ g + h",
    "y ~ g * h",
    "y ~ g:h",
    "y ~ 0 + g:h",
    "y ~ g * h - g",
    "y ~ g * h - 1 - h",
    "y ~ g * h * x",
    "y ~ g:x",
    "y ~ g:x - 1",
    "y ~ x + g:x",
    "y ~ g / x",
    "y ~ (x + z) / g",
    "y ~ g / h / x",
    "y ~ 0 + g:h:x + h:x",
    "y ~ (g + h + x) ** 2 - x",
    "y ~ (x + z + g) ** 3",
    "y ~ 0 + g * h * C(k) + x:z:g",
    "y ~ x:z + x:z:g + C(b)",
    "y ~ C(b):C(k) + g:C(b)",
    "y ~ b:x + C(g) * b",
]


def made_rows(n=120, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "y": rng.normal(size=n),
            "x": rng.uniform(1, 3, n),
            "z": rng.normal(size=n),
            "d": rng.uniform(0, 10, n),
            "b": rng.integers(0, 2, n).astype(bool),
            "k": rng.integers(1, 4, n),
            "g": pd.Categorical(rng.choice(list("abc"), n), categories=list("abc")),
            "h": pd.Categorical(rng.choice(list("uv"), n), categories=list("uv")),
            "my col": rng.uniform(1, 2, n),
        }
    )


def batch_of(design, frame):
    (batch,) = PartyRows(frame, Reading(design.columns)).batches(design.columns)
    return batch


@pytest.mark.parametrize("formula", FORMULAS)
def test_names_and_matrix_are_those_of_formulaic(formula):
    """Column by column, in its order and under its names."""
    rows = made_rows()
    design = RegressionDesign(formula, SCHEMA)
    expected = model_matrix(formula, rows, context={"log1p": np.log1p, "sqrt": np.sqrt})
    X, y = design.matrix(batch_of(design, rows) if design.columns else {})
    assert design.names == tuple(expected.rhs.columns)
    assert design.response == expected.lhs.columns[0]
    np.testing.assert_allclose(X, expected.rhs.to_numpy(float), rtol=4e-15)
    np.testing.assert_array_equal(y, expected.lhs.to_numpy(float)[:, 0])
    assert design.has_intercept == ("Intercept" in expected.rhs.columns)


@pytest.mark.parametrize("formula", FORMULAS)
def test_codes_are_whole_numbers_within_their_limits_and_close_to_the_values(formula):
    rows = made_rows()
    design = RegressionDesign(formula, SCHEMA)
    batch = batch_of(design, rows)
    codes = design.codes(batch)
    X, y = design.matrix(batch)
    values = np.column_stack([X, y])
    bits = np.array(design.fraction_bits)
    np.testing.assert_array_equal(codes, np.rint(codes))
    assert np.all(np.abs(np.ldexp(codes, -bits) - values) <= np.ldexp(0.5, -bits))
    assert all(abs(int(code)) <= limit for row in codes for code, limit in zip(row, design.code_limits, strict=True))
    for (lower, upper), column in zip((*design.bounds(), design.response_bounds), values.T, strict=True):
        assert lower <= column.min()
        assert column.max() <= upper


def test_bounds_and_grids_follow_from_the_schema_alone():
    design = RegressionDesign("d ~ b + k + g + d:g + k:b + x + log(d)", SCHEMA)
    found = dict(zip(design.names, zip(design.bounds(), design.fraction_bits, strict=False), strict=True))
    assert found["Intercept"] == ((1.0, 1.0), 0)
    assert found["b"] == ((0.0, 1.0), 0)
    assert found["k"] == ((1.0, 3.0), 0)
    assert found["g[T.b]"] == ((0.0, 1.0), 0)
    assert found["k:b"] == ((0.0, 3.0), 0)
    assert found["d:g[b]"] == ((0.0, 10.0), 56)  # 10 < 2^4: codes of 60 bits
    assert found["x"] == ((-(2.0**40), 2.0**40), 56)
    assert found["log(d)"][1] == 50
    assert design.response_bounds == (0.0, 10.0)
    assert design.fraction_bits[-1] == 56


@pytest.mark.parametrize(("value", "column"), [(10.5, "d"), (-0.1, "d"), (np.inf, "d"), (2.0**41, "x"), (-np.inf, "x")])
def test_a_value_outside_its_bounds_is_refused_by_name_and_never_quoted(value, column):
    rows = made_rows()
    design = RegressionDesign("y ~ x + d", SCHEMA)
    rows.loc[3, column] = value
    with pytest.raises(InvalidData, match=repr(column)) as caught:
        design.codes(batch_of(design, rows))
    assert str(value) not in str(caught.value)
    assert "10.5" not in str(caught.value)


def test_values_at_their_bounds_are_no_reason_to_refuse():
    rows = pd.DataFrame({"y": [0.0, 1.0], "d": [0.0, 10.0], "x": [2.0**40, -(2.0**40)]})
    design = RegressionDesign("y ~ d + x + exp(d) + d:d + x:d", SCHEMA)
    codes = design.codes(batch_of(design, rows))
    assert all(abs(int(code)) <= limit for row in codes for code, limit in zip(row, design.code_limits, strict=True))


@pytest.mark.parametrize(
    ("formula", "rows", "named"),
    [
        ("y ~ log(x)", {"y": [1.0], "x": [0.0]}, "log"),
        ("y ~ log(x)", {"y": [1.0], "x": [-1.0]}, "log"),
        ("y ~ sqrt(x)", {"y": [1.0], "x": [-1.0]}, "sqrt"),
        ("y ~ I(1 / x)", {"y": [1.0], "x": [0.0]}, "1 / x"),
        ("y ~ exp(x)", {"y": [1.0], "x": [700.0]}, "exp"),
        ("y ~ k", {"y": [1.0], "k": [1.5]}, "'k'"),
        ("y ~ b", {"y": [1.0], "b": [2.0]}, "'b'"),
        ("y ~ g", {"y": [1.0], "g": ["z"]}, "'g'"),
        ("y ~ C(k)", {"y": [1.0], "k": [4.0]}, "'k'"),
        ("y ~ t", {"y": [1.0], "t": ["secret"]}, "'t'"),
    ],
)
def test_results_without_a_finite_value_and_unknown_categories_are_refused(formula, rows, named):
    design = RegressionDesign(formula, SCHEMA)
    with pytest.raises(InvalidData) as caught:
        design.matrix(batch_of(design, rows))
    assert named in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "formula",
    [
        "y ~ C(x)",
        "y ~ C(d)",
        "g ~ x",
        "C(k) ~ x",
        "y ~ log(g)",
        "y ~ I(g)",
        "y ~ 0",
        "y ~ -1",
        "y ~ C(wide) * C(wider)",
    ],
)
def test_what_the_schema_does_not_allow_is_refused_before_any_row_is_read(formula):
    more = {"wide": Integers(0, 900), "wider": Integers(0, 900)}
    with pytest.raises(InvalidParameter):
        RegressionDesign(formula, Schema(dict(SCHEMA.columns) | more))


def test_levels_are_declared_not_seen():
    """A category that no row has still has its column, and the first declared one is the reference."""
    design = RegressionDesign("y ~ g", SCHEMA)
    X, _ = design.matrix(batch_of(design, {"y": [1.0, 2.0], "g": ["c", "c"]}))
    assert design.names == ("Intercept", "g[T.b]", "g[T.c]")
    assert X.tolist() == [[1.0, 0.0, 1.0], [1.0, 0.0, 1.0]]


@pytest.mark.parametrize("values", [[True, False], [1, 0], [1.0, 0.0]])
def test_truth_values_are_categories_too(values):
    schema = Schema({"b": Boolean(), "c": Categories([True, False])})
    design = RegressionDesign("y ~ C(b) + c", schema)
    X, _ = design.matrix(batch_of(design, {"y": [1.0, 2.0], "b": values, "c": values}))
    assert design.names == ("Intercept", "C(b)[T.True]", "c[T.False]")
    assert X.tolist() == [[1.0, 1.0, 0.0], [1.0, 0.0, 1.0]]


def test_no_rows_make_an_empty_matrix():
    design = RegressionDesign("y ~ g * x", SCHEMA)
    X, y = design.matrix({"y": np.zeros(0), "x": np.zeros(0), "g": np.zeros(0, dtype=str)})
    assert X.shape == (0, 6)
    assert y.shape == (0,)


def test_the_longest_terms_are_coded_in_no_time():
    names = [f"g{k}" for k in range(8)]
    schema = Schema({name: Categories(["a", "b"]) for name in names})
    start = time.process_time()
    assert len(RegressionDesign("y ~ " + ":".join(names), schema).names) == 256
    assert len(RegressionDesign("y ~ 0 + " + "*".join(names), schema).names) == 256
    assert time.process_time() - start < 10


def test_a_plan_carries_the_design():
    design = RegressionDesign("y ~ g * x + log(d)", SCHEMA)
    again = LinearRegression.from_terms(json.loads(json.dumps(design.terms()))).design
    assert (again.names, again.fraction_bits, again.code_limits) == (
        design.names,
        design.fraction_bits,
        design.code_limits,
    )
    assert again.schema == SCHEMA
    assert LinearRegression.from_terms(RegressionDesign("y ~ x").terms()).design.schema is None
