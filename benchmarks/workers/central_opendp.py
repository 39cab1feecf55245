"""OpenDP's side of the benchmark of tables: its Polars plans, from the path of a file to the answer.

``collect`` is the documented way. ``streamed`` hands the plan back to Polars, whose streaming engine OpenDP does not
use by itself; that takes the feature "honest-but-curious". Both relations are offered: ``contributions`` is one row
more or less, ``changes`` one row with other values.
"""

from collections.abc import Callable
from statistics import fmean, variance

import opendp.prelude as dp
import polars as pl

from harness.tasks import Timed, task
from workers.central_data import (
    BINS,
    DEPARTMENTS,
    EPSILON,
    LOWER,
    UPPER,
    WIDTH,
    error_a_bin,
    path,
    relative_error,
    salaries,
)

dp.enable_features("contrib", "honest-but-curious")

UNITS = {"add-remove": dp.unit_of(contributions=1), "substitute": dp.unit_of(changes=1)}
BIN_NAMES = [str(number) for number in range(BINS)]
SALARY = (
    pl.col("salary").fill_nan(0.0).fill_null(0.0)
)  # its domain has neither, so a plan must say what becomes of them
BINNED = SALARY.cut([WIDTH * i for i in range(1, BINS)], labels=BIN_NAMES, left_closed=True).alias("bin")
BIN_KEYS = pl.LazyFrame({"bin": BIN_NAMES}, schema={"bin": pl.Categorical})
DEPARTMENT_KEYS = pl.LazyFrame({"department": DEPARTMENTS})


def query(frame: pl.LazyFrame, rows: int, relation: str, epsilon: float) -> dp.polars.LazyFrameQuery:
    """An empty query; a sum needs a public limit on the number of rows, and groups one on theirs."""
    groups = dp.polars.Margin(by=["department"], max_groups=len(DEPARTMENTS), max_length=rows)
    return dp.Context.compositor(
        data=frame,
        privacy_unit=UNITS[relation],
        privacy_loss=dp.loss_of(epsilon=epsilon),
        split_evenly_over=1,
        margins=[dp.polars.Margin(max_length=rows), groups],
    ).query()


def mean_of(asked: dp.polars.LazyFrameQuery) -> dp.polars.LazyFrameQuery:
    return asked.select(SALARY.dp.mean((LOWER, UPPER)))


def histogram_of(asked: dp.polars.LazyFrameQuery) -> dp.polars.LazyFrameQuery:
    return asked.with_columns(BINNED).group_by("bin").agg(dp.len(signed=False)).with_keys(BIN_KEYS)


def grouped_mean_of(asked: dp.polars.LazyFrameQuery) -> dp.polars.LazyFrameQuery:
    return asked.group_by("department").agg(SALARY.dp.mean((LOWER, UPPER))).with_keys(DEPARTMENT_KEYS)


def answer(plan: Callable[..., dp.polars.LazyFrameQuery], rows: int, streamed: bool) -> Timed:
    def ask() -> pl.DataFrame:
        once = plan(query(pl.scan_parquet(path(rows)), rows, "add-remove", EPSILON)).release()
        return once.lazy().collect(engine="streaming") if streamed else once.collect()

    return ask


@task
def mean(rows: int, streamed: bool) -> Timed:
    return answer(mean_of, rows, streamed)


@task
def histogram(rows: int, streamed: bool) -> Timed:
    return answer(histogram_of, rows, streamed)


@task
def grouped_mean(rows: int, streamed: bool) -> Timed:
    return answer(grouped_mean_of, rows, streamed)


def in_memory(rows: int) -> tuple[list[float], pl.LazyFrame]:
    values = salaries(rows)
    return values, pl.LazyFrame({"salary": values, "department": [DEPARTMENTS[0]] * rows})


@task
def error_of_mean(rows: int, relation: str, epsilon: float, releases: int) -> Timed:
    values, frame = in_memory(rows)
    release = mean_of(query(frame, rows, relation, epsilon)).resolve()
    return relative_error(lambda: release(frame).collect()["salary"].item(), fmean(values), releases)


@task
def error_of_variance(rows: int, epsilon: float, releases: int) -> Timed:
    """Of a known number of rows, where a change is one row out and another in: a distance of two."""
    values = salaries(rows)
    domain = dp.vector_domain(dp.atom_domain(bounds=(LOWER, UPPER), nan=False), size=rows)
    exact = dp.t.make_variance(domain, dp.symmetric_distance())
    release = dp.binary_search_chain(lambda scale: exact >> dp.m.then_laplace(scale), d_in=2, d_out=epsilon)
    return relative_error(lambda: release(values), variance(values), releases)


@task
def error_of_histogram(rows: int, relation: str, epsilon: float, releases: int) -> Timed:
    values, frame = in_memory(rows)
    release = histogram_of(query(frame, rows, relation, epsilon)).resolve()
    exact = [sum(number <= value / WIDTH < number + 1 for value in values) for number in range(BINS - 1)]
    exact.append(rows - sum(exact))

    def counts() -> list[int]:
        found = release(frame).collect()
        return [count for _, count in sorted((int(name), count) for name, count in found.select("bin", "len").rows())]

    return error_a_bin(counts, exact, releases)
