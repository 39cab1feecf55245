"""The same made-up table on every engine that flou can read."""

from __future__ import annotations

import csv
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from psycopg import sql

# Kinds of columns: what Arrow, NumPy, pandas (with NULL), PostgreSQL and Spark call them.
KINDS = {
    "double": (pa.float64(), "float64", "Float64", "double precision", "double"),
    "float": (pa.float32(), "float32", "Float32", "real", "float"),
    "long": (pa.int64(), "int64", "Int64", "bigint", "bigint"),
    "byte": (pa.int8(), "int8", "Int8", "smallint", "tinyint"),
    "unsigned": (pa.uint64(), "uint64", "UInt64", "numeric(20,0)", "decimal(20,0)"),
    "decimal": (pa.decimal128(30, 6), "object", pd.ArrowDtype(pa.decimal128(30, 6)), "numeric(30,6)", "decimal(30,6)"),
    "text": (pa.string(), "object", "string", "text", "string"),
    "truth": (pa.bool_(), "bool", "boolean", "boolean", "boolean"),
}


@dataclass(frozen=True)
class Made:
    """A table: for every column its kind and its values, where None is NULL."""

    columns: dict[str, tuple[str, Sequence[Any]]]

    def lists(self) -> dict[str, list[Any]]:
        return {name: [_held(kind, value) for value in values] for name, (kind, values) in self.columns.items()}

    def rows(self) -> list[tuple[Any, ...]]:
        return list(zip(*self.lists().values(), strict=True))

    def part(self, start: int, stop: int) -> Made:
        return Made({name: (kind, values[start:stop]) for name, (kind, values) in self.columns.items()})

    def arrow(self) -> pa.Table:
        arrays = [pa.array(list(v), type=KINDS[kind][0], from_pandas=False) for kind, v in self.columns.values()]
        return pa.Table.from_arrays(arrays, names=list(self.columns))

    def __add__(self, other: Made) -> Made:
        return Made({n: (k, [*values, *other.columns[n][1]]) for n, (k, values) in self.columns.items()})


def _held(kind: str, value: Any) -> Any:
    """What a column of this kind holds: a float32 is the double that it stands for."""
    return value if value is None or kind != "float" else float(np.float32(value))


def as_numpy(made: Made) -> dict[str, Any]:
    def array(kind: str, values: Sequence[Any]) -> Any:
        dtype = KINDS[kind][1]
        null = np.array([value is None for value in values], dtype=bool)
        if dtype == "object":
            return np.fromiter(values, dtype=object, count=len(values))
        filled = np.array([0 if value is None else value for value in values], dtype=dtype)
        return np.ma.MaskedArray(filled, null) if null.any() else filled

    return {name: array(*column) for name, column in made.columns.items()}


def as_pandas(made: Made) -> pd.DataFrame:
    """NumPy types; what they cannot hold (NULL among integers) is a column of objects."""

    def series(kind: str, values: Sequence[Any]) -> pd.Series:
        plain = kind == "text" or None not in values or kind in ("double", "float")
        dtype = "str" if kind == "text" else KINDS[kind][1]
        return pd.Series(list(values), dtype=dtype if plain else "object")

    return pd.DataFrame({name: series(*column) for name, column in made.columns.items()})


def as_nullable_pandas(made: Made) -> pd.DataFrame:
    return pd.DataFrame({n: pd.Series(list(v), dtype=KINDS[kind][2]) for n, (kind, v) in made.columns.items()})


def as_arrow_pandas(made: Made) -> pd.DataFrame:
    return made.arrow().to_pandas(types_mapper=pd.ArrowDtype)


def as_duckdb(made: Made) -> duckdb.DuckDBPyRelation:
    return duckdb.connect().from_arrow(made.arrow())


def as_csv(made: Made, folder: Any) -> str:
    path = str(folder / f"table-{next(_numbers)}.csv")
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(made.columns)
        writer.writerows([["" if value is None else value for value in row] for row in made.rows()])
    return path


def as_parquet(made: Made, folder: Any) -> str:
    path = str(folder / f"table-{next(_numbers)}.parquet")
    pq.write_table(made.arrow(), path)
    return path


def as_ibis_duckdb(made: Made) -> Any:
    import ibis

    connection = duckdb.connect()
    connection.register("made", made.arrow())
    connection.execute("CREATE TABLE kept AS SELECT * FROM made")
    return ibis.duckdb.from_connection(connection).table("kept")


def as_postgres(made: Made, database: Any) -> Any:
    table = f"made_{next(_numbers)}"
    kinds = zip(made.columns, made.columns.values(), strict=True)
    declared = [sql.SQL("{} " + KINDS[kind][3]).format(sql.Identifier(name)) for name, (kind, _) in kinds]
    create = sql.SQL("CREATE TABLE {} ({})").format(sql.Identifier(table), sql.SQL(", ").join(declared))
    with database.con.cursor() as cursor:
        cursor.execute(create)
        with cursor.copy(sql.SQL("COPY {} FROM STDIN").format(sql.Identifier(table))) as copy:
            for row in made.rows():
                copy.write_row(row)
    database.con.commit()
    return database.table(table)


def as_spark(made: Made, session: Any) -> Any:
    schema = ", ".join(f"`{name.replace('`', '``')}` {KINDS[kind][4]}" for name, (kind, _) in made.columns.items())
    types = {"unsigned": Decimal, "double": float, "float": float}
    casts = [types.get(kind, lambda value: value) for kind, _ in made.columns.values()]
    rows = [tuple(None if v is None else cast(v) for cast, v in zip(casts, row, strict=True)) for row in made.rows()]
    return session.createDataFrame(rows, schema)


_numbers = itertools.count()

# How each engine gets the table, and what it needs besides: a folder, a server, a session, or nothing.
ENGINES: dict[str, tuple[Callable[..., Any], str | None]] = {
    "lists": (Made.lists, None),
    "numpy": (as_numpy, None),
    "pandas": (as_pandas, None),
    "pandas nullable": (as_nullable_pandas, None),
    "pandas arrow": (as_arrow_pandas, None),
    "polars": (lambda made: pl.from_arrow(made.arrow()), None),
    "polars lazy": (lambda made: pl.from_arrow(made.arrow()).lazy(), None),
    "arrow": (Made.arrow, None),
    "duckdb": (as_duckdb, None),
    "csv": (as_csv, "tmp_path"),
    "parquet": (as_parquet, "tmp_path"),
    "ibis duckdb": (as_ibis_duckdb, None),
    "ibis postgres": (as_postgres, "postgres"),
    "spark": (as_spark, "spark"),
}

SPECIAL = [
    0.0,
    -0.0,
    1e300,
    -1e300,
    5e-324,
    -5e-324,
    math.inf,
    -math.inf,
    math.nan,
    None,
    0.1,
    0.3,
    0.30000000000000004,
]
HOSTILE = [
    "it's",
    'say "no"',
    "'); DROP TABLE kept; --",
    "a\\b",
    "%_",
    "line\nbreak",
    "größer",
    "",
    "NULL",
    "a,b;c\td",
    "{0}",
    "$1",
    ":x",
]
