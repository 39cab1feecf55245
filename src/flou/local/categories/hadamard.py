"""Hadamard response: report a number whose parity with the respondent's row is more often even than odd.

Law        K = 2^ceil(log2(k + 1)), and category x has row x + 1 of the K x K Hadamard matrix: y has sign + in that row
           if the number of ones in (x + 1) AND y is even. The report is uniform among the K/2 numbers of sign + with
           probability e^epsilon / (1 + e^epsilon), and among those of sign - otherwise
Guarantee  epsilon-DP for one person's answer, in one report
Why        every report has probability 2/K times e^epsilon / (1 + e^epsilon) or 1 / (1 + e^epsilon)
Error      see ``frequency_oracle.py``, with p = e^epsilon / (1 + e^epsilon) and q = 1/2, because two different rows
           agree in half of their places; n times the variance is ((e^epsilon + 1) / (e^epsilon - 1))^2 for rare
           categories
Numerics   exact: one coin enclosed as finely as needed, and a uniform integer. A collector counts reports, and a fast
           transform turns the counts into support with whole numbers only
Limits     good for epsilon up to about 1; at larger epsilon a report still supports half of all categories. Up to
           2^24 - 1 categories
Source     Acharya, Sun, Zhang (2019)
Proof      docs/explanation/proofs/frequency_oracles.md
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flou.arrays import Ints
from flou.bits import SYSTEM, Bits
from flou.laws import Bernoulli, WeightedChoice
from flou.local.aggregate import Aggregate
from flou.local.categories.frequency_oracle import Answers, FrequencyOracle
from flou.local.randomiser import truth
from flou.parameters import Number, integer

__all__ = ["Hadamard"]

MOST_ROWS = 2**24
CHUNK = 1 << 16  # reports made at a time


class Hadamard(FrequencyOracle):
    """One whole number below ``size``, the next power of two above k."""

    name = "Hadamard response"

    def __init__(self, categories: Answers, *, epsilon: Number, unit: str = "person") -> None:
        super().__init__(categories, epsilon=epsilon, unit=unit)
        integer("the number of categories", self.k, 2, MOST_ROWS - 1)

    @property
    def size(self) -> int:
        """K: how many different reports there are."""
        return 1 << self.k.bit_length()  # the least power of two above k

    @cached_property
    def even(self) -> Bernoulli:
        """The coin that decides whether the sign is +."""
        return truth(self.epsilon)

    @property
    def p(self) -> float:
        return self.even.p

    @property
    def q(self) -> float:
        return 0.5

    @property
    def gap(self) -> float:
        return math.tanh(float(self.epsilon) / 2) / 2

    @property
    def report_bits(self) -> int:
        return self.size.bit_length() - 1

    @property
    def tallies(self) -> int:
        return self.size

    def law(self, answer: int) -> WeightedChoice:
        row = min(max(int(answer), 0), self.k - 1) + 1
        odd = np.bitwise_count(np.arange(self.size) & row) & 1
        return WeightedChoice(odd.astype(np.int64), rate=self.epsilon)

    def sample(self, answer: Ints, *, bits: Bits = SYSTEM) -> NDArray[Any]:
        codes = self.codes(answer)
        reports = np.empty(codes.size, dtype=np.int64)
        for start in range(0, codes.size, CHUNK):
            rows = codes[start : start + CHUNK] + 1
            drawn = bits.below(self.size, rows.size)
            odd = np.bitwise_count(drawn & rows) & 1
            # Flipping the lowest bit of the row in y exchanges the two signs one to one: y stays uniform in its sign.
            wrong = odd == self.even.draw(rows.size, bits)
            reports[start : start + CHUNK] = drawn ^ np.where(wrong, rows & -rows, 0)
        return reports

    @property
    def _covariances(self) -> tuple[float, float, int]:
        # The signs of rows u and v have the product of row u XOR v. That is the row of x for one v at most.
        return 0.0, (2 * self.p - 1) / 4, 1

    def support(self, aggregate: Aggregate) -> Ints:
        """(people + transform of the counts) / 2: how many reports have sign + in each row."""
        table = aggregate.sums.copy()
        half = 1
        while half < self.size:
            pairs = table.reshape(-1, 2, half)
            table = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).ravel()
            half *= 2
        return (aggregate.people + table[1 : self.k + 1]) // 2
