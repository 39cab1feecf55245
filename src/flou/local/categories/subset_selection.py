"""Subset selection: report omega of the k categories; the respondent's own is more often among them than not.

Law        P[report = S | answer = x] is proportional to e^epsilon if S holds x and to 1 otherwise, over all sets S of
           omega categories
Guarantee  epsilon-DP for one person's answer, in one report
Why        both weights are divided by the same total, C(k-1, omega-1) e^epsilon + C(k-1, omega), for every answer
Error      see ``frequency_oracle.py``, with p = omega e^epsilon / (omega e^epsilon + k - omega) and
           q = ((omega - 1) p + omega (1 - p)) / (k - 1); omega is the whole number beside k / (e^epsilon + 1) with the
           least variance, which is of the least order possible
Numerics   exact: a coin for the respondent's own category, and a uniform set of the others. The set starts as
           independent bits: given their number, all sets of this size are equally likely. Surplus categories are
           dropped, or missing ones added, each uniformly
Limits     a report has k bits; with omega = 1 it is GRR
Source     Ye, Barg (2018); Wang, Huang, Wang, Nie, Zhang, Zheng, Xu (2016)
Proof      docs/explanation/proofs/frequency_oracles.md
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flou.arrays import Ints
from flou.bits import SYSTEM, Bits
from flou.laws import Bernoulli
from flou.laws.enclosure import affine, constant, exp_minus, quotient
from flou.local.categories.frequency_oracle import Answers, FrequencyOracle
from flou.local.categories.packed import (
    Rows,
    bit_counts,
    checked_rows,
    complement,
    ones_of,
    packed_coins,
    place_of,
    put,
    row_bytes,
    unpacked,
)
from flou.local.categories.unary_encoding import MOST_BITS
from flou.parameters import Number, integer

__all__ = ["SubsetLaw", "SubsetSelection", "rates", "uniform_subsets"]

AT_ONCE = 1 << 20  # bytes of reports made at a time


def rates(k: int, omega: int, epsilon: float) -> tuple[float, float, float]:
    """p, q and p - q."""
    power = math.exp(-epsilon)
    total = omega + (k - omega) * power
    p = omega / total
    q = omega * (omega - 1 + (k - omega) * power) / ((k - 1) * total)
    return p, q, omega * (k - omega) * -math.expm1(-epsilon) / ((k - 1) * total)


def best_size(k: int, epsilon: float) -> int:
    """The omega whose variances over all categories add up to the least; among the reals it is k / (e^epsilon + 1)."""

    def total(omega: int) -> float:
        p, q, gap = rates(k, omega, epsilon)
        return (p * (1 - p) + (k - 1) * q * (1 - q)) / gap**2

    around = math.floor(k * math.exp(-epsilon) / (1 + math.exp(-epsilon)))
    return min((omega for omega in (around, around + 1) if 1 <= omega < k), key=total)


@dataclass(frozen=True)
class SubsetLaw:
    """Sets of ``omega`` out of k, as packed rows; ``own`` is the coin that puts the answer into the set."""

    k: int
    omega: int
    answer: int
    own: Bernoulli

    def log_pmf(self, rows: ArrayLike) -> Any:
        """log P(report = row) for each row."""
        bits = unpacked(checked_rows(rows, self.k), self.k)
        with_it = float(self.own.log_pmf(1)) - _log_choose(self.k - 1, self.omega - 1)
        without = float(self.own.log_pmf(0)) - _log_choose(self.k - 1, self.omega)
        log = np.where(bits[:, self.answer], with_it, without)
        return np.where(bits.sum(axis=1) == self.omega, log, -np.inf)

    def pmf(self, rows: ArrayLike) -> Any:
        """P(report = row) for each row."""
        return np.exp(self.log_pmf(rows))


def _log_choose(n: int, m: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(m + 1) - math.lgamma(n - m + 1)


class SubsetSelection(FrequencyOracle):
    """``omega`` of the k categories, packed eight in a byte."""

    name = "subset selection"

    def __init__(self, categories: Answers, *, epsilon: Number, omega: int | None = None, unit: str = "person") -> None:
        super().__init__(categories, epsilon=epsilon, unit=unit)
        integer("the number of categories", self.k, 2, MOST_BITS)
        best = best_size(self.k, float(self.epsilon))
        self.omega = best if omega is None else integer("omega", omega, 1, self.k - 1)
        self._marks = self.omega

    def parameters(self) -> dict[str, Any]:
        return {**super().parameters(), "omega": self.omega}

    @cached_property
    def own(self) -> Bernoulli:
        """The coin that decides whether the respondent's category is in the set."""
        others = affine(exp_minus(self.epsilon), times=self.k - self.omega, plus=self.omega)
        return Bernoulli(quotient(constant(Fraction(self.omega)), others))

    @property
    def p(self) -> float:
        return rates(self.k, self.omega, float(self.epsilon))[0]

    @property
    def q(self) -> float:
        return rates(self.k, self.omega, float(self.epsilon))[1]

    @property
    def gap(self) -> float:
        return rates(self.k, self.omega, float(self.epsilon))[2]

    @property
    def report_bits(self) -> int:
        return self.k

    def law(self, answer: int) -> SubsetLaw:
        return SubsetLaw(self.k, self.omega, min(max(int(answer), 0), self.k - 1), self.own)

    def sample(self, answer: Ints, *, bits: Bits = SYSTEM) -> Rows:
        codes = self.codes(answer)
        rows = np.empty((codes.size, row_bytes(self.k)), dtype=np.uint8)
        step = max(1, AT_ONCE // row_bytes(self.k))
        for start in range(0, codes.size, step):
            part = codes[start : start + step]
            own = self.own.draw(part.size, bits)
            made = uniform_subsets(self.omega - own, self.k, bits, without=part, usual=self.omega)
            put(made, part, own)
            rows[start : start + step] = made
        return rows

    @property
    def _covariances(self) -> tuple[float, float, int]:
        # The set is uniform given whether the respondent's category is in it.
        p, q, k, omega = self.p, self.q, self.k, self.omega
        both = (omega - 1) * (p * (omega - 2) + (1 - p) * omega) / ((k - 1) * max(k - 2, 1))
        return p * ((omega - 1) / (k - 1) - q), both - q * q, k

    def checked(self, reports: ArrayLike) -> Rows:
        return checked_rows(reports, self.k, self.omega)

    def tally(self, reports: NDArray[Any]) -> Ints:
        return bit_counts(reports, self.k)


def uniform_subsets(sizes: Ints, k: int, bits: Bits, *, without: Ints, usual: int) -> Rows:
    """For each row a uniform set of the given size out of all categories but one; most sizes are ``usual``.

    Independent coins make every set of the same size equally likely. While a set is too large a uniform category is
    named and, if it is in, dropped, so a uniform member leaves; while it is too small, a uniform outsider joins. Either
    step keeps all sets of one size equally likely, so the probability of the coins does not matter to the law, only to
    the time: a few binary digits of it are enough. Large sets are the complements of small ones.
    """
    if 2 * usual > k:
        left_out = uniform_subsets(k - 1 - sizes, k, bits, without=without, usual=k - 1 - usual)
        rows = complement(left_out, k)
        put(rows, without, np.zeros(sizes.size, dtype=np.bool_))
        return rows
    places = 2 + k.bit_length() // 2  # the mean is then off by less than the standard deviation
    share = Fraction((usual << places) // k, 1 << places)
    rows = packed_coins(sizes.size, k, constant(share), bits, places=places)
    put(rows, without, np.zeros(sizes.size, dtype=np.bool_))
    surplus = ones_of(rows) - sizes
    flat, wide = rows.reshape(-1), rows.shape[1]
    unfinished = np.flatnonzero(surplus)
    while unfinished.size:
        named = bits.below(k - 1, unfinished.size)
        named += named >= without[unfinished]
        byte, bit = place_of(named)
        byte += unfinished * wide
        many = surplus[unfinished] > 0
        hit = ((flat[byte] & bit) != 0) == many
        flat[byte[hit]] ^= bit[hit]
        surplus[unfinished[hit]] += np.where(many[hit], -1, 1)
        unfinished = unfinished[surplus[unfinished] != 0]
    return rows
