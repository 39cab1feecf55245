"""One list of laws, each with the textbook formula of its weights, written out independently of src."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import mpmath as mp

from flou.laws import (
    Bernoulli,
    DiscreteGaussian,
    DiscreteLaplace,
    DiscreteStaircase,
    Geometric,
    Law,
    RoundedGaussian,
    Shifted,
    Truncated,
    UniformIntegers,
    WeightedChoice,
)
from flou.laws.piecewise import PiecewiseConstant


@dataclass(frozen=True)
class Entry:
    law: Law
    weight: Callable[[int], mp.mpf]  # proportional to P(K = k)
    support: range  # all but a negligible part of the mass

    def __repr__(self) -> str:
        return repr(self.law)


def e(x) -> mp.mpf:
    x = Fraction(x) if not isinstance(x, Fraction) else x
    return mp.e ** -(mp.mpf(x.numerator) / x.denominator)


def laplace(scale) -> Entry:
    s = Fraction(scale) if not isinstance(scale, float) else Fraction(str(scale))
    reach = int(45 * s) + 60
    return Entry(DiscreteLaplace(scale), lambda k: e(abs(k) / s), range(-reach, reach + 1))


def geometric(scale) -> Entry:
    s = Fraction(str(scale))
    return Entry(Geometric(scale), lambda k: e(k / s), range(0, int(45 * s) + 60))


def gaussian(sigma) -> Entry:
    s = Fraction(str(sigma))
    reach = int(10 * s) + 12
    right = DiscreteGaussian(sigma)
    return Entry(right, lambda k: e(Fraction(k * k) / (2 * s * s)), range(-reach, reach + 1))


def rounded(sigma) -> Entry:
    s = mp.mpf(Fraction(str(sigma)).numerator) / Fraction(str(sigma)).denominator
    reach = int(10 * s) + 12
    half = mp.mpf(1) / 2

    def weight(k: int) -> mp.mpf:
        k = abs(k)
        return (mp.erfc((k - half) / s / mp.sqrt(2)) - mp.erfc((k + half) / s / mp.sqrt(2))) / 2

    return Entry(RoundedGaussian(sigma), weight, range(-reach, reach + 1))


def staircase(width: int, epsilon, **options) -> Entry:
    law, eps = DiscreteStaircase(width, epsilon, **options), Fraction(str(epsilon))
    reach = int(45 * width / eps) + 2 * width

    def weight(k: int) -> mp.mpf:
        j, o = divmod(abs(k), width)
        return e(eps * (j if o < law.r else j + 1))

    return Entry(law, weight, range(-reach, reach + 1))


def truncated(entry: Entry, lower: int, upper: int) -> Entry:
    return Entry(Truncated(entry.law, lower, upper), entry.weight, range(lower, upper + 1))


def choice(exponents, rate, multiplicities=None) -> Entry:
    r, m = Fraction(str(rate)), multiplicities or [1] * len(exponents)
    law = WeightedChoice(exponents, rate=rate, multiplicities=multiplicities)
    base = min(exponents)
    return Entry(law, lambda k: m[k] * e(r * (exponents[k] - base)), range(len(exponents)))


CATALOGUE = [
    laplace(0.05), laplace(0.5), laplace(1), laplace(7.3), laplace(Fraction(100, 3)),
    geometric(0.3), geometric(1), geometric(12.5),
    gaussian(0.2), gaussian(0.7), gaussian(1), gaussian(4.2), gaussian(55.5),
    rounded(0.05), rounded(0.3), rounded(1), rounded(4.2), rounded(55.5),
    staircase(1, 1), staircase(2, 0.5), staircase(5, 1), staircase(8, 2, cost="squared"), staircase(10, 3, r=10),
    Entry(Bernoulli(0.3), lambda k: mp.mpf(3 if k else 7), range(2)),
    Entry(Bernoulli(0), lambda k: mp.mpf(1 - k), range(2)),
    Entry(Bernoulli(1), lambda k: mp.mpf(k), range(2)),
    Entry(Bernoulli.exp_minus(1.5), lambda k: e(Fraction(3, 2)) if k else 1 - e(Fraction(3, 2)), range(2)),
    Entry(UniformIntegers(-3, 7), lambda _: mp.mpf(1), range(-3, 8)),
    Entry(UniformIntegers(5, 5), lambda _: mp.mpf(1), range(5, 6)),
    truncated(laplace(4), -3, 9), truncated(laplace(50), -10, 30), truncated(laplace(0.5), 0, 100),
    truncated(laplace(2), 0, 0),
    truncated(gaussian(6), -4, 20), truncated(gaussian(60), -20, 10), truncated(staircase(7, 1), -3, 12),
    truncated(staircase(40, 0.5), -9, 12),
    choice([0, 1, 2, 3], 0.5), choice([5, -2, 900, 3], 1.5), choice([0, 3, 1], 0.7, [5, 40, 0]), choice([4], 1),
    choice([0, 10**6], 1), choice(list(range(100)), 0.05),
    Entry(PiecewiseConstant([1, 0, 4, 2], [3, 2, 0, 5], rate=0.6),
          lambda k: e(Fraction(6, 10) * [1, 1, 1, 0, 0, 2, 2, 2, 2, 2][k]), range(10)),
    Entry(Shifted(DiscreteLaplace(3), 41), lambda k: e(abs(Fraction(k - 41)) / 3), range(41 - 200, 41 + 201)),
]  # fmt: skip
