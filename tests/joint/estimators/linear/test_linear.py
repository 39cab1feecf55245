from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf

from flou import Categories, Interval, Schema
from flou.errors import InvalidData, InvalidParameter
from flou.joint.estimators.fit import Provenance
from flou.joint.estimators.linear.linear import LinearRegression
from flou.joint.estimators.program import program_of
from joint.estimators.linear.exact_reference import exact_least_squares
from joint.estimators.summed import run

LONGLEY = "TOTEMP ~ GNPDEFL + GNP + UNEMP + ARMED + POP + YEAR"
NUMBERS = ("rsquared", "rsquared_adj", "fvalue", "f_pvalue", "llf", "aic", "bic", "scale", "condition_number", "ssr")


def shared(frame, sizes=(1, 0, 5)):
    """Uneven parties, one with a single row, one with none."""
    cuts = np.cumsum(sizes)
    return [frame.iloc[a:b] for a, b in zip([0, *cuts], [*cuts, len(frame)], strict=True)]


def data(name):
    return getattr(sm.datasets, name).load_pandas().data


def assert_same(fit, theirs, rtol=1e-9, skip=()):
    """Everything that both report, coefficient by coefficient and by name."""
    names = list(fit.names)
    assert set(names) == set(theirs.params.index)
    assert (fit.nobs, fit.df_model, fit.df_resid) == (theirs.nobs, theirs.df_model, theirs.df_resid)
    for key in ("params", "bse", "tvalues", "pvalues"):
        if key not in skip:
            np.testing.assert_allclose(getattr(fit, key), getattr(theirs, key)[names], rtol=rtol, err_msg=key)
    np.testing.assert_allclose(fit.cov_params, theirs.cov_params().loc[names, names], rtol=max(rtol, 1e-8))
    np.testing.assert_allclose(fit.conf_int(), theirs.conf_int().loc[names], rtol=max(rtol, 1e-8))
    np.testing.assert_allclose(fit.conf_int(0.9), theirs.conf_int(0.1).loc[names], rtol=max(rtol, 1e-8))
    for key in NUMBERS:
        if key not in skip:
            np.testing.assert_allclose(getattr(fit, key), getattr(theirs, key), rtol=rtol, err_msg=key)


CASES = [
    ("longley", LONGLEY),
    ("stackloss", "STACKLOSS ~ AIRFLOW + WATERTEMP + ACIDCONC"),
    ("stackloss", "np.log(STACKLOSS) ~ AIRFLOW * WATERTEMP + I(ACIDCONC ** 2)"),
    ("spector", "GRADE ~ GPA + TUCE + PSI"),
    ("spector", "GPA ~ 0 + TUCE + PSI"),
    ("fair", "affairs ~ rate_marriage + age + yrs_married * children + religious + np.log(educ)"),
    ("star98", "NABOVE ~ LOWINC + PERASIAN + PERBLACK + PERHISP + PERMINTE + AVYRSEXP + AVSALK + PERSPENK + PTRATIO"),
]


@pytest.mark.parametrize(("name", "formula"), CASES)
def test_the_fit_is_that_of_statsmodels_on_the_pooled_rows(name, formula):
    frame = data(name)
    fit, opened = run(LinearRegression(formula), shared(frame))
    assert_same(fit, smf.ols(formula, frame).fit())
    assert len(opened) == 1
    d = len(fit.names)
    assert len(opened[0].sums) == (d + 1) * (d + 2) // 2 + (0 if "Intercept" in fit.names else d + 2)


NIST = {
    "Intercept": (-3482258.63459582, 890420.383607373),
    "GNPDEFL": (15.0618722713733, 84.9149257747669),
    "GNP": (-0.358191792925910e-01, 0.334910077722432e-01),
    "UNEMP": (-2.02022980381683, 0.488399681651699),
    "ARMED": (-1.03322686717359, 0.214274163161675),
    "POP": (-0.511041056535807e-01, 0.226073200069370),
    "YEAR": (1829.15146461355, 455.478499142212),
}


def test_longley_has_the_values_that_nist_certifies():
    """To all fifteen digits that are printed, where statsmodels has eleven."""
    fit, _ = run(LinearRegression(LONGLEY), shared(data("longley")))
    for name, (coef, error) in NIST.items():
        assert fit.to_dict()[name]["coef"] == pytest.approx(coef, rel=1e-14)
        assert fit.to_dict()[name]["std err"] == pytest.approx(error, rel=1e-14)
    assert math.sqrt(fit.scale) == pytest.approx(304.854073561965, rel=1e-14)
    assert fit.rsquared == pytest.approx(0.995479004577296, rel=1e-14)
    assert fit.fvalue == pytest.approx(330.285339234588, rel=1e-14)
    assert fit.ssr == pytest.approx(836424.055505915, rel=1e-14)


def test_longley_is_the_exact_rational_solution_and_statsmodels_is_not():
    frame = data("longley")
    fit, _ = run(LinearRegression(LONGLEY), shared(frame))
    X = sm.add_constant(frame[list(fit.names[1:])].to_numpy(float))
    beta, covariance, rss = exact_least_squares(X, frame["TOTEMP"])
    assert fit.params.tolist() == beta.tolist()
    assert fit.ssr == rss
    np.testing.assert_allclose(fit.cov_params, covariance, rtol=2e-15)
    theirs = smf.ols(LONGLEY, frame).fit().params.to_numpy()
    assert np.max(np.abs(theirs / beta - 1)) > 1e-13


def scaled_rows(n=60, seed=1):
    rng = np.random.default_rng(seed)
    small, large, far = rng.normal(size=n) * 1e-6, rng.normal(size=n) * 1e9, 1e6 + rng.normal(size=n)
    y = small * 1e6 + large * 1e-9 + far + rng.normal(size=n) * (1 + np.abs(large) / 1e9)
    return pd.DataFrame({"y": y, "small": small, "large": large, "far": far})


DECLARED = Schema(
    {
        "small": Interval(-1e-5, 1e-5),
        "large": Interval(-1e10, 1e10),
        "far": Interval(0, 2e6),
        "y": Interval(0, 2e6),
    }
)


@pytest.mark.parametrize(("schema", "rtol"), [(None, 1e-10), (DECLARED, 1e-12)])
@pytest.mark.parametrize("kind", ["nonrobust", "HC0", "HC1", "HC2", "HC3"])
def test_scales_from_a_millionth_to_a_billion_and_a_far_regressor_lose_nothing(kind, schema, rtol):
    """Against fractions, because a float library mistakes the columns for collinear ones."""
    frame = scaled_rows()
    fit, _ = run(LinearRegression("y ~ small + large + far", schema, covariance=kind), shared(frame))
    X = sm.add_constant(frame[["small", "large", "far"]].to_numpy())
    beta, covariance, rss = exact_least_squares(X, frame["y"], kind)
    np.testing.assert_allclose(fit.params, beta, rtol=rtol)
    np.testing.assert_allclose(fit.bse, np.sqrt(np.diag(covariance)), rtol=rtol)
    assert fit.ssr == pytest.approx(rss, rel=rtol)


@pytest.mark.parametrize("kind", ["nonrobust", "HC0", "HC1", "HC2", "HC3"])
def test_scales_agree_with_statsmodels_once_the_units_are_chosen_for_it(kind):
    """The same regression in units of one: coefficients, errors and statistics carry over."""
    frame = scaled_rows(400)
    units = pd.DataFrame(
        {
            "y": frame.y - 1e6,
            "small": frame.small * 1e6,
            "large": frame.large * 1e-9,
            "far": frame.far - 1e6,
        }
    )
    fit, _ = run(LinearRegression("y ~ small + large + far", covariance=kind), shared(frame))
    theirs = smf.ols("y ~ small + large + far", units).fit(cov_type=kind)
    factors = np.array([1e6, 1e-9, 1])
    np.testing.assert_allclose(fit.params[1:], theirs.params.iloc[1:] * factors, rtol=1e-9)
    np.testing.assert_allclose(fit.bse[1:], theirs.bse.iloc[1:] * factors, rtol=1e-9)
    for key in ("rsquared", "fvalue", "llf", "aic", "bic"):
        assert getattr(fit, key) == pytest.approx(getattr(theirs, key), rel=1e-9)


CATEGORIES = Schema({"g": Categories(["a", "b", "c"]), "h": Categories(["u", "v"])})


def grouped_rows(n=300, seed=2):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "x": rng.normal(size=n),
            "z": rng.normal(size=n) + 3,
            "g": rng.choice(list("abc"), n),
            "h": rng.choice(list("uv"), n),
        }
    )
    frame["y"] = frame.x * (frame.g == "b") + frame.z + rng.normal(size=n) * (1 + np.abs(frame.x))
    return frame


@pytest.mark.parametrize("formula", ["y ~ g * x + h", "y ~ g * h * x", "y ~ 0 + g + x", "y ~ g / x + z:h", "y ~ 1"])
@pytest.mark.parametrize("kind", ["nonrobust", "HC0", "HC1", "HC2", "HC3"])
def test_categories_and_interactions_agree_with_statsmodels(formula, kind):
    frame = grouped_rows()
    fit, _ = run(LinearRegression(formula, CATEGORIES, covariance=kind), shared(frame))
    skip = ["f_pvalue"] if formula == "y ~ 1" else []
    theirs = smf.ols(formula, frame).fit(cov_type=kind)
    if formula == "y ~ 1":
        skip += ["fvalue"]  # of nothing
        assert math.isnan(fit.fvalue)
        assert math.isnan(fit.f_pvalue)
    if formula == "y ~ 0 + g + x" and kind != "nonrobust":
        skip = ["f_pvalue"]  # statsmodels has no answer where the constant hides in categories
        assert math.isnan(fit.f_pvalue)
    assert_same(fit, theirs, skip=("rsquared", "rsquared_adj", *skip) if formula == "y ~ 1" else skip)


def test_more_regressors_than_fractions_are_good_for_agree_with_statsmodels():
    """Sixty categories are solved in fixed point."""
    rng = np.random.default_rng(8)
    frame = pd.DataFrame({"k": np.arange(600) % 60, "x": rng.normal(size=600)})
    frame["y"] = frame.x + frame.k / 7 + rng.normal(size=600)
    schema = Schema({"k": Categories(list(range(60)))})
    fit, _ = run(LinearRegression("y ~ C(k) + x", schema, covariance="HC2"), shared(frame))
    assert len(fit.names) == 61
    assert_same(fit, smf.ols("y ~ C(k) + x", frame).fit(cov_type="HC2"))
    frame["x"] = (frame.k == 7) * 3.0
    fit, _ = run(LinearRegression("y ~ C(k) + x", schema), shared(frame))
    with pytest.raises(InvalidData, match="'x'"):
        _ = fit.params


def test_a_constant_that_hides_in_categories_is_recognised():
    """R squared is around the mean then, and not otherwise."""
    frame = grouped_rows()
    hidden, _ = run(LinearRegression("y ~ 0 + g", CATEGORIES), shared(frame))
    without, _ = run(LinearRegression("y ~ 0 + x", CATEGORIES), shared(frame))
    assert (hidden.k_constant, without.k_constant) == (1, 0)
    assert hidden.rsquared == pytest.approx(smf.ols("y ~ 0 + g", frame).fit().rsquared, rel=1e-12)
    assert without.rsquared == pytest.approx(smf.ols("y ~ 0 + x", frame).fit().rsquared, rel=1e-12)


def test_the_split_among_parties_does_not_matter_at_all():
    frame = grouped_rows()
    fits = [
        run(LinearRegression("y ~ g * x", CATEGORIES), shared(frame, sizes))[0] for sizes in [(), (150,), (1, 0, 7)]
    ]
    assert all(fit.params.tolist() == fits[0].params.tolist() for fit in fits)
    assert all(fit.bse.tolist() == fits[0].bse.tolist() for fit in fits)


def test_categories_that_no_row_has_are_left_out_and_named():
    frame = grouped_rows()
    schema = Schema({"g": Categories(["a", "b", "c", "nobody"])})
    fit, _ = run(LinearRegression("y ~ g + x", schema, covariance="HC1"), shared(frame))
    assert_same(fit, smf.ols("y ~ g + x", frame).fit(cov_type="HC1"))
    assert fit.empty == ("g[T.nobody]",)
    assert "g[T.nobody]" in fit.summary()


def test_rows_with_missing_values_are_left_out():
    frame = grouped_rows()
    frame.loc[::7, "x"] = np.nan
    frame.loc[::11, "y"] = np.nan
    frame["g"] = frame["g"].astype(object)
    frame.loc[::13, "g"] = None
    fit, _ = run(LinearRegression("y ~ g + x", CATEGORIES), shared(frame))
    assert_same(fit, smf.ols("y ~ g + x", frame.dropna()).fit())


def test_collinear_regressors_are_named():
    frame = grouped_rows()
    frame["twice"] = 2 * frame.x + 1
    fit, _ = run(LinearRegression("y ~ x + z + twice"), shared(frame))
    with pytest.raises(InvalidData, match=r"collinear.*'twice'"):
        _ = fit.params
    with pytest.raises(InvalidData, match="collinear"):
        fit.summary()
    with pytest.raises(InvalidData, match=r"collinear.*'twice'"):
        run(LinearRegression("y ~ x + z + twice", covariance="HC0"), shared(frame))


@pytest.mark.parametrize(("share", "refused"), [(2.0**-30, False), (2.0**-44, False), (2.0**-52, True)])
def test_regressors_are_collinear_when_the_rounding_of_doubles_is_all_that_tells_them_apart(share, refused):
    """Above it the answer is the exact one, however large the condition number."""
    frame = grouped_rows(20)
    frame["twice"] = 2 * frame.x
    frame.loc[3, "twice"] *= 1 + share
    schema = Schema({"x": Interval(-8, 8), "twice": Interval(-16, 16)})
    fit, _ = run(LinearRegression("y ~ x + twice", schema), shared(frame))
    if refused:
        with pytest.raises(InvalidData, match="'twice'"):
            _ = fit.params
        return
    X = sm.add_constant(frame[["x", "twice"]].to_numpy())
    beta, covariance, _ = exact_least_squares(X, frame.y)
    np.testing.assert_allclose(fit.params, beta, rtol=1e-2 if share < 2.0**-40 else 1e-7)
    np.testing.assert_allclose(fit.bse, np.sqrt(np.diag(covariance)), rtol=1e-2 if share < 2.0**-40 else 1e-7)


def test_fewer_rows_than_coefficients_are_refused():
    frame = grouped_rows(3)
    fit, _ = run(LinearRegression("y ~ x + z + I(x ** 2)"), shared(frame, (1, 1)))
    with pytest.raises(InvalidData, match="3 rows for 4 coefficients"):
        _ = fit.params
    nothing, _ = run(LinearRegression("y ~ x"), shared(frame.iloc[:0], ()))
    with pytest.raises(InvalidData, match="0 rows"):
        _ = nothing.params


def test_as_many_rows_as_coefficients_fit_exactly_and_leave_no_error_to_estimate():
    frame = pd.DataFrame({"y": [1.0, 3.0], "x": [0.0, 1.0]})
    fit, _ = run(LinearRegression("y ~ x", covariance="HC1"), shared(frame, (1,)))
    assert fit.params.tolist() == [1.0, 2.0]
    assert fit.ssr == 0
    assert math.isnan(fit.scale)


def test_a_response_that_never_varies():
    frame = pd.DataFrame({"y": [5.0] * 6, "x": np.arange(6.0)})
    for kind in ("nonrobust", "HC3", "cluster"):
        fit, _ = run(LinearRegression("y ~ x", covariance=kind), shared(frame))
        assert fit.params.tolist() == [5.0, 0.0]
        assert fit.bse.tolist() == [0.0, 0.0]
        assert fit.ssr == 0
        assert math.isnan(fit.rsquared)
        assert fit.llf == math.inf
        assert isinstance(fit.summary(), str)


def test_a_value_outside_the_bounds_is_refused_without_being_quoted():
    frame = grouped_rows()
    frame.loc[7, "x"] = 123.25
    program = LinearRegression("y ~ x", Schema({"x": Interval(-10, 10)}))
    with pytest.raises(InvalidData, match="'x'") as caught:
        run(program, shared(frame))
    assert "123" not in str(caught.value)


def test_predictions_are_those_of_statsmodels_and_missing_where_a_value_is():
    frame = grouped_rows()
    fit, _ = run(LinearRegression("y ~ g * x + np.exp(z / 10)", CATEGORIES), shared(frame))
    theirs = smf.ols("y ~ g * x + np.exp(z / 10)", frame).fit()
    np.testing.assert_allclose(fit.predict(frame), theirs.predict(frame), rtol=1e-10)
    columns = {name: frame[name].to_numpy(copy=True) for name in ("x", "z", "g")}
    columns["x"][2] = np.nan
    assert np.flatnonzero(np.isnan(fit.predict(columns))).tolist() == [2]
    mean, _ = run(LinearRegression("y ~ 1"), shared(frame))
    assert mean.predict({"x": [1.0, 2.0]}).tolist() == [mean.params[0]] * 2


def test_the_summary_looks_like_that_of_statsmodels_and_tells_where_it_comes_from():
    frame = data("longley")
    fit, _ = run(LinearRegression(LONGLEY), shared(frame))
    told = fit.with_provenance(Provenance(("Amt", "Bank", "Kasse"), 1, 36, "ab" * 32, None)).summary()
    theirs = str(smf.ols(LONGLEY, frame).fit().summary())
    for line in theirs.splitlines():
        if line.startswith(("Intercept", *fit.names)):
            assert [word for word in line.split() if word in told] == line.split()
    for word in (
        "R-squared:",
        "F-statistic:",
        "330.3",
        "4.98e-10",
        "-109.62",
        "233.2",
        "238.6",
        "nonrobust",
        "4.86e+09",
    ):
        assert word in told
    for word in ("Amt, Bank, Kasse", "36 scalars (0.4 rows per scalar)", "ab" * 32, "none added"):
        assert word in told
    assert repr(fit) == fit.summary()
    assert "Transcript" not in fit.summary()
    assert max(map(len, told.splitlines())) == 78


def test_names_are_escaped_in_html():
    frame = grouped_rows().rename(columns={"x": "a<b>"})
    fit, _ = run(LinearRegression("y ~ `a<b>`"), shared(frame))
    assert "a&lt;b&gt;" in fit._repr_html_()
    assert "a<b>" not in fit._repr_html_()


def test_the_fit_as_a_dictionary_and_as_a_table():
    frame = grouped_rows()
    fit, _ = run(LinearRegression("y ~ x + z"), shared(frame))
    assert list(fit.to_dict()) == ["Intercept", "x", "z"]
    assert fit.to_frame().loc["x", "coef"] == fit.params[1]
    assert fit.to_frame().loc["z", "upper"] == fit.conf_int()[2, 1]


def test_a_plan_carries_the_program():
    program = LinearRegression("y ~ g * x", CATEGORIES, covariance="cluster", cluster="h", fixed_effects="party")
    again = program_of("ols", json.loads(json.dumps(program.terms())))
    assert again.terms() == program.terms()
    assert again.columns == program.columns == ("y", "g", "x", "h")
    assert again.scalars == program.scalars


@pytest.mark.parametrize(
    "terms",
    [
        {},
        {"formula": 7},
        {"formula": "y ~ x", "formla": "y ~ z"},
        {"formula": "y ~ __import__('os')"},
        {"formula": "y ~ x", "covariance": "HC9"},
        {"formula": "y ~ x", "covariance": "HC0", "cluster": "g"},
        {"formula": "y ~ x", "covariance": "cluster", "cluster": 3},
        {"formula": "y ~ x", "fixed_effects": "time"},
        {"formula": "y ~ 1", "fixed_effects": "party"},
        {"formula": "y ~ x", "schema": {"columns": {"x": {"type": "unknown"}}}},
        {"formula": "y ~ x", "schema": 3},
        {"formula": "y ~ x", "schema": {}},
    ],
)
def test_terms_that_someone_else_wrote_are_checked(terms):
    with pytest.raises(InvalidParameter):
        program_of("ols", terms)
