"""Number of rows, of all rows or of every group.

Law        the count plus discrete Laplace noise of scale (rows a unit may have) / epsilon; for groups, twice that under
           substitution, because a row can move from one group to another; or Gaussian noise for the L2 norm, in which
           a move is sqrt(2) times as far (``price.py``)
Guarantee  that of the price
Why        one unit changes the count, or the counts of all groups together, by so much
Error      exact, from the law
Numerics   exact integers
Limits     under substitution the number of all rows is public, and only counts of a part need noise; counts of all
           groups are then moved to whole numbers that add up to it (``consistent.py``), which costs nothing
Source     document 003, counting queries
Proof      docs/explanation/proofs/sensitivity.md, docs/explanation/proofs/consistent.md
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flou.central.bins import for_histogram, names_of
from flou.central.consistent import adding_up_to
from flou.central.counting import CountUncertainty
from flou.central.price import Noise, Price, described
from flou.central.priced_question import PricedQuestion
from flou.central.question import Context, Draft
from flou.central.sensitivity import Sensitivity
from flou.parameters import Number
from flou.release.uncertainty import Certain
from flou.summaries.request import Code, Counts, Request, Sums

__all__ = ["Count", "GroupCounts", "Histogram", "counted"]

KNOWN = "Under substitution the number of all rows is public: this is it, without noise, and asking was not needed."


@dataclass(frozen=True)
class Count(PricedQuestion):
    """How many rows there are."""

    price: Price | Number
    statistic = "count"
    column = None

    def _sensitivity(self, context: Context) -> Sensitivity:
        # substituting a row moves a filtered count by one at most: it enters, or it leaves
        return Sensitivity(context.rows_per_unit, context.rows_per_unit**2)

    def mechanism(self, context: Context) -> Noise:
        return self._price.mechanism(self._sensitivity(context), context)

    def requests(self, context: Context) -> tuple[Request, ...]:
        del context
        return (Sums(((),)),)

    def answer(self, found: list[NDArray[Any]], context: Context) -> Draft:
        if context.known_rows is not None:
            return Draft(
                context.known_rows,
                Certain(float(context.known_rows)),
                {"name": "none: the number of rows is public"},
                note=KNOWN,
            )
        mechanism, most = self.mechanism(context), context.table_rows
        noisy = max(mechanism.sample(int(found[0][0]), bits=context.bits), 0)
        released = noisy if most is None else min(noisy, most)
        return Draft(
            value=released,
            uncertainty=CountUncertainty(np.array([released]), mechanism.noise, most, grouped=False),
            mechanism=described(self._price, self._sensitivity(context), context, on="", grid="whole rows"),
            postprocessing=(_possible(most),),
        )


@dataclass(frozen=True)
class Histogram(PricedQuestion):
    """How many rows have each code of a column: equal bins of numbers, or every category."""

    column: str
    price: Price | Number
    bins: int | None = None
    statistic = "histogram"

    def mechanism(self, context: Context) -> Noise:
        self._code(context)
        return self._price.mechanism(Sensitivity.of_rows(1, context), context)

    def _code(self, context: Context) -> Code:
        return Code(self.column, for_histogram(self.column, context.domain(self.column), self.bins))

    def requests(self, context: Context) -> tuple[Request, ...]:
        return (Counts((self._code(context),)),)

    def answer(self, found: list[NDArray[Any]], context: Context) -> Draft:
        names = names_of(self._code(context).domain)
        return counted(found[0], self._price, context, labels=names, by=self.column)


class GroupCounts(Histogram):
    """How many rows every group has: every code of the column is a group."""

    def _code(self, context: Context) -> Code:
        return Code(self.column, context.domain(self.column))


def counted(counts: NDArray[Any], price: Price, context: Context, *, labels: tuple[str, ...], by: str) -> Draft:
    """Counts of disjoint sets of rows, with noise for all of them together, and made to add up where the sum is public.

    Where the context says how many rows there are, every one of them must be in one of the sets.
    """
    sensitivity, rows = Sensitivity.of_rows(1, context), context.known_rows
    mechanism = price.mechanism(sensitivity, context)
    noisy = mechanism.sample(counts.astype(np.int64).ravel(), bits=context.bits).reshape(counts.shape)
    if rows is None:
        value, postprocessing = np.clip(noisy, 0, context.table_rows), _possible(context.table_rows)
        uncertainty = CountUncertainty(value, mechanism.noise, context.table_rows)
    else:
        value = adding_up_to(rows, noisy)
        postprocessing = "moved to the closest whole numbers from 0 that add up to the public number of rows"
        uncertainty = CountUncertainty(noisy, mechanism.noise, rows, value=value)
    return Draft(
        value=value,
        uncertainty=uncertainty,
        mechanism=described(price, sensitivity, context, on="", grid="whole rows"),
        labels=labels,
        postprocessing=(postprocessing,),
        keys={"group_keys": "public", "column": by},
    )


def _possible(rows: int | None) -> str:
    return "not below zero" if rows is None else "not below zero, and not above the public number of all rows"
