"""UnboundedQuantile: a quantile when no useful bounds are known, by trying guesses that grow.

Law        guesses c_0 < c_1 < ... begin at ``origin`` and grow by the factor ``growth``; with R and N_i independent
           discrete Laplace of scales M / e1 and 1 / e2 (in units of 1/denominator of a rank; M = max(p, 1 - p) under
           add/remove, 1 under substitution; e1 + e2 = epsilon), the answer is the first guess with
           le(c_i) - p n + N_i >= R, the last cell if there is none. With sides="both" this takes half of epsilon; if
           c_0 is found, the other half goes to guesses below the origin, the first with p n - lt(c_i) + N_i >= R
Guarantee  epsilon-DP; m quantiles share epsilon in equal parts
Why        AboveThreshold on queries that one record moves by 1 - p or -p (add/remove), or all the same way
           (substitution): R shifted by at most M keeps the guesses that failed, N_i by 1 the one that passed
Error      with probability 1 - beta the answer c_i has le(c_i) >= p n - a, and the guess before it le <= p n + a, for
           a = (M / e1) ln(4/beta) + ln(4 k / beta) / e2 with k guesses
Numerics   exact draws on integers
Limits     answers are guesses: an upper bound within the factor ``growth``, rather than a quantile; grids to 2^62 cells
Source     Durfee (2023); document 001 (3)
Proof      docs/explanation/proofs/quantiles.md
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from flou.arrays import Ints
from flou.bits import Bits
from flou.errors import InvalidParameter
from flou.mechanisms.above_threshold import AboveThreshold
from flou.mechanisms.quantiles.answer_law import MOST_OUTCOMES, AnswerLaw, too_many_outcomes
from flou.mechanisms.quantiles.quantile_mechanism import QuantileMechanism
from flou.mechanisms.quantiles.records import LARGEST_GRID, Records
from flou.mechanisms.quantiles.targets import Target
from flou.parameters import Number, Relation, choice, exact, integer, is_number, shown

__all__ = ["UnboundedQuantile"]

Sides: TypeAlias = Literal["above", "both"]
Queries: TypeAlias = Callable[[Ints], Ints]
SLOWEST, FASTEST = Fraction(10_001, 10_000), Fraction(1000)
AT_ONCE = 256  # guesses tried together


@dataclass(frozen=True, init=False, repr=False)
class UnboundedQuantile(QuantileMechanism):
    """Quantiles up to a factor, on a grid as large as you like."""

    most_cells: ClassVar[int] = LARGEST_GRID

    origin: int
    sides: Sides
    growth: Fraction

    def __init__(
        self,
        probabilities: Number | Iterable[Number],
        *,
        epsilon: Number,
        origin: int = 0,
        sides: Sides = "above",
        growth: Number = Fraction(101, 100),
        relation: Relation = "add-remove",
        unit: str = "row",
    ) -> None:
        """Guesses begin at the cell ``origin`` and go up; with ``sides="both"`` down as well, if need be."""
        super().__init__(probabilities, epsilon=epsilon, relation=relation, unit=unit)
        object.__setattr__(self, "origin", integer("origin", origin, 0, LARGEST_GRID - 1))
        object.__setattr__(self, "sides", choice("sides", sides, ("above", "both")))
        if not is_number(growth) or not SLOWEST <= exact(growth) <= FASTEST:
            raise InvalidParameter(
                f"growth must lie between {float(SLOWEST)} and {int(FASTEST)}, got {shown(growth)}.",
                "It is the factor from one guess to the next, and the answer is accurate up to this factor.",
                "Pass for example growth=1.01.",
            )
        object.__setattr__(self, "growth", exact(growth))

    def threshold(self, p: Fraction) -> AboveThreshold:
        """The noises of one side, for queries in units of 1/denominator of a rank.

        Written as for monotone queries of sensitivity 1, which have the scales of the law if R's share is e1 / M.
        """
        epsilon = self.epsilon / (len(self.ordered) * (2 if self.sides == "both" else 1))
        most = Fraction(1) if self.relation == "substitute" else max(p, 1 - p)
        share = Fraction(1 / (1 + float(most) ** (-2 / 3))).limit_denominator(1000)  # of least variance
        first, second = epsilon * share / most, epsilon * (1 - share)
        return AboveThreshold(
            threshold=0,
            sensitivity=p.denominator,
            epsilon=first + second,
            monotone=True,
            split=first / (first + second),
            relation=self.relation,
        )

    def above(self, cells: int) -> list[int]:
        """The guesses from the origin up."""
        return [self.origin + far for far in _growing(self.growth, cells - 1 - self.origin)]

    def below(self) -> list[int]:
        """The guesses below the origin, downwards."""
        return [self.origin - far for far in _growing(self.growth, self.origin)[1:]]

    def law(self, records: Records) -> AnswerLaw:
        """The exact law of the ``ordered`` answers, listed; for a few guesses and quantiles."""
        integer("origin", self.origin, 0, records.cells - 1)
        guesses = len(self.above(records.cells)) + (len(self.below()) if self.sides == "both" else 0)
        if guesses ** len(self.ordered) > MOST_OUTCOMES:
            raise too_many_outcomes()
        return AnswerLaw.independent_sorted(self._single(p, records) for p in self.ordered)

    def _single(self, p: Fraction, records: Records) -> dict[int, float]:
        """P of each guess, for one quantile."""
        target, tried = Target(p, records.rows), self.threshold(p)
        above, below = self.above(records.cells), self.below() if self.sides == "both" else []
        chances, none = _passed(tried, above, _reached(target, records))
        found = dict(zip(above, chances, strict=True))
        downwards = found[self.origin]
        found[above[-1]] += none
        if below:
            found[self.origin] -= downwards
            chances, none = _passed(tried, below, _left(target, records))
            found |= {guess: downwards * share for guess, share in zip(below, chances, strict=True)}
            found[below[-1]] += downwards * none
        return found

    def answers(self, records: Records, bits: Bits) -> Ints:
        integer("origin", self.origin, 0, records.cells - 1)
        return np.sort([self._answer(p, records, bits) for p in self.ordered])

    def _answer(self, p: Fraction, records: Records, bits: Bits) -> int:
        target, tried = Target(p, records.rows), self.threshold(p)
        guesses = self.above(records.cells)
        found = _first(tried, guesses, _reached(target, records), bits)
        if found is None:
            return guesses[-1]
        if found > 0 or self.sides == "above" or self.origin == 0:
            return guesses[found]
        guesses = self.below()
        found = _first(tried, guesses, _left(target, records), bits)
        return guesses[-1 if found is None else found]


@lru_cache(maxsize=64)
def _growing(growth: Fraction, last: int) -> tuple[int, ...]:
    """0, 1, 2, ..., by more than 1 once the factor says so, up to ``last``."""
    found = [0]
    while found[-1] < last:
        found.append(min(max(found[-1] + 1, int(found[-1] * growth)), last))
    return tuple(found)


def _reached(target: Target, records: Records) -> Queries:
    """By how many units the records up to each guess are more than wanted."""
    return lambda guesses: target.ahead(records.below_each(guesses + 1))


def _left(target: Target, records: Records) -> Queries:
    """By how many units the records below each guess are fewer than wanted."""
    return lambda guesses: -target.ahead(records.below_each(guesses))


def _passed(tried: AboveThreshold, guesses: list[int], query: Queries) -> tuple[list[float], float]:
    """P that each guess is the first that passes, and that none does."""
    law = tried.law(query(np.array(guesses, dtype=np.int64)))
    return [law.pmf((i,)) for i in range(len(guesses))], law.pmf(())


def _first(tried: AboveThreshold, guesses: list[int], query: Queries, bits: Bits) -> int | None:
    """The first guess whose query passes."""
    level = tried.threshold_noise.sample(bits=bits)
    for start in range(0, len(guesses), AT_ONCE):
        queries = query(np.array(guesses[start : start + AT_ONCE], dtype=np.int64))
        passed = np.flatnonzero(queries + tried.query_noise.sample(queries.size, bits=bits) >= level)
        if passed.size:
            return start + int(passed[0])
    return None
