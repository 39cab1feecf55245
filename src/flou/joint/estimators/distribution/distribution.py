"""Histograms and distribution functions: one round of exact counts.

Opens      histogram of numbers: bins + 2 counts (the two count the rows below and above the edges);
           histogram of categories: one count for each and one for all other values;
           distribution function: points + 1 counts
Bins       as in NumPy: each holds its left edge and not its right one, the last holds both
Exact      every count is the number of rows of all parties, and nothing is known within a bin: what follows from
           counts are bounds, never interpolations
Limits     a small count tells about few people; the parties' policies say how much may be opened
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from flou.domain import Domain, Schema
from flou.errors import InvalidData, InvalidParameter
from flou.joint.estimators.fit import Fit
from flou.joint.estimators.party_rows import PartyRows
from flou.joint.estimators.program import Ask, Opened, Program
from flou.joint.estimators.summary_table import SummaryTable
from flou.parameters import Number, checked_text, integer, is_number, open_probability, probability, shown

__all__ = ["Ecdf", "EcdfFit", "Histogram", "HistogramFit", "no_rows", "rank_of"]


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

    @property
    def labels(self) -> tuple[str, ...]:
        """What each count is about."""
        if self.edges is None:
            return tuple(str(value) for value in self.categories or ())
        last = self.edges[-1]
        return tuple(f"[{a:g}, {b:g}{']' if b == last else ')'}" for a, b in pairwise(self.edges))

    def summary(self) -> str:
        """A line for each bin."""
        return _table("Histogram", labelled(self), self)


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


def labelled(fit: HistogramFit) -> list[tuple[str, int]]:
    """Every count with its label, those outside the bins included."""
    inside = [*zip(fit.labels, fit.counts, strict=True)]
    if fit.edges is None:
        return [*inside, ("(other)", fit.above)]
    return [("below", fit.below), *inside, ("above", fit.above)]


def _table(title: str, rows: list[tuple[str, int]], fit: HistogramFit | EcdfFit) -> str:
    lines = [[name, str(count), f"{count / max(fit.n, 1):.4f}"] for name, count in rows]
    facts = [("Column", fit.column)], [("No. Observations", str(fit.n))]
    return SummaryTable(title, *facts, ("rows", "share"), lines, fit._provenance_facts(fit.n)).text()


def no_rows(column: str) -> InvalidData:
    return InvalidData(
        f"No party has a row with a value of {column!r}.",
        "A distribution needs at least one row.",
        "Check the name of the column and the filters of the plan.",
    )


Category: TypeAlias = str | int | bool

MOST_ROWS = 2**40
MOST_COUNTS = 2**20
BINS = 20


class _Counts(Program):
    """Counts of one column's values in public places, in one round."""

    column: str

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    def next(self, opened: Sequence[Opened]) -> Ask | None:
        return None if opened else Ask("counts", self.scalars, MOST_ROWS)

    def words(self, ask: Ask, rows: PartyRows) -> list[int]:
        counts = np.zeros(ask.length, dtype=np.int64)
        for batch in rows.batches(self.columns):
            counts += np.bincount(self._codes(batch[self.column]), minlength=ask.length)
        return [int(count) for count in counts]

    @abstractmethod
    def _codes(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """The place of each value."""


class Histogram(_Counts):
    """How many rows fall into each bin, or have each of the public categories."""

    estimator, _required, _optional = "histogram", ("column",), ("edges", "categories")

    def __init__(
        self,
        column: str,
        *,
        edges: Sequence[float] | None = None,
        bins: int | None = None,
        bounds: tuple[float, float] | None = None,
        categories: Sequence[Category] | None = None,
        schema: Any = None,
    ) -> None:
        """Edges, or ``bins`` of equal width between ``bounds``, or categories; or what a schema says of the column."""
        self.column = checked_text("column", column)
        if schema is not None and edges is None and categories is None:
            edges, bounds, categories = _declared(Schema.of(schema)[column], bins, bounds)
        if edges is None and categories is None and bounds is not None:
            edges = _equal(bounds, BINS if bins is None else bins)
        if (edges is None) == (categories is None):
            raise InvalidParameter(
                "A histogram needs edges or categories, and only one of them.",
                "Bins are public: they are never read from the rows.",
                "Pass edges=[0, 10, 20], bins=10 with bounds=(0, 100), or categories=['a', 'b'].",
            )
        self.edges = None if edges is None else _increasing("edges", edges, 2)
        self.categories = None if categories is None else _categories(categories)

    @property
    def scalars(self) -> int:
        return len(self.categories) + 1 if self.categories is not None else len(self.edges or ()) + 1

    def _codes(self, values: NDArray[Any]) -> NDArray[np.int64]:
        if self.categories is not None:
            return _places(self.column, values, self.categories)
        edges = np.array(self.edges)
        codes = np.searchsorted(edges, numbers(self.column, values), side="right")
        codes[values == edges[-1]] = len(edges) - 1
        return codes.astype(np.int64)

    def result(self, opened: Sequence[Opened]) -> HistogramFit:
        sums = opened[-1].sums
        if self.categories is not None:
            return HistogramFit(self.column, None, self.categories, sums[:-1], 0, sums[-1])
        return HistogramFit(self.column, self.edges, None, sums[1:-1], sums[0], sums[-1])

    def terms(self) -> dict[str, Any]:
        if self.categories is not None:
            return {"column": self.column, "categories": list(self.categories)}
        return {"column": self.column, "edges": list(self.edges or ())}


class Ecdf(_Counts):
    """The share of rows up to and with each of a list of public points."""

    estimator, _required = "ecdf", ("column", "at")

    def __init__(self, column: str, at: Sequence[float]) -> None:
        self.column = checked_text("column", column)
        self.at = _increasing("at", at, 1)

    @property
    def scalars(self) -> int:
        return len(self.at) + 1

    def _codes(self, values: NDArray[Any]) -> NDArray[np.int64]:
        return np.searchsorted(np.array(self.at), numbers(self.column, values), side="left")

    def result(self, opened: Sequence[Opened]) -> EcdfFit:
        below = np.cumsum(opened[-1].sums)
        return EcdfFit(self.column, self.at, tuple(int(count) for count in below[:-1]), int(below[-1]))

    def terms(self) -> dict[str, Any]:
        return {"column": self.column, "at": list(self.at)}


def numbers(column: str, values: NDArray[Any]) -> NDArray[np.float64]:
    """The values of a column that must hold numbers."""
    if values.dtype.kind != "f" and len(values):
        raise InvalidData(
            f"Column {column!r} holds texts.",
            "The plan orders its values as numbers.",
            "Use a column of numbers, or count categories.",
        )
    return values.astype(np.float64)


def _places(column: str, values: NDArray[Any], categories: tuple[Category, ...]) -> NDArray[np.int64]:
    """The place of each value in the list; behind its end for all others."""
    texts = isinstance(categories[0], str)
    if len(values) and (values.dtype.kind == "f") == texts:
        raise InvalidData(
            f"Column {column!r} holds {'numbers' if texts else 'texts'}.",
            f"The categories of the plan are {'texts' if texts else 'numbers'}, so no row could match.",
            "List the categories in the type of the column.",
        )
    keys = np.array(categories, dtype=None if texts else np.float64)
    order = np.argsort(keys)
    near = order[np.minimum(np.searchsorted(keys, values, sorter=order), len(keys) - 1)]
    return np.where(keys[near] == values, near, len(keys)).astype(np.int64)


def _declared(domain: Domain, bins: int | None, bounds: Any) -> tuple[Any, Any, Any]:
    """Edges, bounds or categories that follow from a schema."""
    numbers = domain.numbers
    if numbers is None or numbers.binary:
        return None, None, domain.levels
    if numbers.discrete and bins is None and bounds is None and numbers.size < MOST_COUNTS:
        return numbers.places(np.arange(numbers.size + 1)), None, None
    return None, numbers.bounds if bounds is None else bounds, None


def _equal(bounds: Any, bins: int) -> tuple[float, ...]:
    lower, upper = limits(bounds)
    count = integer("bins", bins, 1, MOST_COUNTS)
    return (*(lower + (upper - lower) * place / count for place in range(count)), upper)


def limits(bounds: Any) -> tuple[float, float]:
    """Two finite numbers, the first below the second by a finite amount."""
    pair = tuple(bounds) if isinstance(bounds, tuple | list) else ()
    if len(pair) != 2 or not all(map(is_number, pair)) or not 0 < float(pair[1]) - float(pair[0]) < math.inf:
        raise InvalidParameter(
            f"bounds must be two numbers, the lower one first, got {shown(bounds)}.",
            "They are public and say where values are looked for.",
            "Pass for example bounds=(0, 100).",
        )
    return float(pair[0]), float(pair[1])


def _increasing(name: str, values: Any, least: int) -> tuple[float, ...]:
    listed = list(values) if isinstance(values, Sequence | np.ndarray) and not isinstance(values, str) else []
    if (
        not least <= len(listed) <= MOST_COUNTS
        or not all(map(is_number, listed))
        or any(float(right) <= float(left) for left, right in pairwise(listed))
    ):
        raise InvalidParameter(
            f"{name} must be a list of at least {least} increasing numbers, got {shown(values)}.",
            "They are public and divide the range of values.",
            f"Pass for example {name}=[0, 10, 20].",
        )
    return tuple(float(value) for value in listed)


def _categories(values: Any) -> tuple[Category, ...]:
    listed = list(values) if isinstance(values, Sequence | np.ndarray) and not isinstance(values, str) else []
    texts = all(isinstance(value, str) for value in listed)
    whole = all(isinstance(value, bool | int | np.integer) and abs(int(value)) <= 2**53 for value in listed)
    keys = set(listed) if texts else {int(value) for value in listed} if whole else set()
    if not 1 <= len(listed) <= MOST_COUNTS or len(keys) != len(listed):
        raise InvalidParameter(
            f"categories must be distinct texts, or distinct whole numbers or truth values, got {shown(values)}.",
            "They are public, and a row has one of them or none.",
            "Pass for example categories=['care', 'research'].",
        )
    return tuple(value if isinstance(value, str | bool) else int(value) for value in listed)
