"""Unary encoding: one bit for each category, each of them randomised. SUE and OUE differ in their coins.

Law        k independent bits. The bit of the respondent's own category is 1 with probability p, every other bit with
           probability q. SUE, the first step of RAPPOR without a Bloom filter, flips all bits with one probability:
           p = e^(epsilon/2) / (e^(epsilon/2) + 1) and q = 1 - p. OUE has p = 1/2 and q = 1 / (e^epsilon + 1)
Guarantee  epsilon-DP for one person's answer, in one report
Why        two answers differ in the laws of two bits only. The ratio of probabilities is largest where one bit is 1 and
           the other is 0: it is p (1 - q) / (q (1 - p)) = e^epsilon for both choices
Error      see ``frequency_oracle.py``. n times the variance is e^(epsilon/2) / (e^(epsilon/2) - 1)^2 for SUE, for every
           category. For OUE it is 4 e^epsilon / (e^epsilon - 1)^2 for rare categories, the least of all p and q, and 1
           more for a category that everybody has
Numerics   exact coins, 64 at a time (``packed.py``)
Limits     a report has k bits. With OUE half of the respondents do not support their own category at any epsilon
Source     Erlingsson, Pihur, Korolova (2014): SUE; Wang, Blocki, Li, Jha (2017): OUE
Proof      docs/explanation/proofs/frequency_oracles.md
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flou.arrays import Ints
from flou.bits import SYSTEM, Bits
from flou.laws import Bernoulli
from flou.laws.enclosure import affine, exp_minus, quotient
from flou.local.categories.frequency_oracle import Answers, FrequencyOracle
from flou.local.categories.packed import Rows, bit_counts, checked_rows, packed_coins, put, unpacked
from flou.local.randomiser import truth
from flou.parameters import Number, integer

__all__ = ["OUE", "SUE", "UnaryEncoding", "UnaryLaw"]

MOST_BITS = 2**20


@dataclass(frozen=True)
class UnaryLaw:
    """The independent bits of a packed row: ``yes`` is the coin of the answer's bit, ``no`` that of all others."""

    k: int
    answer: int
    yes: Bernoulli
    no: Bernoulli

    def log_pmf(self, rows: ArrayLike) -> Any:
        """log P(report = row) for each row."""
        bits = unpacked(checked_rows(rows, self.k), self.k)
        own = bits[:, self.answer]
        ones = bits.sum(axis=1) - own
        rest = self.k - 1 - ones
        with np.errstate(invalid="ignore"):  # 0 log 0
            others = np.where(ones, ones * self.no.log_pmf(1), 0.0) + np.where(rest, rest * self.no.log_pmf(0), 0.0)
        return self.yes.log_pmf(own) + others

    def pmf(self, rows: ArrayLike) -> Any:
        """P(report = row) for each row."""
        return np.exp(self.log_pmf(rows))


class UnaryEncoding(FrequencyOracle):
    """k bits, packed eight in a byte."""

    _marks = None

    def __init__(self, categories: Answers, *, epsilon: Number, unit: str = "person") -> None:
        super().__init__(categories, epsilon=epsilon, unit=unit)
        integer("the number of categories", self.k, 2, MOST_BITS)

    @property
    @abstractmethod
    def yes(self) -> Bernoulli:
        """The coin of the respondent's own category."""

    @property
    @abstractmethod
    def no(self) -> Bernoulli:
        """The coin of every other category."""

    @property
    def p(self) -> float:
        return self.yes.p

    @property
    def q(self) -> float:
        return self.no.p

    @property
    def report_bits(self) -> int:
        return self.k

    def law(self, answer: int) -> UnaryLaw:
        return UnaryLaw(self.k, min(max(int(answer), 0), self.k - 1), self.yes, self.no)

    def sample(self, answer: Ints, *, bits: Bits = SYSTEM) -> Rows:
        codes = self.codes(answer)
        rows = packed_coins(codes.size, self.k, self.no.number, bits)
        put(rows, codes, self.yes.draw(codes.size, bits))
        return rows

    def checked(self, reports: ArrayLike) -> Rows:
        return checked_rows(reports, self.k)

    def tally(self, reports: NDArray[Any]) -> Ints:
        return bit_counts(reports, self.k)


class SUE(UnaryEncoding):
    """Symmetric unary encoding: all k bits are flipped with the same probability."""

    name = "SUE"

    @cached_property
    def yes(self) -> Bernoulli:
        return truth(self.epsilon / 2)

    @cached_property
    def no(self) -> Bernoulli:
        return _lie(self.epsilon / 2)

    @property
    def gap(self) -> float:
        return math.tanh(float(self.epsilon) / 4)


class OUE(UnaryEncoding):
    """Optimised unary encoding: a fair coin for the respondent's own bit, and a rare one for all others."""

    name = "OUE"

    @cached_property
    def yes(self) -> Bernoulli:
        return Bernoulli(Fraction(1, 2))

    @cached_property
    def no(self) -> Bernoulli:
        return _lie(self.epsilon)

    @property
    def gap(self) -> float:
        return math.tanh(float(self.epsilon) / 2) / 2


def _lie(epsilon: Fraction) -> Bernoulli:
    """The coin of probability 1 / (e^epsilon + 1)."""
    power = exp_minus(epsilon)
    return Bernoulli(quotient(power, affine(power, plus=1)))
