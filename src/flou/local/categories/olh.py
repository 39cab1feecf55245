"""OLH: hash the category to a few values with a public random hash, and randomise the hash.

Law        a uniform seed a in GF(g)^t, g prime, t = ceil(log_g k); h_a(x) = <a, digits of x in base g> mod g; the value
           reported with the seed is h_a(x) with probability e^epsilon / (e^epsilon + g - 1), and each other one with
           probability 1 / (e^epsilon + g - 1)
Guarantee  epsilon-DP for one person's answer, in one report
Why        the seed says nothing about the answer, and given the seed the value is GRR's report of h_a(x)
Error      see ``frequency_oracle.py``, with p = e^epsilon / (e^epsilon + g - 1) and q = 1/g, because two categories
           collide under exactly one g-th of the seeds; g is the prime with the least total variance
Numerics   exact; a collector counts pairs (seed, value), fewer than k g^2 of them, and a transform turns the counts
           into support with whole numbers only, in time independent of how many people there are
Limits     up to 2^23 categories
Source     Wang, Blocki, Li, Jha (2017); the linear hash: Carter, Wegman (1979)
Proof      docs/explanation/proofs/frequency_oracles.md
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flou.arrays import Ints
from flou.bits import SYSTEM, Bits
from flou.errors import InvalidParameter
from flou.laws import WeightedChoice
from flou.local.aggregate import Aggregate
from flou.local.categories.frequency_oracle import Answers, FrequencyOracle
from flou.local.categories.grr import gap_of_choice
from flou.mechanisms import GeneralisedRandomisedResponse
from flou.parameters import Number

__all__ = ["OLH"]

MOST_TALLIES = 2**24
CHUNK = 1 << 16  # reports made at a time


class OLH(FrequencyOracle):
    """A seed and a value, in one whole number: seed times g plus value."""

    name = "OLH"

    def __init__(self, categories: Answers, *, epsilon: Number, g: int | None = None, unit: str = "person") -> None:
        super().__init__(categories, epsilon=epsilon, unit=unit)
        options = _primes(self.k)
        if not options:
            raise InvalidParameter(
                f"OLH takes at most {MOST_TALLIES // 2} categories, got {self.k}.",
                "A collector keeps a count for each seed and value, and there are more seeds than categories.",
                "Ask for groups of categories first.",
            )
        if g is not None and g not in options:
            raise InvalidParameter(
                f"g must be a prime with at most {MOST_TALLIES} pairs of seed and value.",
                "Only for a prime do two categories collide under exactly one g-th of the seeds.",
                "Leave g out, and the one with the least variance is taken.",
            )
        self.g = min(options, key=self._total_variance) if g is None else int(g)
        self.t = _digits(self.k, self.g)

    def _total_variance(self, g: int) -> float:
        gap = gap_of_choice(g, float(self.epsilon)) * (1 - 1 / g)
        p, q = gap + 1 / g, 1 / g
        return (p * (1 - p) + (self.k - 1) * q * (1 - q)) / gap**2

    def parameters(self) -> dict[str, Any]:
        return {**super().parameters(), "g": self.g}

    @cached_property
    def mechanism(self) -> GeneralisedRandomisedResponse:
        """What randomises the hash."""
        return GeneralisedRandomisedResponse(k=self.g, epsilon=self.epsilon, unit=self.guarantee.unit)

    @property
    def seeds(self) -> int:
        """How many there are."""
        return int(self.g**self.t)

    @property
    def p(self) -> float:
        return self.mechanism.p

    @property
    def q(self) -> float:
        return 1 / self.g

    @property
    def gap(self) -> float:
        return gap_of_choice(self.g, float(self.epsilon)) * (1 - 1 / self.g)

    @property
    def report_bits(self) -> int:
        return (self.tallies - 1).bit_length()

    @property
    def tallies(self) -> int:
        return self.seeds * self.g

    @cached_property
    def _digit_table(self) -> NDArray[np.int64]:
        """The digits of 0, ..., g^t - 1 in base g, one place a row."""
        numbers = np.arange(self.seeds)
        return np.array([numbers // self.g**place % self.g for place in range(self.t)])

    def hashed(self, seeds: Ints, codes: Ints) -> Ints:
        """h_a(x) for each pair of a seed and a category."""
        total = np.zeros(np.broadcast_shapes(seeds.shape, codes.shape), dtype=np.int64)
        for digits in self._digit_table:
            total += digits[seeds] * digits[codes]
        return total % self.g

    def law(self, answer: int) -> WeightedChoice:
        code = np.array([min(max(int(answer), 0), self.k - 1)])
        exponents = np.ones((self.seeds, self.g), dtype=np.int64)
        exponents[np.arange(self.seeds), self.hashed(np.arange(self.seeds), code)] = 0
        return WeightedChoice(exponents.ravel(), rate=self.epsilon)  # every seed has the same total weight

    def sample(self, answer: Ints, *, bits: Bits = SYSTEM) -> NDArray[Any]:
        codes = self.codes(answer)
        reports = np.empty(codes.size, dtype=np.int64)
        for start in range(0, codes.size, CHUNK):
            part = codes[start : start + CHUNK]
            seeds = bits.below(self.seeds, part.size)
            values = self.mechanism.sample(self.hashed(seeds, part), bits=bits)
            reports[start : start + CHUNK] = seeds * self.g + values
        return reports

    @property
    def _covariances(self) -> tuple[float, float, int]:
        # c is not 0 only where u - x and v - x are multiples of each other: for at most g - 2 of the v.
        return 0.0, self.q * (self.p - self.q), self.g - 2

    def support(self, aggregate: Aggregate) -> Ints:
        """For each category the number of pairs (a, v) with h_a(x) = v, by one digit of a after the other.

        With T[a_1, ..., a_t, v] counts, the step for a_1 replaces it by x_1: T'[x_1, a_2, ..., v] is the sum over a_1
        of T[a_1, a_2, ..., v + a_1 x_1 mod g]. After t steps the entry v = 0 is the sum over all a of T[a, <a, x>].
        """
        g = self.g
        table = aggregate.sums.reshape(-1, g)
        for place in range(self.t):
            before = table.reshape(-1, g, g**place, g)  # higher digits, this digit, lower digits, value
            after = np.zeros_like(before)
            for a in range(g):
                for x in range(g):
                    after[:, x] += np.roll(before[:, a], -(a * x % g), axis=-1)
            table = after.reshape(-1, g)
        return table[: self.k, 0].copy()


def _digits(k: int, g: int) -> int:
    """The least t with g^t >= k."""
    t = 1
    while g**t < k:
        t += 1
    return t


def _primes(k: int) -> list[int]:
    """The primes g worth having: not far above k, and with tables that fit."""
    most = int(MOST_TALLIES**0.5)
    sieve = np.ones(most + 1, dtype=np.bool_)
    sieve[:2] = False
    for n in range(2, int(most**0.5) + 1):
        if sieve[n]:
            sieve[n * n :: n] = False
    found = [int(g) for g in np.flatnonzero(sieve)]
    largest = next((g for g in found if g >= k), most)  # a larger one has longer reports than GRR, and more variance
    return [g for g in found if g <= largest and g ** (_digits(k, g) + 1) <= MOST_TALLIES]
