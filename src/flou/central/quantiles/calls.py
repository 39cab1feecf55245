"""Quantiles as users call them, on a table and group by group."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from flou.central.quantiles.ecdf import POINTS, Ecdf
from flou.central.quantiles.quantiles import INTERVALS, Quantiles, Range
from flou.central.question import Question
from flou.parameters import Number, probability
from flou.release import Release

__all__ = ["QuantileCalls", "deciles", "quartiles"]

deciles = tuple(Fraction(i, 10) for i in range(1, 10))
quartiles = tuple(Fraction(i, 4) for i in range(1, 4))
FIVE = (Fraction(1, 20), *quartiles, Fraction(19, 20))  # of a box plot: the box, its middle, and the whiskers
OUTER = (quartiles[0], quartiles[2])  # between which half of the rows lie


class QuantileCalls(ABC):
    """Quantiles of a column. ``epsilon`` is the total; of it, the share ``intervals`` pays for intervals.

    ``method`` is "auto" or one of flou.central.quantiles.plan.METHODS; the release says what was chosen, and why.
    """

    _grouping: str | None = None  # the column whose groups are asked about, one by one

    @abstractmethod
    def _one(self, question: Question) -> Release:
        """The answer to one question."""

    def quantile(
        self,
        column: str,
        p: Number,
        *,
        epsilon: Number,
        method: str = "auto",
        intervals: Number = INTERVALS,
    ) -> Release:
        """The value below which a share p of the rows lies."""
        one = probability("p", p)
        return self._one(
            Quantiles(column, one, epsilon, method, intervals, self._grouping, f"{float(one):.10g}-quantile")
        )

    def quantiles(
        self,
        column: str,
        probabilities: Number | Iterable[Number],
        *,
        epsilon: Number,
        method: str = "auto",
        intervals: Number = INTERVALS,
    ) -> Release:
        """Several quantiles at once: ``table.quantiles("salary", flou.deciles, epsilon=1)``.

        One number instead of a list is one quantile, as ``quantile`` answers it.
        """
        several: Any = probabilities.tolist() if isinstance(probabilities, np.ndarray) else probabilities
        if isinstance(several, str) or not isinstance(several, Iterable):
            one: Any = several
            return self.quantile(column, one, epsilon=epsilon, method=method, intervals=intervals)
        return self._one(Quantiles(column, tuple(several), epsilon, method, intervals, self._grouping))

    def median(
        self,
        column: str,
        *,
        epsilon: Number,
        method: str = "auto",
        intervals: Number = INTERVALS,
    ) -> Release:
        """The value in the middle."""
        return self._one(Quantiles(column, Fraction(1, 2), epsilon, method, intervals, self._grouping, "median"))

    def iqr(self, column: str, *, epsilon: Number, method: str = "auto", intervals: Number = INTERVALS) -> Release:
        """The interquartile range: how far apart the first and the third quartile are."""
        return self._one(Range(column, OUTER, epsilon, method, intervals, self._grouping, "iqr"))

    def boxplot(self, column: str, *, epsilon: Number, method: str = "auto", intervals: Number = INTERVALS) -> Release:
        """The five numbers of a box plot: the quartiles, and the 5 % and 95 % quantiles as whiskers."""
        return self._one(Quantiles(column, FIVE, epsilon, method, intervals, self._grouping, "boxplot"))

    def quartiles(
        self, column: str, *, epsilon: Number, method: str = "auto", intervals: Number = INTERVALS
    ) -> Release:
        """The values below which a quarter, a half and three quarters of the rows lie."""
        return self._one(
            Quantiles(column, quartiles, epsilon, method, intervals, by=self._grouping, statistic="quartiles")
        )

    def deciles(self, column: str, *, epsilon: Number, method: str = "auto", intervals: Number = INTERVALS) -> Release:
        """The nine values below which a tenth, two tenths, ... of the rows lie."""
        return self._one(Quantiles(column, deciles, epsilon, method, intervals, by=self._grouping, statistic="deciles"))

    def ecdf(self, column: str, *, points: int = POINTS, epsilon: Number) -> Release:
        """The distribution function: the share of rows up to a value, shown at some points, and ``at`` any other."""
        return self._one(Ecdf(column, epsilon, points, self._grouping))
