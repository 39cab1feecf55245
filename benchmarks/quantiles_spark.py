"""What deciles of 1e8 rows take on Spark, beside the same call on the same Parquet file through DuckDB.

python benchmarks/quantiles_spark.py [--quick] [--out FILE]
"""

from __future__ import annotations

from harness.declare import Benchmark, Entry, Measure, Participant, Section, Unit
from harness.run import main
from workers import central_data

PARTICIPANTS = (
    Participant("DuckDB", "workers.quantiles_flou"),
    Participant("Spark", "workers.quantiles_spark", "spark"),
)
TIME, MEMORY = "Deciles of a Parquet file", "Memory for the deciles of a Parquet file"
DUCKDB, SPARK = "flou, DuckDB", "flou, Spark on two cores"
GROUP_BY = "Spark, groupBy 2^16 cells (not private)"


def declare(quick: bool) -> Benchmark:
    rows = 10**6 if quick else 10**8
    central_data.make(rows)
    name = f"{rows:.0e} rows".replace("e+0", "e")
    asked = {"rows": rows}
    timed = (
        Entry("DuckDB", DUCKDB, "deciles_of_file", asked),
        Entry("Spark", SPARK, "deciles_of_frame", asked),
        Entry("Spark", GROUP_BY, "histogram_of_frame", asked),
    )
    alone = {"worker": PARTICIPANTS[0].worker, "question": "deciles_of_file", "parameters": asked}
    held = (
        Entry("DuckDB", DUCKDB, "peak_memory", alone),
        Entry("Spark", SPARK, "memory_of_frame", asked),
    )
    sections = (
        Section(TIME, Unit("s", 1), (Measure(name, timed),), clock="wall", statistic="median", rounds=3),
        Section(MEMORY, Unit("GB", 1e-9), (Measure(name, held, fresh=True),), "", None, "max", rounds=1),
    )
    return Benchmark("quantiles_spark", PARTICIPANTS, sections)


if __name__ == "__main__":
    main(declare, __doc__.splitlines()[0])
