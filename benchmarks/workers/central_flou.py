"""flou's side of the benchmark of tables: from the path of a file to a release with its intervals and certificate."""

from collections.abc import Callable
from typing import Any

import numpy as np

import flou
from flou.summaries.duck import engine as duck_engine
from harness.tasks import Timed, task
from workers.central_data import BINS, DEPARTMENTS, EPSILON, LOWER, UPPER, error_a_bin, path, relative_error, salaries

SCHEMA = {"salary": flou.Interval(int(LOWER), int(UPPER)), "department": flou.Categories(list(DEPARTMENTS))}
BOUNDS = (int(LOWER), int(UPPER))


def from_path(ask: Callable[[], Any], kept: bool) -> Timed:
    """An engine is started for every question, as for the plain query; or kept, as flou does by itself."""

    def run() -> Any:
        running, duck_engine._ENGINE = duck_engine._ENGINE, duck_engine._Engine()
        try:
            return ask()
        finally:
            duck_engine._ENGINE = running  # and the other one stops

    return ask if kept else run


@task
def mean(rows: int, kept: bool = False) -> Timed:
    return from_path(lambda: flou.open(path(rows), schema=SCHEMA).mean("salary", epsilon=EPSILON), kept)


@task
def histogram(rows: int, kept: bool = False) -> Timed:
    return from_path(lambda: flou.open(path(rows), schema=SCHEMA).histogram("salary", bins=BINS, epsilon=EPSILON), kept)


@task
def grouped_mean(rows: int, kept: bool = False) -> Timed:
    return from_path(
        lambda: flou.open(path(rows), schema=SCHEMA).group_by("department").mean("salary", epsilon=EPSILON), kept
    )


@task
def error_of_mean(rows: int, relation: str, epsilon: float, releases: int) -> Timed:
    values = np.array(salaries(rows))
    ask = {"bounds": BOUNDS, "epsilon": epsilon, "relation": relation}
    return relative_error(lambda: flou.mean(values, **ask).value, values.mean(), releases)


@task
def error_of_variance(rows: int, relation: str, epsilon: float, releases: int) -> Timed:
    values = np.array(salaries(rows))
    ask = {"bounds": BOUNDS, "epsilon": epsilon, "relation": relation}
    return relative_error(lambda: flou.variance(values, **ask).value, values.var(ddof=1), releases)


@task
def error_of_histogram(rows: int, relation: str, epsilon: float, releases: int) -> Timed:
    values = np.array(salaries(rows))
    ask = {"bounds": BOUNDS, "bins": BINS, "epsilon": epsilon, "relation": relation}
    return error_a_bin(lambda: flou.histogram(values, **ask).value, np.histogram(values, BINS, BOUNDS)[0], releases)
