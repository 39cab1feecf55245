"""SUE: symmetric unary encoding, the first step of RAPPOR without a Bloom filter.

Law        k independent bits; P[bit = 1] is e^(epsilon/2) / (e^(epsilon/2) + 1) for one's own category, and
           1 / (e^(epsilon/2) + 1) for every other
Guarantee  epsilon-DP for one person's answer, in one report
Why        two bits differ between two answers, and each of them has a ratio of at most e^(epsilon/2)
Error      n times the variance is e^(epsilon/2) / (e^(epsilon/2) - 1)^2, for every category
Numerics   exact coins, 64 at a time
Limits     OUE has less variance for rare categories; a bit that is 1 must sometimes be cleared, or nothing is protected
Source     Erlingsson, Pihur, Korolova (2014); Wang, Blocki, Li, Jha (2017)
Proof      docs/explanation/proofs/frequency_oracles.md
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property

from flou.laws import Bernoulli
from flou.laws.enclosure import affine, constant, exp_minus, quotient
from flou.local.categories.unary_encoding import UnaryEncoding

__all__ = ["SUE"]


class SUE(UnaryEncoding):
    """All k bits are flipped with the same probability."""

    name = "SUE"

    @cached_property
    def yes(self) -> Bernoulli:
        total = affine(exp_minus(self.epsilon / 2), plus=1)
        return Bernoulli(quotient(constant(Fraction(1)), total))

    @cached_property
    def no(self) -> Bernoulli:
        power = exp_minus(self.epsilon / 2)
        return Bernoulli(quotient(power, affine(power, plus=1)))

    @property
    def gap(self) -> float:
        return math.tanh(float(self.epsilon) / 4)
