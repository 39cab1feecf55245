"""Which quantiles are wanted, exactly: probabilities as fractions, and the ranks they stand for.

The p-quantile of n records is the record of rank ceil(p n) (the first one for p = 0). All methods aim at the real
number p n, with p a fraction whose denominator is at most 10^9, so that ranks times denominators stay whole. Of more
than 10^9 records they may leave 64 bits. Scores of the exponential mechanism are cut off at 2^60 of these units, 10^9
ranks or more: when a record comes or goes, a score moves by no more than before, which is all that its guarantee asks
for. Walks that stop at the first count ask for more, that a late count rises with the early ones; theirs are exact.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from flou.arrays import Ints
from flou.errors import InvalidParameter
from flou.parameters import Number, probability

__all__ = ["MOST_QUANTILES", "Target", "fractions_of", "rank_of"]

MOST_QUANTILES = 10_000
FINEST = 10**9
FARTHEST = 2**60  # units: differences of scores fit into 64 bits too


@dataclass(frozen=True)
class Target:
    """The place p n among n records, in units of 1/denominator of a rank."""

    probability: Fraction
    rows: int

    @property
    def unit(self) -> int:
        return self.probability.denominator

    def ahead(self, counts: Ints) -> Ints:
        """Some numbers of records minus p n, in units; Python's integers where those of 64 bits may not do."""
        exact: Any = counts.astype(object) if self.rows * self.unit >= FARTHEST else counts
        found: Ints = exact * self.unit - self.probability.numerator * self.rows
        return found

    def beyond(self, counts: Ints) -> Ints:
        """p n minus some numbers of records, in units, up to ``FARTHEST`` in either direction."""
        whole, part = divmod(self.probability.numerator * self.rows, self.unit)
        ranks = FARTHEST // self.unit + 1
        found: Ints = np.clip(np.clip(whole - counts, -ranks - 1, ranks) * self.unit + part, -FARTHEST, FARTHEST)
        return found

    @property
    def rank(self) -> int:
        """The rank of the exact answer, 0 where there are no records."""
        return rank_of(self.probability, self.rows)


def rank_of(p: Fraction, rows: int) -> int:
    """ceil(p n), and 1 for p = 0."""
    return min(max(-(-p.numerator * rows // p.denominator), 1), rows)


def _is_exact(p: Any) -> bool:
    return type(p) is Fraction and 0 <= p.numerator <= p.denominator <= FINEST


def fractions_of(probabilities: Number | Iterable[Number]) -> tuple[Fraction, ...]:
    """One or many probabilities as exact fractions, in the order given; equal ones may repeat."""
    values: Any = probabilities.tolist() if isinstance(probabilities, np.ndarray) else probabilities
    if isinstance(values, str) or not isinstance(values, Iterable):
        values = (values,)
    found = tuple(p if _is_exact(p) else probability("p", p).limit_denominator(FINEST) for p in values)
    if not 1 <= len(found) <= MOST_QUANTILES:
        raise InvalidParameter(
            f"Between 1 and {MOST_QUANTILES} quantiles can be asked for, got {len(found)}.",
            "Each quantile takes a share of the privacy budget, and an empty list asks for nothing.",
            "Pass for example [0.25, 0.5, 0.75].",
        )
    return found
