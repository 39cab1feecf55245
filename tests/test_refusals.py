"""Bad parameters are refused everywhere, in three sentences that name the parameter."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from flou.errors import FlouError, InvalidParameter
from flou.laws import (
    Bernoulli,
    DiscreteGaussian,
    DiscreteLaplace,
    DiscreteStaircase,
    Geometric,
    RoundedGaussian,
    Truncated,
    UniformIntegers,
    WeightedChoice,
)
from flou.mechanisms import (
    AboveThreshold,
    BernoulliMean,
    Exponential,
    Gaussian,
    GeneralisedRandomisedResponse,
    InverseSensitivity,
    Laplace,
    Majority,
    NoisyMax,
    PermuteAndFlip,
    PiecewiseExponential,
    RandomisedResponse,
    Staircase,
)
from flou.parameters import exact, rounded_up, shown

NONSENSE = [math.nan, math.inf, -math.inf, "0.1", None, True, 1j, [1], object(), np.array([1.0]), b"1"]
OUTSIDE = [-1, 0, -0.0, 1e-300, 5e-324, 10**400, 10**5000, Fraction(1, 10**400), 1e300]
SIZES = [0.5, -1, 0, 2**80, 10**5000, "3", None, math.nan, True, 1.0]

POSITIVE = {
    "epsilon": [
        lambda x: Laplace(sensitivity=1, epsilon=x),
        lambda x: Staircase(sensitivity=1, epsilon=x),
        lambda x: Exponential(sensitivity=1, epsilon=x),
        lambda x: PermuteAndFlip(sensitivity=1, epsilon=x),
        lambda x: NoisyMax(sensitivity=1, epsilon=x),
        lambda x: PiecewiseExponential(sensitivity=1, epsilon=x),
        lambda x: InverseSensitivity(epsilon=x),
        lambda x: Majority(epsilon=x),
        lambda x: BernoulliMean(rows=5, epsilon=x),
        lambda x: AboveThreshold(threshold=1, sensitivity=1, epsilon=x),
        lambda x: GeneralisedRandomisedResponse(k=4, epsilon=x),
        lambda x: RandomisedResponse(epsilon=x),
        lambda x: Gaussian(sensitivity=1, epsilon=x, delta=1e-6),
        lambda x: Gaussian(sensitivity=1, epsilon=x, delta=1e-6, calibration="classic"),
        lambda x: Gaussian(sensitivity=1, epsilon=x, delta=1e-6, calibration="zcdp"),
        lambda x: DiscreteStaircase(2, x),
    ],
    "sensitivity": [
        lambda x: Laplace(sensitivity=x, epsilon=1),
        lambda x: Staircase(sensitivity=x, epsilon=1),
        lambda x: Exponential(sensitivity=x, epsilon=1),
        lambda x: PermuteAndFlip(sensitivity=x, epsilon=1),
        lambda x: NoisyMax(sensitivity=x, epsilon=1),
        lambda x: PiecewiseExponential(sensitivity=x, epsilon=1),
        lambda x: AboveThreshold(threshold=1, sensitivity=x, epsilon=1),
        lambda x: Gaussian(sensitivity=x, epsilon=1, delta=1e-6),
    ],
    "delta": [lambda x: Gaussian(sensitivity=1, epsilon=1, delta=x)],
    "rho": [lambda x: Gaussian(sensitivity=1, rho=x)],
    "scale": [DiscreteLaplace, Geometric],
    "sigma": [DiscreteGaussian, RoundedGaussian],
    "sigma_squared": [lambda x: DiscreteGaussian(sigma_squared=x)],
}
WHOLE = {
    "k": [lambda x: GeneralisedRandomisedResponse(k=x, epsilon=1)],
    "rows": [lambda x: BernoulliMean(rows=x, epsilon=1)],
    "answers": [lambda x: AboveThreshold(threshold=0, sensitivity=1, epsilon=1, answers=x)],
    "r": [lambda x: DiscreteStaircase(5, 1, r=x)],
}


def assert_kind(caught, name: str) -> None:
    """Three sentences, each of which ends, and the parameter's name in them."""
    error = caught.value
    assert isinstance(error, FlouError)
    assert isinstance(error, ValueError)
    for sentence in (error.what, error.why, error.do):
        assert sentence.endswith(".")
        assert sentence[0].isupper() or sentence.split()[0].split("=")[0].isidentifier()
    assert name in str(error)
    assert len(str(error)) < 500


@pytest.mark.parametrize("value", NONSENSE + OUTSIDE, ids=lambda v: shown(v))
@pytest.mark.parametrize(("name", "maker"), [(n, m) for n, makers in POSITIVE.items() for m in makers])
def test_parameters_that_make_no_sense_are_refused(name, maker, value):
    """NaN, infinity, zero, negatives, strings, booleans, tiny and huge numbers are all refused, for every parameter."""
    if value is None and name in {"epsilon", "delta", "rho", "sigma", "sigma_squared"}:
        with pytest.raises(InvalidParameter):  # left out: the error says what is missing
            maker(value)
        return
    with pytest.raises(InvalidParameter) as caught:
        maker(value)
    assert_kind(caught, name)


@pytest.mark.parametrize("value", SIZES, ids=lambda v: shown(v))
@pytest.mark.parametrize(("name", "maker"), [(n, m) for n, makers in WHOLE.items() for m in makers])
def test_counts_that_are_no_counts_are_refused(name, maker, value):
    """Counts are whole numbers in a stated range."""
    if value is None and name == "r":
        return  # r may be left out
    with pytest.raises(InvalidParameter) as caught:
        maker(value)
    assert_kind(caught, name)


@pytest.mark.parametrize("value", [-0.1, 1.1, math.nan, "0.5", None, True, 10**400])
def test_probabilities_are_checked(value):
    """Probabilities lie between 0 and 1."""
    for maker, name in (
        (lambda: Bernoulli(value), "p"),
        (lambda: RandomisedResponse(p=value, q=0.1), "p"),
        (lambda: RandomisedResponse(p=0.1, q=value), "q"),
        (lambda: DiscreteLaplace(1).interval(value), "level"),
        (lambda: DiscreteLaplace(1).quantile(value), "p"),
        (
            lambda: AboveThreshold(threshold=0, sensitivity=1, epsilon=1, split=value if value is not None else 2),
            "split",
        ),
    ):
        with pytest.raises(InvalidParameter) as caught:
            maker()
        assert_kind(caught, name)


@pytest.mark.parametrize(
    ("maker", "name"),
    [
        (lambda: Laplace(sensitivity=1, epsilon=1, relation="swap"), "relation"),
        (lambda: Laplace(sensitivity=1, epsilon=1, relation=None), "relation"),
        (lambda: Exponential(sensitivity=1, epsilon=1, utility="best"), "utility"),
        (lambda: Majority(epsilon=1, version="coin"), "version"),
        (lambda: Gaussian(sensitivity=1, epsilon=1, delta=1e-6, calibration="loose"), "calibration"),
        (lambda: Gaussian(sensitivity=1, rho=1, calibration="analytic"), "calibration"),
        (lambda: Gaussian(sensitivity=1, epsilon=1, delta=1e-6, calibration="classic"), "epsilon"),
        (lambda: Gaussian(sensitivity=1, epsilon=1, delta=1e-6, rho=1), "rho"),
        (lambda: Gaussian(sensitivity=1), "epsilon"),
        (lambda: Gaussian(sensitivity=1, epsilon=1), "delta"),
        (lambda: RandomisedResponse(), "epsilon"),
        (lambda: RandomisedResponse(p=0.3), "q"),
        (lambda: RandomisedResponse(p=0.3, q=0.3), "q"),
        (lambda: RandomisedResponse(epsilon=1, p=0.3, q=0.2), "epsilon"),
        (lambda: DiscreteStaircase(5, 1, cost="cubic"), "cost"),
        (lambda: UniformIntegers(3, 2), "lower"),
        (lambda: UniformIntegers(3, 2.5), "upper"),
        (lambda: Truncated(DiscreteLaplace(1), 1, 5), "lower"),
        (lambda: Truncated(RoundedGaussian(1), -1, 5), "truncated"),
        (lambda: WeightedChoice([]), "exponents"),
        (lambda: WeightedChoice([0.5, 1]), "exponents"),
        (lambda: WeightedChoice([1, 2], rate=-1), "rate"),
        (lambda: WeightedChoice([1, 2], rate="x"), "rate"),
        (lambda: WeightedChoice([1, 2], rate=math.nan), "rate"),
        (lambda: WeightedChoice([1, 2], multiplicities=[0, 0]), "multiplicities"),
        (lambda: WeightedChoice([1, 2], multiplicities=[1]), "multiplicities"),
        (lambda: WeightedChoice([1, 2], multiplicities=[1, -1]), "multiplicities"),
        (lambda: Bernoulli.exp_minus(-1), "x"),
        (lambda: Bernoulli.exp_minus(math.inf), "x"),
        (lambda: Bernoulli.exp_minus("one"), "x"),
        (lambda: AboveThreshold(threshold=1.5, sensitivity=1, epsilon=1), "threshold"),
        (lambda: Laplace(sensitivity=2**50, epsilon=1e-15), "scale"),
        (lambda: Staircase(sensitivity=2**48, epsilon=1e-5), "scale"),
        (lambda: NoisyMax(sensitivity=2**50, epsilon=0.1), "scale"),
        (lambda: AboveThreshold(threshold=0, sensitivity=2**50, epsilon=0.1), "scale"),
    ],
)
def test_choices_that_cannot_be_right_are_refused(maker, name):
    """Words, combinations and ranges are checked with the same kindness."""
    with pytest.raises(InvalidParameter) as caught:
        maker()
    assert_kind(caught, name)


def test_floats_stand_for_the_decimal_they_print():
    """0.1 is one tenth, so that tenths add up."""
    assert exact(0.1) + exact(0.2) == exact(0.3) == Fraction(3, 10)
    assert exact(np.float64(0.1)) == Fraction(1, 10)
    assert exact(np.int64(3)) == 3
    assert Laplace(sensitivity=1, epsilon=0.1).noise.scale == 10


def test_rounding_up_never_falls_below():
    """The float that is shown stands for at least the exact fraction."""
    for value in (Fraction(1, 3), Fraction(2, 3), Fraction(3, 10), Fraction(1, 7) + 10**6, Fraction(10**20 + 1)):
        assert exact(rounded_up(value)) >= value
        assert float(exact(rounded_up(value)) / value - 1) < 1e-15
    assert rounded_up(Fraction(3, 10)) == 0.3


def test_numbers_of_other_kinds_are_numbers_too():
    """NumPy scalars, fractions and decimals are taken as they are; decimals without end or measure are refused."""
    for value in (np.float32(0.5), np.float64(0.5), Fraction(1, 2), Decimal("0.5")):
        assert Laplace(sensitivity=np.int32(1), epsilon=value).noise.scale == 2
    assert exact(Decimal("0.1")) == Fraction(1, 10)
    for text in ("NaN", "sNaN", "Infinity", "-1", "1e999999999", "1e-999999999"):
        with pytest.raises(InvalidParameter):
            Laplace(sensitivity=1, epsilon=Decimal(text))
