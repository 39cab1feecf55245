"""Randomised response: each person flips coins and answers a yes/no question accordingly.

Law        P[report = 1 | answer = 1] = p and P[report = 1 | answer = 0] = q
Guarantee  epsilon-DP for one person's answer, epsilon = max |log(p / q)|, |log((1 - p) / (1 - q))|, rounded up; with
           ``epsilon`` given, p = 1 - q = e^epsilon / (1 + e^epsilon) and the loss is epsilon itself
Why        these are the only two ratios of probabilities
Error      the share of ones is estimated by (mean of reports - q) / (p - q), unbiased, of standard deviation at most
           1 / (2 |p - q| sqrt(n))
Numerics   exact coins: p and q are rational, or enclosed as finely as needed
Limits     the guarantee is for one report; asking again costs again
Source     Warner (1965); documents 002, 003 (whose printed estimator 2 mean - 1 should be 2 mean - 1/2)
Proof      docs/explanation/proofs/randomised_response.md
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from flou.arrays import Ints
from flou.bits import SYSTEM, Bits
from flou.errors import InvalidParameter
from flou.guarantee import PureDP
from flou.laws import Bernoulli
from flou.laws.enclosure import affine, constant, exp_minus, quotient
from flou.mechanisms.mechanism import Mechanism, integer_vector
from flou.parameters import Number, number, open_probability

__all__ = ["RandomisedResponse"]


@dataclass(frozen=True, repr=False)
class RandomisedResponse(Mechanism):
    """Give ``epsilon``, or the probabilities ``p`` and ``q`` of reporting 1 when the answer is 1 and when it is 0."""

    yes: Bernoulli
    no: Bernoulli
    guarantee: PureDP

    def __init__(
        self, *, epsilon: Number | None = None, p: Number | None = None, q: Number | None = None, unit: str = "person"
    ) -> None:
        if (epsilon is None) == (p is None) or (p is None) != (q is None):
            raise InvalidParameter(
                "RandomisedResponse takes either epsilon, or p and q.",
                "The two probabilities determine epsilon, and epsilon determines the best two probabilities.",
                "Pass for example epsilon=1, or p=0.75, q=0.25 (Warner's two coins).",
            )
        if epsilon is not None:
            power = exp_minus(number("epsilon", epsilon))
            total = affine(power, plus=1)
            yes, no = Bernoulli(quotient(constant(Fraction(1)), total)), Bernoulli(quotient(power, total))
            loss: Number = epsilon
        else:
            first, second = open_probability("p", p), open_probability("q", q)
            if first == second:
                raise InvalidParameter(
                    "p and q must differ.",
                    "With equal probabilities a report says nothing about the answer.",
                    "Pass for example p=0.75, q=0.25.",
                )
            yes, no = Bernoulli(first), Bernoulli(second)
            loss = max(_log_ratio_above(first, second), _log_ratio_above(1 - first, 1 - second))
        object.__setattr__(self, "yes", yes)
        object.__setattr__(self, "no", no)
        object.__setattr__(self, "guarantee", PureDP(loss, relation="substitute", unit=unit))

    def __repr__(self) -> str:
        return f"RandomisedResponse(p={self.p:.6g}, q={self.q:.6g})"

    @property
    def p(self) -> float:
        """P[report = 1 | answer = 1]."""
        return self.yes.p

    @property
    def q(self) -> float:
        """P[report = 1 | answer = 0]."""
        return self.no.p

    def law(self, answer: int) -> Bernoulli:
        return self.yes if int(answer) == 1 else self.no

    def sample(self, answer: int | ArrayLike, *, bits: Bits = SYSTEM) -> Any:
        """The report of one person, or of each person of a vector; anything other than 1 counts as 0."""
        if np.ndim(answer) == 0:
            return self.law(int(answer)).sample(bits=bits)  # type: ignore[arg-type]
        yes = integer_vector("answer", answer) == 1
        reports: Ints = np.empty(yes.size, dtype=np.int64)
        reports[yes] = self.yes.draw(int(yes.sum()), bits)
        reports[~yes] = self.no.draw(int((~yes).sum()), bits)
        return reports


def _log_ratio_above(a: Fraction, b: Fraction) -> float:
    """|log(a / b)|, rounded up: the float logarithm errs by far less than the relative 2^-40 that is added."""
    ratio = a / b if a > b else b / a
    log = math.log1p(float(ratio - 1)) if ratio < 2**40 else math.log(ratio.numerator // ratio.denominator + 1)
    return log * (1 + 2.0**-40)
