"""The Skellam law: Bessel functions, sums, tails of all widths, and the sampler."""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from flou.bits import SeededBits
from flou.errors import InvalidParameter
from flou.laws import DiscreteGaussian, Skellam
from flou.laws.skellam import _expansion, _integral, _table
from goodness import agrees, draws_to_detect
from laws import test_laws as contract
from laws.catalogue import Entry


def entry(variance) -> Entry:
    v = Fraction(str(variance))
    reach = int(11 * v**0.5) + 30

    def weight(k: int) -> mp.mpf:
        return mp.besseli(abs(k), mp.mpf(v.numerator) / v.denominator)

    return Entry(Skellam(variance), weight, range(-reach, reach + 1))


each = pytest.mark.parametrize("variance", [0.001, 0.3, 1, 12.5, 400])


@each
def test_the_law_is_the_formula(variance):
    """Probabilities, tails, moments, quantiles and intervals are those of Bessel functions, as for every law."""
    case = entry(variance)
    contract.test_pmf_is_the_formula(case)
    contract.test_cdf_and_sf_are_sums_of_the_pmf(case)
    contract.test_moments_are_sums_over_the_pmf(case)
    for p in (1e-6, 0.025, 0.5, 0.975):
        contract.test_quantile_is_the_least_k_that_reaches_p(case, p)
    contract.test_interval_holds_its_level_and_no_end_is_idle(case, 0.95)


@pytest.mark.parametrize("variance", [0.5, 30, 900, 999.5, 1000, 5000])
def test_logarithms_are_accurate_far_out(variance):
    """Where the method changes and far beyond, log P(k) is good to 1e-12."""
    law = Skellam(variance)
    with mp.workdps(40):
        for k in (0, 1, 7, 300, 999, 1000, 1001, 3000):
            exact = float(mp.log(mp.besseli(k, mp.mpf(variance))) - mp.mpf(variance))
            assert law.log_pmf(k) == pytest.approx(exact, rel=1e-13, abs=1e-12)


@pytest.mark.parametrize(("one", "other"), [(0.7, 1.8), (3, 3), (40, 160), (2000, 500)])
def test_sums_are_skellam_again(one, other):
    """The convolution of two Skellam laws is that of the sum of their variances, and of no other."""
    reach = int(9 * (one + other) ** 0.5) + 40
    k = np.arange(-reach, reach + 1)
    together = np.convolve(Skellam(one).pmf(k), Skellam(other).pmf(k))[reach : 3 * reach + 1]
    exact = Fraction(str(one)) + Fraction(str(other))
    assert np.max(np.abs(together - Skellam(exact).pmf(k))) < 1e-14
    assert np.max(np.abs(together - Skellam(exact * Fraction(101, 100)).pmf(k))) > 1e-3 * np.max(together)


def test_tails_of_wide_laws_join_those_of_narrow_ones():
    """Sums and integrals agree to 1e-12, thirty standard deviations out."""
    k = np.array([0, 1, 10, 1000, 5000, 20_000, 30_000])
    assert _integral(k, 1e6) == pytest.approx(_table(1e6)[1][k], rel=1e-12)
    assert Skellam(10**6).mean_absolute == pytest.approx(Skellam(10**6 - 1).mean_absolute, rel=1e-6)


def test_the_expansion_meets_the_recurrence():
    """Both ways to a Bessel function give the same one."""
    k = np.arange(800, 1001)
    assert _expansion(k, 999.0) == pytest.approx(_table(999.0)[0][k], rel=1e-13)


def test_the_limit_is_gaussian():
    """A wide law has the quantiles of a Gaussian."""
    law, limit = Skellam(2**60), DiscreteGaussian(2**30)
    p = np.array([0.001, 0.2, 0.5, 0.975])
    assert law.quantile(p) == pytest.approx(limit.quantile(p), rel=1e-6, abs=1)
    assert law.mean_absolute == pytest.approx(limit.mean_absolute, rel=1e-9)


@pytest.mark.parametrize("variance", [0.3, 2, 50, 10**4, 10**9, 2**60])
def test_draws_follow_the_law_and_another_one_is_noticed(variance):
    """Draws are Skellam (false alarms: 1e-9), and 3 % more or less in their width is refused."""
    n = draws_to_detect(0.03)
    draws = Skellam(variance).sample(n, bits=SeededBits(f"skellam {variance}"))
    assert agrees(draws, Skellam(variance))
    exact = Fraction(str(variance))
    assert not agrees(draws, Skellam(exact * Fraction(94, 100)))
    if variance < 2**60:
        assert not agrees(draws, Skellam(exact * Fraction(106, 100)))


def test_last_digits_of_wide_draws_are_uniform():
    """No value of the grid is favoured."""
    draws = Skellam(2**60).sample(200_000, bits=SeededBits("digits"))
    counts = np.bincount(draws & 15, minlength=16)
    assert np.sum((counts - 12_500) ** 2 / 12_500) < 85


def test_equal_laws_are_equal_and_print_as_they_are_made():
    """Laws are values."""
    assert Skellam(0.5) == Skellam(Fraction(1, 2))
    assert hash(Skellam(2)) == hash(Skellam(2.0))
    assert repr(Skellam(0.5)) == "Skellam(variance=0.5)"
    assert repr(Skellam(3)) == "Skellam(variance=3)"


@pytest.mark.parametrize(
    "variance", [0, -1, 2**60 + 1, Fraction(1, 2**81), float("nan"), float("inf"), "1", True, None]
)
def test_a_senseless_variance_is_refused(variance):
    """Variances are positive and leave room in 64 bits."""
    with pytest.raises(InvalidParameter, match="variance"):
        Skellam(variance)
