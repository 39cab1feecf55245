"""Quantiles as users ask for them: by their names, or by the shares of rows below them.

``epsilon`` is the total; of it, the share ``intervals`` pays for intervals. ``method`` is "auto" or one of
``plan.METHODS``; the release says what was chosen, and why.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from flou.central.quantiles.quantiles import INTERVALS, Quantiles, Range
from flou.parameters import Number, integer, probability

__all__ = [
    "BOXPLOT",
    "DECILES",
    "IQR",
    "MEDIAN",
    "QUARTILES",
    "deciles",
    "quantile",
    "quantiles",
    "quartiles",
    "shares_of",
]

deciles = tuple(Fraction(i, 10) for i in range(1, 10))
quartiles = tuple(Fraction(i, 4) for i in range(1, 4))
FIVE = (Fraction(1, 20), *quartiles, Fraction(19, 20))  # of a box plot: the box, its middle, and the whiskers
PARTS, MOST_PARTS = 100, 100_000  # equal ones, between which quantiles lie


@dataclass(frozen=True)
class NamedQuantiles:
    """Quantiles that have a name of their own."""

    statistic: str
    probabilities: Fraction | tuple[Fraction, ...]
    kind: type[Quantiles] = Quantiles

    def __call__(
        self,
        by: str | None,
        column: str,
        *,
        epsilon: Number,
        method: str = "auto",
        intervals: Number = INTERVALS,
    ) -> Quantiles:
        return self.kind(column, self.probabilities, epsilon, method, intervals, by, self.statistic)


MEDIAN = NamedQuantiles("median", Fraction(1, 2))
QUARTILES = NamedQuantiles("quartiles", quartiles)
DECILES = NamedQuantiles("deciles", deciles)
BOXPLOT = NamedQuantiles("boxplot", FIVE)
IQR = NamedQuantiles("iqr", (quartiles[0], quartiles[2]), Range)


def quantile(
    by: str | None,
    column: str,
    p: Number,
    *,
    epsilon: Number,
    method: str = "auto",
    intervals: Number = INTERVALS,
) -> Quantiles:
    one = probability("p", p)
    return NamedQuantiles(f"{float(one):.10g}-quantile", one)(
        by, column, epsilon=epsilon, method=method, intervals=intervals
    )


def quantiles(
    by: str | None,
    column: str,
    probabilities: Number | Iterable[Number],
    *,
    epsilon: Number,
    method: str = "auto",
    intervals: Number = INTERVALS,
) -> Quantiles:
    several: Any = probabilities.tolist() if isinstance(probabilities, np.ndarray) else probabilities
    if isinstance(several, str) or not isinstance(several, Iterable):
        one: Any = several
        return quantile(by, column, one, epsilon=epsilon, method=method, intervals=intervals)
    return Quantiles(column, tuple(several), epsilon, method, intervals, by)


def shares_of(given: tuple[Fraction, ...] | int | None) -> tuple[Fraction, ...]:
    """Shares as they are, or those between equal parts: a hundred of them where their number is not said."""
    if isinstance(given, tuple):
        return given
    many = integer("parts", PARTS if given is None else given, 2, MOST_PARTS)
    return tuple(Fraction(part, many) for part in range(1, many))
