"""How many rows of every group fall into each bin: a table of counts, groups by bins, row by row.

Law        that of a histogram of the pairs (group, bin)
Guarantee  that of the price, for the whole table
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

from numpy.typing import NDArray

from flou.central.counts.bins import for_histogram, layout_of, names_of
from flou.central.counts.count import counted
from flou.central.curator import Curator
from flou.central.price import Noise, Price
from flou.central.priced_question import PricedQuestion
from flou.central.public_facts import PublicFacts
from flou.central.question import Draft
from flou.central.sensitivity import Sensitivity
from flou.parameters import Number
from flou.summaries.request import Code, Counts, Request

__all__ = ["GroupedHistogram"]


@dataclass(frozen=True)
class GroupedHistogram(PricedQuestion):
    """How many rows of every group of ``by`` have each code of a column: one row of the table for each group."""

    column: str
    price: Price | Number
    bins: int | None = None
    by: str = ""
    statistic = "histogram"
    proof = "sensitivity"

    def mechanism(self, facts: PublicFacts) -> Noise:
        self.requests(facts)
        return self._price.mechanism(Sensitivity.of_rows(1, facts), facts)

    def _codes(self, facts: PublicFacts) -> tuple[Code, Code]:
        column = Code(self.column, for_histogram(self.column, facts.domain(self.column), self.bins))
        return Code(self.by, facts.domain(self.by)), column

    def requests(self, facts: PublicFacts) -> tuple[Request, ...]:
        return (Counts(self._codes(facts)),)

    def answer(self, found: list[NDArray[Any]], facts: PublicFacts, curator: Curator) -> Draft:
        by, column = self._codes(facts)
        groups = names_of(by.domain)
        labels = tuple(f"{group}: {name}" for group in groups for name in names_of(column.domain))
        layout = layout_of(column.domain, groups)
        return counted(found[0], self._price, facts, curator.bits, labels=labels, by=self.by, layout=layout)
