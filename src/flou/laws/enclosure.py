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
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

__all__ = ["Enclosure", "affine", "constant", "exp_minus", "quotient"]

Enclosure: TypeAlias = Callable[[int], tuple[int, int]]


def constant(value: Fraction) -> Enclosure:
    """The enclosure of a rational number."""

    def enclose(precision: int) -> tuple[int, int]:
        shifted = value * (1 << precision)
        return math.floor(shifted), math.ceil(shifted)

    return enclose


def exp_minus(x: Fraction) -> Enclosure:
    """The enclosure of e^-x for a rational x >= 0."""

    def enclose(precision: int) -> tuple[int, int]:
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

    return enclose


def affine(part: Enclosure, *, times: int = 1, plus: int = 0) -> Enclosure:
    """The enclosure of times * v + plus for whole numbers ``times`` and ``plus``."""

    def enclose(precision: int) -> tuple[int, int]:
        low, high = sorted(times * end for end in part(precision))
        shift = plus << precision
        return low + shift, high + shift

    return enclose


def quotient(numerator: Enclosure, denominator: Enclosure) -> Enclosure:
    """The enclosure of a / b for 0 <= a <= b and b >= 1/2."""

    def enclose(precision: int) -> tuple[int, int]:
        a_low, a_high = numerator(precision)
        b_low, b_high = denominator(precision)
        return (a_low << precision) // b_high, -(-(a_high << precision) // b_low)

    return enclose
