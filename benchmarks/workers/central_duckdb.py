"""What flou is measured against: the plain query of the same file by the same engine, without any privacy."""

import duckdb

from harness.tasks import Timed, task
from workers.central_data import WIDTH, path

SPREAD = "var_samp(salary), "  # from which a standard error follows, as flou releases it


def query(select: str, rows: int, rest: str = "") -> Timed:
    sql = f"SELECT {select} FROM '{path(rows)}' {rest}"

    def run() -> list[tuple[object, ...]]:
        with duckdb.connect() as connection:
            return connection.execute(sql).fetchall()

    return run


@task
def mean(rows: int, spread: bool = False) -> Timed:
    return query(f"avg(salary), {SPREAD * spread}count(*)", rows)


@task
def histogram(rows: int) -> Timed:
    return query(f"floor(salary / {WIDTH}) AS bin, count(*)", rows, "GROUP BY bin")


@task
def grouped_mean(rows: int, spread: bool = False) -> Timed:
    return query(f"department, avg(salary), {SPREAD * spread}count(*)", rows, "GROUP BY department")
