"""Every law against its textbook formula, and every sampler against its law."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest

from flou.bits import SeededBits
from flou.errors import InvalidParameter
from flou.laws import (
    DiscreteGaussian,
    DiscreteLaplace,
    DiscreteStaircase,
    Geometric,
    RoundedGaussian,
    Truncated,
    WeightedChoice,
)
from flou.laws.piecewise import PiecewiseConstant
from goodness import agrees, binned, compatible, detectable, draws_to_detect, tilted
from laws.catalogue import CATALOGUE

each = pytest.mark.parametrize("entry", CATALOGUE, ids=repr)


def table(entry):
    """k and P(K = k) from the independent formula, 40 digits."""
    with mp.workdps(40):
        weights = [entry.weight(k) for k in entry.support]
        total = mp.fsum(weights)
        return np.array(entry.support), [w / total for w in weights]


@each
def test_pmf_is_the_formula(entry):
    """Probabilities and their logarithms agree with the textbook formula to 1e-11, far tails included."""
    k, p = table(entry)
    found, logs = entry.law.pmf(k), entry.law.log_pmf(k)
    for i in range(len(p)):
        if p[i] > mp.mpf("1e-300"):
            assert found[i] == pytest.approx(float(p[i]), rel=2e-11)
            assert logs[i] == pytest.approx(float(mp.log(p[i])), rel=1e-11, abs=1e-11)
        else:
            assert found[i] < 1e-299


@each
def test_cdf_and_sf_are_sums_of_the_pmf(entry):
    """Both tails are accurate where they are small, so no interval rests on one minus a number close to one."""
    k, p = table(entry)
    below = mp.mpf(0)
    for i in range(len(k)):
        below += p[i]
        assert float(entry.law.cdf(k[i])) == pytest.approx(float(below), rel=1e-9, abs=1e-15)
    above = mp.mpf(0)
    for i in reversed(range(len(k))):
        assert float(entry.law.sf(k[i])) == pytest.approx(float(above), rel=1e-9, abs=1e-15)
        above += p[i]


@each
def test_moments_are_sums_over_the_pmf(entry):
    """Mean, variance and mean absolute value are those of the formula."""
    k, p = table(entry)
    mean = mp.fsum(q * int(j) for j, q in zip(k, p, strict=True))
    variance = mp.fsum(q * (int(j) - mean) ** 2 for j, q in zip(k, p, strict=True))
    absolute = mp.fsum(q * abs(int(j) - entry.law.centre) for j, q in zip(k, p, strict=True))
    assert entry.law.mean == pytest.approx(float(mean), rel=1e-10, abs=1e-13)
    assert entry.law.variance == pytest.approx(float(variance), rel=1e-9, abs=1e-13)
    assert entry.law.mean_absolute == pytest.approx(float(absolute), rel=1e-10, abs=1e-13)


@each
@pytest.mark.parametrize("p", [1e-6, 0.025, 0.3, 0.5, 0.7, 0.975, 1 - 1e-6])
def test_quantile_is_the_least_k_that_reaches_p(entry, p):
    """quantile(p) has probability p below or at it, and the integer before it has not."""
    k = entry.law.quantile(p)
    slack = 1e-12
    assert entry.law.cdf(k) >= p - slack
    assert entry.law.cdf(k - 1) < p + slack


@each
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_interval_holds_its_level_and_no_end_is_idle(entry, level):
    """The interval has at least its level, and each tail outside is at most half of the rest."""
    low, high = entry.law.interval(level)
    assert float(entry.law.cdf(high) - entry.law.cdf(low - 1)) >= level - 1e-12
    assert entry.law.cdf(low - 1) <= (1 - level) / 2 + 1e-12
    assert entry.law.sf(high) <= (1 - level) / 2 + 1e-12


@each
def test_draws_follow_the_law_and_a_law_one_percent_off_is_refused(entry):
    """Millions of draws follow the law (false alarms: 1e-9), and one percent in half of the mass is noticed."""
    draws = entry.law.sample(draws_to_detect(0.01), bits=SeededBits(f"draws of {entry}"))
    counts, probabilities = binned(draws, entry.law)
    assert compatible(counts, probabilities)
    concentrated = entry.law.pmf(entry.law.quantile(0.5)) > 0.9  # little mass to be wrong about
    for by in (0.1, -0.1) if concentrated else (0.01, -0.01):
        wrong = tilted(probabilities, by)
        assert concentrated or detectable(probabilities, wrong, draws.size)
        assert not detectable(probabilities, wrong, draws.size) or not compatible(counts, wrong)


WIDE = [
    (law, scale)
    for law in (DiscreteLaplace, Geometric, DiscreteGaussian, RoundedGaussian)
    for scale in (1e3, 1e6, 1e9, 2**30, 2**31 + 1, 1e12, 2**47)
]


@pytest.mark.parametrize(("kind", "scale"), WIDE)
def test_wide_laws_are_drawn_as_exactly(kind, scale):
    """At every scale, also where a scale is split in blocks, draws follow the law and one percent is noticed."""
    draws = kind(scale).sample(draws_to_detect(0.01), bits=SeededBits(f"{kind.__name__} {scale}"))
    assert agrees(draws, kind(scale))
    assert not agrees(draws, kind(scale * 1.01))
    assert not agrees(draws, kind(scale / 1.01))


@pytest.mark.parametrize(("kind", "scale"), WIDE)
def test_low_digits_of_wide_laws_are_uniform(kind, scale):
    """The last bits of wide noise are as random as the first ones: no value of the grid is favoured."""
    draws = kind(scale).sample(400_000, bits=SeededBits(f"digits {kind.__name__} {scale}"))
    counts = np.bincount(draws & 15, minlength=16)
    assert np.sum((counts - 25_000) ** 2 / 25_000) < 85  # chi-squared with 15 degrees exceeds it once in 1e11
    if kind is not Geometric:
        assert abs(int(np.sum(draws > 0)) - int(np.sum(draws < 0))) < 6.5 * math.sqrt(400_000)


@pytest.mark.parametrize(("kind", "scale"), [(k, s) for k, s in WIDE if k is not Geometric])
def test_wide_gaussians_and_laplaces_match_the_continuous_limit(kind, scale):
    """Formulas that change with the scale join up: quantiles of wide laws are those of the continuous ones."""
    law = kind(scale)
    limit = -math.log(0.05) if kind is DiscreteLaplace else 1.959963984540054
    assert law.quantile(0.975) == pytest.approx(limit * scale, rel=2e-3 if scale == 1e3 else 1e-5)
    assert law.sf(round(limit * scale)) == pytest.approx(0.025, rel=2e-3)


def test_discrete_gaussian_formulas_meet_where_the_method_changes():
    """Just below and above the switch from sums to integrals the cdf is the same function."""
    below, above = DiscreteGaussian(999.999999), DiscreteGaussian(1000.000001)
    k = np.array([-6000, -3000, -1000, -1, 0, 1, 500, 2500])
    assert above.cdf(k) == pytest.approx(below.cdf(k), rel=1e-7)
    assert above.variance == pytest.approx(below.variance, rel=1e-8)
    assert above.mean_absolute == pytest.approx(below.mean_absolute, rel=1e-8)


@pytest.mark.parametrize("epsilon", [0.1, 1, 3, 8])
@pytest.mark.parametrize("width", [1, 2, 3, 17, 50])
@pytest.mark.parametrize(("cost", "moment"), [("absolute", "mean_absolute"), ("squared", "variance")])
def test_staircase_takes_the_best_step(epsilon, width, cost, moment):
    """The width of the upper part is the best of all of them."""
    best = min(getattr(DiscreteStaircase(width, epsilon, r=r), moment) for r in range(1, width + 1))
    assert getattr(DiscreteStaircase(width, epsilon, cost=cost), moment) == pytest.approx(best, rel=1e-12)


def test_truncated_moments_of_a_huge_range_are_those_of_the_small_one():
    """With too many outcomes to sum, the moments agree with the scaled small law."""
    small = Truncated(DiscreteLaplace(2**12), -(2**10), 2**14)
    huge = Truncated(DiscreteLaplace(2**32), -(2**30), 2**34)
    assert huge.mean / 2**20 == pytest.approx(small.mean, rel=1e-3)
    assert huge.variance / 2**40 == pytest.approx(small.variance, rel=1e-3)


def test_sample_has_the_shape_that_was_asked_for():
    """An integer without a size, an array with one, and no draw at all for size 0."""
    law = DiscreteLaplace(3)
    assert isinstance(law.sample(), int)
    assert law.sample(5).shape == (5,)
    assert law.sample((2, 3)).shape == (2, 3)
    assert law.sample(0).shape == (0,)
    assert law.sample(5).dtype == np.int64


@pytest.mark.parametrize("size", [-1, 1.5, "3", float("nan"), 2**70])
def test_a_senseless_size_is_refused(size):
    """Sizes are whole numbers."""
    with pytest.raises(InvalidParameter, match="size"):
        DiscreteLaplace(3).sample(size)


@pytest.mark.parametrize("k", [0.5, "1", float("nan"), None])
def test_a_point_off_the_grid_is_refused(k):
    """A law on the integers has no probability in between."""
    with pytest.raises(InvalidParameter, match="integers"):
        DiscreteLaplace(3).pmf(k)


def test_equal_laws_are_equal():
    """Laws are values."""
    assert DiscreteLaplace(2) == DiscreteLaplace(2.0)
    assert hash(Geometric(2)) == hash(Geometric(2.0))
    assert DiscreteGaussian(2) == DiscreteGaussian(sigma_squared=4)


@pytest.mark.parametrize(("scale", "lower", "upper"), [(10**15, 0, 1), (10**13, -3, 7), (2 * 10**14, -(2**20), 2**21)])
def test_truncated_laws_of_tiny_mass_add_up(scale, lower, upper):
    """A range that the law almost never hits is as accurate as any other: here all but uniform."""
    law = Truncated(DiscreteLaplace(scale), lower, upper)
    size = upper - lower + 1
    assert law.pmf(lower) * size == pytest.approx(1, rel=1e-6)
    assert law.cdf(upper) == pytest.approx(1, rel=1e-9)
    assert law.cdf(lower) * size == pytest.approx(1, rel=1e-6)
    assert law.cdf(0) == pytest.approx((1 - lower) / size, rel=1e-6)


def test_a_peak_on_a_wide_step_is_drawn_without_delay():
    """A narrow range around the peak of a staircase with a thin first step takes its outcomes by weight."""
    law = Truncated(DiscreteStaircase(2**20, 10, r=1), -500, 500)
    draws = law.sample(200_000, bits=SeededBits("peak"))
    assert agrees(draws, law)
    assert (draws == 0).mean() == pytest.approx(float(law.pmf(0)), abs=0.01)


def test_unsigned_weights_keep_their_order():
    """Exponents beyond the signed range are clamped, not wrapped: the largest stays the least likely."""
    law = WeightedChoice(np.array([2**63 + 5, 3, 4], dtype=np.uint64))
    assert law.probabilities[0] == 0
    assert law.probabilities[1] > law.probabilities[2] > 0


def test_a_piecewise_law_has_a_largest_grid():
    """More than 2^60 cells are refused, because positions would wrap around."""
    with pytest.raises(InvalidParameter, match="cells"):
        PiecewiseConstant([0, 1, 2], [2**62, 2**62, 2**62])
