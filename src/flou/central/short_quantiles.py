"""The shortest calls for quantiles: one column, its public bounds, an epsilon."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from flou.central.quantiles.ecdf import POINTS
from flou.central.quantiles.quantiles import INTERVALS
from flou.central.short import NAME, one_column
from flou.central.table import Table
from flou.domain import Interval
from flou.errors import InvalidParameter
from flou.parameters import Number, Relation
from flou.release import Release

__all__ = ["boxplot", "ecdf", "iqr", "median", "quantile", "quantiles"]


def _numbers(values: Any, relation: Relation, bounds: Any, granularity: float | None, domain: Any) -> Table:
    if granularity is None:
        return one_column(values, relation, bounds, domain=domain)
    if domain is not None or not isinstance(bounds, tuple | list) or len(bounds) != 2:
        raise InvalidParameter(
            "granularity goes with bounds=(lower, upper).",
            "It says that all values are lower plus a multiple of it; a domain says that by itself.",
            "Pass for example bounds=(0, 300_000) and granularity=1000.",
        )
    return one_column(values, relation, domain=Interval(*bounds, granularity=granularity))


def quantile(
    values: Any,
    p: Number,
    *,
    bounds: Any = None,
    granularity: float | None = None,
    domain: Any = None,
    epsilon: Number,
    method: str = "auto",
    intervals: Number = INTERVALS,
    relation: Relation = "add-remove",
) -> Release:
    """The value below which a share p of the values lies."""
    table = _numbers(values, relation, bounds, granularity, domain)
    return table.quantile(NAME, p, epsilon=epsilon, method=method, intervals=intervals)


def quantiles(
    values: Any,
    probabilities: Number | Iterable[Number],
    *,
    bounds: Any = None,
    granularity: float | None = None,
    domain: Any = None,
    epsilon: Number,
    method: str = "auto",
    intervals: Number = INTERVALS,
    relation: Relation = "add-remove",
) -> Release:
    """Several quantiles at once: ``flou.quantiles(x, flou.deciles, bounds=(0, 300_000), epsilon=1)``.

    ``bounds`` are public; so is ``granularity``, if all values are multiples of it, counted from the lower bound (pay
    in whole euros: 1), and then answers are multiples too and ties are no harm. Of ``epsilon``, which is the total, the
    share ``intervals`` pays for intervals, and with 0 there are none. ``method`` is chosen by what is public, and
    ``release.certificate["mechanism"]`` says which and why; "focused" has narrow intervals, "joint" near answers.
    Missing values count as the middle of the bounds, or as the ``missing`` of ``domain=flou.Interval(...)``.
    """
    table = _numbers(values, relation, bounds, granularity, domain)
    return table.quantiles(NAME, probabilities, epsilon=epsilon, method=method, intervals=intervals)


def median(
    values: Any,
    *,
    bounds: Any = None,
    granularity: float | None = None,
    domain: Any = None,
    epsilon: Number,
    method: str = "auto",
    intervals: Number = INTERVALS,
    relation: Relation = "add-remove",
) -> Release:
    """The value in the middle: ``flou.median(x, bounds=(0, 100), epsilon=0.5)``."""
    table = _numbers(values, relation, bounds, granularity, domain)
    return table.median(NAME, epsilon=epsilon, method=method, intervals=intervals)


def iqr(
    values: Any,
    *,
    bounds: Any = None,
    granularity: float | None = None,
    domain: Any = None,
    epsilon: Number,
    method: str = "auto",
    intervals: Number = INTERVALS,
    relation: Relation = "add-remove",
) -> Release:
    """The interquartile range: how far apart the first and the third quartile are."""
    table = _numbers(values, relation, bounds, granularity, domain)
    return table.iqr(NAME, epsilon=epsilon, method=method, intervals=intervals)


def boxplot(
    values: Any,
    *,
    bounds: Any = None,
    granularity: float | None = None,
    domain: Any = None,
    epsilon: Number,
    method: str = "auto",
    intervals: Number = INTERVALS,
    relation: Relation = "add-remove",
) -> Release:
    """The five numbers of a box plot: the quartiles, and the 5 % and 95 % quantiles as whiskers."""
    table = _numbers(values, relation, bounds, granularity, domain)
    return table.boxplot(NAME, epsilon=epsilon, method=method, intervals=intervals)


def ecdf(
    values: Any,
    *,
    bounds: Any = None,
    granularity: float | None = None,
    domain: Any = None,
    points: int = POINTS,
    epsilon: Number,
    relation: Relation = "add-remove",
) -> Release:
    """The distribution function: the share of values up to some points, and ``at`` any other."""
    table = _numbers(values, relation, bounds, granularity, domain)
    return table.ecdf(NAME, points=points, epsilon=epsilon)
