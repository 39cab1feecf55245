"""What shares of noise guarantee, against divergences that are summed up exactly."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from flou.errors import InvalidParameter
from flou.joint.masking.noise_privacy import (
    _variation,
    least_of_gaussians,
    rho_of_gaussians,
    rho_of_skellam,
)
from flou.laws import DiscreteGaussian, Skellam

ORDERS = np.array([1.001, 1.01, 1.1, 1.25, 1.5, 1.75, 1.99, 2, 2.01, 2.5, 3, 3.5, 4, 5, 6.5, 8, 12, 16.5, 24, 40])


def divergence(logs: np.ndarray, shift: int, order: float) -> float:
    """D_order of a law on consecutive integers, by its logarithms, and its shift."""
    terms = order * logs[shift:] + (1 - order) * logs[:-shift]
    top = terms.max()
    return float((top + math.log(np.exp(terms - top).sum())) / (order - 1))


def worst(logs: np.ndarray, shift: int, orders=ORDERS) -> float:
    """The least rho that these orders allow, in both directions."""
    return max(max(divergence(logs, shift, a), divergence(logs[::-1], shift, a)) / a for a in orders)


def log_of_sum(s: Fraction, h: int, times: int = 1) -> np.ndarray:
    """log P of the sum of h discrete Gaussians of parameter s, out to where it is about e^-250."""
    step = DiscreteGaussian(sigma_squared=s)
    reach = math.ceil(math.sqrt(500 * float(s) * h))
    k = np.arange(-reach, reach + 1)
    one = step.pmf(k)
    total = one
    for _ in range(h - 1):
        total = np.convolve(total, one)[reach : 3 * reach + 1]
    with np.errstate(divide="ignore"):
        return np.log(total[np.abs(k) <= reach // times])


GAUSSIANS = [(Fraction(s), h) for s in ("1/4", "2/5", "1/2", "1", "2") for h in (2, 3, 6)]


@pytest.mark.parametrize(("s", "h"), GAUSSIANS)
@pytest.mark.parametrize("shift", [1, 2, 3])
def test_sums_of_discrete_gaussians_are_as_private_as_is_claimed(s, h, shift):
    """At no order, in no direction, is the divergence larger than order times rho."""
    claimed = rho_of_gaussians(s * h, h, Fraction(shift**2), 1)
    assert worst(log_of_sum(s, h), shift) <= claimed
    assert claimed >= Fraction(shift**2) / (2 * s * h)


def test_the_correction_is_needed():
    """What a single discrete Gaussian of the same variance guarantees is not true of sums of narrow ones."""
    for s, h in [(Fraction(1, 4), 2), (Fraction(2, 5), 6), (Fraction(1, 2), 3)]:
        assert worst(log_of_sum(s, h), 1) > 1.001 / (2 * float(s) * h)


def test_an_understated_rho_is_noticed():
    """The claim is sharp for wide shares: a rho 0.3 % smaller, or one part in a million, is refuted."""
    for s, h, less in [(Fraction(1), 2, 3e-3), (Fraction(2), 3, 1e-6), (Fraction(2), 6, 1e-6)]:
        claimed = float(rho_of_gaussians(s * h, h, Fraction(1), 1))
        assert (1 - less) * claimed < worst(log_of_sum(s, h), 1) <= claimed


@pytest.mark.parametrize(("s", "h"), GAUSSIANS)
def test_sums_vary_no_more_than_is_claimed(s, h):
    """log(P/Q) against one discrete Gaussian of the same parameter stays within T, and does move for narrow shares."""
    logs = log_of_sum(s, h, times=3)
    reach = len(logs) // 2
    against = DiscreteGaussian(sigma_squared=s * h).log_pmf(np.arange(-reach, reach + 1))
    spread = float(np.ptp(logs - against))
    assert spread <= _variation(float(s), h) + 1e-9
    if s <= Fraction(1, 2):
        assert spread > _variation(float(s), h) / 10


def test_several_coordinates_add_up():
    """Moving three coordinates by one each is no worse than claimed for a squared sensitivity of three."""
    s, h = Fraction(2, 5), 3
    logs = log_of_sum(s, h)
    claimed = float(rho_of_gaussians(s * h, h, Fraction(3), 3))
    assert all(3 * divergence(logs, 1, a) <= a * claimed for a in ORDERS)
    assert rho_of_gaussians(s * h, h, Fraction(3), 10**6) == rho_of_gaussians(s * h, h, Fraction(3), 3)
    assert rho_of_gaussians(s * h, h, Fraction(300), 3) < rho_of_gaussians(s * h, h, Fraction(300), 300)


def test_one_share_is_exact_and_wide_ones_nearly():
    """Alone, rho is sensitivity^2 / (2 sigma^2); from sigma = 3 a share on, the correction is below 1e-8."""
    assert rho_of_gaussians(Fraction(7, 3), 1, Fraction(2), 5) == Fraction(3, 7)
    wide = rho_of_gaussians(Fraction(900), 100, Fraction(10**6), 10**6) / Fraction(10**6, 1800)
    assert 1 < wide < 1 + Fraction(1, 10**8)


@pytest.mark.parametrize("h", [2, 3, 10, 1000, 10**6])
def test_narrow_gaussian_shares_have_no_guarantee(h):
    """Where the sum may be far from Gaussian nothing is claimed; from the least variance on, something is."""
    with pytest.raises(InvalidParameter, match="narrow"):
        rho_of_gaussians(Fraction(h, 5), h, Fraction(1), 1)
    assert _variation(float(least_of_gaussians(h) / h), h) < 0.5
    assert rho_of_gaussians(least_of_gaussians(h), h, Fraction(1), 1) > 0


def log_skellam(v: float, most: float) -> np.ndarray:
    reach = math.ceil(40 * math.sqrt(v) + 100 + 2 * most)
    return Skellam(v).log_pmf(np.arange(-reach, reach + 1))


@pytest.mark.parametrize("v", [4, 5.5, 10, 30, 100, 1000, 5000, 10**5])
def test_skellam_noise_is_as_private_as_is_claimed(v):
    """At no order is the divergence of a unit shift larger than order times rho; wide noise is within a percent."""
    orders = np.concatenate([ORDERS, [64, 100.5, 200]])
    found = worst(log_skellam(v, 200), 1, orders)
    claimed = float(rho_of_skellam(Fraction(str(v)), Fraction(1)))
    assert found <= claimed
    assert found > 0.99 / (2 * v)
    assert v < 1000 or claimed < 1.01 * found


@pytest.mark.parametrize("v", [4, 30, 1000])
@pytest.mark.parametrize("shift", [2, 3, 7])
def test_larger_shifts_cost_their_square(v, shift):
    """A shift by d costs at most d^2 times as much as one by 1."""
    assert worst(log_skellam(v, 40 * shift), shift) <= rho_of_skellam(Fraction(v), Fraction(shift**2))


@pytest.mark.parametrize("v", [4, 10, 30, 1000])
def test_the_bound_at_integer_orders_holds(v):
    """D_a <= a/(2v) + (2a+5)/(4v^2) for integers, as published; with a negative correction it does not."""
    logs = log_skellam(v, 200)
    for a in (2, 3, 4, 7, 20, 100):
        assert divergence(logs, 1, a) <= a / (2 * v) + (2 * a + 5) / (4 * v * v)
    assert divergence(logs, 1, 2) > 2 / (2 * v) - 9 / (4 * v * v)


@pytest.mark.parametrize("v", [0.1, 1, 4, 100, 999])
def test_differences_of_the_loss_are_largest_at_zero(v):
    """log(I_z^2 / (I_(z-1) I_(z+1))) falls with z, and the mean loss is half its mean."""
    law = Skellam(v)
    z = np.arange(0, math.ceil(12 * math.sqrt(v)) + 12)
    logs = law.log_pmf(np.arange(-1, z[-1] + 2))
    bends = 2 * logs[1:-1] - logs[:-2] - logs[2:]
    assert np.all(np.diff(bends) < 1e-12)
    assert np.all(bends > 0)
    p = law.pmf(z)
    mean_bend = p[0] * bends[0] + 2 * float(p[1:] @ bends[1:])
    k = np.arange(-z[-1], z[-1] + 1)
    loss = float(law.pmf(k) @ (law.log_pmf(k) - law.log_pmf(k - 1)))
    assert loss == pytest.approx(mean_bend / 2, rel=1e-9)


def test_the_expansion_of_the_largest_difference_is_rounded_up():
    """c at variances from 1000 on is just above the true one, so that both ways to rho join."""
    law = Skellam(1000)
    true = 2 * float(law.log_pmf(0) - law.log_pmf(1))
    used = (1 + (1 + 1 / 1000) / 2000) / 1000
    assert true < used < true * (1 + 1e-7)
    below, above = rho_of_skellam(Fraction(9999, 10), Fraction(1)), rho_of_skellam(Fraction(1000), Fraction(1))
    assert 1 < below / above < 1.001
    assert rho_of_skellam(Fraction(2**100), Fraction(2**98)) == pytest.approx(1 / 8, rel=1e-8)


def test_narrow_skellam_noise_has_no_guarantee():
    """Below a variance of 4 the proof says too little to be stated."""
    with pytest.raises(InvalidParameter, match="variance of 4"):
        rho_of_skellam(Fraction(39, 10), Fraction(1))
