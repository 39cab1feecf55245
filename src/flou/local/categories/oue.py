"""OUE: unary encoding with the coins that have the least variance for rare categories.

Law        k independent bits; P[bit = 1] is 1/2 for one's own category, and 1 / (e^epsilon + 1) for every other
Guarantee  epsilon-DP for one person's answer, in one report
Why        p (1 - q) / (q (1 - p)) = (1 - q) / q = e^epsilon
Error      n times the variance is 4 e^epsilon / (e^epsilon - 1)^2 for rare categories, however many there are, and 1
           more for a category of everybody
Numerics   exact coins, 64 at a time
Limits     a report has k bits; half of the respondents do not support their own category, whatever epsilon is
Source     Wang, Blocki, Li, Jha (2017)
Proof      docs/explanation/proofs/frequency_oracles.md
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property

from flou.laws import Bernoulli
from flou.laws.enclosure import affine, exp_minus, quotient
from flou.local.categories.unary_encoding import UnaryEncoding

__all__ = ["OUE"]


class OUE(UnaryEncoding):
    """A fair coin for one's own bit, and a rare one for all others."""

    name = "OUE"

    @cached_property
    def yes(self) -> Bernoulli:
        return Bernoulli(Fraction(1, 2))

    @cached_property
    def no(self) -> Bernoulli:
        power = exp_minus(self.epsilon)
        return Bernoulli(quotient(power, affine(power, plus=1)))

    @property
    def gap(self) -> float:
        return math.tanh(float(self.epsilon) / 2) / 2
