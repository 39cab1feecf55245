"""Outer bounds of a column when none are known: powers of two beyond which few rows lie.

Law        from the top downwards, AboveThreshold (epsilon / 2) looks for the first edge of 0, +-2^k that noticeably
           many rows reach, and the upper bound is the edge above it; the lower bound likewise, from the bottom
Guarantee  epsilon-DP in total
Why        a unit of r rows moves the number of rows beyond an edge by at most r, for all edges in the same direction
           (under substitution that is true of single rows only)
Error      at most v rows lie beyond each bound with probability 95 %, whatever the data; the note says v, and
           ``release.uncertainty.rows_beyond(level)`` does for other levels; the interval of a bound is the bound
Numerics   exact integers; the edges are doubles, powers of two from 2^-20 to 2^40
Limits     v is about 110 / epsilon rows at 95 %; bounds are loose by up to a factor of 2; NaN counts
           as 0, and what is beyond 2^41 as 2^41
Source     Dwork and Roth (2014) for AboveThreshold; Wilson, Zhang, Lam and others (2020) for edges at powers of two
Proof      docs/explanation/proofs/outer_bounds.md
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flou.central.price import EpsilonQuestion
from flou.central.question import Curator, Draft, Prepared, PublicFacts
from flou.domain import Interval
from flou.mechanisms import AboveThreshold
from flou.parameters import Number, number
from flou.release.uncertainty import Certain
from flou.summaries.request import Code, Counts

__all__ = ["EDGES", "OuterBounds"]

EXPONENTS = range(-20, 41)
EDGES = tuple([-(2.0**k) for k in reversed(EXPONENTS)] + [0.0] + [2.0**k for k in EXPONENTS])
OUTERMOST = 2.0 ** (EXPONENTS[-1] + 1)
FALSE_ALARM = 0.05  # the threshold is such that an edge without rows beyond it passes at most so often


@dataclass(frozen=True)
class OuterBounds(EpsilonQuestion):
    """A lower and an upper bound for most values of a column."""

    column: str
    epsilon: Number
    statistic = "bounds"
    proof = "outer_bounds"

    @classmethod
    def asked(cls, column: str, *, epsilon: Number) -> OuterBounds:
        return cls(column, epsilon)

    def mechanism(self, facts: PublicFacts) -> AboveThreshold:
        """For one of the two bounds."""

        def at(threshold: int) -> AboveThreshold:
            return AboveThreshold(
                threshold=threshold,
                sensitivity=facts.rows_per_unit,
                epsilon=number("epsilon", self.epsilon) / 2,
                monotone=facts.schema.relation == "add-remove" or facts.schema.unit is None,
                relation=facts.schema.relation,
                unit=facts.unit,
            )

        return at(math.ceil(at(0).accuracy(len(EDGES), beta=FALSE_ALARM)))

    @property
    def counts(self) -> tuple[Counts, ...]:
        """For each k, four cells between +-2^(k+1), clamped: below -2^k, up to 0, up to 2^k, and from 2^k on."""
        domains = (Interval(-(2.0 ** (k + 1)), 2.0 ** (k + 1), cells=4, missing=0.0) for k in EXPONENTS)
        return tuple(Counts((Code(self.column, domain),)) for domain in domains)

    @staticmethod
    def beyond(found: list[NDArray[Any]]) -> tuple[list[int], list[int]]:
        """How many rows are at or above each edge, from the highest down, and below it, from the lowest up."""
        cells = [[int(count) for count in part] for part in found]
        above = [c[3] for c in reversed(cells)] + [cells[0][2] + cells[0][3]] + [c[1] + c[2] + c[3] for c in cells]
        below = [c[0] for c in reversed(cells)] + [cells[0][0] + cells[0][1]] + [c[0] + c[1] + c[2] for c in cells]
        return above, below

    def prepare(self, facts: PublicFacts) -> Prepared:
        facts.require_name(self.column)
        mechanism = self.mechanism(facts)

        def answer(found: list[Any], curator: Curator) -> Draft:
            above, below = (mechanism.sample(np.array(q), bits=curator.bits) for q in self.beyond(found))
            lower, upper = placed(below[0] if below else None, above[0] if above else None)
            rows = facts.schema.max_rows if facts.table_rows is None else max(facts.table_rows, 1)
            uncertainty = RowsBeyond(np.array([lower, upper]), mechanism, rows)
            return Draft(
                value=uncertainty.value,
                uncertainty=uncertainty,
                mechanism={
                    "name": "AboveThreshold on rows beyond powers of two, twice",
                    "scale": float(mechanism.query_noise.scale),
                    "threshold": mechanism.threshold,
                    "grid": "whole rows",
                    "sensitivity": float(mechanism.sensitivity),
                    "norm": "largest",
                    "sampler": "exact, by inversion with refinement",
                    "random_source": facts.random_source,
                },
                labels=("lower", "upper"),
                note=f"With probability 95 % at most {uncertainty.rows_beyond(0.95):.0f} rows lie beyond each bound.",
                postprocessing=("the next power of two outwards",),
                preprocessing=(f"clamped to {OUTERMOST:g} on both sides", "missing values as 0"),
                clipping=f"values beyond {OUTERMOST:g} count as {OUTERMOST:g}",
            )

        return Prepared(facts.pure(self.epsilon), self.counts, answer, 2)


def placed(low: int | None, high: int | None) -> tuple[float, float]:
    """The bounds for the positions that passed, from the bottom and from the top.

    Where none passed, few rows lie below even the highest edge (or above the lowest); without rows the bounds are wide.
    """
    edges = (-OUTERMOST, *EDGES, OUTERMOST)
    i = len(EDGES) if low is None else low  # the edge below EDGES[low]
    j = 1 if high is None else len(EDGES) + 1 - high  # the edge above EDGES[-1 - high]
    i, j = min(i, j), max(i, j)
    return (edges[i], edges[j]) if i < j else (edges[i - 1], edges[i])


@dataclass(frozen=True, eq=False)
class RowsBeyond(Certain):
    """Bounds are what they are: their intervals are points, and what is uncertain is how many rows lie beyond them."""

    mechanism: AboveThreshold
    rows: int

    def rows_beyond(self, level: float, *, population: bool = False) -> float:
        """How many rows lie beyond each bound at most; of the population, expected rows (Massart's inequality)."""
        beta = (1 - level) / (2 if population else 1)
        most = math.ceil(self.mechanism.threshold + self.mechanism.accuracy(len(EDGES), beta=beta))
        return most + (math.sqrt(self.rows * math.log(2 / beta) / 2) if population else 0.0)
