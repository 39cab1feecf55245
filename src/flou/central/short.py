"""The shortest call that can be right: one column, its public bounds, a price."""

from __future__ import annotations

from typing import Any

from flou.central.price import Given
from flou.central.table import Table
from flou.domain import Boolean, Categories, Interval, Schema
from flou.errors import InvalidData, InvalidParameter
from flou.parameters import Number, Relation
from flou.release import Release
from flou.summaries.array.rows import ArrayRows

__all__ = [
    "NAME",
    "count",
    "density",
    "histogram",
    "majority",
    "mean",
    "mode",
    "one_column",
    "std",
    "sum",
    "top_k",
    "variance",
]

NAME = "values"


def one_column(
    values: Any, relation: Relation, bounds: Any = None, categories: Any = None, domain: Any = None
) -> Table:
    """A table of one column, in memory, whose domain is given in exactly one way."""
    if not hasattr(values, "__len__"):
        raise InvalidData(
            f"values must be a column, got a {type(values).__name__}.",
            "A statistic is about many rows.",
            "Pass a list, an array, or a column of a data frame.",
        )
    given = [choice for choice in (bounds, categories, domain) if choice is not None]
    if len(given) != 1:
        raise InvalidParameter(
            "What the values can be must be given in exactly one way.",
            "It is public, and flou never reads it from the data.",
            "Pass bounds=(0, 100) or domain=flou.Integers(0, 100) for numbers, for counts of answers also categories.",
        )
    if bounds is not None:
        if not isinstance(bounds, tuple | list) or len(bounds) != 2:
            raise InvalidParameter(
                "bounds must be a pair (lower, upper).",
                "Values are clamped to these public bounds.",
                "Pass for example bounds=(0, 100).",
            )
        domain = Interval(*bounds)
    elif categories is not None:
        domain = Categories(categories)
    return Table(ArrayRows({NAME: values}), Schema({NAME: domain}, relation=relation), None)


def count(
    values: Any,
    *,
    epsilon: Given = None,
    delta: Given = None,
    rho: Given = None,
    relation: Relation = "add-remove",
) -> Release:
    """How many values there are."""
    return one_column(values, relation, domain=Boolean()).count(epsilon=epsilon, delta=delta, rho=rho)


def sum(
    values: Any,
    *,
    bounds: Any = None,
    domain: Any = None,
    epsilon: Given = None,
    delta: Given = None,
    rho: Given = None,
    relation: Relation = "add-remove",
) -> Release:
    """The sum of numbers between public bounds."""
    return one_column(values, relation, bounds, domain=domain).sum(NAME, epsilon=epsilon, delta=delta, rho=rho)


def mean(
    values: Any,
    *,
    bounds: Any = None,
    domain: Any = None,
    epsilon: Given = None,
    delta: Given = None,
    rho: Given = None,
    relation: Relation = "add-remove",
) -> Release:
    """The mean of numbers between public bounds: ``flou.mean(x, bounds=(0, 100), epsilon=0.5)``."""
    return one_column(values, relation, bounds, domain=domain).mean(NAME, epsilon=epsilon, delta=delta, rho=rho)


def histogram(
    values: Any,
    *,
    bounds: Any = None,
    categories: Any = None,
    domain: Any = None,
    bins: int | None = None,
    epsilon: Given = None,
    delta: Given = None,
    rho: Given = None,
    relation: Relation = "add-remove",
) -> Release:
    """How many values fall into each of ``bins`` equal bins between bounds, or have each category."""
    return one_column(values, relation, bounds, categories, domain).histogram(
        NAME, bins=bins, epsilon=epsilon, delta=delta, rho=rho
    )


def variance(
    values: Any,
    *,
    bounds: Any = None,
    domain: Any = None,
    epsilon: Given = None,
    delta: Given = None,
    rho: Given = None,
    relation: Relation = "add-remove",
) -> Release:
    """The variance (divisor n - 1) of numbers between public bounds."""
    return one_column(values, relation, bounds, domain=domain).variance(NAME, epsilon=epsilon, delta=delta, rho=rho)


def std(
    values: Any,
    *,
    bounds: Any = None,
    domain: Any = None,
    epsilon: Given = None,
    delta: Given = None,
    rho: Given = None,
    relation: Relation = "add-remove",
) -> Release:
    """The standard deviation (divisor n - 1) of numbers between public bounds."""
    return one_column(values, relation, bounds, domain=domain).std(NAME, epsilon=epsilon, delta=delta, rho=rho)


def mode(
    values: Any,
    *,
    bounds: Any = None,
    categories: Any = None,
    domain: Any = None,
    bins: int | None = None,
    epsilon: Number,
    relation: Relation = "add-remove",
) -> Release:
    """The most common category, or the fullest of ``bins`` equal bins between bounds."""
    return one_column(values, relation, bounds, categories, domain).mode(NAME, bins=bins, epsilon=epsilon)


def top_k(
    values: Any,
    k: int,
    *,
    bounds: Any = None,
    categories: Any = None,
    domain: Any = None,
    bins: int | None = None,
    epsilon: Number,
    relation: Relation = "add-remove",
) -> Release:
    """The k most common categories, the most common first."""
    return one_column(values, relation, bounds, categories, domain).top_k(NAME, k, bins=bins, epsilon=epsilon)


def majority(values: Any, *, epsilon: Number, relation: Relation = "add-remove") -> Release:
    """Whether more values are true than false."""
    return one_column(values, relation, domain=Boolean()).majority(NAME, epsilon=epsilon)


def density(
    values: Any,
    *,
    bounds: Any = None,
    domain: Any = None,
    terms: int | None = None,
    points: int = 65,
    epsilon: Given = None,
    delta: Given = None,
    rho: Given = None,
    relation: Relation = "add-remove",
) -> Release:
    """The density of numbers between public bounds, at equally spaced points."""
    table = one_column(values, relation, bounds, domain=domain)
    return table.density(NAME, terms=terms, points=points, epsilon=epsilon, delta=delta, rho=rho)
