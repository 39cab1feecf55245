"""Numbers known by enclosures: rigorous integer arithmetic behind every close decision.

An enclosure answers the question "where is the number v, to within 2^-precision?" with two integers
``low <= v * 2**precision <= high``. Asked with more precision the two come as close as wanted, so any
comparison with a number that is not exactly v is decided after finitely many questions. Only integers
are used: there is no rounding to trust.

Why ``exp_minus`` is right: x is halved s times until y = x / 2^s < 1/16. The series of e^-y is summed
in units of 2^-work; each of its N terms is a floor and off by less than two units, the tail after the
first zero term is below one unit and the floor of y itself moves the sum by at most one, so the sum is
off by at most 2 N + 4 units. Squaring s times maps the lower end downward and the upper end upward; each time the
width at most doubles and grows by two units, which the s + 24 spare bits absorb.

Enclosures are frozen values: laws that hold them are equal where their numbers are, and can be pickled.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

__all__ = ["Enclosure", "affine", "constant", "exp_minus", "quotient"]

Enclosure: TypeAlias = Callable[[int], tuple[int, int]]


@dataclass(frozen=True)
class _Rational:
    value: Fraction

    def __call__(self, precision: int) -> tuple[int, int]:
        shifted = self.value * (1 << precision)
        return math.floor(shifted), math.ceil(shifted)


@dataclass(frozen=True)
class _ExpMinus:
    x: Fraction

    def __call__(self, precision: int) -> tuple[int, int]:
        x = self.x
        if x == 0:
            return 1 << precision, 1 << precision
        if x > precision + 2:  # then e^-x < 2^-precision
            return 0, 1
        halvings = max(0, int(x).bit_length() + 4)
        spare = halvings + 24
        work = precision + spare
        y = (x.numerator << work) // (x.denominator << halvings)
        total = term = 1 << work
        count = 0
        while term:
            count += 1
            term = term * y // (count << work)
            total += -term if count % 2 else term
        low, high = total - 2 * count - 4, total + 2 * count + 4
        for _ in range(halvings):
            low, high = low * low >> work, -(-high * high >> work)
        return low >> spare, -(-high >> spare)


@dataclass(frozen=True)
class _Affine:
    part: Enclosure
    times: int
    plus: int

    def __call__(self, precision: int) -> tuple[int, int]:
        low, high = sorted(self.times * end for end in self.part(precision))
        shift = self.plus << precision
        return low + shift, high + shift


@dataclass(frozen=True)
class _Quotient:
    numerator: Enclosure
    denominator: Enclosure

    def __call__(self, precision: int) -> tuple[int, int]:
        a_low, a_high = self.numerator(precision)
        b_low, b_high = self.denominator(precision)
        return (a_low << precision) // b_high, -(-(a_high << precision) // b_low)


def constant(value: Fraction) -> Enclosure:
    """The enclosure of a rational number."""
    return _Rational(value)


def exp_minus(x: Fraction) -> Enclosure:
    """The enclosure of e^-x for a rational x >= 0."""
    return _ExpMinus(x)


def affine(part: Enclosure, *, times: int = 1, plus: int = 0) -> Enclosure:
    """The enclosure of times * v + plus for whole numbers ``times`` and ``plus``."""
    return _Affine(part, times, plus)


def quotient(numerator: Enclosure, denominator: Enclosure) -> Enclosure:
    """The enclosure of a / b for 0 <= a <= b and b >= 1/2."""
    return _Quotient(numerator, denominator)
