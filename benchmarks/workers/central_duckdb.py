"""What flou is measured against: the plain query of the same file by the same engine, without any privacy."""

import duckdb

from harness.tasks import Timed, task
from workers.central_data import WIDTH, path

SPREAD = "var_samp(salary), "  # from which a standard error follows, as flou releases it


def query(select: str, rows: int, rest: str = "", kept: bool = False) -> Timed:
    """In a connection of its own each time, or in one that is kept."""
    sql = f"SELECT {select} FROM '{path(rows)}' {rest}"

    def run() -> list[tuple[object, ...]]:
        with duckdb.connect() as connection:
            return connection.execute(sql).fetchall()

    open_one = duckdb.connect() if kept else None
    return run if open_one is None else lambda: open_one.execute(sql).fetchall()


@task
def mean(rows: int, spread: bool = False, kept: bool = False) -> Timed:
    return query(f"avg(salary), {SPREAD * spread}count(*)", rows, kept=kept)


@task
def histogram(rows: int, kept: bool = False) -> Timed:
    return query(f"floor(salary / {WIDTH}) AS bin, count(*)", rows, "GROUP BY bin", kept)


@task
def grouped_mean(rows: int, spread: bool = False, kept: bool = False) -> Timed:
    return query(f"department, avg(salary), {SPREAD * spread}count(*)", rows, "GROUP BY department", kept)
