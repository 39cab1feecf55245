"""Gaussian mechanisms keep their (epsilon, delta) and rho, computed from their laws, and waste next to nothing."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from flou.laws import DiscreteGaussian, RoundedGaussian
from flou.mechanisms import Gaussian
from flou.theory.gaussian_trade_off import analytic_sigma, classic_sigma, delta_of_gaussian
from privacy.exhaustive import delta, renyi

ORDERS = [1.01, 1.5, 2, 4, 16, 64]


def support(noise, more: float = 0) -> np.ndarray:
    reach = math.ceil(40 * math.sqrt(noise.variance) + more) + 40
    return np.arange(-reach, reach + 1)


def exact_delta(noise, shift: int, epsilon: float) -> float:
    k = support(noise)
    return max(delta(noise.pmf(k), noise.pmf(k - s), epsilon) for s in (shift, -shift))


@pytest.mark.parametrize("claimed", [1e-2, 1e-5, 1e-9])
@pytest.mark.parametrize("sensitivity", [1, 3, 40])
@pytest.mark.parametrize(
    ("calibration", "epsilon"),
    [(c, e) for c in ("analytic", "classic", "zcdp") for e in (0.1, 0.5, 0.9, 2, 6) if c != "classic" or e < 1],
)
def test_delta_of_scalars(epsilon, claimed, sensitivity, calibration):
    """For every shift up to the sensitivity the exact delta is at most the claim."""
    mechanism = Gaussian(sensitivity=sensitivity, epsilon=epsilon, delta=claimed, calibration=calibration)
    found = max(exact_delta(mechanism.noise, shift, epsilon) for shift in {1, sensitivity // 2 or 1, sensitivity})
    assert found <= claimed * (1 + 1e-7)
    if calibration == "analytic" and sensitivity == 40:
        assert found >= 0.9 * claimed, "on a fine grid the analytic calibration wastes nothing"


@pytest.mark.parametrize("shift", [(1, 0), (1, 1), (2, 1), (2, 2), (3, -1)])
@pytest.mark.parametrize("calibration", ["analytic", "zcdp"])
def test_delta_of_vectors(shift, calibration):
    """For vectors of integers the claim holds for every direction of the same L2 length."""
    epsilon, claimed = 1.0, 1e-4
    length = math.hypot(*shift)
    noise = Gaussian(sensitivity=length, epsilon=epsilon, delta=claimed, calibration=calibration).noise
    reach = math.ceil(9 * math.sqrt(noise.variance)) + 4
    k = np.arange(-reach, reach + 1)
    p = np.multiply.outer(noise.pmf(k), noise.pmf(k))
    q = np.multiply.outer(noise.pmf(k - shift[0]), noise.pmf(k - shift[1]))
    assert delta(p, q, epsilon) <= claimed * (1 + 1e-7)


@pytest.mark.parametrize("rho", [0.01, 0.1, 1])
@pytest.mark.parametrize("sensitivity", [1, 2, 7])
@pytest.mark.parametrize("order", ORDERS)
def test_zcdp_of_the_discrete_gaussian(rho, sensitivity, order):
    """The Rényi divergence of every order is at most rho times the order, and reaches it."""
    noise = Gaussian(sensitivity=sensitivity, rho=rho).noise
    k = support(noise, order * sensitivity)  # where the integrand of a high order has its mass
    found = max(renyi(noise.log_pmf(k), noise.log_pmf(k - s), order) for s in (sensitivity, -sensitivity, 1))
    assert found <= rho * order * (1 + 1e-9)
    if math.sqrt(noise.variance) > 2:
        assert found >= 0.99 * rho * order


@pytest.mark.parametrize("shift", [(1, 1), (2, 1), (3, -1)])
@pytest.mark.parametrize("order", [1.5, 4, 16])
def test_zcdp_of_vectors(shift, order):
    """Rényi divergences of independent coordinates add up to rho times the order for the L2 length."""
    rho = 0.2
    noise = Gaussian(sensitivity=math.hypot(*shift), rho=rho).noise
    k = support(noise)
    found = sum(renyi(noise.log_pmf(k), noise.log_pmf(k - s), order) for s in shift)
    assert found <= rho * order * (1 + 1e-9)


def test_half_the_noise_is_caught():
    """The same computations refuse a sigma that is half of what it should be."""
    right = Gaussian(sensitivity=3, epsilon=1, delta=1e-5).noise
    assert exact_delta(RoundedGaussian(right.sigma / 2), 3, 1) > 1e-5
    k = np.arange(-400, 401)
    noise = DiscreteGaussian(sigma_squared=Fraction(9, 2 * 4) / Fraction(1, 10))
    assert renyi(noise.log_pmf(k), noise.log_pmf(k - 3), 2) > 0.1 * 2


def test_the_printed_claim_that_gaussian_noise_is_pure_is_false():
    """Document 000 calls the Gaussian mechanism epsilon-DP; its loss grows without bound with the outcome."""
    noise = Gaussian(sensitivity=1, epsilon=0.5, delta=1e-5, calibration="classic").noise
    far = 400
    assert noise.log_pmf(far) - noise.log_pmf(far + 1) > 0.5


@pytest.mark.parametrize("epsilon", [1e-15, 1e-6, 0.01, 0.5, 1, 5, 50, 10**4])
@pytest.mark.parametrize("claimed", [1e-60, 1e-12, 1e-5, 0.1, 0.999])
def test_analytic_sigma_is_the_least(epsilon, claimed):
    """Against 80 digits: the guarantee holds at this sigma, and fails at one smaller by 1e-8."""
    sigma = analytic_sigma(Fraction(epsilon), Fraction(claimed))
    with mp.workdps(80):

        def true_delta(ratio):
            x, h = mp.mpf(epsilon) * ratio, 1 / (2 * ratio)
            return mp.ncdf(h - x) - mp.exp(epsilon) * mp.ncdf(-h - x)

        ratio = mp.mpf(sigma.numerator) / sigma.denominator
        assert true_delta(ratio) <= claimed
        assert true_delta(ratio * (1 - mp.mpf(10) ** -8)) > claimed
        assert delta_of_gaussian(float(sigma), epsilon) == pytest.approx(float(true_delta(ratio)), rel=1e-9)


def test_classic_needs_more_noise_than_analytic():
    """The analytic calibration is never worse where both apply."""
    for epsilon in (0.1, 0.5, 0.99):
        for claimed in (1e-2, 1e-6, 1e-10):
            arguments = Fraction(str(epsilon)), Fraction(str(claimed))
            assert analytic_sigma(*arguments) < classic_sigma(*arguments)
