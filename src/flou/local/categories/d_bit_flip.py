"""dBitFlip: for a few categories chosen at random, report whether each is the own category, through a coin.

Law        d of the k categories, a uniform set that does not depend on the answer; for each of them a bit, 1 if it is
           the respondent's own and 0 if not, and flipped with probability 1 / (1 + e^c), c = epsilon/2, or c = epsilon
           for d = 1
Guarantee  epsilon-DP for one person's answer, in one report
Why        the categories do not depend on the answer; between two answers at most two bits differ in law (one if
           d = 1), each by e^c
Error      the share of ones among those who were asked about a category, debiased as in ``frequency_oracle.py``, is
           unbiased for any number of them; n times the variance is about k/d times that of one bit
Numerics   exact coins and sets
Limits     d = k is SUE; a smaller d has k/d times the variance. It is made for repeated collection: a
           client that keeps the categories and the bits (``Memoised``) has at most d + 1 different reports ever
Source     Ding, Kulkarni, Yekhanin (2017)
Proof      docs/explanation/proofs/frequency_oracles.md
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flou.arrays import Floats, Ints
from flou.bits import SYSTEM, Bits
from flou.laws import Bernoulli
from flou.local.aggregate import Aggregate
from flou.local.categories.frequency_oracle import Answers, FrequencyOracle
from flou.local.categories.packed import row_bytes, unpacked
from flou.local.categories.subset_selection import uniform_subsets
from flou.local.categories.support_uncertainty import SupportUncertainty
from flou.local.categories.unary_encoding import MOST_BITS
from flou.local.randomiser import malformed, truth, whole_numbers
from flou.parameters import Number, integer

__all__ = ["DBitFlip", "DBitFlipLaw"]

AT_ONCE = 1 << 20  # bits of sets drawn at a time


@dataclass(frozen=True)
class DBitFlipLaw:
    """Rows of 2 category + bit, the categories rising."""

    k: int
    answer: int
    keep: Bernoulli

    def log_pmf(self, rows: ArrayLike) -> Any:
        """log P(report = row) for each row."""
        array = np.asarray(rows)
        right = (array >> 1 == self.answer) == (array & 1 == 1)
        sets = math.comb(self.k, array.shape[1])
        return self.keep.log_pmf(right).sum(axis=1) - math.log(sets)

    def pmf(self, rows: ArrayLike) -> Any:
        """P(report = row) for each row."""
        return np.exp(self.log_pmf(rows))


class DBitFlip(FrequencyOracle):
    """``d`` categories with a bit each: a row of d whole numbers, 2 category + bit, rising."""

    name = "dBitFlip"

    def __init__(self, categories: Answers, *, epsilon: Number, d: int, unit: str = "person") -> None:
        super().__init__(categories, epsilon=epsilon, unit=unit)
        integer("the number of categories", self.k, 2, MOST_BITS)
        self.d = integer("d", d, 1, self.k)
        self._marks = self.d

    def parameters(self) -> dict[str, Any]:
        return {**super().parameters(), "d": self.d}

    @cached_property
    def keep(self) -> Bernoulli:
        """The coin that decides whether a bit is reported as it is."""
        return truth(self.epsilon if self.d == 1 else self.epsilon / 2)

    @property
    def p(self) -> float:
        return self.keep.p

    @property
    def q(self) -> float:
        return self.keep.q

    @property
    def gap(self) -> float:
        return math.tanh(float(self.epsilon) / (2 if self.d == 1 else 4))

    @property
    def report_bits(self) -> int:
        return self.d * ((self.k - 1).bit_length() + 1)

    @property
    def tallies(self) -> int:
        return 2 * self.k

    def variance(self, share: float = 0.0) -> float:
        """n times the variance of the estimate when d/k of the respondents were asked about the category."""
        asked = self.d / self.k
        return (super().variance(share) + share * (1 - share) * (1 - asked)) / asked

    def law(self, answer: int) -> DBitFlipLaw:
        return DBitFlipLaw(self.k, min(max(int(answer), 0), self.k - 1), self.keep)

    def places(self, people: int, *, bits: Bits = SYSTEM) -> Ints:
        """For each of ``people`` a uniform set of d categories, in rising order."""
        found = np.empty((people, self.d), dtype=np.int64)
        step = max(1, AT_ONCE // (8 * row_bytes(self.k + 1)))
        for start in range(0, people, step):
            count = min(step, people - start)
            outside = np.full(count, self.k)  # one category more than there is, which no set holds
            rows = uniform_subsets(np.full(count, self.d), self.k + 1, bits, without=outside, usual=self.d)
            found[start : start + count] = np.nonzero(unpacked(rows, self.k))[1].reshape(count, self.d)
        return found

    def sample(self, answer: Ints, *, places: Ints | None = None, bits: Bits = SYSTEM) -> NDArray[Any]:
        """One report for each code, about the given categories or about fresh ones."""
        codes = self.codes(answer)
        asked = self.places(codes.size, bits=bits) if places is None else places
        kept = self.keep.draw(asked.size, bits).reshape(asked.shape)
        reports: Ints = 2 * asked + ((asked == codes[:, None]) == (kept == 1))
        return reports

    def checked(self, reports: ArrayLike) -> NDArray[Any]:
        array = np.asarray(reports)
        rows = whole_numbers(array if array.size else np.zeros((0, self.d), dtype=np.int64), 2 * self.k - 1, (self.d,))
        if np.any(np.diff(rows >> 1, axis=1) <= 0):
            raise malformed("The categories of each report must be different and in rising order.")
        return rows

    def tally(self, reports: NDArray[Any]) -> Ints:
        """Zeros and ones of each category."""
        return np.bincount(reports.ravel(), minlength=2 * self.k).astype(np.int64)

    def support(self, aggregate: Aggregate) -> Ints:
        return aggregate.sums[1::2]

    def asked(self, aggregate: Aggregate) -> Ints:
        """How many reports speak about each category."""
        return aggregate.sums[0::2] + aggregate.sums[1::2]

    def shares(self, aggregate: Aggregate) -> Floats:
        asked = self.asked(aggregate)
        found: Floats = (self.support(aggregate) / np.maximum(asked, 1) - self.q) / self.gap
        return np.where(asked > 0, found, 1 / self.k)

    def uncertainty(self, aggregate: Aggregate) -> SupportUncertainty:
        asked = self.asked(aggregate)
        left_out = 1 - asked / max(aggregate.people, 1)
        return SupportUncertainty(self.support(aggregate), asked, self.p, self.q, self.gap, left_out)
