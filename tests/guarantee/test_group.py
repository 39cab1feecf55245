"""Group privacy, checked against laws where it is attained."""

import itertools
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import exp, log, mp, mpf

from flou.guarantee import ZCDP, ApproxDP, PureDP


def real(value):
    return mpf(value.numerator) / value.denominator


@pytest.mark.parametrize("epsilon", [Fraction(1, 100), Fraction(1), Fraction(5)])
@pytest.mark.parametrize("k", [1, 2, 7])
def test_discrete_laplace(epsilon, k):
    """k people move a count with discrete Laplace noise by k, and the loss is exactly k epsilon."""
    loss = max(real(epsilon) * (abs(y - k) - abs(y)) for y in range(-20, 21))
    assert abs(loss - real(PureDP(epsilon).times(k).exact_epsilon)) < mpf(10) ** -50


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(1, 50), min_size=3, max_size=3), min_size=3, max_size=5), st.floats(1.01, 50))
def test_zcdp_chain(weights, order):
    """Along a chain of laws whose steps are rho-zCDP, the ends are k^2 rho apart at most."""
    laws = [[mpf(w) / sum(row) for w in row] for row in weights]
    steps = list(itertools.pairwise(laws))
    epsilon = max(abs(log(p / q)) for P, Q in steps for p, q in zip(P, Q, strict=True))
    step = PureDP(max(float(epsilon) * (1 + 1e-12), 1e-12)).to_zcdp(method="tight")
    order = mpf(order)
    ends = zip(laws[0], laws[-1], strict=True)
    divergence = log(sum(p**order * q ** (1 - order) for p, q in ends)) / (order - 1)
    assert divergence <= real(step.times(len(steps)).exact_rho) * order


def test_zcdp_of_the_gaussian():
    """A shift of k costs a Gaussian k^2 rho: the divergence is alpha k^2 / (2 sigma^2)."""
    assert ZCDP(Fraction(1, 8)).times(3).exact_rho == Fraction(9, 8)


@pytest.mark.parametrize("epsilon", [Fraction(1, 10**15), 1e-9, 1e-3, 0.1, 1, 10, 100])
@pytest.mark.parametrize("k", [1, 2, 3, 10, 100, 10**6])
@pytest.mark.parametrize("delta", [Fraction(1, 10**60), 1e-9, 1e-3])
def test_approx_formula(epsilon, k, delta):
    """Delta grows by the geometric sum: never less, at most 1e-9 more, and never above one."""
    group = ApproxDP(epsilon, delta).times(k)
    e = real(ApproxDP(epsilon, delta).exact_epsilon)
    with mp.workdps(100):
        true = min(real(ApproxDP(epsilon, delta).exact_delta) * (exp(k * e) - 1) / (exp(e) - 1), mpf(1))
        assert true * (1 - mpf(10) ** -70) <= real(group.exact_delta) <= true * (1 + mpf(10) ** -9)
    assert group.exact_epsilon == k * ApproxDP(epsilon, delta).exact_epsilon


def test_approx_at_zero():
    """At epsilon zero, where delta bounds the total variation, the deltas of a chain add."""
    zero = ZCDP(1e-6).to_approx(delta=0.4)
    assert zero.epsilon == 0
    assert zero.times(2).exact_delta == Fraction(8, 10)


@pytest.mark.parametrize("guarantee", [PureDP(0.7), ApproxDP(0.7, 1e-6), ZCDP(0.7)])
def test_group_of_one(guarantee):
    """A group of one is the guarantee itself."""
    assert guarantee.times(1) == guarantee
