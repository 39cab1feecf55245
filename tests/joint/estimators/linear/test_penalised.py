from __future__ import annotations

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNet, Lasso, Ridge

from flou import Categories, Schema
from flou.errors import InvalidData, InvalidParameter
from flou.joint.estimators.fit import Provenance
from flou.joint.estimators.linear.linear import LinearRegression
from flou.joint.estimators.party_rows import PartyRows
from joint.estimators.summed import run

SCHEMA = Schema({"g": Categories(["a", "b", "c"])})


def made_rows(n=200, d=6, seed=4):
    rng = np.random.default_rng(seed)
    common = rng.normal(size=n)
    columns = {f"x{k}": (rng.normal(size=n) + common) * 10.0 ** (k - 2) + k for k in range(d)}
    frame = pd.DataFrame(columns | {"g": rng.choice(list("abc"), n)})
    frame["y"] = 3 + frame.x0 * 50 - frame.x3 / 10 + (frame.g == "b") + rng.normal(size=n)
    return frame


def fitted(formula, frame, **more):
    cuts = [0, 1, 1, len(frame) // 3, len(frame)]
    program = LinearRegression(formula, SCHEMA, **more)
    fit, opened = run(program, [frame.iloc[a:b] for a, b in itertools.pairwise(cuts)])
    assert len(opened) == 1
    (batch,) = PartyRows(frame, program.reading()).batches(program.columns)
    return fit, program.design.regressors(batch)


def settled(model, features, response):
    """What scikit-learn finds after many sweeps; it warns when its duality gap stays above the last bits."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.set_params(tol=1e-15, max_iter=100_000).fit(features, response)


def same(ours, theirs, X, intercept):
    expected = [theirs.intercept_, *theirs.coef_] if intercept else theirs.coef_
    scale = np.std(X, axis=0)
    scale[scale == 0] = 1
    np.testing.assert_allclose(ours.params * scale, np.array(expected) * scale, rtol=1e-8, atol=1e-9)


FORMULA = "y ~ x0 + x1 + x2 + x3 + x4 + x5 + g"


@pytest.mark.parametrize("alpha", [0.001, 1, 250.0])
@pytest.mark.parametrize("formula", [FORMULA, "y ~ 0 + x0 + x1 + x2 + x3"])
def test_ridge_is_that_of_scikit_learn(formula, alpha):
    fit, X = fitted(formula, frame := made_rows())
    intercept = not formula.startswith("y ~ 0")
    features = X[:, 1:] if intercept else X
    theirs = Ridge(alpha=alpha, fit_intercept=intercept, solver="svd").fit(features, frame.y)
    same(fit.ridge(alpha), theirs, X, intercept)


@pytest.mark.parametrize("alpha", [1e-4, 0.05, 0.5, 5.0])
@pytest.mark.parametrize("l1_ratio", [0.2, 0.7, 1.0])
@pytest.mark.parametrize("formula", [FORMULA, "y ~ 0 + x0 + x1 + x2 + x3"])
def test_elastic_net_is_that_of_scikit_learn(formula, alpha, l1_ratio):
    fit, X = fitted(formula, frame := made_rows())
    intercept = not formula.startswith("y ~ 0")
    features = X[:, 1:] if intercept else X
    theirs = ElasticNet(alpha=alpha, l1_ratio=l1_ratio, fit_intercept=intercept)
    same(fit.elastic_net(alpha, l1_ratio), settled(theirs, features, frame.y), X, intercept)


@pytest.mark.parametrize("alpha", [0.01, 0.3, 20.0])
def test_lasso_is_that_of_scikit_learn_with_the_same_zeros(alpha):
    fit, X = fitted(FORMULA, frame := made_rows())
    theirs = settled(Lasso(alpha=alpha), X[:, 1:], frame.y)
    ours = fit.lasso(alpha)
    same(ours, theirs, X, True)
    assert [name in ours.nonzero for name in fit.names[1:]] == (theirs.coef_ != 0).tolist()


def test_without_a_penalty_both_are_least_squares():
    fit, _ = fitted(FORMULA, made_rows())
    assert fit.ridge(0).params.tolist() == fit.params.tolist()
    np.testing.assert_allclose(fit.lasso(0).params, fit.params, rtol=1e-12)


def test_the_conditions_of_the_optimum_hold():
    """Moving any coefficient either way makes the objective larger."""
    fit, X = fitted(FORMULA, frame := made_rows())
    for alpha, l1_ratio in [(0.3, 1.0), (0.3, 0.5), (4.0, 0.9)]:
        found = fit.elastic_net(alpha, l1_ratio).params

        def objective(w, alpha=alpha, l1_ratio=l1_ratio):
            loss = np.mean((frame.y - X @ w) ** 2) / 2
            return loss + alpha * (l1_ratio * np.abs(w[1:]).sum() + (1 - l1_ratio) / 2 * (w[1:] ** 2).sum())

        here = objective(found)
        for j in range(len(found)):
            for move in (-1e-4, 1e-4):
                there = found.copy()
                there[j] += move / max(np.std(X[:, j]), 1e-2)
                assert objective(there) > here


def test_penalties_need_no_unique_least_squares():
    """Fewer rows than regressors, and collinear ones, are what penalties are for."""
    frame = made_rows(8)
    fit, X = fitted(FORMULA, frame)
    with pytest.raises(InvalidData):
        _ = fit.params
    same(fit.ridge(0.5), Ridge(alpha=0.5, solver="svd").fit(X[:, 1:], frame.y), X, True)
    theirs = settled(Lasso(alpha=0.4), X[:, 1:], frame.y)
    same(fit.lasso(0.4), theirs, X, True)
    with pytest.raises(InvalidData):
        fit.ridge(0)
    frame = made_rows()
    frame["x1"] = frame.x0 * 4
    fit, X = fitted(FORMULA, frame)
    same(fit.ridge(0.5), Ridge(alpha=0.5, solver="svd").fit(X[:, 1:], frame.y), X, True)
    ours = X @ fit.lasso(0.01).params
    theirs = settled(Lasso(alpha=0.01), X[:, 1:], frame.y)
    np.testing.assert_allclose(ours, theirs.predict(X[:, 1:]), rtol=1e-7)


def test_effects_of_parties_are_taken_off_first():
    frame = made_rows()
    cuts = [0, 50, 120, 200]
    parties = [frame.iloc[a:b].assign(y=lambda part, a=a: part.y + a) for a, b in itertools.pairwise(cuts)]
    fit, _ = run(LinearRegression("y ~ x0 + x1 + x3", fixed_effects="party"), parties)
    names = ["x0", "x1", "x3", "y"]
    within = pd.concat([part[names] - part[names].mean() for part in parties])
    theirs = settled(Lasso(alpha=0.2, fit_intercept=False), within[names[:3]], within.y)
    np.testing.assert_allclose(fit.lasso(0.2).params, theirs.coef_, rtol=1e-8)
    for one in (fit, fit.lasso(0.2)):
        with pytest.raises(InvalidParameter, match="level"):
            one.predict(frame)


def test_a_penalised_fit_predicts_and_tells_where_it_comes_from():
    fit, X = fitted(FORMULA, frame := made_rows())
    fit = fit.with_provenance(Provenance(("a", "b", "c"), 1, 45, "cd" * 32, None))
    ours = fit.lasso(0.3)
    np.testing.assert_allclose(ours.predict(frame), X @ ours.params, rtol=1e-12)
    assert ours.provenance == fit.provenance
    assert "Lasso" in ours.summary()
    assert "cd" * 32 in repr(ours)
    assert "Ridge" in fit.ridge(1)._repr_html_()
    assert ours.to_dict()["x0"] == ours.params[1]


@pytest.mark.parametrize("alpha", [-1, "1", None, float("nan"), True])
def test_a_penalty_is_a_number_of_at_least_zero(alpha):
    fit, _ = fitted(FORMULA, made_rows(30))
    with pytest.raises(InvalidParameter):
        fit.ridge(alpha)
    with pytest.raises(InvalidParameter):
        fit.lasso(alpha)


def test_a_share_of_the_penalty_is_a_probability():
    fit, _ = fitted(FORMULA, made_rows(30))
    with pytest.raises(InvalidParameter):
        fit.elastic_net(1, 1.5)
