"""Rows are clamped or left out one by one, and refused never."""

from __future__ import annotations

import numpy as np
import pytest

from flou import Boolean, Categories, Integers, Interval
from flou.errors import InvalidParameter
from flou.joint.estimators.design.design import RegressionDesign
from flou.joint.estimators.private.bounded_design import BoundedDesign, UnitScale

SCHEMA = {
    "y": Interval(-1, 1),
    "x": Interval(0, 10),
    "k": Integers(1, 4),
    "b": Boolean(),
    "c": Categories(["u", "v", "w"]),
}


def batch(**columns):
    return {name: np.array(values) for name, values in columns.items()}


def test_legal_rows_are_those_of_the_plain_design():
    """Where nothing is out of bounds, both designs have the same matrix."""
    rng = np.random.default_rng(1)
    rows = batch(
        y=rng.uniform(-1, 1, 50),
        x=rng.uniform(0.5, 10, 50),
        k=rng.integers(1, 5, 50).astype(float),
        b=rng.integers(0, 2, 50).astype(float),
        c=rng.choice(["u", "v", "w"], 50),
    )
    formula = "y ~ x + log(x) + C(k) + b:x + C(c) * b"
    X, y = RegressionDesign(formula, SCHEMA).matrix(rows)
    made = BoundedDesign(formula, {**SCHEMA, "x": Interval(0.5, 10)}).clamped(rows)
    np.testing.assert_allclose(made, np.column_stack([X, y]), rtol=1e-12)


def test_values_are_moved_and_rows_without_one_are_left_out():
    """Each rule once: clamping, rounding, missing numbers, texts, unknown categories, no logarithm."""
    rows = batch(
        y=[5.0, -np.inf, 0.5, 0.5, 0.5, 0.5, 0.5],
        x=["20", "3", "0", "abc", "3", "3", "1e-400"],
        c=["u", "v", "u", "u", "zz", "w", "u"],
        k=[2.4, 9.0, 1.0, 1.0, 1.0, -3.0, 1.0],
    )
    made = BoundedDesign("y ~ x + k + C(c)", SCHEMA).clamped(rows)
    names = ["Intercept", "C(c)[T.v]", "C(c)[T.w]", "x", "k", "y"]
    design = BoundedDesign("y ~ x + k + C(c)", SCHEMA)
    order = [(*design.names, "y").index(name) for name in names]
    np.testing.assert_array_equal(
        made[:, order],
        [[1, 0, 0, 10, 2, 1], [1, 1, 0, 3, 4, -1], [1, 0, 0, 0, 1, 0.5], [1, 0, 1, 3, 1, 0.5], [1, 0, 0, 0, 1, 0.5]],
    )
    assert len(BoundedDesign("y ~ log(x)", SCHEMA).clamped(rows)) == 4  # two rows have x = 0


@pytest.mark.parametrize("formula", ["y ~ x", "y ~ x + C(c) + b", "y ~ log(x + 1) * k", "y ~ exp(x) + x**3 - 1"])
def test_whatever_stands_in_the_cells_the_bounds_hold(formula):
    """Strange numbers and texts in all columns: no refusal, no value outside, and each row as if it were alone."""
    rng = np.random.default_rng(2)
    strange = [
        "1",
        "2.5",
        "-1e300",
        "1e300",
        "inf",
        "-inf",
        "nan",
        "true",
        "u",
        "v",
        "",
        "  ",
        "0x1",
        "1,5",
        "-0",
        "😀",
    ]
    rows = {name: rng.choice(strange, 300) for name in SCHEMA}
    design = BoundedDesign(formula, SCHEMA)
    made = design.clamped(rows)
    bounds = np.array([*design.bounds(), design.response_bounds])
    assert np.all((made >= bounds[:, 0]) & (made <= bounds[:, 1]))
    alone = [design.clamped({name: values[i : i + 1] for name, values in rows.items()}) for i in range(300)]
    np.testing.assert_array_equal(made, np.concatenate(alone))
    assert 0 < len(made) < 300


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("y ~ z", "no bounds"),
        ("z ~ x", "no bounds"),
        ("y ~ x + log(z)", "no bounds"),
        ("y ~ I(1 / x)", "no bounds"),
        ("y ~ I(x**16) : I(x**15)", "no bounds"),
        ("I(1) ~ 1", "reads no column"),
    ],
)
def test_columns_without_bounds_are_refused_at_once(formula, message):
    """Before any row is seen, by the name of the column."""
    with pytest.raises(InvalidParameter, match=message):
        BoundedDesign(formula, SCHEMA)


def test_no_schema_is_refused():
    """Nothing has bounds then."""
    with pytest.raises(InvalidParameter, match="no bounds"):
        BoundedDesign("y ~ x", None)


@pytest.mark.parametrize("formula", ["y ~ x + C(c)", "y ~ x + k - 1"])
def test_units_lead_there_and_back(formula):
    """Bounds become -1 and 1 (or the largest size 1), and coefficients of z those of x."""
    design = BoundedDesign(formula, SCHEMA)
    scale = UnitScale.of(design, with_response=True)
    rng = np.random.default_rng(3)
    columns = {"y": rng.uniform(-1, 1, 40), "x": rng.uniform(0, 10, 40), "k": rng.integers(1, 5, 40) + 0.0}
    made = design.clamped({**columns, "c": rng.choice(["u", "v", "w"], 40)})
    z, w = scale.regressors(made[:, :-1]), scale.response(made[:, -1])
    assert np.abs(z).max() <= 1
    b = rng.normal(size=z.shape[1])
    fitted = made[:, :-1] @ scale.params(b)
    np.testing.assert_allclose(scale.response_middle + scale.response_half * (z @ b), fitted, atol=1e-12)
    corners = scale.regressors(np.array(design.bounds()).T)
    assert np.all(np.abs(corners).max(axis=0) == 1)
    assert np.abs(w).max() <= 1
    moved = np.array([scale.params(b + step) - scale.params(b) for step in np.eye(len(b))]).T
    np.testing.assert_allclose(moved, scale.jacobian, atol=1e-9)


def test_a_column_with_one_value_is_refused():
    """It has no half-width."""
    with pytest.raises(InvalidParameter, match="one value"):
        UnitScale.of(BoundedDesign("y ~ I(0 * x)", SCHEMA), with_response=True)
