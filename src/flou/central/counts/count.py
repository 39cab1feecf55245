"""Number of rows, of all rows or of every group.

Law        the count plus discrete Laplace noise of scale (rows a unit may have) / epsilon; for groups, twice that under
           substitution, because a row can move from one group to another; or Gaussian noise for the L2 norm, in which
           a move is sqrt(2) times as far (``price.py``)
Guarantee  that of the price
Why        one unit changes the count, or the counts of all groups together, by so much
Error      exact, from the law
Numerics   exact integers
Limits     under substitution the number of all rows is public, and only counts of a part need noise; counts of all
           groups are then moved to whole numbers that add up to it (``noisy_counts.py``), which costs nothing
Source     document 003, counting queries
Proof      docs/explanation/proofs/sensitivity.md, docs/explanation/proofs/consistent.md
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from flou.central.counts.histogram import layout_of
from flou.central.counts.noisy_counts import CountUncertainty, noisy_counts, possible
from flou.central.price import Given, Price, PricedNoise, PricedQuestion, Sensitivity
from flou.central.question import Curator, Draft, Prepared, PublicFacts
from flou.parameters import Number
from flou.release import Layout
from flou.release.uncertainty import Certain
from flou.summaries.request import Counts, Sums

__all__ = ["Count"]

KNOWN = "Under substitution the number of all rows is public. This is the exact number, and it has no noise."


@dataclass(frozen=True)
class Count(PricedQuestion):
    """How many rows there are, or how many every group of ``by`` has."""

    price: Price | Number
    by: str | None = None
    statistic = "count"
    column = None
    proof = "sensitivity"

    @classmethod
    def asked(cls, by: str | None, *, epsilon: Given = None, delta: Given = None, rho: Given = None) -> Count:
        return cls(Price.of(epsilon, delta, rho), by)

    def noise(self, facts: PublicFacts) -> PricedNoise:
        # substituting a row moves the count of a part by one at most: it enters, or it leaves
        alone = Sensitivity(facts.rows_per_unit, facts.rows_per_unit**2)
        return self._noise(alone if self.by is None else Sensitivity.of_rows(1, facts), facts)

    def prepare(self, facts: PublicFacts) -> Prepared:
        noise, by = self.noise(facts), self.by
        if by is not None:
            labels = facts.labels(by)
            domain = facts.domain(by)  # of selected keys it has one more, for all others
            layout = layout_of(domain) if len(labels) == domain.size else Layout("values", names=labels)

            def counted(found: list[Any], curator: Curator) -> Draft:
                return noisy_counts(found[0], noise, curator.bits, labels=labels, by=by, layout=layout)

            return Prepared(noise.mechanism.guarantee, (Counts((facts.code(by),)),), counted, len(labels))
        return Prepared(noise.mechanism.guarantee, (Sums(((),)),), lambda found, curator: _alone(found, noise, curator))


def _alone(found: list[Any], noise: PricedNoise, curator: Curator) -> Draft:
    """The number of all rows."""
    known, most = noise.facts.known_rows, noise.facts.table_rows
    if known is not None:
        return Draft(known, Certain(float(known)), {"name": "none: the number of rows is public"}, note=KNOWN)
    noisy = max(noise.mechanism.sample(int(found[0][0]), bits=curator.bits), 0)
    released = noisy if most is None else min(noisy, most)
    return Draft(
        value=released,
        uncertainty=CountUncertainty(np.array([released]), noise.mechanism.noise, most, grouped=False),
        mechanism=noise.described(grid="whole rows"),
        postprocessing=(possible(most),),
    )
