from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf

from flou import Categories, Integers, Schema
from flou.errors import InvalidData
from flou.joint.estimators.linear.linear import LinearRegression
from joint.estimators.linear.exact_reference import exact_least_squares
from joint.estimators.summed import run

HC = ["HC0", "HC1", "HC2", "HC3"]
LEVELS = Schema({"g": Categories(["a", "b", "c"]), "firm": Categories(list(range(40)))})


def made_rows(n=400, seed=3):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "x": rng.normal(size=n),
            "z": 1e6 + rng.normal(size=n),
            "g": rng.choice(list("abc"), n),
            "firm": rng.integers(0, 30, n),
        }
    )
    frame["z"] = frame.z.round(3)
    effects = rng.normal(size=30)
    frame["y"] = frame.x + (frame.z - 1e6) + effects[frame.firm] + rng.normal(size=n) * (1 + np.abs(frame.x))
    return frame


def shared(frame, sizes=(1, 0, 50, 7)):
    cuts = np.cumsum(sizes)
    return [frame.iloc[a:b] for a, b in zip([0, *cuts], [*cuts, len(frame)], strict=True)]


def by_firm(frame):
    """Parties that hold whole firms, one party without rows and one with a single firm."""
    edges = [0, 1, 12, 12, 30]
    return [frame[(frame.firm >= a) & (frame.firm < b)] for a, b in itertools.pairwise(edges)]


def assert_same(fit, theirs, rtol=1e-9, f=True):
    names = list(fit.names)
    for key in ("params", "bse", "tvalues", "pvalues"):
        np.testing.assert_allclose(getattr(fit, key), getattr(theirs, key)[names], rtol=rtol, err_msg=key)
    np.testing.assert_allclose(fit.conf_int(), theirs.conf_int().loc[names], rtol=1e-8)
    for key in ("fvalue", "f_pvalue", "rsquared", "llf", "aic", "bic") if f else ("rsquared", "llf", "aic", "bic"):
        assert getattr(fit, key) == pytest.approx(getattr(theirs, key), rel=rtol), key


@pytest.mark.parametrize("kind", HC)
@pytest.mark.parametrize(
    ("name", "formula"),
    [
        ("stackloss", "STACKLOSS ~ AIRFLOW + WATERTEMP + ACIDCONC"),
        ("spector", "GRADE ~ GPA + TUCE * PSI"),
        ("spector", "GRADE ~ 0 + GPA + TUCE"),
        ("fair", "affairs ~ rate_marriage + age + yrs_married * children + np.log(educ)"),
    ],
)
def test_heteroscedastic_errors_are_those_of_statsmodels(name, formula, kind):
    frame = getattr(sm.datasets, name).load_pandas().data
    fit, opened = run(LinearRegression(formula, covariance=kind), shared(frame, (1, 0, 5)))
    assert_same(fit, smf.ols(formula, frame).fit(cov_type=kind))
    size = len(fit.names)
    assert [len(one.sums) for one in opened][1:] == [size * (size + 1) // 2]


@pytest.mark.parametrize("kind", HC)
def test_longley_is_closer_to_the_exact_solution_than_statsmodels(kind):
    """Ours has fourteen digits; theirs loses some in the leverage of an ill-conditioned matrix."""
    frame = sm.datasets.longley.load_pandas().data
    formula = "TOTEMP ~ GNPDEFL + GNP + UNEMP + ARMED + POP + YEAR"
    fit, _ = run(LinearRegression(formula, covariance=kind), shared(frame, (1, 0, 5)))
    X = sm.add_constant(frame[list(fit.names[1:])].to_numpy(float))
    _, covariance, _ = exact_least_squares(X, frame["TOTEMP"], kind)
    exactly = np.sqrt(np.diag(covariance))
    theirs = smf.ols(formula, frame).fit(cov_type=kind).bse.to_numpy()
    ours = np.max(np.abs(fit.bse / exactly - 1))
    assert ours < 1e-13
    assert ours < np.max(np.abs(theirs / exactly - 1))
    np.testing.assert_allclose(fit.bse, theirs, rtol=1e-8)


@pytest.mark.parametrize("formula", ["y ~ x + z + g", "y ~ x * g", "y ~ 0 + x + z"])
def test_clusters_within_parties_are_those_of_statsmodels(formula):
    """Nothing about a cluster is opened but that there is one more."""
    frame = made_rows()
    program = LinearRegression(
        formula, Schema({"g": Categories(["a", "b", "c"])}), covariance="cluster", cluster="firm"
    )
    fit, opened = run(program, by_firm(frame))
    centred = frame.assign(z=frame.z - 1e6) if "0 +" not in formula else frame
    theirs = smf.ols(formula, centred).fit(cov_type="cluster", cov_kwds={"groups": frame.firm})
    slopes = [name for name in fit.names if name != "Intercept"]
    places = [fit.names.index(name) for name in slopes]
    np.testing.assert_allclose(fit.params[places], theirs.params[slopes], rtol=1e-9)
    np.testing.assert_allclose(fit.bse[places], theirs.bse[slopes], rtol=1e-9)
    assert fit.fvalue == pytest.approx(theirs.fvalue, rel=1e-9)
    assert fit.f_pvalue == pytest.approx(theirs.f_pvalue, rel=1e-8)
    assert fit.clusters == 30
    size = len(fit.names)
    assert len(opened[1].sums) == size * (size + 1) // 2 + 1


@pytest.mark.parametrize("texts", [False, True])
def test_names_of_clusters_may_be_texts(texts):
    frame = made_rows()
    named = frame.assign(firm=["firm " + str(firm) for firm in frame.firm]) if texts else frame
    program = LinearRegression("y ~ x", covariance="cluster", cluster="firm")
    fit, _ = run(program, [named.loc[part.index] for part in by_firm(frame)])
    theirs = smf.ols("y ~ x", frame).fit(cov_type="cluster", cov_kwds={"groups": frame.firm})
    assert_same(fit, theirs)


@pytest.mark.parametrize("formula", ["y ~ x + g", "y ~ x * g"])
def test_declared_clusters_may_span_parties(formula):
    """Their scores are opened one by one, and declared clusters without rows do not count."""
    frame = made_rows()
    program = LinearRegression(formula, LEVELS, covariance="cluster", cluster="firm")
    fit, opened = run(program, shared(frame))
    assert_same(fit, smf.ols(formula, frame).fit(cov_type="cluster", cov_kwds={"groups": frame.firm}))
    assert fit.clusters == 30
    assert len(opened[1].sums) == 40 * len(fit.names)
    assert "cluster (30)" in fit.summary()


def test_clusters_that_span_parties_undeclared_give_other_errors():
    """The limit that the module states: nobody notices, so the test shows that it is one."""
    frame = made_rows()
    program = LinearRegression(
        "y ~ x + g", Schema({"g": Categories(["a", "b", "c"])}), covariance="cluster", cluster="firm"
    )
    fit, _ = run(program, shared(frame))
    theirs = smf.ols("y ~ x + g", frame).fit(cov_type="cluster", cov_kwds={"groups": frame.firm})
    assert fit.clusters > 30
    assert np.max(np.abs(fit.bse / theirs.bse[list(fit.names)] - 1)) > 1e-3


def test_without_a_column_every_party_is_a_cluster():
    frame = made_rows()
    frame["party"] = np.repeat(np.arange(5), [1, 50, 7, 100, 242])
    parties = [frame[frame.party == k] for k in (0, 1, 2, 3, 4)] + [frame.iloc[:0]]
    fit, _ = run(LinearRegression("y ~ x + g", LEVELS, covariance="cluster"), parties)
    theirs = smf.ols("y ~ x + g", frame).fit(cov_type="cluster", cov_kwds={"groups": frame.party})
    assert_same(fit, theirs, f=False)
    assert fit.clusters == 5


def test_rows_without_a_cluster_are_left_out_of_all_rounds():
    frame = made_rows()
    frame["firm"] = frame.firm.astype(float)
    frame.loc[::9, "firm"] = np.nan
    fit, _ = run(LinearRegression("y ~ x + g", LEVELS, covariance="cluster", cluster="firm"), shared(frame))
    kept = frame.dropna()
    assert_same(fit, smf.ols("y ~ x + g", kept).fit(cov_type="cluster", cov_kwds={"groups": kept.firm}))


@pytest.mark.parametrize("kind", ["nonrobust", *HC, "cluster"])
def test_effects_of_parties_are_dummies_that_nobody_sees(kind):
    """Slopes, errors, degrees of freedom, R squared and likelihood of the regression with a dummy for each party."""
    frame = made_rows()
    frame["party"] = np.repeat([0, 1, 3, 4], [100, 7, 13, 280])
    frame["firm"] += 100 * frame.party
    frame["y"] += 50 * frame.party
    program = LinearRegression(
        "y ~ x * g + z",
        Schema({"g": Categories(["a", "b", "c"])}),
        covariance=kind,
        cluster="firm" if kind == "cluster" else None,
        fixed_effects="party",
    )
    fit, opened = run(program, [frame[frame.party == k] for k in range(5)])
    centred = frame.assign(z=frame.z - 1e6)
    more = {"groups": frame.firm} if kind == "cluster" else None
    theirs = smf.ols("y ~ x * g + z + C(party)", centred).fit(cov_type=kind, cov_kwds=more)
    names = list(fit.names)
    for key in ("params", "bse", "tvalues", "pvalues"):
        np.testing.assert_allclose(getattr(fit, key), getattr(theirs, key)[names], rtol=1e-9, err_msg=key)
    for key in ("nobs", "df_model", "df_resid", "rsquared", "rsquared_adj", "scale", "llf", "aic", "bic"):
        assert getattr(fit, key) == pytest.approx(getattr(theirs, key), rel=1e-9), key
    test = theirs.f_test(np.eye(len(theirs.params))[[list(theirs.params.index).index(name) for name in names]])
    assert fit.fvalue == pytest.approx(float(test.fvalue), rel=1e-9)
    assert fit.f_pvalue == pytest.approx(float(test.pvalue), rel=1e-7)
    within = centred[["y", "z", "x"]] - centred.groupby("party")[["y", "z", "x"]].transform("mean")
    assert fit.rsquared_within == pytest.approx(1 - theirs.ssr / (within.y**2).sum(), rel=1e-9)
    size = len(names)
    assert len(opened[0].sums) == 4 + (size + 1) * (size + 2) // 2


def test_effects_absorb_what_never_varies_within_a_party():
    frame = made_rows()
    frame["level"] = np.repeat([3.5, 4.25], [150, 250])
    parties = [frame.iloc[:150], frame.iloc[150:]]
    fit, _ = run(LinearRegression("y ~ x + level", fixed_effects="party"), parties)
    with pytest.raises(InvalidData, match=r"'level'.*each party's mean"):
        _ = fit.params
    frame["copy"] = 3 * frame.x + frame.level
    fit, _ = run(LinearRegression("y ~ x + copy", fixed_effects="party"), [frame.iloc[:150], frame.iloc[150:]])
    with pytest.raises(InvalidData, match="'copy'"):
        _ = fit.params


def test_a_party_with_one_row_takes_no_part_in_the_slopes():
    frame = made_rows(60)
    parties = [frame.iloc[:1], frame.iloc[1:30], frame.iloc[30:]]
    for kind in ("nonrobust", "HC2", "HC3"):
        fit, _ = run(LinearRegression("y ~ x", covariance=kind, fixed_effects="party"), parties)
        without, _ = run(LinearRegression("y ~ x", covariance=kind, fixed_effects="party"), parties[1:])
        np.testing.assert_allclose(fit.params, without.params, rtol=1e-14)
        np.testing.assert_allclose(fit.bse, without.bse, rtol=1e-14)
        assert fit.nobs == without.nobs + 1


@pytest.mark.parametrize("kind", ["HC2", "HC3"])
def test_a_row_that_determines_a_coefficient_alone_has_no_such_errors(kind):
    frame = made_rows(40)
    frame["only"] = (np.arange(40) == 11).astype(float)
    with pytest.raises(InvalidData, match=kind):
        run(LinearRegression("y ~ x + only", covariance=kind), shared(frame, (5,)))
    fit, _ = run(LinearRegression("y ~ x + only", covariance="HC1"), shared(frame, (5,)))
    assert np.all(np.isfinite(fit.bse))


@pytest.mark.parametrize(("kind", "cluster"), [("HC1", None), ("cluster", "firm")])
def test_a_party_that_leaves_between_the_rounds_is_not_in_the_result(kind, cluster):
    """Sums over different parties are never combined: both are asked for again."""
    frame = made_rows()
    parties = by_firm(frame)
    program = LinearRegression("y ~ x", covariance=kind, cluster=cluster)
    fit, opened = run(program, parties, leave={1: (1,)})
    assert [one.ask.step for one in opened] == ["gram", "meat", "gram", "meat"]
    assert opened[-1].parties == opened[-2].parties != opened[0].parties
    rest, _ = run(LinearRegression("y ~ x", covariance=kind, cluster=cluster), [parties[k] for k in (0, 2, 3)])
    assert fit.params.tolist() == rest.params.tolist()
    assert fit.bse.tolist() == rest.bse.tolist()
    again, opened = run(program, parties, leave={1: (1,), 3: (0,)})
    assert [one.ask.step for one in opened] == ["gram", "meat", "gram", "meat", "gram", "meat"]
    assert again.nobs < fit.nobs


def test_the_second_round_has_no_more_words_than_declared():
    program = LinearRegression("y ~ x + k", Schema({"k": Integers(0, 5)}), covariance="HC0")
    assert program.scalars == 10 + 6
    assert program.next([]).length == 10
