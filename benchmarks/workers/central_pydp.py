"""PyDP's side of the benchmark of tables: values one by one from Python lists, so the lists are there already.

Its noise is for one row more or less (add-remove): the mean pays for the number of rows as well.
"""

from collections.abc import Callable
from statistics import fmean, variance
from typing import Any

from pydp.algorithms.laplacian import BoundedMean, BoundedVariance, Count

from harness.tasks import Timed, task
from workers.central_data import (
    BINS,
    DEPARTMENTS,
    EPSILON,
    LOWER,
    UPPER,
    WIDTH,
    departments,
    error_a_bin,
    relative_error,
    salaries,
)


def bounded(algorithm: Callable[..., Any], epsilon: float) -> Any:
    return algorithm(epsilon=epsilon, lower_bound=LOWER, upper_bound=UPPER, dtype="float")


def counts(values: list[float], epsilon: float) -> list[int]:
    """A count a bin: one row is in one of them, so each may spend the whole epsilon."""
    bins = [Count(epsilon=epsilon, dtype="float") for _ in range(BINS)]
    for value in values:
        bins[bin_of(value)].add_entry(value)
    return [each.result() for each in bins]


def bin_of(value: float) -> int:
    return min(int(value / WIDTH), BINS - 1)


@task
def mean(rows: int) -> Timed:
    values = salaries(rows)
    return lambda: bounded(BoundedMean, EPSILON).quick_result(values)


@task
def histogram(rows: int) -> Timed:
    values = salaries(rows)
    return lambda: counts(values, EPSILON)


@task
def grouped_mean(rows: int) -> Timed:
    values, groups = salaries(rows), departments(rows)

    def ask() -> list[float]:
        means = {name: bounded(BoundedMean, EPSILON) for name in DEPARTMENTS}
        for value, group in zip(values, groups, strict=True):
            means[group].add_entry(value)
        return [each.result() for each in means.values()]

    return ask


@task
def error_of_mean(rows: int, epsilon: float, releases: int) -> Timed:
    values = salaries(rows)
    return relative_error(lambda: bounded(BoundedMean, epsilon).quick_result(values), fmean(values), releases)


@task
def error_of_variance(rows: int, epsilon: float, releases: int) -> Timed:
    values = salaries(rows)
    return relative_error(lambda: bounded(BoundedVariance, epsilon).quick_result(values), variance(values), releases)


@task
def error_of_histogram(rows: int, epsilon: float, releases: int) -> Timed:
    values = salaries(rows)
    exact = [0] * BINS
    for value in values:
        exact[bin_of(value)] += 1
    return error_a_bin(lambda: counts(values, epsilon), exact, releases)
