"""Quantiles of the rows of all parties, exactly, in at most four rounds of counts.

Answer     the least value that at least a share p of the rows does not exceed, at rank ceil(p n), the lowest for p = 0:
           ``numpy.quantile(pooled, p, method="inverted_cdf")``, p n being computed in doubles as NumPy does
Grid       with bounds, the multiples of ``granularity`` (2^-20 of the width if not given) from the lower bound on:
           right for values on this grid, and otherwise the right value rounded to it. With ``exact=True`` every
           double is a point of the grid, bounds may be left out, and the answer is the very number
Rounds     the first counts the rows in equal runs of grid points; each later one cuts only the runs that hold the
           wanted ranks. A run with one row is not cut: the place of this row in it is opened, and it is the answer
Opens      B + 2 counts first (two count the rows below and above the bounds), then at most B for each wanted rank a
           round, B being the least number that suffices: 1025 in each of 2 rounds by default, 65536 in each of 4 for
           all doubles (256 with ``rounds=8``). Counts show the rows next to a quantile as finely as the quantile:
           where a granularity is public, give it
Parties    counts over other parties are of no use: the search begins again, at most ``restarts`` times
Limits     a rank below or above the bounds gives -inf or inf
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flou.domain import Domain, Schema, require_numbers
from flou.errors import InvalidParameter, ProtocolError
from flou.joint.estimators.distribution.distribution import MOST_ROWS, limits, no_rows, numbers, rank_of
from flou.joint.estimators.distribution.quantile_search import FloatGrid, GrainGrid, OrderedGrid, Search, latest
from flou.joint.estimators.fit import Fit
from flou.joint.estimators.party_rows import PartyRows
from flou.joint.estimators.program import Ask, Opened, Program
from flou.joint.estimators.summary_table import SummaryTable
from flou.parameters import Number, checked_text, integer, is_number, open_probability, shown
from flou.parameters import exact as rational

__all__ = ["Quantiles", "QuantilesFit", "around", "ranks"]


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
    """The values at the wanted ranks of ``n`` rows; ``granularity`` is 0 where they are exact."""

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
                "An interval needs two more ranks, which were not searched for.",
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
        exactness = "The values are exact values of rows."
        if self.granularity:
            exactness = f"Values are multiples of {self.granularity:g}, counted from the lower bound."
        known = self._provenance_facts(self.n)
        return SummaryTable("Quantiles", *facts, heads, rows, known, [exactness]).text()


ROUNDS, MOST_ROUNDS = 4, 64
CELLS, MOST_CELLS = 1025, 2**20
GRAINS = 2**20
MOST_PROBABILITIES = 1000
TERMS = ("column", "probabilities", "bounds", "granularity", "exact", "cells", "rounds", "level", "restarts")


class Quantiles(Program):
    """Quantiles of a column, and with ``level`` intervals for those of the population, between two of the rows."""

    estimator, _required, _optional = "quantiles", TERMS[:1], TERMS[1:]

    def __init__(
        self,
        column: str,
        probabilities: Any = (0.25, 0.5, 0.75),
        bounds: tuple[float, float] | None = None,
        *,
        granularity: Number | None = None,
        exact: bool = False,
        cells: int | None = None,
        rounds: int = ROUNDS,
        level: Number | None = None,
        restarts: int = 1,
        schema: Any = None,
    ) -> None:
        self.column = checked_text("column", column)
        self.probabilities = _probabilities(probabilities)
        if schema is not None and not exact:
            bounds, granularity = _declared(column, Schema.of(schema)[column], bounds, granularity)
        self.bounds = None if bounds is None else limits(bounds)
        self.granularity = None if granularity is None else _grain(granularity)
        self.exact = exact is True
        self.level = None if level is None else float(open_probability("level", level))
        self.restarts = integer("restarts", restarts, 0, 1000)
        self.rounds = integer("rounds", rounds, 1, MOST_ROUNDS)
        least = 1 << -(-64 // self.rounds) if self.exact else CELLS
        self.cells = integer("cells", min(least, MOST_CELLS) if cells is None else cells, 2, MOST_CELLS)
        self.grid = self._grid()
        self.search = Search.of(self.grid.size, self.cells, self.rounds)

    def _grid(self) -> OrderedGrid:
        if self.exact and self.granularity is None:
            return FloatGrid() if self.bounds is None else FloatGrid(*self.bounds)
        if self.exact or self.bounds is None:
            raise InvalidParameter(
                "Quantiles need bounds, or exact=True without a granularity.",
                "The grid of values is public: it is never read from the rows.",
                "Pass for example bounds=(0, 100) and granularity=1, or exact=True for the exact float.",
            )
        lower, upper = map(rational, self.bounds)
        step = (upper - lower) / GRAINS if self.granularity is None else rational(self.granularity)
        return GrainGrid(lower, upper, step)

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def scalars(self) -> int:
        wanted = len(self.probabilities) * (1 if self.level is None else 3)
        return self.search.most(wanted) * (1 + self.restarts)

    def next(self, opened: Sequence[Opened]) -> Ask | None:
        tail = latest(opened)
        if not tail:
            begun = sum(past.ask.step == "first" for past in opened)
            return Ask("first", self.search.beginning, MOST_ROWS) if begun <= self.restarts else None
        wanted = ranks(self.probabilities, sum(tail[0].sums), self.level)
        runs = [run for run in self.search.runs(tail, wanted).values() if run is not None and not run.known]
        if not runs:
            return None
        width = runs[0].width
        single = sorted({run.start for run in runs if run.count == 1})
        several = sorted({run.start for run in runs if run.count > 1})
        length = len(single) + self.search.branching * len(several)
        return Ask("within", length, max(MOST_ROWS, width), {"width": width, "single": single, "several": several})

    def words(self, ask: Ask, rows: PartyRows) -> list[int]:
        words = [0] * ask.length
        for batch in rows.batches(self.columns):
            codes, below, above = self.grid.codes(numbers(self.column, batch[self.column]))
            if ask.step == "first":
                places = (codes // np.uint64(self.search.width(1))).astype(np.int64) + 1
                _add(words, np.bincount(places, minlength=ask.length))
                words[0] += below
                words[-1] += above
            else:
                self._within(ask.parameters, codes, words)
        return words

    def _within(self, asked: Mapping[str, Any], codes: NDArray[np.uint64], words: list[int]) -> None:
        width, single, several = asked["width"], asked["single"], asked["several"]
        for run, offset in zip(*_located(codes, single, width), strict=True):
            words[run] += int(offset)
        branching = self.search.branching
        run, offset = _located(codes, several, width)
        places = run * branching + (offset // np.uint64(width // branching)).astype(np.int64)
        _add(words, np.bincount(places, minlength=len(several) * branching), len(single))

    def result(self, opened: Sequence[Opened]) -> QuantilesFit:
        tail = latest(opened)
        if not tail:
            raise ProtocolError(
                "Parties have left during the search for quantiles.",
                "Counts over different parties cannot be combined, and no further restart was allowed.",
                "Ask again among the parties that remain, or allow more restarts.",
            )
        n = sum(tail[0].sums)
        if n == 0:
            raise no_rows(self.column)
        runs = self.search.runs(tail, ranks(self.probabilities, n, self.level))
        beyond = {rank: -np.inf if rank <= tail[0].sums[0] else np.inf for rank in runs}
        return QuantilesFit(
            self.column,
            self.probabilities,
            n,
            self.level,
            self.grid.grain,
            {rank: beyond[rank] if run is None else self.grid.value(run.start) for rank, run in runs.items()},
            {rank: None if run is None else (rank - run.rank, run.count) for rank, run in runs.items()},
        )

    def terms(self) -> dict[str, Any]:
        terms = {name: getattr(self, name) for name in TERMS}
        return terms | {
            "probabilities": list(self.probabilities),
            "bounds": None if self.bounds is None else list(self.bounds),
        }


def _add(words: list[int], counts: NDArray[np.int64], begin: int = 0) -> None:
    for place in np.flatnonzero(counts).tolist():
        words[begin + place] += int(counts[place])


def _located(
    codes: NDArray[np.uint64], starts: Sequence[int], width: int
) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """Of the codes that lie in one of the runs: which run, and how far into it."""
    begins = np.array(starts, dtype=np.uint64)
    run = np.searchsorted(begins, codes, side="right") - 1
    codes, run = codes[run >= 0], run[run >= 0]
    offset = codes - begins[run]
    inside = offset < width
    return run[inside].astype(np.int64), offset[inside]


def _probabilities(values: Any) -> tuple[float, ...]:
    listed = [values] if is_number(values) else list(values) if isinstance(values, Sequence | np.ndarray) else []
    if not 1 <= len(listed) <= MOST_PROBABILITIES or not all(is_number(p) and 0 <= p <= 1 for p in listed):
        raise InvalidParameter(
            f"probabilities must be one or more numbers from 0 to 1, got {shown(values)}.",
            "A quantile is the least value that this share of the rows does not exceed.",
            "Pass for example probabilities=(0.25, 0.5, 0.75).",
        )
    return tuple(float(p) for p in listed)


def _grain(value: Any) -> float:
    if not is_number(value) or not float(value) > 0:
        raise InvalidParameter(
            f"granularity must be a positive number, got {shown(value)}.",
            "Values are multiples of it, counted from the lower bound.",
            "Pass for example granularity=1 for whole numbers.",
        )
    return float(value)


def _declared(column: str, domain: Domain, bounds: Any, granularity: Any) -> tuple[Any, Any]:
    """What a schema says, where nothing else was said."""
    why = "A quantile is the least value that a share of the rows does not exceed."
    numbers = require_numbers(column, domain, "order", why)
    return bounds or numbers.bounds, granularity or numbers.granularity
