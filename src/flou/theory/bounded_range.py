"""Several exponential mechanisms together: what they cost at a delta, when none is chosen after seeing another.

An epsilon-bounded-range mechanism has log P(y)/Q(y) in an interval [t - epsilon, t] for any two neighbours, t between 0
and epsilon and not the same for all of them. The exponential mechanism is one: its own normalisation moves all outcomes
alike. Of count such mechanisms the worst has two outcomes each, and the same t for all:

    delta = max over l of  P[at most l lower outcomes] - e^(total) Q[at most l lower outcomes],
            binomials of count with P = (e^t - 1) / (e^epsilon - 1), Q = (1 - e^-t) / (1 - e^-epsilon),
            at t = (total + (l + 1) epsilon) / (count + 1)

Each is epsilon^2/8-zCDP, too: a weaker bound, by a tenth or so, that is computed at once for any count.

Numerics  the largest epsilon is searched in floats and then checked with 80 digits; every digit lost on the way (20 to
          cancellation at the smallest epsilon, 3 to powers) leaves 55, and 1e-45 of all terms is added
Source    Dong, Durfee, Rogers (2020), Theorem 3; Durfee and Rogers (2019); Cesar and Rogers (2021)
Proof     docs/explanation/proofs/quantiles.md
"""

from __future__ import annotations

import math
from decimal import ROUND_HALF_EVEN, Context, Decimal, DivisionByZero, InvalidOperation, Overflow, localcontext
from fractions import Fraction
from functools import lru_cache

import numpy as np

from flou.guarantee.renyi import rho_for
from flou.parameters import exact

__all__ = ["MOST_OPTIMAL", "delta_of", "largest_epsilon"]

MOST_OPTIMAL = 512  # mechanisms whose optimal composition is worked out; the work grows with the square
LARGEST_TOTAL = 500  # beyond, e^total leaves the floats

DIGITS = Context(
    prec=80, rounding=ROUND_HALF_EVEN, Emin=-(10**6), Emax=10**6, traps=[InvalidOperation, DivisionByZero, Overflow]
)
MARGIN = Decimal("1e-45")


@lru_cache(maxsize=1024)
def largest_epsilon(count: int, epsilon: Fraction, delta: Fraction) -> Fraction:
    """The largest epsilon that each of ``count`` bounded-range mechanisms may have for (epsilon, delta) together."""
    found = [epsilon / count, _by_zcdp(count, epsilon, delta)]
    if count <= MOST_OPTIMAL and epsilon <= LARGEST_TOTAL:
        found.append(_optimal(count, epsilon, delta))
    return max(found)


def _by_zcdp(count: int, epsilon: Fraction, delta: Fraction) -> Fraction:
    """sqrt(8 rho / count), rounded down."""
    return exact(math.sqrt(8 * float(rho_for(epsilon, delta)) / count) * (1 - 1e-12))


def _optimal(count: int, epsilon: Fraction, delta: Fraction) -> Fraction:
    low = float(epsilon / count)
    high = 2 * low
    while _guess(count, high, float(epsilon)) <= delta:
        low, high = high, 2 * high
    while high - low > 1e-10 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if _guess(count, middle, float(epsilon)) <= delta else (low, middle)
    less = 1e-9
    while less < 1 / 2:
        candidate = exact(low * (1 - less))
        if delta_of(count, candidate, epsilon) <= delta:
            return candidate
        less *= 10
    return epsilon / count


def delta_of(count: int, each: Fraction, total: Fraction) -> Fraction:
    """The least delta for which ``count`` mechanisms of bounded range ``each`` are (total, delta)-DP, rounded up."""
    worst = Decimal(0)
    with localcontext(DIGITS):
        e, g = _decimal(each), _decimal(total)
        small, growth = (-e).exp(), g.exp()
        for lower in range(count):
            t = (g + (lower + 1) * e) / (count + 1)
            if t >= e:
                break
            x = (-t).exp()
            odds = (1 - x) / (x - small)  # of the lower outcome, under Q
            q = ((x - small) / (1 - small)) ** count
            p = q / x**count
            above = below = Decimal(0)
            for j in range(lower + 1):
                above, below = above + p, below + q
                step = odds * (count - j) / (j + 1)
                p, q = p * step * small, q * step
            worst = max(worst, above - growth * below + MARGIN * (above + growth * below))
        return Fraction(worst)


def _guess(count: int, each: float, total: float) -> float:
    """The same in floats, to search with."""
    lower = np.arange(count, dtype=np.float64)
    t = (total + (lower + 1) * each) / (count + 1)
    lower, t = lower[t < each, None], t[t < each, None]
    if not t.size:
        return 0.0
    j = np.arange(count, dtype=np.float64)
    factorials = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, count + 1)))])
    ways = factorials[count] - factorials[:count] - factorials[count:0:-1]
    norm = -math.expm1(-each)
    log_high = np.log(np.exp(-t) * -np.expm1(t - each) / norm)
    log_low = np.log(-np.expm1(-t) / norm)
    log_q = ways + (count - j) * log_high + j * log_low
    gain = count * t - j * each - total
    terms = np.where(gain > 0, np.exp(log_q + total) * np.expm1(np.clip(gain, 0, 700)), 0.0)
    return float(np.max(np.sum(terms, axis=1)))


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)
