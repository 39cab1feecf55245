"""The conversions between the measures, against 60 digits and against the Gaussian itself."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import exp, log, mp, mpf, ncdf, sqrt, tanh

from flou.errors import InvalidParameter
from flou.guarantee import ZCDP, ApproxDP, PureDP, renyi
from flou.parameters import exact

RHOS = [1e-12, 1e-6, 1e-2, 0.3, 1, 40, 1e4]
DELTAS = [Fraction(1, 10**60), 1e-12, 1e-6, 1e-2, 0.1, 0.5]
EPSILONS = [1e-6, 0.1, 1, 10, 1000]


def real(value):
    return mpf(value.numerator) / value.denominator


def smallest(function):
    """The minimum of a unimodal function of alpha > 1, by a golden section of ln(alpha - 1) at 60 digits."""
    low, high, ratio = mpf(-80), mpf(150), (sqrt(mpf(5)) - 1) / 2
    a, b = high - ratio * (high - low), low + ratio * (high - low)
    at_a, at_b = function(1 + exp(a)), function(1 + exp(b))
    for _ in range(110):
        if at_a < at_b:
            high, b, at_b = b, a, at_a
            a = high - ratio * (high - low)
            at_a = function(1 + exp(a))
        else:
            low, a, at_a = a, b, at_b
            b = low + ratio * (high - low)
            at_b = function(1 + exp(b))
    return min(at_a, at_b)


def epsilon_of_order(rho, delta):
    return lambda alpha: rho * alpha + log((alpha - 1) / alpha) - (log(delta) + log(alpha)) / (alpha - 1)


def log_delta_of_order(rho, epsilon):
    return lambda alpha: (alpha - 1) * (alpha * rho - epsilon) - log(alpha) + (alpha - 1) * log(1 - 1 / alpha)


def delta_of_gaussian(rho, epsilon):
    """The true delta of Gaussian noise that is rho-zCDP (Balle and Wang, 2018)."""
    shift = sqrt(2 * rho)
    return ncdf(shift / 2 - epsilon / shift) - exp(epsilon) * ncdf(-shift / 2 - epsilon / shift)


def test_the_reference_finds_a_minimum():
    """The golden section finds a minimum that is known, wherever it lies."""
    for place in (mpf(10) ** -30, mpf(1), mpf(10) ** 60):
        assert abs(smallest(lambda alpha, at=place: (log((alpha - 1) / at)) ** 2)) < mpf(10) ** -30


@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize("delta", DELTAS)
def test_epsilon(rho, delta):
    """Epsilon is the best over all orders: never below, and not above by more than its last digit."""
    zcdp = ZCDP(rho)
    claim = zcdp.to_approx(delta=delta)
    r, d = real(zcdp.exact_rho), real(claim.exact_delta)
    true = max(smallest(epsilon_of_order(r, d)), mpf(0))
    assert true * (1 - mpf(10) ** -30) <= real(claim.exact_epsilon) <= true * (1 + mpf(10) ** -15)
    closed = zcdp.to_approx(delta=delta, method="bun-steinke")
    formula = r + 2 * sqrt(r * log(1 / d))
    assert formula <= real(closed.exact_epsilon) <= formula * (1 + mpf(10) ** -15)
    assert claim.exact_epsilon < closed.exact_epsilon
    assert closed.covers(claim)


@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_delta(rho, epsilon):
    """Delta is the best over all orders: never below, not above by more than its last digit, at most one."""
    zcdp = ZCDP(rho)
    claim = real(exact(zcdp.delta_for(epsilon)))
    order = log_delta_of_order(real(zcdp.exact_rho), real(exact(epsilon)))
    true = min(exp(smallest(order)), mpf(1))
    if true < mpf(10) ** -299:
        assert true < claim < mpf(10) ** -299
    else:
        assert true * (1 - mpf(10) ** -30) <= claim <= true * (1 + mpf(10) ** -15)


@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize("delta", DELTAS)
def test_gaussian(rho, delta):
    """The Gaussian, which is exactly rho-zCDP, keeps what each conversion claims."""
    zcdp = ZCDP(rho)
    for method in ("renyi", "bun-steinke"):
        claim = zcdp.to_approx(delta=delta, method=method)
        with mp.workdps(120):
            needed = delta_of_gaussian(real(zcdp.exact_rho), real(claim.exact_epsilon))
            assert needed <= real(claim.exact_delta)


@pytest.mark.parametrize("rho", [0.01, 0.1, 1])
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 2])
def test_gaussian_delta(rho, epsilon):
    """The delta of a given epsilon holds for the Gaussian, and a hundredth of it would not."""
    zcdp = ZCDP(rho)
    needed = delta_of_gaussian(real(zcdp.exact_rho), real(PureDP(epsilon).exact_epsilon))
    assert zcdp.delta_for(epsilon) / 100 < needed <= zcdp.delta_for(epsilon)


@pytest.mark.parametrize("epsilon", [*EPSILONS, Fraction(1, 10**15), 1e4])
@pytest.mark.parametrize("delta", [*DELTAS, Fraction(999_999, 10**6)])
def test_rho(epsilon, delta):
    """The rho of a budget converts to that budget at most, and a billionth more does not."""
    budget = ApproxDP(epsilon, delta)
    zcdp = ZCDP.for_approx(epsilon, delta)
    assert zcdp.to_approx(delta=delta).exact_epsilon <= budget.exact_epsilon
    assert budget.covers(zcdp)
    more = zcdp.exact_rho * (1 + Fraction(1, 10**9))
    assert renyi.epsilon_for(more, budget.exact_delta) > budget.exact_epsilon


def test_rho_keeps_the_neighbours():
    """The rho of a budget speaks about the neighbours that were asked for."""
    result = ZCDP.for_approx(1, 1e-6, relation="substitute", unit="employee_id")
    assert (result.relation, result.unit) == ("substitute", "employee_id")
    assert result.to_approx(delta=1e-6).covers(result)


@settings(deadline=None, max_examples=200)
@given(st.floats(1e-25, 1e8), st.floats(1e-59, 0.999))
def test_never_breaks(rho, delta):
    """Every rho and delta that may be typed converts, there and back."""
    zcdp = ZCDP(rho)
    claim = zcdp.to_approx(delta=delta)
    assert 0 <= claim.exact_epsilon <= zcdp.to_approx(delta=delta, method="bun-steinke").exact_epsilon
    if 1e-12 < claim.epsilon < 1e4:
        assert zcdp.delta_for(claim.epsilon) <= delta * (1 + 1e-9)
        assert ZCDP.for_approx(claim.epsilon, delta).rho == pytest.approx(rho, rel=1e-9)


def test_extremes():
    """Losses far beyond the door still convert."""
    huge = ZCDP(1e8).times(10**9).times(10**9)
    assert huge.to_approx(delta=Fraction(1, 10**60)).exact_epsilon >= huge.exact_rho
    assert huge.delta_for(1) == 1
    assert ZCDP(Fraction(1, 10**30)).to_approx(delta=Fraction(1, 10**60)).epsilon < 1e-10
    assert 0 < ZCDP(Fraction(1, 10**30)).delta_for(10_000) < 1e-299
    assert PureDP(1e4).times(10**9).to_zcdp(method="tight").rho == pytest.approx(1e13)


@pytest.mark.parametrize("epsilon", [Fraction(1, 10**15), 1e-9, 1e-6, 1e-3, 0.1, 1, 3, 30, 1e4])
def test_pure_to_zcdp(epsilon):
    """Pure DP is epsilon^2/2-zCDP exactly, and epsilon tanh(epsilon/2)-zCDP at best."""
    pure = PureDP(epsilon)
    e = real(pure.exact_epsilon)
    simple, tight = pure.to_zcdp(), pure.to_zcdp(method="tight")
    assert simple.exact_rho == pure.exact_epsilon**2 / 2
    assert simple.covers(tight)
    true = e * tanh(e / 2)
    assert true <= real(tight.exact_rho) <= true * (1 + mpf(10) ** -15)


@settings(deadline=None)
@given(st.floats(0.01, 20), st.floats(1.0001, 200))
def test_tight_for_randomised_response(epsilon, order):
    """Randomised response keeps the tight rho at every order, and one percent less fails near order one."""
    pure = PureDP(epsilon)
    e = real(pure.exact_epsilon)
    P = 1 / (1 + exp(-e)), 1 / (1 + exp(e))

    def divergence(alpha):
        return log(P[0] ** alpha * P[1] ** (1 - alpha) + P[1] ** alpha * P[0] ** (1 - alpha)) / (alpha - 1)

    rho = real(pure.to_zcdp(method="tight").exact_rho)
    assert divergence(mpf(order)) <= rho * mpf(order)
    near_one = 1 + mpf(10) ** -20
    assert divergence(near_one) > rho * near_one * mpf("0.99")


def test_to_approx_of_the_others():
    """A delta may grow but not shrink, and a pure guarantee takes any."""
    assert PureDP(0.5).to_approx(delta=1e-6) == ApproxDP(0.5, 1e-6)
    assert ApproxDP(0.5, 1e-6).to_approx(delta=1e-5) == ApproxDP(0.5, 1e-5)
    with pytest.raises(InvalidParameter, match="delta must be at least 1e-06"):
        ApproxDP(0.5, 1e-6).to_approx(delta=1e-7)


def test_unknown_methods():
    """A method that does not exist is refused with those that do."""
    with pytest.raises(InvalidParameter, match="'renyi', 'bun-steinke'"):
        ZCDP(1).to_approx(delta=1e-6, method="best")
    with pytest.raises(InvalidParameter, match="'bun-steinke', 'tight'"):
        PureDP(1).to_zcdp(method="best")
