"""What flou's time is held against, not private: a sort, and a histogram of 2^16 cells by NumPy and by DuckDB."""

import duckdb
import numpy as np

from harness.tasks import Timed, task
from workers import central_data
from workers.quantiles_data import BOUNDS
from workers.quantiles_make import drawn

CELLS = 2**16


@task
def sort(data: str, rows: int) -> Timed:
    values = drawn(data, rows)
    return lambda: np.sort(values)


@task
def histogram_of_array(data: str, rows: int) -> Timed:
    """One pass: each value to its cell, and a count of the cells."""
    values = drawn(data, rows)
    lower, upper = BOUNDS[data]
    a_unit = CELLS / (upper - lower)
    return lambda: np.bincount(((values - lower) * a_unit).astype(np.int64), minlength=CELLS)


@task
def histogram_of_file(rows: int, kept: bool = False) -> Timed:
    cell = f"floor(salary * {CELLS / central_data.UPPER!r})::INTEGER"
    sql = f"SELECT {cell} AS cell, count(*) FROM '{central_data.path(rows)}' GROUP BY cell"

    def run() -> list[tuple[object, ...]]:
        with duckdb.connect() as connection:
            return connection.execute(sql).fetchnumpy()

    open_one = duckdb.connect() if kept else None
    return run if open_one is None else lambda: open_one.execute(sql).fetchnumpy()
