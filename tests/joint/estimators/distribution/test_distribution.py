"""Histograms and distribution functions are those of the pooled rows."""

from __future__ import annotations

import numpy as np
import pytest

from flou import Boolean, Categories, Integers, Interval, Schema
from flou.errors import InvalidData, InvalidParameter
from flou.joint.estimators.distribution.distribution import Ecdf, Histogram
from flou.joint.estimators.fit import Provenance
from flou.joint.estimators.program import program_of
from joint.estimators.summed import parts, run

EDGES = [-2.0, -1.0, 0.0, 0.5, 3.0]
X = np.concatenate([np.random.default_rng(1).normal(size=2000), EDGES, EDGES, [np.nan, -np.inf, np.inf]])
PARTIES = parts({"x": X}, (0, 1, 700, 1200))


@pytest.mark.parametrize("edges", [EDGES, [0.0, 1.0], [-4.0, -3.9]])
def test_counts_are_numpys(edges):
    """Counts are those of numpy.histogram over all rows, and everything else is below or above."""
    fit, opened = run(Histogram("x", edges=edges), PARTIES)
    here = X[~np.isnan(X)]
    assert len(opened) == 1
    assert len(opened[0].sums) == len(edges) + 1
    assert fit.counts == tuple(np.histogram(here, edges)[0])
    assert (fit.below, fit.above) == ((here < edges[0]).sum(), (here > edges[-1]).sum())
    assert fit.n == len(here)
    assert fit.shares.sum() == pytest.approx(1 - (fit.below + fit.above) / fit.n)


def test_bins_between_bounds():
    """Bins of equal width have numpy's edges."""
    fit, _ = run(Histogram("x", bins=7, bounds=(-2, 3)), PARTIES)
    np.testing.assert_allclose(fit.edges, np.linspace(-2, 3, 8), rtol=1e-15)
    assert (fit.edges[0], fit.edges[-1]) == (-2, 3)


def test_bounds_of_the_distribution_function_hold_and_are_tight():
    """The true share lies within the bounds everywhere, and at the last edge they meet."""
    fit, _ = run(Histogram("x", edges=EDGES), PARTIES)
    here = X[~np.isnan(X)]
    for x in [-9.0, -2.0, -1.5, -1.0, 0.25, 2.999, 3.0, 9.0]:
        lower, upper = fit.ecdf(x)
        assert lower <= (here <= x).mean() <= upper
        assert lower < upper or x == EDGES[-1]
    assert fit.ecdf(3.0)[0] == fit.ecdf(3.0)[1] == pytest.approx((here <= 3.0).mean(), abs=1e-15)


@pytest.mark.parametrize("p", [0, 0.001, 0.07, 0.3, 0.5, 0.99, 1])
def test_bounds_of_quantiles_hold(p):
    """The quantile lies in the bin that is named, and in no other."""
    fit, _ = run(Histogram("x", edges=EDGES), PARTIES)
    lower, upper = fit.quantile_bounds(p)
    truth = np.quantile(X[~np.isnan(X)], p, method="inverted_cdf")
    assert lower <= truth <= upper
    assert (lower, upper) in zip([-np.inf, *EDGES], [*EDGES, np.inf], strict=True)


@pytest.mark.parametrize(
    ("values", "categories", "counts"),
    [
        (["a", "b", "a", "c", None], ["b", "a", "z"], (1, 2, 0, 1)),
        ([1, 2, 2, 7], [2, 1], (2, 1, 1)),
        ([True, False, True], [False, True], (1, 2, 0)),
    ],
)
def test_categories(values, categories, counts):
    """Categories are counted in their public order, and all others together."""
    column = np.array(values, dtype=object) if None in values else np.array(values)
    fit, _ = run(Histogram("c", categories=categories), parts({"c": column}, (1, 0)))
    assert (*fit.counts, fit.above) == counts
    assert "(other)" in fit.summary()
    with pytest.raises(InvalidParameter, match="no order"):
        fit.ecdf(1)


@pytest.mark.parametrize(
    ("domain", "expected"),
    [
        (Categories(["x", "y"]), {"categories": ["x", "y"]}),
        (Boolean(), {"categories": [False, True]}),
        (Integers(1, 3), {"edges": [0.5, 1.5, 2.5, 3.5]}),
        (Interval(0, 4), {"edges": [0.2 * place for place in range(21)]}),
    ],
)
def test_a_schema_is_enough(domain, expected):
    """What a schema says of a column makes its bins."""
    terms = Histogram("c", schema=Schema({"c": domain})).terms()
    for name, value in expected.items():
        assert terms[name] == (value if name == "categories" else pytest.approx(value))


def test_types_that_do_not_fit_are_refused_without_a_value():
    """Texts where numbers are expected, and the other way round."""
    texts, figures = {"x": np.array(["secret"])}, {"x": np.array([1.0])}
    with pytest.raises(InvalidData, match="holds texts") as caught:
        run(Histogram("x", edges=[0, 1]), [texts])
    assert "secret" not in str(caught.value)
    with pytest.raises(InvalidData, match="holds numbers"):
        run(Histogram("x", categories=["1"]), [figures])
    with pytest.raises(InvalidData, match="holds texts"):
        run(Ecdf("x", at=[0]), [texts])


def test_distribution_function():
    """Shares up to and with each point are exact, and the band widens them by the DKW distance."""
    at = [-1.0, 0.0, 0.5, 3.0]
    fit, opened = run(Ecdf("x", at=at), PARTIES)
    here = X[~np.isnan(X)]
    assert len(opened[0].sums) == len(at) + 1
    assert fit.counts == tuple((here <= point).sum() for point in at)
    lower, upper = fit.band(0.95)
    half = np.sqrt(np.log(40) / 2 / len(here))
    np.testing.assert_allclose(upper - fit.values, np.minimum(half, 1 - fit.values), rtol=1e-9)
    np.testing.assert_allclose(fit.values - lower, np.minimum(half, fit.values), rtol=1e-9)


def test_no_rows_at_all():
    """Nobody has a row: counts are zero, and questions about the distribution are refused."""
    nobody = [{"x": np.array([])}, {"x": np.array([np.nan])}]
    fit, _ = run(Histogram("x", edges=[0, 1]), nobody)
    assert fit.n == 0
    with pytest.raises(InvalidData, match="No party has a row"):
        fit.quantile_bounds(0.5)
    with pytest.raises(InvalidData, match="No party has a row"):
        run(Ecdf("x", at=[0]), nobody)[0].band()


@pytest.mark.parametrize(
    "program",
    [
        Histogram("x", edges=EDGES),
        Histogram("x", categories=["a", "b"]),
        Histogram("x", bins=3, bounds=(0, 1)),
        Ecdf("x", [1]),
    ],
)
def test_terms_make_the_same_program(program):
    """A plan says everything."""
    again = program_of(program.estimator, program.terms())
    assert again.terms() == program.terms()
    assert (again.scalars, again.columns) == (program.scalars, program.columns)


@pytest.mark.parametrize(
    "call",
    [
        lambda: Histogram("x"),
        lambda: Histogram("x", edges=[1]),
        lambda: Histogram("x", edges=[1, 1]),
        lambda: Histogram("x", edges=[0, np.nan]),
        lambda: Histogram("x", edges=[0, 1], categories=["a"]),
        lambda: Histogram("x", categories=[]),
        lambda: Histogram("x", categories=["a", "a"]),
        lambda: Histogram("x", categories=[1, True]),
        lambda: Histogram("x", categories=["a", 1]),
        lambda: Histogram("x", bins=0, bounds=(0, 1)),
        lambda: Histogram("x", bins=2, bounds=(1, 1)),
        lambda: Ecdf("x", at=[]),
        lambda: Histogram.from_terms({"column": "x", "edges": [0, 1], "code": "1"}),
        lambda: Histogram.from_terms({"column": "x", "edges": "01"}),
    ],
)
def test_wrong_choices_are_refused(call):
    """Each in three sentences."""
    with pytest.raises(InvalidParameter) as caught:
        call()
    assert caught.value.what.endswith(".")


def test_summaries_show_counts_and_who_took_part():
    """Every bin has its line, and the last lines say what was opened."""
    fit, _ = run(Histogram("x", edges=EDGES), PARTIES)
    text = fit.with_provenance(Provenance(("p", "q"), 1, 6, "ab" * 32, None)).summary()
    assert all(str(count) in text for count in fit.counts)
    assert "[0.5, 3]" in text
    assert "[0, 0.5)" in text
    assert "ab" * 32 in text
    assert "<= 1" in run(Ecdf("x", at=[1]), PARTIES)[0].summary()
