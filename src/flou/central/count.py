"""Number of rows, of all rows or of every group.

Law        the count plus discrete Laplace noise of scale (rows a unit may have) / epsilon; for groups, twice that under
           substitution, because a row can move from one group to another
Guarantee  epsilon-DP
Why        one unit changes the count, or the counts of all groups together, by so much
Error      exact, from the law
Numerics   exact integers
Limits     under substitution the number of all rows is public, and only counts of a part need noise
Source     document 003, counting queries
Proof      docs/explanation/proofs/laplace.md
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flou.central.counting import CountUncertainty
from flou.central.question import Context, Draft, Question
from flou.domain import Interval
from flou.errors import InvalidParameter
from flou.guarantee import Guarantee
from flou.mechanisms import Laplace
from flou.parameters import Number, integer
from flou.summaries.request import Code, Counts, Request, Sums

__all__ = ["Count", "Histogram", "noisy_counts"]


@dataclass(frozen=True)
class Count(Question):
    """How many rows there are."""

    epsilon: Number
    statistic = "count"
    column = None

    def cost(self, context: Context) -> Guarantee:
        return context.pure(self.epsilon)

    def requests(self, context: Context) -> tuple[Request, ...]:
        del context
        return (Sums(((),)),)

    def answer(self, found: list[NDArray[Any]], context: Context) -> Draft:
        # substituting a row moves a filtered count by one at most: it enters, or it leaves
        mechanism = _laplace(context.rows_per_unit, self.epsilon, context)
        released = max(mechanism.sample(int(found[0][0]), bits=context.bits), 0)
        uncertainty = CountUncertainty(np.array([released]), mechanism.noise, context.table_rows, grouped=False)
        return Draft(released, uncertainty, described_laplace(mechanism, context), postprocessing=("not below zero",))


@dataclass(frozen=True)
class Histogram(Question):
    """How many rows have each code of a column: equal bins of an interval, or every category."""

    column: str
    epsilon: Number
    bins: int | None = None
    statistic = "histogram"

    def cost(self, context: Context) -> Guarantee:
        self._code(context)
        return context.pure(self.epsilon)

    def _code(self, context: Context) -> Code:
        return Code(self.column, binned(self.column, context.domain(self.column), self.bins))

    def requests(self, context: Context) -> tuple[Request, ...]:
        return (Counts((self._code(context),)),)

    def answer(self, found: list[NDArray[Any]], context: Context) -> Draft:
        code = self._code(context)
        released, mechanism = noisy_counts(found[0], self.epsilon, context)
        return Draft(
            value=released,
            uncertainty=CountUncertainty(released, mechanism.noise, context.table_rows),
            mechanism=described_laplace(mechanism, context),
            labels=names_of(code.domain),
            postprocessing=("not below zero",),
            keys={"group_keys": "public", "column": self.column},
        )


def noisy_counts(counts: NDArray[Any], epsilon: Number, context: Context) -> tuple[NDArray[np.int64], Laplace]:
    """Counts of disjoint sets of rows, with noise for all of them together."""
    mechanism = _laplace(context.changes, epsilon, context)
    flat = mechanism.sample(counts.astype(np.int64).ravel(), bits=context.bits)
    return np.maximum(flat, 0).reshape(counts.shape), mechanism


def _laplace(sensitivity: int, epsilon: Number, context: Context) -> Laplace:
    return Laplace(sensitivity=sensitivity, epsilon=epsilon, relation=context.schema.relation, unit=context.unit)


def described_laplace(mechanism: Laplace, context: Context) -> dict[str, Any]:
    """The mechanism block of a certificate."""
    return {
        "name": "discrete Laplace",
        "scale": float(mechanism.noise.scale),
        "grid": "whole rows",
        "sensitivity": float(mechanism.sensitivity),
        "norm": "L1",
        "sampler": "exact, by inversion with refinement",
        "random_source": context.random_source,
    }


def binned(column: str, domain: Any, bins: int | None) -> Any:
    """The domain on a grid of so many bins; without a number, its own codes where there are few."""
    if isinstance(domain, Interval):
        return domain.with_cells(integer("bins", 20 if bins is None else bins, 1, 2**20))
    if bins is not None:
        raise InvalidParameter(
            f"Column {column!r} has {domain.size} codes of its own, and takes no bins.",
            "Only an interval can be cut into bins.",
            "Leave bins out.",
        )
    return domain


def names_of(domain: Any) -> tuple[str, ...]:
    """What the codes of a domain are called in tables and plots."""
    if isinstance(domain, Interval):
        edges = domain.edges()
        return tuple(f"{a:g} to {b:g}" for a, b in pairwise(edges.tolist()))
    return tuple(str(label) for label in domain.decode(np.arange(domain.size)).tolist())
