# Written by docs/make_signatures.py from the registry of statistics (registry.py); do not edit.

from collections.abc import Iterable, Sequence

from flou.arrays import Bounds, Values
from flou.central.price import Given
from flou.domain import Domain
from flou.parameters import Number, Relation
from flou.release import Release

__all__ = [
    "boxplot",
    "count",
    "density",
    "ecdf",
    "histogram",
    "iqr",
    "majority",
    "mean",
    "median",
    "mode",
    "quantile",
    "quantiles",
    "std",
    "sum",
    "top_k",
    "variance",
]

def boxplot(
    values: Values,
    *,
    bounds: Bounds | None = ...,
    granularity: float | None = ...,
    domain: Domain | None = ...,
    epsilon: Number,
    method: str = ...,
    intervals: Number = ...,
    relation: Relation = ...,
) -> Release: ...
def count(
    values: Values,
    *,
    epsilon: Given = ...,
    delta: Given = ...,
    rho: Given = ...,
    relation: Relation = ...,
) -> Release: ...
def density(
    values: Values,
    *,
    bounds: Bounds | None = ...,
    domain: Domain | None = ...,
    terms: int | None = ...,
    points: int = ...,
    epsilon: Given = ...,
    delta: Given = ...,
    rho: Given = ...,
    relation: Relation = ...,
) -> Release: ...
def ecdf(
    values: Values,
    *,
    bounds: Bounds | None = ...,
    granularity: float | None = ...,
    domain: Domain | None = ...,
    points: int = ...,
    epsilon: Number,
    relation: Relation = ...,
) -> Release: ...
def histogram(
    values: Values,
    *,
    bounds: Bounds | None = ...,
    categories: Sequence[str | int | bool] | None = ...,
    domain: Domain | None = ...,
    bins: int | None = ...,
    epsilon: Given = ...,
    delta: Given = ...,
    rho: Given = ...,
    relation: Relation = ...,
) -> Release: ...
def iqr(
    values: Values,
    *,
    bounds: Bounds | None = ...,
    granularity: float | None = ...,
    domain: Domain | None = ...,
    epsilon: Number,
    method: str = ...,
    intervals: Number = ...,
    relation: Relation = ...,
) -> Release: ...
def majority(
    values: Values,
    *,
    epsilon: Number,
    relation: Relation = ...,
) -> Release: ...
def mean(
    values: Values,
    *,
    bounds: Bounds | None = ...,
    domain: Domain | None = ...,
    epsilon: Given = ...,
    delta: Given = ...,
    rho: Given = ...,
    relation: Relation = ...,
) -> Release: ...
def median(
    values: Values,
    *,
    bounds: Bounds | None = ...,
    granularity: float | None = ...,
    domain: Domain | None = ...,
    epsilon: Number,
    method: str = ...,
    intervals: Number = ...,
    relation: Relation = ...,
) -> Release: ...
def mode(
    values: Values,
    *,
    bounds: Bounds | None = ...,
    categories: Sequence[str | int | bool] | None = ...,
    domain: Domain | None = ...,
    bins: int | None = ...,
    epsilon: Number,
    relation: Relation = ...,
) -> Release: ...
def quantile(
    values: Values,
    p: Number,
    *,
    bounds: Bounds | None = ...,
    granularity: float | None = ...,
    domain: Domain | None = ...,
    epsilon: Number,
    method: str = ...,
    intervals: Number = ...,
    relation: Relation = ...,
) -> Release: ...
def quantiles(
    values: Values,
    probabilities: Number | Iterable[Number],
    *,
    bounds: Bounds | None = ...,
    granularity: float | None = ...,
    domain: Domain | None = ...,
    epsilon: Number,
    method: str = ...,
    intervals: Number = ...,
    relation: Relation = ...,
) -> Release: ...
def std(
    values: Values,
    *,
    bounds: Bounds | None = ...,
    domain: Domain | None = ...,
    epsilon: Given = ...,
    delta: Given = ...,
    rho: Given = ...,
    relation: Relation = ...,
) -> Release: ...
def sum(
    values: Values,
    *,
    bounds: Bounds | None = ...,
    domain: Domain | None = ...,
    epsilon: Given = ...,
    delta: Given = ...,
    rho: Given = ...,
    relation: Relation = ...,
) -> Release: ...
def top_k(
    values: Values,
    k: int,
    *,
    bounds: Bounds | None = ...,
    categories: Sequence[str | int | bool] | None = ...,
    domain: Domain | None = ...,
    bins: int | None = ...,
    epsilon: Number,
    relation: Relation = ...,
) -> Release: ...
def variance(
    values: Values,
    *,
    bounds: Bounds | None = ...,
    domain: Domain | None = ...,
    epsilon: Given = ...,
    delta: Given = ...,
    rho: Given = ...,
    relation: Relation = ...,
) -> Release: ...
