"""The most common value, the k most common ones, and the answer of a majority.

Law        mode: permute-and-flip on the counts of the categories; top_k: k rounds of it at epsilon/k each, what was
           chosen left out of the next round; majority: the geometric version of ``mechanisms/majority.py``
Guarantee  epsilon-DP in total
Why        one row moves one count by 1 (all in the same direction) under add/remove, one up and one down under
           substitution; a unit of r rows moves them r times as far; k rounds compose
Error      the interval is (0, v): the released value falls short of the most common one (in round j: of the j-th) by
           at most v rows with this probability, whatever the data; v is exact for the worst table
Numerics   exact coins and integers
Limits     the counts themselves stay unknown; with many categories next to 1/epsilon rows v is large, and says so
Source     McKenna and Sheldon (2020); document 003 for majorities
Proof      docs/explanation/proofs/selection.md, docs/explanation/proofs/majority.md
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from flou.central.counts.histogram import binned
from flou.central.price import EpsilonQuestion
from flou.central.question import Curator, Draft, Prepared, PublicFacts
from flou.errors import InvalidParameter
from flou.mechanisms import Majority, PermuteAndFlip
from flou.parameters import Number, integer, number
from flou.release import Uncertainty
from flou.release.uncertainty import Interval
from flou.summaries.request import Code, Counts

__all__ = ["MajorityAnswer", "Mode", "Shortfall", "TopK"]


@dataclass(frozen=True)
class TopK(EpsilonQuestion):
    """The k most common values of a column, most common first."""

    column: str
    epsilon: Number
    k: int = 1
    bins: int | None = None
    statistic = "top_k"
    proof = "selection"

    @classmethod
    def asked(cls, column: str, k: int, *, bins: int | None = None, epsilon: Number) -> TopK:
        return cls(column, epsilon, k, bins)

    def mechanism(self, facts: PublicFacts) -> PermuteAndFlip:
        """One round."""
        relation = facts.schema.relation
        return PermuteAndFlip(
            sensitivity=facts.rows_per_unit,
            epsilon=number("epsilon", self.epsilon) / self.k,
            utility="monotone" if relation == "add-remove" else "any",
            relation=relation,
            unit=facts.unit,
        )

    def prepare(self, facts: PublicFacts) -> Prepared:
        domain = binned(self.column, facts.domain(self.column), self.bins)
        integer("k", self.k, 1, domain.size)
        mechanism = self.mechanism(facts)

        def answer(found: list[Any], curator: Curator) -> Draft:
            counts, names = found[0].astype(np.int64), domain.names
            left = np.arange(counts.size)
            chosen = []
            for _ in range(self.k):
                position = mechanism.sample(counts[left], bits=curator.bits)
                chosen.append(names[int(left[position])])
                left = np.delete(left, position)
            rounds = tuple(_Flip(float(mechanism.rate), counts.size - j) for j in range(self.k))
            return Draft(
                value=chosen[0] if self._alone else np.array(chosen, dtype=object),
                uncertainty=Shortfall(rounds, _rows(facts), self._alone),
                mechanism=_described(
                    "permute-and-flip" + ("" if self._alone else f", {self.k} rounds"), mechanism.rate, facts
                ),
                labels=None if self._alone else tuple(str(j + 1) for j in range(self.k)),
                note=NOTE,
                keys={"group_keys": "public", "column": self.column},
            )

        return Prepared(facts.pure(self.epsilon), (Counts((Code(self.column, domain),)),), answer, self.k)

    @property
    def _alone(self) -> bool:
        return False


@dataclass(frozen=True)
class Mode(TopK):
    """The most common value of a column."""

    statistic = "mode"

    @classmethod
    def asked(cls, column: str, *, bins: int | None = None, epsilon: Number) -> Mode:  # type: ignore[override]
        return cls(column, epsilon, 1, bins)

    @property
    def _alone(self) -> bool:
        return True


@dataclass(frozen=True)
class MajorityAnswer(EpsilonQuestion):
    """Whether more rows say yes than no."""

    column: str
    epsilon: Number
    statistic = "majority"
    proof = "majority"

    @classmethod
    def asked(cls, column: str, *, epsilon: Number) -> MajorityAnswer:
        return cls(column, epsilon)

    def mechanism(self, facts: PublicFacts) -> Majority:
        # a unit of r rows is r neighbours away, so every row gets epsilon / r
        epsilon = number("epsilon", self.epsilon) / facts.rows_per_unit
        return Majority(epsilon=epsilon, relation=facts.schema.relation, unit=facts.unit)

    def prepare(self, facts: PublicFacts) -> Prepared:
        domain = facts.domain(self.column)
        if not domain.binary:
            raise InvalidParameter(
                f"Column {self.column!r} does not hold yes and no.",
                "A majority is taken between two answers.",
                "Declare the column as Boolean(), or ask for its mode.",
            )
        mechanism, step = self.mechanism(facts), 2 if facts.schema.relation == "substitute" else 1

        def answer(found: list[Any], curator: Curator) -> Draft:
            zeros, ones = (int(count) for count in found[0])
            return Draft(
                value=bool(mechanism.sample((ones, zeros), bits=curator.bits)),
                uncertainty=Shortfall((_Vote(float(mechanism.epsilon), step),), _rows(facts), True),
                mechanism=_described("majority, geometric", mechanism.epsilon, facts),
                note=NOTE,
            )

        return Prepared(facts.pure(self.epsilon), (Counts((Code(self.column, domain),)),), answer)


NOTE = "The interval is in rows: how many fewer rows the released value may have than the most common value."


@dataclass(frozen=True)
class _Flip:
    """Permute-and-flip among this number of outcomes."""

    rate: float
    outcomes: int

    def at_least(self, v: int) -> float:
        """The largest probability, over all tables, of a shortfall of v rows or more: all others v behind."""
        p, d = math.exp(-self.rate * v), self.outcomes
        return 0.0 if d == 1 else 1 + math.expm1(d * math.log1p(-p)) / (d * p) if p > 1e-12 else (d - 1) * p


@dataclass(frozen=True)
class _Vote:
    """The geometric majority; a vote moves the lead by ``step``."""

    epsilon: float
    step: int

    outcomes = 2

    def at_least(self, v: int) -> float:
        return math.exp(-self.epsilon * -(-v // self.step)) / (1 + math.exp(-self.epsilon))


@dataclass(frozen=True)
class Shortfall(Uncertainty):
    """By how many rows a released value may fall short of the most common one.

    For the population it is the same in expected rows: a difference of two counts of n rows strays from its expectation
    by sqrt(2 n log(d / beta)) with probability beta at most, for all d values at once (Hoeffding). Where n is not
    public there is no limit. A value without a rival falls short of nothing.
    """

    rounds: tuple[_Flip | _Vote, ...]
    rows: float  # infinite where their number is not public
    alone: bool

    def _shaped(self, bounds: list[float]) -> Interval:
        if self.alone:
            return 0.0, bounds[0]
        return np.zeros(len(bounds)), np.array(bounds)

    def data(self, level: float) -> Interval:
        return self._shaped([float(_least(round_, 1 - level)) for round_ in self.rounds])

    def population(self, level: float) -> Interval:
        beta = (1 - level) / 2

        def bound(round_: _Flip | _Vote) -> float:
            if round_.outcomes == 1:
                return 0.0
            return _least(round_, beta) + math.sqrt(2 * self.rows * math.log(round_.outcomes / beta))

        return self._shaped([bound(round_) for round_ in self.rounds])

    @property
    def grid(self) -> float:
        return 0.0


def _least(round_: _Flip | _Vote, alpha: float) -> int:
    """The least v such that a shortfall of more than v rows has probability alpha at most."""
    low, high = -1, 0
    while round_.at_least(high + 1) > alpha:
        low, high = high, 2 * high + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if round_.at_least(middle + 1) > alpha else (low, middle)
    return high


def _rows(facts: PublicFacts) -> float:
    return math.inf if facts.table_rows is None else float(max(facts.table_rows, 1))


def _described(name: str, rate: Fraction, facts: PublicFacts) -> dict[str, Any]:
    return {
        "name": name,
        "rate": float(rate),
        "grid": "whole rows",
        "norm": "largest",
        "sampler": "exact coins",
        "random_source": facts.random_source,
    }
