"""Number of rows, of all rows or of every group.

Law        the count plus discrete Laplace noise of scale (rows a unit may have) / epsilon; for groups, twice that under
           substitution, because a row can move from one group to another; or Gaussian noise for the L2 norm, in which
           a move is sqrt(2) times as far (``price.py``)
Guarantee  that of the price
Why        one unit changes the count, or the counts of all groups together, by so much
Error      exact, from the law
Numerics   exact integers
Limits     under substitution the number of all rows is public, and only counts of a part need noise; counts of all
           groups are then moved to whole numbers that add up to it (``consistency.py``), which costs nothing
Source     document 003, counting queries
Proof      docs/explanation/proofs/sensitivity.md, docs/explanation/proofs/consistent.md
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flou.bits import Bits
from flou.central.counts.bins import for_histogram, layout_of, names_of
from flou.central.counts.consistency import adding_up_to
from flou.central.counts.counting import CountUncertainty
from flou.central.curator import Curator
from flou.central.price import Noise, Price, described
from flou.central.priced_question import PricedQuestion
from flou.central.public_facts import PublicFacts
from flou.central.question import Draft
from flou.central.sensitivity import Sensitivity
from flou.parameters import Number
from flou.release import Layout
from flou.release.uncertainty import Certain
from flou.summaries.request import Code, Counts, Request, Sums

__all__ = ["Count", "GroupCounts", "Histogram", "counted"]

KNOWN = "Under substitution the number of all rows is public: this is it, without noise, and asking was not needed."


@dataclass(frozen=True)
class Count(PricedQuestion):
    """How many rows there are."""

    price: Price | Number
    statistic = "count"
    proof = "sensitivity"
    column = None

    def _sensitivity(self, facts: PublicFacts) -> Sensitivity:
        # substituting a row moves a filtered count by one at most: it enters, or it leaves
        return Sensitivity(facts.rows_per_unit, facts.rows_per_unit**2)

    def mechanism(self, facts: PublicFacts) -> Noise:
        return self._price.mechanism(self._sensitivity(facts), facts)

    def requests(self, facts: PublicFacts) -> tuple[Request, ...]:
        del facts
        return (Sums(((),)),)

    def answer(self, found: list[NDArray[Any]], facts: PublicFacts, curator: Curator) -> Draft:
        if facts.known_rows is not None:
            return Draft(
                facts.known_rows,
                Certain(float(facts.known_rows)),
                {"name": "none: the number of rows is public"},
                note=KNOWN,
            )
        mechanism, most = self.mechanism(facts), facts.table_rows
        noisy = max(mechanism.sample(int(found[0][0]), bits=curator.bits), 0)
        released = noisy if most is None else min(noisy, most)
        return Draft(
            value=released,
            uncertainty=CountUncertainty(np.array([released]), mechanism.noise, most, grouped=False),
            mechanism=described(self._price, self._sensitivity(facts), facts, on="", grid="whole rows"),
            postprocessing=(_possible(most),),
        )


@dataclass(frozen=True)
class Histogram(PricedQuestion):
    """How many rows have each code of a column: equal bins of numbers, or every category."""

    column: str
    price: Price | Number
    bins: int | None = None
    statistic = "histogram"
    proof = "sensitivity"

    def mechanism(self, facts: PublicFacts) -> Noise:
        self._code(facts)
        return self._price.mechanism(Sensitivity.of_rows(1, facts), facts)

    def _code(self, facts: PublicFacts) -> Code:
        return Code(self.column, for_histogram(self.column, facts.domain(self.column), self.bins))

    def requests(self, facts: PublicFacts) -> tuple[Request, ...]:
        return (Counts((self._code(facts),)),)

    def answer(self, found: list[NDArray[Any]], facts: PublicFacts, curator: Curator) -> Draft:
        domain = self._code(facts).domain
        layout = layout_of(domain)
        return counted(
            found[0], self._price, facts, curator.bits, labels=names_of(domain), by=self.column, layout=layout
        )


class GroupCounts(Histogram):
    """How many rows every group has: every code of the column is a group."""

    def _code(self, facts: PublicFacts) -> Code:
        return Code(self.column, facts.domain(self.column))


def counted(
    counts: NDArray[Any],
    price: Price,
    facts: PublicFacts,
    bits: Bits,
    *,
    labels: tuple[str, ...],
    by: str,
    layout: Layout,
) -> Draft:
    """Counts of disjoint sets of rows, with noise for all of them together, and made to add up where the sum is public.

    Where it is public how many rows there are, every one of them must be in one of the sets.
    """
    sensitivity, rows = Sensitivity.of_rows(1, facts), facts.known_rows
    mechanism = price.mechanism(sensitivity, facts)
    noisy = mechanism.sample(counts.astype(np.int64).ravel(), bits=bits).reshape(counts.shape)
    if rows is None:
        value, postprocessing = np.clip(noisy, 0, facts.table_rows), _possible(facts.table_rows)
        uncertainty = CountUncertainty(value, mechanism.noise, facts.table_rows)
    else:
        value = adding_up_to(rows, noisy)
        postprocessing = "moved to the closest whole numbers from 0 that add up to the public number of rows"
        uncertainty = CountUncertainty(noisy, mechanism.noise, rows, value=value)
    return Draft(
        value=value,
        uncertainty=uncertainty,
        mechanism=described(price, sensitivity, facts, on="", grid="whole rows"),
        labels=labels,
        postprocessing=(postprocessing,),
        keys={"group_keys": "public", "column": by},
        layout=layout,
    )


def _possible(rows: int | None) -> str:
    return "not below zero" if rows is None else "not below zero, and not above the public number of all rows"
