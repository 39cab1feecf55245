"""How many rows fall into each bin of a column, or have each category; of all rows, or of every group.

Law        that of counts of disjoint sets of rows (``noisy_counts.py``); with groups the sets are pairs of a group and
           a bin, in a table that is read row by row
Guarantee  that of the price, for all bins and groups together
Why        a row is in one cell, so one unit changes all cells together by as much as those of one histogram
Error      exact, from the law, for each cell
Numerics   exact integers
Limits     every cell has its noise, the empty ones too: few rows in many cells drown in it
Source     document 003, counting queries
Proof      docs/explanation/proofs/sensitivity.md
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flou.central.counts.noisy_counts import noisy_counts
from flou.central.price import Given, Price, PricedNoise, PricedQuestion, Sensitivity
from flou.central.question import Curator, Draft, Prepared, PublicFacts
from flou.domain import Domain
from flou.parameters import Number, integer
from flou.release import Layout
from flou.summaries.request import Code, Counts

__all__ = ["Histogram", "binned", "layout_of"]

BINS, MOST = 20, 2**20
ONE_BY_ONE = 200  # whole numbers: a histogram of no more of them has a bar for each, unless ``bins`` is given
BY_NAME = 12  # numbers that are drawn as categories are


@dataclass(frozen=True)
class Histogram(PricedQuestion):
    """How many rows have each code of a column: equal bins of numbers, or every category; by group if asked."""

    column: str
    price: Price | Number
    bins: int | None = None
    by: str | None = None
    statistic = "histogram"
    proof = "sensitivity"

    @classmethod
    def asked(
        cls,
        by: str | None,
        column: str,
        *,
        bins: int | None = None,
        epsilon: Given = None,
        delta: Given = None,
        rho: Given = None,
    ) -> Histogram:
        return cls(column, Price.of(epsilon, delta, rho), bins, by)

    def noise(self, facts: PublicFacts) -> PricedNoise:
        return self._noise(Sensitivity.of_rows(1, facts), facts)

    def prepare(self, facts: PublicFacts) -> Prepared:
        domain = for_histogram(self.column, facts.domain(self.column), self.bins)
        code, names = Code(self.column, domain), domain.names
        request, labels, layout = Counts((code,)), names, layout_of(domain)
        if self.by is not None:
            groups = facts.labels(self.by)
            request, layout = Counts((facts.code(self.by), code)), layout_of(domain, groups)
            labels = tuple(f"{group}: {name}" for group in groups for name in names)
        noise, by = self.noise(facts), self.column if self.by is None else self.by

        def answer(found: list[Any], curator: Curator) -> Draft:
            return noisy_counts(found[0], noise, curator.bits, labels=labels, by=by, layout=layout)

        return Prepared(noise.mechanism.guarantee, (request,), answer, len(labels))


def binned(column: str, domain: Domain, bins: int | None) -> Domain:
    """The domain in this number of bins, or in fewer of equal length; without bins, its own codes."""
    if bins is None and domain.discrete:
        return domain
    return domain.binned(column, integer("bins", BINS if bins is None else bins, 1, MOST))


def for_histogram(column: str, domain: Domain, bins: int | None) -> Domain:
    """What a histogram counts: as ``binned``, and many numbers in bins without being asked to."""
    many = domain.measured and domain.size > ONE_BY_ONE
    return binned(column, domain, BINS if bins is None and many else bins)


def layout_of(domain: Domain, groups: tuple[str, ...] | None = None) -> Layout:
    """How counts of the codes of a domain lie: bins on an axis of numbers, or names."""
    numbers = domain.numbers if domain.measured else None
    if numbers is None or (domain.discrete and domain.size <= BY_NAME):
        return Layout("values", groups, domain.names)
    return Layout("bins", groups, places=tuple(numbers.places(range(domain.size + 1)).tolist()))
