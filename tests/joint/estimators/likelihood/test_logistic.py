"""Logistic regression is that of statsmodels on the pooled rows."""

from __future__ import annotations

import math
import warnings
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from numpy import log  # noqa: F401 - of the formulas that statsmodels evaluates

from flou import Boolean, Categories, Interval, Schema
from flou.errors import InvalidData, InvalidParameter, ProtocolError
from flou.joint.estimators.fit import Provenance
from flou.joint.estimators.likelihood.coordinates import Coordinates
from flou.joint.estimators.likelihood.logistic import LogisticRegression
from flou.joint.estimators.program import program_of
from joint.estimators.summed import parts, run

FAIR = sm.datasets.fair.load_pandas().data.assign(y=lambda rows: (rows.affairs > 0).astype(float))
SPECTOR = sm.datasets.spector.load_pandas().data
LONG = "y ~ occupation + educ + occupation_husb + rate_marriage + age + yrs_married + children + religious"


def made(n, seed=11):
    """Regressors of many scales and a response that depends on them."""
    draw = np.random.default_rng(seed)
    a, b, c = draw.normal(size=n), draw.normal(size=n), draw.integers(0, 2, n).astype(float)
    y = (draw.random(n) < 1 / (1 + np.exp(-(0.3 + a - 0.5 * b + c)))).astype(float)
    return pd.DataFrame({"y": y, "a": a, "b": b, "c": c})


def columns(frame):
    return {name: frame[name].to_numpy() for name in frame}


def reference(formula, frame):
    """statsmodels' fit, with all its digits; it complains where rounding keeps it from reaching its tolerance."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = smf.logit(formula, frame).fit(disp=0, method="newton", tol=1e-14, maxiter=100)
        fit.llnull  # noqa: B018 - computed now, complaints included
    return fit


def assert_agrees(fit, truth, tolerance=1e-10):
    names = list(fit.names)
    scale, params = truth.bse[names].to_numpy(), truth.params[names].to_numpy()
    np.testing.assert_allclose((fit.params - params) / scale, 0, atol=tolerance)
    np.testing.assert_allclose(fit.bse, scale, rtol=tolerance)
    correlation = truth.cov_params().loc[names, names] / np.outer(scale, scale)
    np.testing.assert_allclose(fit.cov_params / np.outer(scale, scale), correlation, atol=10 * tolerance)
    np.testing.assert_allclose(fit.tvalues, truth.tvalues[names], rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(fit.pvalues, truth.pvalues[names], rtol=1e-7)
    ends = (fit.conf_int(0.9) - truth.conf_int(0.1).loc[names]) / scale[:, None]
    np.testing.assert_allclose(ends, 0, atol=10 * tolerance)
    for name in ("llf", "llnull", "prsquared", "llr_pvalue", "aic", "bic", "nobs", "df_resid", "df_model"):
        assert getattr(fit, name) == pytest.approx(getattr(truth, name), rel=1e-8, abs=1e-9, nan_ok=True), name
    assert fit.converged
    assert fit.message == ""


@pytest.mark.parametrize(
    ("frame", "formula", "sizes", "most"),
    [
        (FAIR, LONG, (2000, 2000), 7),
        (FAIR, LONG, (1, 5000, 0, 37), 7),
        (SPECTOR, "GRADE ~ GPA + TUCE + PSI", (10, 12), 8),
        (SPECTOR, "GRADE ~ GPA + TUCE + PSI - 1", (0, 1, 2, 3), 8),
        (FAIR, "y ~ rate_marriage * log(age) + I(children ** 2)", (100, 100, 100, 100), 7),
        (made(200), "y ~ a + b + c", (66, 67), 8),
        (FAIR, "y ~ 1", (100, 100), 1),
    ],
)
def test_statsmodels_agrees(frame, formula, sizes, most):
    """Coefficients, errors and likelihoods to 1e-10, in few rounds, for any split of the rows."""
    fit, opened = run(LogisticRegression(formula), parts(columns(frame), sizes))
    assert_agrees(fit, reference(formula, frame))
    assert len(opened) <= most
    size = len(fit.names)
    if "- 1" not in formula:
        assert {len(past.sums) for past in opened} == {1 + size * (size + 3) // 2}


def transformed(frame, shift, scale):
    """Columns in other units and of another origin, and the reference computed before the change."""
    moved = frame.assign(a=shift["a"] + scale["a"] * frame.a, b=shift["b"] + scale["b"] * frame.b)
    exact = moved.assign(a=(moved.a - shift["a"]) / scale["a"], b=(moved.b - shift["b"]) / scale["b"])
    truth = reference("y ~ a + b + c", exact)
    J = np.diag([1.0, 1 / scale["a"], 1 / scale["b"], 1.0])
    J[0, 1:3] = -shift["a"] / scale["a"], -shift["b"] / scale["b"]
    return moved, J @ truth.params.to_numpy(), np.sqrt(np.diag(J @ truth.cov_params().to_numpy() @ J.T)), truth.llf


CHANGES = [
    ({"a": 0.0, "b": 0.0}, {"a": 2.0**30, "b": 2.0**-20}),
    ({"a": 1e6, "b": 0.0}, {"a": 1.0, "b": 1.0}),
    ({"a": -3e9, "b": 1e-3}, {"a": 1.0, "b": 2.0**-20}),
]


@pytest.mark.parametrize(("shift", "scale"), CHANGES)
def test_units_and_origins_do_not_matter(shift, scale):
    """Scales from 1e-6 to 1e9 and regressors a billion deviations from zero lose nothing."""
    frame, params, bse, llf = transformed(made(600), shift, scale)
    fit, opened = run(LogisticRegression("y ~ a + b + c"), parts(columns(frame), (100, 0, 250)))
    np.testing.assert_allclose((fit.params - params) / bse, 0, atol=1e-9)
    np.testing.assert_allclose(fit.bse, bse, rtol=1e-9)
    assert fit.llf == pytest.approx(llf, rel=1e-12)
    assert len(opened) <= 8


def test_plain_coordinates_are_refused(monkeypatch):
    """The same program without centring and scaling fails the test above: the change of coordinates is needed."""
    frame, _, bse, _ = transformed(made(600), *CHANGES[1])

    def plain(_, design):
        size = len(design.names)
        return Coordinates(tuple(range(size)), (0.0,) * size, (0,) * size)

    monkeypatch.setattr(Coordinates, "of", plain)
    fit, _ = run(LogisticRegression("y ~ a + b + c"), parts(columns(frame), (100, 0, 250)))
    assert np.max(np.abs(fit.bse / bse - 1)) > 1e-6


def test_truth_values_categories_and_declared_bounds():
    """A Boolean response, declared regressors, and a category that no row has."""
    frame = made(400).assign(g=np.repeat(["u", "v", "w", "v"], 100))
    schema = Schema({"y": Boolean(), "a": Interval(-9, 9), "g": Categories(["u", "x", "v", "w"]), "b": Interval(-9, 9)})
    rows = columns(frame.assign(y=frame.y == 1))
    fit, _ = run(LogisticRegression("y ~ a + b + C(g)", schema), parts(rows, (50, 50)))
    assert fit.names == ("Intercept", "a", "b", "C(g)[T.v]", "C(g)[T.w]")
    assert fit.empty == ("C(g)[T.x]",)
    assert_agrees(fit, reference("y ~ a + b + C(g)", frame))
    assert "No row has C(g)[T.x]." in fit.summary()


def test_halving_is_needed_and_found():
    """From a point at which a full step leads down, the walk still arrives where statsmodels does."""
    draw = np.random.default_rng(2)
    heavy = draw.standard_cauchy(300)
    y = (draw.random(300) < 1 / (1 + np.exp(-heavy))).astype(float)
    frame = pd.DataFrame({"y": y, "x": np.sign(heavy) * heavy**2})
    fit, opened = run(LogisticRegression("y ~ x"), parts(columns(frame), (100, 100)))
    assert_agrees(fit, reference("y ~ x", frame), 1e-8)
    values = [past.sums[0] for past in opened[1:]]
    assert any(later < earlier for earlier, later in pairwise(values))
    assert len(opened) <= 16


# What has no answer.


def test_complete_separation_is_proved_and_ends():
    """A likelihood above 1/2 leaves no row on the wrong side; the fit says so and stops."""
    frame = made(300)
    frame["y"] = (frame.a + 0.3 * frame.b > 0.2).astype(float)
    fit, opened = run(LogisticRegression("y ~ a + b"), parts(columns(frame), (100, 100)))
    assert fit.separation == "complete"
    assert not fit.converged
    assert fit.llf > -math.log(2)
    assert np.all((fit.predict(frame) > 0.5) == (frame.y == 1))
    assert "separate" in fit.message
    assert fit.message in fit.summary()
    assert len(opened) < 25
    frame.loc[frame.a.abs().idxmin(), "y"] = 1 - frame.loc[frame.a.abs().idxmin(), "y"]
    frame.loc[frame.a.idxmax(), "y"] = 0.0  # two exceptions, one of them far away: now there is a maximum
    fit, _ = run(LogisticRegression("y ~ a + b"), parts(columns(frame), (100, 100)))
    assert fit.separation == ""
    assert_agrees(fit, reference("y ~ a + b", frame), 1e-8)


def test_partial_separation_ends():
    """A group in which everyone answers yes has no finite coefficient; one exception, and it has."""
    frame = made(300)
    frame.loc[frame.c == 1, "y"] = 1.0
    fit, opened = run(LogisticRegression("y ~ a + c"), parts(columns(frame), (100, 100)))
    assert fit.separation == "partial"
    assert not fit.converged
    assert "do not show which" in fit.message
    assert len(opened) < 20
    assert fit.params[2] < 40
    frame.loc[frame.c[frame.c == 1].index[0], "y"] = 0.0
    fit, _ = run(LogisticRegression("y ~ a + c"), parts(columns(frame), (100, 100)))
    assert_agrees(fit, reference("y ~ a + c", frame), 1e-8)


def test_rounds_that_are_not_enough():
    """The walk ends where the plan says, and the fit says that it did not arrive."""
    fit, opened = run(LogisticRegression(LONG, max_rounds=3), parts(columns(FAIR), (2000,)))
    assert len(opened) == 3
    assert not fit.converged
    assert "did not reach the maximum" in fit.message


@pytest.mark.parametrize(
    ("change", "formula", "words"),
    [
        ({"y": 1.0}, "y ~ a", "same in all rows"),
        ({"y": 0.0}, "y ~ a - 1", "same in all rows"),
        ({"b": 2.0}, "y ~ a + b", "'b'"),
        ({"b": lambda rows: 1 - 3 * rows.a}, "y ~ a + b", "'b'"),
        ({"y": 2.0}, "y ~ a", "other numbers than 0 and 1"),
    ],
)
def test_what_cannot_be_estimated_is_refused(change, formula, words):
    """A constant response, collinear regressors, a response that is no yes or no."""
    with pytest.raises(InvalidData, match=words):
        run(LogisticRegression(formula), parts(columns(made(100).assign(**change)), (50,)))


def test_nobody_has_rows():
    """Without rows there is nothing to estimate."""
    with pytest.raises(InvalidData, match="no rows"):
        run(LogisticRegression("y ~ a"), [columns(made(0)), columns(made(0))])


# Parties that leave.


@pytest.mark.parametrize("when", [1, 2, 4, 6])
def test_who_leaves_is_missing_from_everything(when):
    """The result is that of the rows that remain, as far as they were still needed."""
    parties = parts(columns(FAIR), (1000, 3000))
    fit, opened = run(LogisticRegression(LONG), parties, leave={when: [1]})
    remain = len(opened) > when
    kept = pd.concat([FAIR.iloc[:1000], FAIR.iloc[4000:]]) if remain else FAIR
    assert_agrees(fit, reference(LONG, kept))
    assert len(opened) <= 10
    assert (fit.means is None) == remain


def test_two_parties_leave_one_after_the_other():
    """Whatever happened before, the last points are compared among themselves only."""
    parties = parts(columns(FAIR), (1000, 1000, 1000))
    fit, opened = run(LogisticRegression(LONG), parties, leave={2: [0], 5: [3]})
    assert_agrees(fit, reference(LONG, FAIR.iloc[1000:3000]))
    assert opened[-1].parties == ("party 1", "party 2")
    with pytest.raises(InvalidParameter, match="Parties have left"):
        fit.marginal_effects()


def test_leaving_in_the_last_round_is_an_error():
    """Then the number of rows of those who remain is not known."""
    with pytest.raises(ProtocolError, match="last of the agreed rounds"):
        run(LogisticRegression(LONG, max_rounds=3), parts(columns(FAIR), (1000, 1000)), leave={2: [0]})


# What the fit offers.


def test_predictions_and_marginal_effects():
    """As those of statsmodels; a row with a missing regressor has no prediction."""
    fit, _ = run(LogisticRegression(LONG), parts(columns(FAIR), (1000, 3000)))
    truth = reference(LONG, FAIR)
    np.testing.assert_allclose(fit.predict(FAIR), truth.predict(FAIR), rtol=1e-10)
    missing = FAIR.iloc[:3].assign(age=[30.0, np.nan, 40.0])
    assert np.isnan(fit.predict(missing)).tolist() == [False, True, False]
    effects, errors = fit.marginal_effects()
    margins = truth.get_margeff(at="mean")
    np.testing.assert_allclose(effects[1:], margins.margeff, rtol=1e-9)
    np.testing.assert_allclose(errors[1:], margins.margeff_se, rtol=1e-8)


def test_summary_has_statsmodels_numbers():
    """Every number of the table of coefficients is there, and who took part."""
    fit, _ = run(LogisticRegression("GRADE ~ GPA + TUCE + PSI"), parts(columns(SPECTOR), (10, 12)))
    text = fit.with_provenance(Provenance(("p", "q", "r"), 7, 105, "cd" * 32, None)).summary()
    theirs = reference("GRADE ~ GPA + TUCE + PSI", SPECTOR).summary().tables[1].as_text().splitlines()[3:-1]
    for line in theirs:
        assert all(word in text for word in line.split())
    assert all(word in text for word in ("Logit", "-12.89", "0.374", "LL-Null", "-20.592", "0.0015", "cd" * 32))
    assert repr(fit) == fit.summary()
    assert "<table>" in fit._repr_html_()
    assert fit.to_frame().loc["GPA", "coef"] == fit.params[1]


def test_terms_make_the_same_program():
    """A plan says everything, and nothing else is accepted."""
    program = LogisticRegression("y ~ a + C(g)", {"g": Categories(["u", "v"])}, max_rounds=9)
    again = program_of("logit", program.terms())
    assert again.terms() == program.terms()
    assert (again.scalars, again.columns) == (program.scalars, program.columns)
    with pytest.raises(InvalidParameter):
        LogisticRegression.from_terms({**program.terms(), "start": [1.0]})
    with pytest.raises(InvalidParameter):
        LogisticRegression.from_terms({**program.terms(), "max_rounds": 1})


def test_the_reference_is_strict():
    """The comparison refuses coefficients that are a millionth of an error off."""
    fit, _ = run(LogisticRegression("y ~ a + b + c"), parts(columns(made(200)), (100,)))
    truth = reference("y ~ a + b + c", made(200))
    object.__setattr__(fit, "params", fit.params + 1e-6 * fit.bse)
    with pytest.raises(AssertionError):
        assert_agrees(fit, truth)
