"""From zCDP to (epsilon, delta) and back, through the best Rényi order.

With t = alpha - 1 and L = ln(1/delta), every t > 0 proves a valid epsilon, delta or rho
(Canonne, Kamath, Steinke 2020, Proposition 12):

    epsilon(t) = rho (1+t) + (L - ln(1+t)) / t - ln(1+1/t)
    ln delta(t) = t (rho (1+t) - epsilon) - t ln(1+1/t) - ln(1+t)

and each has one stationary point, the best t, where an increasing function of t crosses zero:

    d epsilon / dt = rho - (L - ln(1+t)) / t^2,   zero where   rho t^2 + ln(1+t) = L
    d ln delta / dt = rho (1+2t) - epsilon - ln(1+1/t).

Numerics  t is found in floats, since any t is valid and an error of 1e-15 in t costs 1e-30 of the result.
          The formula itself is evaluated at that very t with 60 digits: each step is off by at most 1e-59
          of the numbers that enter it, so 1e-50 of their sum, added on the safe side, covers all of them.
Source    Bun and Steinke (2016), Proposition 1.3; Canonne, Kamath, Steinke (2020); Steinke (2024)
Proof     docs/explanation/proofs/guarantee.md
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import (
    ROUND_HALF_EVEN,
    Context,
    Decimal,
    DivisionByZero,
    InvalidOperation,
    Overflow,
    localcontext,
)
from fractions import Fraction

from flou.parameters import exact, rounded_up

__all__ = ["delta_for", "epsilon_for", "epsilon_in_closed_form", "rho_for", "rho_of_pure"]

DIGITS = Context(
    prec=60,
    rounding=ROUND_HALF_EVEN,
    Emin=-(10**6),
    Emax=10**6,
    clamp=0,
    traps=[InvalidOperation, DivisionByZero, Overflow],
)
MARGIN = Decimal("1e-50")


def epsilon_for(rho: Fraction, delta: Fraction) -> Fraction:
    """The smallest epsilon that a Rényi order proves for rho-zCDP at ``delta``, rounded up, at least 0."""
    r, L = float(rho), -math.log(delta)
    # One of the two terms of rho t^2 + ln(1+t) is at least L/2 at the root, and none exceeds L.
    low = min(math.sqrt(L / 2 / r), math.expm1(L / 2))
    high = min(math.sqrt(L / r), math.expm1(L))
    best = crossing(lambda t: r * t * t + math.log1p(t) - L, low, high)
    with localcontext(DIGITS):
        t, R, L_ = Decimal(best), decimal(rho), -decimal(delta).ln()
        first, second, third = R * (1 + t), (1 + t).ln(), (1 + 1 / t).ln()
        slack = MARGIN * (1 + first + (1 + L_ + second) / t + third)
        return upward(first + (L_ - second) / t - third + slack)


def epsilon_in_closed_form(rho: Fraction, delta: Fraction) -> Fraction:
    """rho + 2 sqrt(rho ln(1/delta)), rounded up."""
    with localcontext(DIGITS):
        R, L = decimal(rho), -decimal(delta).ln()
        return upward((R + 2 * (R * L).sqrt()) * (1 + MARGIN))


def delta_for(rho: Fraction, epsilon: Fraction) -> Fraction:
    """The smallest delta that a Rényi order proves for rho-zCDP at ``epsilon``, rounded up, at most 1."""
    r, e = float(rho), float(epsilon)
    # At the upper end rho (1+2t) exceeds epsilon + 1 while ln(1+1/t) <= ln 2. Below the lower end delta is 1.
    best = crossing(lambda t: r * (1 + 2 * t) - e - math.log1p(1 / t), 1e-300, max(1.0, (e + 1) / 2 / r))
    with localcontext(DIGITS):
        t, R, E = Decimal(best), decimal(rho), decimal(epsilon)
        first, second, third, fourth = t * R * (1 + t), t * E, t * (1 + 1 / t).ln(), (1 + t).ln()
        slack = MARGIN * (1 + first + second + third + fourth)
        logarithm = first - second - third - fourth + slack
        if logarithm >= 0:
            return Fraction(1)
        # A delta below exp(-690) is rounded up to exp(-690), which is still an upper bound.
        return min(upward(max(logarithm, Decimal(-690)).exp() * (1 + MARGIN)), Fraction(1))


def rho_for(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The largest rho with ``epsilon_for(rho, delta) <= epsilon``, rounded down.

    Solving epsilon(t) = epsilon for rho gives a valid rho for every t. At the best t both conditions of the
    module's docstring hold, so rho = (L - ln(1+t)) / t^2 and epsilon = rho (1+2t) - ln(1+1/t); the latter
    falls as t grows, because a larger rho has a larger epsilon and a smaller best t.
    """
    e, L = float(epsilon), -math.log(delta)

    def excess(t: float) -> float:
        return e + math.log1p(1 / t) - (L - math.log1p(t)) / t / t * (1 + 2 * t)

    best = crossing(excess, 1e-100, math.expm1(L))
    with localcontext(DIGITS):
        t, E, L_ = Decimal(best), decimal(epsilon), -decimal(delta).ln()
        second, third = (1 + t).ln(), (1 + 1 / t).ln()
        slack = MARGIN * (1 + E + (1 + L_ + second) / t + third)
        rho = float(Fraction((E - (L_ - second) / t + third - slack) / (1 + t)))
    step = 2.0**-53
    while epsilon_for(exact(rho), delta) > epsilon:  # the last digits: no step or one, rarely more
        rho, step = math.nextafter(rho * (1 - step), 0), 2 * step
    return exact(rho)


def rho_of_pure(epsilon: Fraction) -> Fraction:
    """epsilon tanh(epsilon/2), rounded up: the smallest rho that follows from epsilon-DP."""
    closed_form = epsilon**2 / 2
    if epsilon < Fraction(1, 10**9):  # there the gain is below 1e-19 of rho
        return closed_form
    with localcontext(DIGITS):
        E = decimal(epsilon)
        small = (-E).exp()
        return min(upward(E * (1 - small) / (1 + small) * (1 + MARGIN * 10**10)), closed_form)


def crossing(increasing: Callable[[float], float], low: float, high: float) -> float:
    """Where an increasing function of t > 0 crosses zero, by halving the interval of ln t."""
    for _ in range(80):
        middle = math.sqrt(low) * math.sqrt(high)
        if increasing(middle) < 0:
            low = middle
        else:
            high = middle
    return high


def decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def upward(value: Decimal) -> Fraction:
    """The decimal of the least float that stands for at least ``value``, and at least 0."""
    return exact(rounded_up(max(Fraction(value), Fraction(0))))
