"""flou on a Spark DataFrame, and the histogram that any method has to make; Spark runs here, on two cores."""

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src"))  # flou is not installed here

from pyspark.sql import DataFrame, SparkSession, functions

import flou
from harness.tasks import Timed, resident_peak, task
from workers import central_data

EPSILON, CELLS = 1, 2**16
SCHEMA = {"salary": flou.Interval(int(central_data.LOWER), int(central_data.UPPER))}
SETTINGS = {
    "spark.driver.memory": "2g",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


def frame(rows: int) -> DataFrame:
    """The Parquet file of salaries."""
    builder: Any = SparkSession.builder.master("local[2]")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session.read.parquet(central_data.path(rows))


@task
def deciles_of_frame(rows: int) -> Timed:
    table = frame(rows)
    return lambda: flou.open(table, schema=SCHEMA).quantiles("salary", flou.deciles, epsilon=EPSILON)


@task
def histogram_of_frame(rows: int) -> Timed:
    """A new plan for every call: of an old one Spark keeps what it has shuffled."""

    def run() -> Any:
        table = frame(rows)
        cell = functions.floor(table["salary"] * (CELLS / central_data.UPPER))
        return table.groupBy(cell.alias("cell")).count().toArrow()

    return run


@task
def memory_of_frame(rows: int) -> Timed:
    """The most bytes that Python and Java have had in memory, after the deciles."""
    ask = deciles_of_frame(rows)

    def look() -> int:
        ask()
        java = SparkSession.active().sparkContext._jvm.java.lang.ProcessHandle.current().pid()  # type: ignore[union-attr]
        status = Path(f"/proc/{java}/status").read_text().splitlines()
        return resident_peak() + 1024 * int(next(line for line in status if line.startswith("VmHWM")).split()[1])

    return look
