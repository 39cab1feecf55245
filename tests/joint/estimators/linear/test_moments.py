from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from flou import Boolean, Categories, Integers, Interval, Schema
from flou.errors import InvalidData, InvalidParameter
from flou.joint.estimators.fit import Provenance
from flou.joint.estimators.linear.moments import Moments
from flou.joint.estimators.program import program_of
from joint.estimators.summed import run

NAMES = ["small", "large", "far", "k", "b"]
SCHEMA = Schema({"k": Integers(0, 9), "b": Boolean(), "far": Interval(0, 2e6)})


def made_rows(n=90, seed=5):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "small": rng.normal(size=n) * 1e-5,
            "large": rng.normal(size=n) * 1e9,
            "far": 1e6 + rng.normal(size=n),
            "k": rng.integers(0, 10, n),
            "b": rng.random(n) < 0.3,
        }
    )
    frame["far"] += frame.k / 3
    return frame


def shared(frame):
    cuts = [0, 1, 1, len(frame) // 3, len(frame)]
    return [frame.iloc[a:b] for a, b in itertools.pairwise(cuts)]


def exact_covariance(a, b):
    a, b = [Fraction(float(v)) for v in a], [Fraction(float(v)) for v in b]
    n, ma, mb = len(a), sum(a) / len(a), sum(b) / len(b)
    return float(sum((x - ma) * (y - mb) for x, y in zip(a, b, strict=True)) / (n - 1))


@pytest.mark.parametrize("schema", [None, SCHEMA])
def test_moments_are_those_of_the_pooled_rows_in_fractions(schema):
    frame = made_rows()
    fit, opened = run(Moments(NAMES, schema), shared(frame))
    assert len(opened) == 1
    assert len(opened[0].sums) == 21
    assert fit.nobs == 90
    covariance = np.array([[exact_covariance(frame[a], frame[b]) for b in NAMES] for a in NAMES])
    deviations = np.sqrt(np.diag(covariance))
    np.testing.assert_allclose(
        fit.means, [float(sum(map(Fraction, map(float, frame[n]))) / 90) for n in NAMES], rtol=1e-11
    )
    np.testing.assert_allclose(fit.covariance, covariance, rtol=1e-10, atol=1e-300)
    np.testing.assert_allclose(fit.variances, np.diag(covariance), rtol=1e-10)
    np.testing.assert_allclose(fit.bse, deviations / math.sqrt(90), rtol=1e-10)
    np.testing.assert_allclose(fit.correlation, covariance / np.outer(deviations, deviations), rtol=1e-9)
    expected = stats.t.interval(0.9, 89, loc=fit.means, scale=fit.bse)
    np.testing.assert_allclose(fit.conf_int(0.9), np.column_stack(expected), rtol=1e-12)


def test_correlations_of_columns_that_agree_are_one_and_of_constants_none():
    frame = pd.DataFrame({"a": np.arange(10) / 8, "c": np.ones(10)})
    frame["b"] = -2 * frame.a
    fit, _ = run(Moments(["a", "b", "c"]), [frame])
    assert fit.correlation[:2, :2].tolist() == [[1.0, -1.0], [-1.0, 1.0]]
    assert np.isnan(fit.correlation[2]).all()
    assert fit.variances[2] == 0


def test_a_single_row_has_a_mean_and_no_variance():
    fit, _ = run(Moments(["a"]), [{"a": [2.5]}, {"a": []}])
    assert fit.means.tolist() == [2.5]
    assert math.isnan(fit.variances[0])


def test_rows_with_missing_values_are_left_out_and_no_rows_are_refused():
    frame = made_rows()
    frame.loc[::5, "small"] = np.nan
    fit, _ = run(Moments(["small", "far"]), shared(frame))
    kept = frame.dropna()
    assert fit.nobs == len(kept)
    np.testing.assert_allclose(fit.covariance, kept[["small", "far"]].cov(), rtol=1e-8)
    with pytest.raises(InvalidData, match="No party"):
        run(Moments(["small"]), [frame.iloc[:0]])


def test_the_summary_names_columns_and_protocol():
    fit, _ = run(Moments(NAMES, SCHEMA), shared(made_rows()))
    told = fit.with_provenance(Provenance(("a", "b"), 1, 21, "ef" * 32, None)).summary()
    for word in (*NAMES, "std dev", "ef" * 32, "21 scalars"):
        assert word in told
    assert "<table>" in fit._repr_html_()
    assert fit.to_dict()["k"]["mean"] == fit.means[3]


def test_a_plan_carries_the_program_and_is_checked():
    program = Moments(NAMES, SCHEMA)
    again = program_of("moments", json.loads(json.dumps(program.terms())))
    assert again.terms() == program.terms()
    assert again.columns == tuple(NAMES)
    for terms in ({}, {"columns": []}, {"columns": "x"}, {"columns": [3]}, {"columns": ["x"], "more": 1}):
        with pytest.raises(InvalidParameter):
            program_of("moments", terms)
    with pytest.raises(InvalidParameter, match="categories"):
        Moments(["g"], Schema({"g": Categories(["a"])}))


def test_a_value_outside_the_bounds_is_refused():
    with pytest.raises(InvalidData, match="'k'"):
        run(Moments(["k"], SCHEMA), [{"k": [3.0, 10.0]}])
