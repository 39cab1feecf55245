"""Quantiles of the rows of several parties, and where those of the population lie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flou.errors import InvalidParameter
from flou.joint.estimators.distribution.distribution_fit import rank_of
from flou.joint.estimators.fit import Fit
from flou.joint.estimators.summary_table import SummaryTable, provenance_facts

__all__ = ["QuantilesFit", "around", "ranks"]


def around(p: float, rows: int, level: float) -> tuple[int, int]:
    """Ranks l and u such that the rows of these ranks hold the population's quantile between them.

    With B the number of rows up to the quantile q, binomial (rows, p) when the law is continuous, X(l) <= q < X(u)
    whenever l <= B < u; each side is missed with probability at most (1 - level)/2. Rank 0 stands for -inf and rank
    rows + 1 for inf. Where values repeat, X(l) <= q <= X(u) holds at least as often.
    """
    from scipy.stats import binom

    outside = (1 - level) / 2
    lower = int(binom.ppf(outside, rows, p))
    upper = int(binom.isf(outside, rows, p)) + 1
    return max(lower, 0), min(upper, rows + 1)


def ranks(probabilities: Sequence[float], rows: int, level: float | None) -> list[int]:
    """Every rank that is looked for, in order."""
    if rows == 0:
        return []
    wanted = {rank_of(p, rows) for p in probabilities}
    if level is not None:
        wanted.update(*(around(p, rows, level) for p in probabilities))
    return sorted(rank for rank in wanted if 1 <= rank <= rows)


@dataclass(frozen=True)
class QuantilesFit(Fit):
    """The values at the wanted ranks of ``n`` rows; ``granularity`` is 0 where they are the very numbers."""

    column: str
    probabilities: tuple[float, ...]
    n: int
    level: float | None
    granularity: float
    at_rank: Mapping[int, float]
    places: Mapping[int, tuple[int, int] | None]  # rows below the value, and rows that share it

    @property
    def ranks(self) -> tuple[int, ...]:
        return tuple(rank_of(p, self.n) for p in self.probabilities)

    @property
    def values(self) -> NDArray[np.float64]:
        """A quantile for each probability."""
        return np.array([self.at_rank[rank] for rank in self.ranks])

    @property
    def below(self) -> tuple[int | None, ...]:
        """How many rows lie below each value; None where it lies beyond the bounds."""
        return tuple(None if (place := self.places[rank]) is None else place[0] for rank in self.ranks)

    @property
    def equal(self) -> tuple[int | None, ...]:
        """How many rows have each value."""
        return tuple(None if (place := self.places[rank]) is None else place[1] for rank in self.ranks)

    def conf_int(self) -> NDArray[np.float64]:
        """Where the population's quantiles lie, a pair for each, each with the agreed ``level``.

        The rows are taken for independent draws from the population.
        """
        if self.level is None:
            raise InvalidParameter(
                "No level was agreed on.",
                "An interval lies between two more rows, which were not looked for.",
                "Ask for Quantiles(..., level=0.95).",
            )
        known = {0: -np.inf, self.n + 1: np.inf, **self.at_rank}
        return np.array([[known[rank] for rank in around(p, self.n, self.level)] for p in self.probabilities])

    def summary(self) -> str:
        """A line for each probability."""
        ends = np.full((len(self.probabilities), 0), 0.0) if self.level is None else self.conf_int()
        rows = [
            [f"{p:g}", *(f"{value:.10g}" for value in (value, *pair)), str(rank)]
            for p, value, pair, rank in zip(self.probabilities, self.values, ends, self.ranks, strict=True)
        ]
        heads = ["value", "rank"]
        if self.level is not None:
            heads[1:1] = [f"[{(1 - self.level) / 2:.3g}", f"{(1 + self.level) / 2:.3g}]"]
        facts = [("Column", self.column)], [("No. Observations", str(self.n))]
        exactness = "These are the very values of rows."
        if self.granularity:
            exactness = f"Values are multiples of {self.granularity:g}, counted from the lower bound."
        known = provenance_facts(self.provenance, self.n)
        return SummaryTable("Quantiles", *facts, heads, rows, known, [exactness]).text()
