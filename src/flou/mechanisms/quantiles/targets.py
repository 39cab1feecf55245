"""Which quantiles are wanted, exactly: probabilities as fractions, and the ranks they stand for.

The p-quantile of n records is the record of rank ceil(p n) (the first one for p = 0). All methods aim at the real
number p n, with p a fraction whose denominator is at most 10^9, so that ranks times denominators stay whole, and fit
into 64 bits up to 9 10^9 records.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from flou.errors import InvalidParameter
from flou.parameters import Number, probability

__all__ = ["MOST_QUANTILES", "Target", "fractions_of", "rank_of"]

MOST_QUANTILES = 10_000
FINEST = 10**9


@dataclass(frozen=True)
class Target:
    """The place p n among n records, in units of 1/denominator of a rank."""

    probability: Fraction
    rows: int

    @property
    def unit(self) -> int:
        return self.probability.denominator

    @property
    def place(self) -> int:
        """p n, in units."""
        return self.probability.numerator * self.rows

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
            "Each of them takes a share of the privacy, and none at all is no question.",
            "Pass for example [0.25, 0.5, 0.75].",
        )
    return found
