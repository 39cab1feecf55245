"""AboveThreshold and the sparse vector: which queries of a stream pass a threshold; only those that pass cost privacy.

Law        with R and N_1, N_2, ... independent discrete Laplace of scales D / e1 and m c D / e2 (D the sensitivity,
           c the number of answers, m = 2, or 1 for monotone queries, e1 + e2 = epsilon), query i passes when
           q_i + N_i >= threshold + R; the stream ends after c queries have passed
Guarantee  epsilon-DP for any stream, also one that is chosen as it goes, and however long it is, when no query moves by
           more than D between neighbours (monotone: all of them in the same direction)
Why        shift R by D: a query that failed still fails, and one that passed still passes if its own noise moves by
           2 D (monotone: D), at a price of e2 / c each
Error      with probability 1 - beta, for k queries, no query above threshold + alpha fails and none below
           threshold - alpha passes: ``accuracy``
Numerics   exact draws on integers
Limits     the law is summed over the values of R: ask for it when their number times the queries is below 2^26
Source     Dwork and Roth (2014); Lyu, Su, Li (2017) for c answers and the split; document 001 (3.1)
Proof      docs/explanation/proofs/above_threshold.md
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from flou.arrays import Floats, Ints
from flou.bits import SYSTEM, Bits
from flou.errors import InvalidParameter
from flou.guarantee import PureDP
from flou.laws import DiscreteLaplace
from flou.mechanisms.mechanism import Mechanism, integer_vector
from flou.parameters import Number, Relation, integer, number, open_probability

__all__ = ["AboveThreshold", "PassingLaw", "Stream"]

SUMMED = 1 << 26


@dataclass(frozen=True, repr=False)
class AboveThreshold(Mechanism):
    """The positions of the first ``answers`` queries that pass a public integer threshold."""

    threshold: int
    sensitivity: Fraction
    epsilon: Fraction
    answers: int
    monotone: bool
    split: Fraction
    guarantee: PureDP

    def __init__(
        self,
        *,
        threshold: int,
        sensitivity: Number,
        epsilon: Number,
        answers: int = 1,
        monotone: bool = False,
        split: Number | None = None,
        relation: Relation = "add-remove",
        unit: str = "row",
    ) -> None:
        """``split`` is the threshold's share of epsilon: 1/2 in the literature, by default the share of least error."""
        count = integer("answers", answers, 1, 2**20)
        share = (monotone is True or 2) * count
        best = Fraction(1 / (1 + share ** (2 / 3))).limit_denominator(10**6)
        object.__setattr__(self, "threshold", integer("threshold", threshold, -(2**62), 2**62))
        object.__setattr__(self, "sensitivity", number("sensitivity", sensitivity))
        object.__setattr__(self, "epsilon", number("epsilon", epsilon))
        object.__setattr__(self, "answers", count)
        object.__setattr__(self, "monotone", bool(monotone))
        object.__setattr__(self, "split", best if split is None else open_probability("split", split))
        object.__setattr__(self, "guarantee", PureDP(epsilon, relation=relation, unit=unit))
        number("scale", max(self.threshold_noise.scale, self.query_noise.scale))

    @property
    def threshold_noise(self) -> DiscreteLaplace:
        return DiscreteLaplace(self.sensitivity / (self.epsilon * self.split))

    @property
    def query_noise(self) -> DiscreteLaplace:
        moves = self.answers * self.sensitivity * (1 if self.monotone else 2)
        return DiscreteLaplace(moves / (self.epsilon * (1 - self.split)))

    def stream(self, *, bits: Bits = SYSTEM) -> Stream:
        """A new stream, which is asked one query after the other."""
        return Stream(self, bits)

    def sample(self, queries: ArrayLike, *, bits: Bits = SYSTEM) -> tuple[int, ...]:
        """The positions of the queries that passed, at most ``answers`` of them."""
        stream = self.stream(bits=bits)
        passed: list[int] = []
        for i, query in enumerate(integer_vector("queries", queries).tolist()):
            if stream.passes(query):
                passed.append(i)
            if stream.ended:
                break
        return tuple(passed)

    def law(self, queries: ArrayLike) -> PassingLaw:
        return PassingLaw(self, integer_vector("queries", queries))

    def accuracy(self, queries: int, *, beta: float) -> float:
        """The alpha of the error line, for a (public) number of queries."""
        count = integer("queries", queries, 1, 2**60)
        risk = float(open_probability("beta", beta)) / 2
        # P[|noise| >= t] <= 2 exp(-t / scale) / (1 + exp(-1 / scale)) <= 2 exp(-t / scale), each kind with half of beta
        threshold = float(self.threshold_noise.scale) * math.log(2 / risk)
        return threshold + float(self.query_noise.scale) * math.log(2 * count / risk)


class Stream:
    """A sparse vector at work: the threshold's noise is drawn once, every query gets its own."""

    def __init__(self, mechanism: AboveThreshold, bits: Bits) -> None:
        self._bits = bits
        self._noise = mechanism.query_noise
        self._level = mechanism.threshold + mechanism.threshold_noise.sample(bits=bits)
        self.remaining = mechanism.answers

    def __repr__(self) -> str:
        return f"Stream(remaining={self.remaining})"

    @property
    def ended(self) -> bool:
        """Whether all answers have been given."""
        return self.remaining == 0

    def passes(self, query: int) -> bool:
        """Whether this query passes the noisy threshold."""
        if self.ended:
            raise InvalidParameter(
                "This stream has given all its answers.",
                "The stated guarantee covers these answers, and another answer would exceed it.",
                "Begin a new stream, which costs epsilon again.",
            )
        passed = int(query) + self._noise.sample(bits=self._bits) >= self._level
        self.remaining -= passed
        return passed


class PassingLaw:
    """The law of which queries pass; outcomes are tuples of positions."""

    def __init__(self, mechanism: AboveThreshold, queries: Ints) -> None:
        self.answers, self.size = mechanism.answers, queries.size
        noise = mechanism.threshold_noise
        far = math.ceil(800 * max(noise.scale, mechanism.query_noise.scale))
        gap = [max(-far, min(far, mechanism.threshold - query)) for query in queries.tolist()]
        reach = math.ceil(40 * noise.scale) + 1 + max(abs(x) for x in gap)
        if (2 * reach + 1) * queries.size > SUMMED:
            raise InvalidParameter(
                "The scale is too large to compute the law of AboveThreshold as a sum over the integers.",
                "The law has no closed form. Samples are not affected: they are exact at every scale.",
                "Use a coarser grid, or fewer queries.",
            )
        offsets = np.arange(-reach, reach + 1)
        self._weights: Floats = noise.pmf(offsets)
        gaps = offsets[:, None] + np.array(gap)
        self._passes: Floats = mechanism.query_noise.sf(gaps - 1)  # P[q + N >= threshold + R], for each R and query
        self._fails: Floats = mechanism.query_noise.cdf(gaps - 1)

    def outcomes(self) -> Iterator[tuple[int, ...]]:
        """Everything that can be released."""
        for count in range(self.answers + 1):
            yield from combinations(range(self.size), count)

    def pmf(self, passed: tuple[int, ...]) -> float:
        """P[exactly these queries pass]; with the last answer the stream ends."""
        last = passed[-1] + 1 if len(passed) == self.answers else self.size
        if len(passed) > self.answers or list(passed) != sorted(set(passed)):
            return 0.0
        factors = self._fails[:, :last].copy()
        chosen = list(passed)
        factors[:, chosen] = self._passes[:, chosen]
        return float(self._weights @ np.prod(factors, axis=1))

    def log_pmf(self, passed: tuple[int, ...]) -> float:
        probability = self.pmf(passed)
        return math.log(probability) if probability > 0 else -math.inf
