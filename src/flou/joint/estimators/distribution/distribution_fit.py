"""What counts of the rows of several parties say about a distribution."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from flou.errors import InvalidData, InvalidParameter
from flou.joint.estimators.fit import Fit
from flou.joint.estimators.summary_table import SummaryTable, provenance_facts
from flou.parameters import Number, open_probability, probability

__all__ = ["EcdfFit", "HistogramFit", "no_rows", "rank_of"]


def rank_of(p: float, rows: int) -> int:
    """The rank of a quantile, the lowest being 1: the least rank of at least ``p * rows``, in doubles, as in NumPy."""
    return max(1, math.ceil(p * rows - 1) + 1)


@dataclass(frozen=True)
class HistogramFit(Fit):
    """Counts in bins (``edges``) or of ``categories``; ``above`` counts the rows of no category as well."""

    column: str
    edges: tuple[float, ...] | None
    categories: tuple[str | int | bool, ...] | None
    counts: tuple[int, ...]
    below: int
    above: int

    @property
    def n(self) -> int:
        """Rows of all parties, those outside the bins included."""
        return sum(self.counts) + self.below + self.above

    @property
    def shares(self) -> NDArray[np.float64]:
        """The part of all rows in each bin."""
        return np.array(self.counts) / max(self.n, 1)

    @cached_property
    def _ends(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """The edges, and how many rows lie below each (the last bin holds its upper edge)."""
        if self.edges is None:
            raise InvalidParameter(
                f"Column {self.column!r} was counted by category.",
                "Categories have no order.",
                "Ask for a histogram with edges.",
            )
        return np.array(self.edges), self.below + np.concatenate([[0], np.cumsum(self.counts)])

    def ecdf(self, x: float) -> tuple[float, float]:
        """The share of rows up to and with ``x`` lies between these two."""
        edges, below = self._ends
        x, n = float(x), max(self.n, 1)
        if x < edges[0]:
            return 0.0, self.below / n
        if x >= edges[-1]:
            return float(below[-1]) / n, 1.0 if x > edges[-1] else float(below[-1]) / n
        place = int(np.searchsorted(edges, x, side="right")) - 1
        return float(below[place]) / n, float(below[place + 1]) / n

    def quantile_bounds(self, p: float) -> tuple[float, float]:
        """The bin that holds the quantile: the least value that at least a share ``p`` of the rows does not exceed."""
        edges, below = self._ends
        if self.n == 0:
            raise no_rows(self.column)
        rank = rank_of(float(probability("p", p)), self.n)
        place = int(np.searchsorted(below, rank, side="left"))
        left = -math.inf if place == 0 else float(edges[place - 1])
        return left, math.inf if place == len(edges) else float(edges[place])

    def summary(self) -> str:
        """A line for each bin."""
        if self.edges is None:
            names = [str(value) for value in self.categories or ()]
            rows = [*zip(names, self.counts, strict=True), ("(other)", self.above)]
        else:
            pairs = pairwise(self.edges)
            names = [f"[{left:g}, {right:g}{']' if right == self.edges[-1] else ')'}" for left, right in pairs]
            rows = [("below", self.below), *zip(names, self.counts, strict=True), ("above", self.above)]
        return _table("Histogram", rows, self)


@dataclass(frozen=True)
class EcdfFit(Fit):
    """How many of ``n`` rows are at most each of the points ``at``."""

    column: str
    at: tuple[float, ...]
    counts: tuple[int, ...]
    n: int

    @property
    def values(self) -> NDArray[np.float64]:
        """The share of rows up to and with each point."""
        return np.array(self.counts) / max(self.n, 1)

    def band(self, level: Number = 0.95) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Where the population's distribution function lies at all points at once (Dvoretzky-Kiefer-Wolfowitz).

        The rows are taken for independent draws from the population.
        """
        if self.n == 0:
            raise no_rows(self.column)
        outside = 1 - float(open_probability("level", level))
        half = math.sqrt(math.log(2 / outside) / (2 * self.n))
        return np.maximum(self.values - half, 0.0), np.minimum(self.values + half, 1.0)

    def summary(self) -> str:
        """A line for each point."""
        rows = [(f"<= {point:g}", count) for point, count in zip(self.at, self.counts, strict=True)]
        return _table("Distribution function", rows, self)


def _table(title: str, rows: list[tuple[str, int]], fit: HistogramFit | EcdfFit) -> str:
    lines = [[name, str(count), f"{count / max(fit.n, 1):.4f}"] for name, count in rows]
    facts = [("Column", fit.column)], [("No. Observations", str(fit.n))]
    return SummaryTable(title, *facts, ("rows", "share"), lines, provenance_facts(fit.provenance, fit.n)).text()


def no_rows(column: str) -> InvalidData:
    return InvalidData(
        f"No party has a row with a value of {column!r}.",
        "Of no rows there is no distribution.",
        "Check the name of the column and the filters of the plan.",
    )
