"""Logarithms by enclosures, and those of factorials, in integers alone.

``log`` of a rational x = 2^e u, u in [2/3, 4/3), is e ln 2 + 2 atanh((u - 1)/(u + 1)), and ln 2 = 2 atanh(1/3). The
series of atanh z = z + z^3/3 + ... is summed in units of 2^-precision for 0 <= z <= 1/3 with floors only: every power
is short by at most 1.5 units, every quotient by less than one more, and what follows the first power that is 0 is less
than three; so N terms fall short by less than 3 N + 3 units.

``log_factorial`` is Stirling's series, whose error is smaller than the first term left out and has its sign:

    ln x! - ln(2 pi)/2 = (x + 1/2) ln x - x + sum_n B_2n / (2n (2n-1) x^(2n-1))

taken at x = k + s, where s makes x exceed the precision, so that few terms suffice, and ln((k+1) ... (k+s)) is
taken off. The constant ln(2 pi)/2 is left out: only differences of log-factorials are asked for.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

__all__ = ["log", "log_factorial"]

Interval = tuple[int, int]

SPARE = 32  # bits, for the few thousand units by which both series together may fall short


def log(x: Fraction | int, precision: int) -> Interval:
    """Integers low <= 2^precision ln x <= high that differ by little, for a rational x > 0."""
    x = Fraction(x)
    e = x.numerator.bit_length() - x.denominator.bit_length()
    u = x / Fraction(2) ** e  # in (1/2, 2)
    if u < Fraction(2, 3):
        e, u = e - 1, 2 * u
    elif u >= Fraction(4, 3):
        e, u = e + 1, u / 2
    work = precision + SPARE
    low, high = _atanh(abs(u - 1) / (u + 1), work)
    if u < 1:
        low, high = -high, -low
    twos = sorted(e * end for end in _atanh(Fraction(1, 3), work))
    return (low + twos[0]) >> (SPARE - 1), -(-(high + twos[1]) >> (SPARE - 1))


def _atanh(z: Fraction, precision: int) -> Interval:
    """For 0 <= z <= 1/3."""
    power = (z.numerator << precision) // z.denominator
    square = (z.numerator**2 << precision) // z.denominator**2
    total = count = 0
    while power:
        total += power // (2 * count + 1)
        power = power * square >> precision
        count += 1
    return total, total + 3 * count + 3


def log_factorial(k: int, precision: int) -> Interval:
    """Integers low <= 2^precision (ln k! - ln(2 pi)/2) <= high that differ by little."""
    x = max(k, precision + 8)
    work = precision + x.bit_length() + 4
    low, high = ((2 * x + 1) * end for end in log(x, work))  # halves
    if x > k:
        taken = log(math.perm(x, x - k), work)
        low, high = low - 2 * taken[1], high - 2 * taken[0]
    series = Fraction(-x)
    n = 1
    while (term := _bernoulli(2 * n) / (2 * n * (2 * n - 1) * x ** (2 * n - 1))) and abs(term) * 2**work >= 1:
        series, n = series + term, n + 1
    middle = series * 2 ** (work + 1)
    low, high = low + math.floor(middle) - 2, high + math.ceil(middle) + 2
    return low >> (work + 1 - precision), -(-high >> (work + 1 - precision))


@lru_cache(maxsize=1024)
def _bernoulli(n: int) -> Fraction:
    """The Bernoulli number B_n, with B_1 = -1/2."""
    if n == 0:
        return Fraction(1)
    return -sum((math.comb(n + 1, j) * _bernoulli(j) for j in range(n)), Fraction(0)) / (n + 1)
