"""Maxima of registered likelihoods are those of statsmodels on the pooled rows."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from scipy.special import gammaln
from scipy.stats import weibull_min

from flou import Categories, Schema
from flou.errors import InvalidData, InvalidParameter
from flou.joint.estimators.fit import Provenance
from flou.joint.estimators.likelihood import likelihood_model as families
from flou.joint.estimators.likelihood.coordinates import Coordinates
from flou.joint.estimators.likelihood.likelihood import MaximumLikelihood
from flou.joint.estimators.likelihood.likelihood_model import MODELS, model_of, register_model
from flou.joint.estimators.program import program_of
from joint.estimators.summed import parts, run

FAIR = sm.datasets.fair.load_pandas().data.assign(y=lambda rows: (rows.affairs > 0).astype(float))
HEALTH = sm.datasets.randhie.load_pandas().data.iloc[:3000].reset_index(drop=True)
VISITS = "mdvis ~ lncoins + idp + lpi + physlm + disea"
AFFAIRS = "y ~ educ + rate_marriage + age + religious"


def columns(frame):
    return {name: frame[name].to_numpy() for name in frame}


def reference(kind, formula, frame, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(smf, kind)(formula, frame).fit(disp=0, method="newton", tol=1e-14, maxiter=100, **more)


def assert_agrees(fit, truth, tolerance=1e-10, bse=None):
    names = list(fit.names)
    error = truth.bse[names].to_numpy() if bse is None else bse
    np.testing.assert_allclose((fit.params - truth.params[names]) / truth.bse[names], 0, atol=tolerance)
    np.testing.assert_allclose(fit.bse, error, rtol=tolerance)
    for name in ("llf", "aic", "bic", "nobs", "df_resid"):
        assert getattr(fit, name) == pytest.approx(getattr(truth, name), rel=1e-10), name
    assert fit.converged


@pytest.mark.parametrize(
    ("kind", "formula", "frame"), [("poisson", VISITS, HEALTH), ("probit", AFFAIRS, FAIR), ("probit", "y ~ 1", FAIR)]
)
@pytest.mark.parametrize("sizes", [(700, 1000), (1, 0, 20, 2000)])
def test_statsmodels_agrees(kind, formula, frame, sizes):
    """Poisson and probit regression to 1e-10 of their errors, in few rounds."""
    fit, opened = run(MaximumLikelihood(kind, formula), parts(columns(frame), sizes))
    assert_agrees(fit, reference(kind, formula, frame))
    np.testing.assert_allclose(fit.pvalues, reference(kind, formula, frame).pvalues[list(fit.names)], rtol=1e-6)
    assert len(opened) <= 8
    size = len(fit.names)
    assert {len(past.sums) for past in opened[1:]} == {3 + size * (size + 3) // 2}
    assert len(opened[0].sums) == 1 + 2 * size


def test_normal_errors():
    """Least squares, with the deviation among the parameters and the errors that go with it."""
    fit, opened = run(MaximumLikelihood("linear-gaussian", "age ~ educ + religious"), parts(columns(FAIR), (100, 3000)))
    truth = smf.ols("age ~ educ + religious", FAIR).fit()
    shrunk = np.sqrt(truth.ssr / truth.nobs / truth.scale)
    np.testing.assert_allclose((fit.params[:3] - truth.params) / truth.bse, 0, atol=1e-10)
    np.testing.assert_allclose(fit.bse, [*truth.bse * shrunk, 1 / np.sqrt(2 * truth.nobs)], rtol=1e-9)
    assert fit.names == ("Intercept", "educ", "religious", "log_sigma")
    assert np.exp(fit.params[3]) == pytest.approx(np.sqrt(truth.ssr / truth.nobs), rel=1e-10)
    assert fit.llf == pytest.approx(truth.llf, rel=1e-12)
    assert len(opened) <= 8


def test_covariances():
    """Sandwich errors are HC0, and the products of scores give those of BHHH; one more round opens them."""
    rows = parts(columns(HEALTH), (700, 0, 1000))
    plain, before = run(MaximumLikelihood("poisson", VISITS), rows)
    sandwich, opened = run(MaximumLikelihood("poisson", VISITS, covariance="sandwich"), rows)
    assert_agrees(sandwich, reference("poisson", VISITS, HEALTH), bse=reference_hc0().bse)
    assert len(opened) == len(before) + 1
    outer, _ = run(MaximumLikelihood("poisson", VISITS, covariance="opg"), rows)
    scores = reference("poisson", VISITS, HEALTH).model.score_obs(reference("poisson", VISITS, HEALTH).params)
    np.testing.assert_allclose(outer.bse, np.sqrt(np.diag(np.linalg.inv(scores.T @ scores))), rtol=1e-8)
    assert np.max(np.abs(outer.bse / plain.bse - 1)) > 0.1  # the three are not the same
    assert np.max(np.abs(sandwich.bse / plain.bse - 1)) > 0.1


def reference_hc0():
    return reference("poisson", VISITS, HEALTH, cov_type="HC0")


def test_units_and_origins_do_not_matter(monkeypatch):
    """A regressor at 1e6 in units of 1e-6 changes nothing, and without public coordinates it would."""
    moved = HEALTH.assign(lpi=1e6 + HEALTH.lpi.round(3), disea=1e-6 * HEALTH.disea)
    truth = reference("poisson", VISITS, HEALTH.assign(lpi=moved.lpi - 1e6))
    J = np.eye(6)
    names = ["Intercept", "lncoins", "idp", "lpi", "physlm", "disea"]
    J[0, 3], J[5, 5] = -1e6, 1e6
    bse = np.sqrt(np.diag(J @ truth.cov_params().loc[names, names].to_numpy() @ J.T))
    fit, _ = run(MaximumLikelihood("poisson", VISITS), parts(columns(moved), (700,)))
    np.testing.assert_allclose((fit.params - J @ truth.params[names]) / bse, 0, atol=1e-8)
    np.testing.assert_allclose(fit.bse, bse, rtol=1e-8)

    def plain(_, design):
        size = len(design.names)
        return Coordinates(tuple(range(size)), (0.0,) * size, (0,) * size)

    monkeypatch.setattr(Coordinates, "of", plain)
    try:
        worse, _ = run(MaximumLikelihood("poisson", VISITS), parts(columns(moved), (700,)))
        assert not np.allclose(worse.bse, bse, rtol=1e-6)
    except InvalidData:
        pass  # or no answer at all


# Models of one's own.


@pytest.fixture(autouse=True)
def models():
    """What a test registers is forgotten."""
    before = dict(MODELS)
    yield
    MODELS.clear()
    MODELS.update(before)


def weibull(batch, theta):
    shape, scale = theta
    if shape <= 0 or scale <= 0:
        return np.full(len(batch["t"]), np.nan)
    z = batch["t"] / scale
    return np.log(shape / scale) + (shape - 1) * np.log(z) - z**shape


LIVES = weibull_min.rvs(1.7, scale=30.0, size=800, random_state=4)


@pytest.mark.parametrize(("method", "most"), [("newton", 15), ("bhhh", 40)])
def test_a_model_of_two_parameters(method, most):
    """Any function of a row will do: SciPy finds the same maximum, whatever the units."""
    register_model("weibull", weibull)
    for unit in (1.0, 1e-6, 1e8):
        program = MaximumLikelihood(
            "weibull",
            columns=["t"],
            parameters=["shape", "scale"],
            start=[1, 20 * unit],
            scales=[1, 30 * unit],
            method=method,
        )
        fit, opened = run(program, parts({"t": LIVES * unit}, (200, 0, 300)))
        shape, _, scale = weibull_min.fit(LIVES, floc=0)
        assert fit.converged
        np.testing.assert_allclose(fit.params, [shape, scale * unit], rtol=1e-4)  # SciPy's own accuracy
        best = weibull({"t": LIVES * unit}, fit.params).sum()
        for nearby in fit.params * (1 + 1e-4 * np.array([[1, 0], [-1, 0], [0, 1], [0, -1]])):
            assert weibull({"t": LIVES * unit}, nearby).sum() < best
        assert fit.llf == pytest.approx(best, rel=1e-12)
        assert len(opened) <= most


def test_a_step_outside_of_the_model_is_halved():
    """From a bad start Newton's step leaves the allowed parameters; the walk comes back and arrives."""
    register_model("weibull", weibull)
    program = MaximumLikelihood(
        "weibull", columns=["t"], parameters=["shape", "scale"], start=[1, 90.0], scales=[1, 30]
    )
    fit, opened = run(program, parts({"t": LIVES}, (200,)))
    assert any(past.sums[0] != 0 for past in opened)
    good = MaximumLikelihood("weibull", columns=["t"], parameters=["shape", "scale"], start=[1, 20.0], scales=[1, 30])
    np.testing.assert_allclose(fit.params, run(good, parts({"t": LIVES}, (200,)))[0].params, rtol=1e-8)


@pytest.mark.parametrize(
    ("functions", "tolerance"),
    [
        ((families.poisson_loglike, families.poisson_score, None), 1e-9),
        ((families.poisson_loglike, None, None), 1e-8),
        ((families.poisson_loglike, None, families.poisson_hessian), 1e-8),
    ],
)
def test_missing_derivatives_are_made_of_differences(functions, tolerance):
    """Coefficients and errors as accurate as promised."""
    register_model("counts", *functions, start=families.poisson_start)
    fit, opened = run(MaximumLikelihood("counts", VISITS), parts(columns(HEALTH), (700,)))
    assert_agrees(fit, reference("poisson", VISITS, HEALTH), tolerance)
    assert len(opened) <= 8


def test_bhhh_arrives_at_the_same_place():
    """With scores alone; its errors are those of the products of scores, and it needs more rounds."""
    fit, opened = run(MaximumLikelihood("probit", AFFAIRS, method="bhhh"), parts(columns(FAIR), (2000,)))
    newton, fewer = run(MaximumLikelihood("probit", AFFAIRS, covariance="opg"), parts(columns(FAIR), (2000,)))
    np.testing.assert_allclose((fit.params - newton.params) / fit.bse, 0, atol=1e-8)
    np.testing.assert_allclose(fit.bse, newton.bse, rtol=1e-8)
    assert fit.converged
    assert len(fewer) < len(opened) <= 20


def rows_of_hessians(batch, theta):
    X = batch["X"]
    return -np.exp(X @ theta)[:, None, None] * X[:, :, None] * X[:, None, :]


def test_hessians_of_single_rows_are_added_up():
    """An array n x d x d does as well as its sum."""
    register_model(
        "rows", families.poisson_loglike, families.poisson_score, rows_of_hessians, start=families.poisson_start
    )
    fit, _ = run(MaximumLikelihood("rows", VISITS), parts(columns(HEALTH), (700,)))
    assert_agrees(fit, reference("poisson", VISITS, HEALTH))


def flat(batch, theta):
    return -((batch["x"] - theta[0] - theta[1]) ** 2)


def test_parameters_that_the_rows_do_not_determine():
    """Only the sum of two parameters matters: refused by name."""
    register_model("flat", flat)
    program = MaximumLikelihood("flat", columns=["x"], parameters=["one", "other"], start=[0, 0])
    with pytest.raises(InvalidData, match="'other'"):
        run(program, [{"x": LIVES}])


def test_collinear_regressors():
    """A regressor that is a combination of others has no covariance."""
    frame = HEALTH.assign(twice=2 * HEALTH.lpi + 1)
    with pytest.raises(InvalidData, match="'twice'"):
        run(MaximumLikelihood("poisson", "mdvis ~ lpi + twice"), parts(columns(frame), (700,)))


@pytest.mark.parametrize("change", [{"mdvis": 0.0}, {"mdvis": -1.0}])
def test_a_start_that_is_not_defined(change):
    """Counts that are all zero, or negative, have no likelihood to begin with."""
    with pytest.raises(InvalidData, match="not defined at the start"):
        run(MaximumLikelihood("poisson", VISITS), parts(columns(HEALTH.assign(**change)), (700,)))


def test_nobody_has_rows():
    """Without rows there is no likelihood."""
    with pytest.raises(InvalidData, match="no rows"):
        run(MaximumLikelihood("poisson", VISITS), parts(columns(HEALTH.iloc[:0]), (0,)))


def test_rounds_that_are_not_enough():
    """Then the fit says so, and has no errors."""
    fit, opened = run(MaximumLikelihood("poisson", VISITS, max_rounds=3), parts(columns(HEALTH), (700,)))
    assert len(opened) == 3
    assert not fit.converged
    assert np.all(np.isnan(fit.bse))
    assert "did not reach the maximum" in fit.summary()


@pytest.mark.parametrize("when", [1, 3, 6])
@pytest.mark.parametrize("covariance", ["hessian", "sandwich"])
def test_who_leaves_is_missing_from_everything(when, covariance):
    """The result is that of the rows that remain."""
    rows = parts(columns(HEALTH), (700, 1000))
    fit, opened = run(MaximumLikelihood("poisson", VISITS, covariance=covariance), rows, leave={when: [1]})
    remain = pd.concat([HEALTH.iloc[:700], HEALTH.iloc[1700:]]) if len(opened) > when else HEALTH
    more = {} if covariance == "hessian" else {"cov_type": "HC0"}
    assert_agrees(fit, reference("poisson", VISITS, remain, **more))


def test_categories_that_no_row_has():
    """They are left out."""
    frame = HEALTH.assign(g=np.where(HEALTH.index % 3 == 0, "u", "w"))
    program = MaximumLikelihood("poisson", "mdvis ~ lpi + C(g)", Schema({"g": Categories(["u", "v", "w"])}))
    fit, _ = run(program, parts(columns(frame), (700,)))
    assert fit.names == ("Intercept", "lpi", "C(g)[T.w]")
    assert_agrees(fit, reference("poisson", "mdvis ~ lpi + C(g)", frame))


# Plans.


def other_weibull(batch, theta):
    shape, scale = theta
    z = batch["t"] / scale
    return np.log(shape / scale) + (shape - 1) * np.log(z) - z**shape - gammaln(1.0)


def test_a_plan_names_the_source():
    """The same source has the same fingerprint; another one under this name is refused, and so is none at all."""
    first = register_model("lives", weibull)
    program = MaximumLikelihood(
        "lives", columns=["t"], parameters=["a", "b"], start=[1, 2], scales=[1, 10], max_rounds=9
    )
    terms = program.terms()
    assert "def " not in str(terms)
    again = program_of("likelihood", terms)
    assert again.terms() == terms
    assert again.scalars == program.scalars
    assert register_model("lives", weibull).fingerprint == first.fingerprint
    register_model("lives", other_weibull)
    with pytest.raises(InvalidParameter, match="not the one of the plan"):
        program_of("likelihood", terms)
    del MODELS["lives"]
    with pytest.raises(InvalidParameter, match="No likelihood is registered"):
        program_of("likelihood", terms)


def test_every_part_of_a_model_changes_its_fingerprint():
    """Name, functions and extra parameters."""
    made = [
        register_model("a", weibull),
        register_model("b", weibull),
        register_model("a", weibull, other_weibull),
        register_model("a", weibull, None, other_weibull),
        register_model("a", weibull, extra=("sigma",)),
        register_model("a", weibull, start=families.poisson_start),
        register_model("a", other_weibull),
    ]
    assert len({model.fingerprint for model in made}) == len(made)


def test_formula_plans():
    """Formula, schema and covariance travel too."""
    schema = Schema({"g": Categories(["u", "v"])})
    program = MaximumLikelihood("linear-gaussian", "y ~ x + C(g)", schema, covariance="sandwich", start=[0.5])
    again = program_of("likelihood", program.terms())
    assert again.terms() == program.terms()
    assert again.design.names == program.design.names
    with pytest.raises(InvalidParameter):
        program_of("likelihood", {**program.terms(), "code": "import os"})


@pytest.mark.parametrize(
    "call",
    [
        lambda: MaximumLikelihood("unknown", "y ~ x"),
        lambda: MaximumLikelihood("poisson"),
        lambda: MaximumLikelihood("poisson", "y ~ x", columns=["y"]),
        lambda: MaximumLikelihood("poisson", "y ~ x", method="bhhh", covariance="hessian"),
        lambda: MaximumLikelihood("poisson", "y ~ x", method="bfgs"),
        lambda: MaximumLikelihood("poisson", columns=["y"], parameters=["a"]),
        lambda: MaximumLikelihood("poisson", columns=["y"], parameters=["a"], start=[1, 2]),
        lambda: MaximumLikelihood("poisson", columns=["y"], parameters=["a"], start=[1], scales=[0]),
        lambda: model_of(3),
        lambda: register_model("builtin", np.log),
    ],
)
def test_wrong_choices_are_refused(call):
    """Each in three sentences."""
    with pytest.raises(InvalidParameter):
        call()


def test_functions_of_the_wrong_shape_are_refused():
    """A sum where an array is expected."""
    register_model("short", short)
    with pytest.raises(InvalidParameter, match="loglike"):
        run(MaximumLikelihood("short", columns=["x"], parameters=["a"], start=[0]), [{"x": LIVES}])


def short(batch, theta):
    return -((batch["x"] - theta[0]) ** 2).sum()


def test_summary():
    """The numbers, the model and who took part."""
    fit, _ = run(MaximumLikelihood("probit", AFFAIRS), parts(columns(FAIR), (2000,)))
    text = fit.with_provenance(Provenance(("p", "q", "r"), 6, 100, "ef" * 32, None)).summary()
    table = reference("probit", AFFAIRS, FAIR).summary().tables[1].as_text().splitlines()[3:-1]
    for line in table:
        assert all(word in text for word in line.split())
    assert all(word in text for word in ("probit", "MLE (newton)", "hessian", "ef" * 32))
