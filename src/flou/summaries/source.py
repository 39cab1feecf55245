"""The one door to engines: whatever holds a table becomes rows that answer requests.

Tables in memory (arrays, lists, pandas, Polars, Arrow) are read through NumPy; files and DuckDB relations by DuckDB's
SQL, larger than memory and in one pass; lazy frames (Polars, Spark, Ibis) by narwhals expressions. Types come from the
schema, never from a look at the values: a CSV file is read as text, and each column by its domain.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from flou.errors import InvalidData
from flou.summaries.array_rows import ArrayRows
from flou.summaries.rows import Rows

__all__ = ["rows_of"]

_TEXT_FILES = {".csv", ".tsv", ".txt"}


def rows_of(source: Any) -> Rows:
    """Open a path, a mapping of columns, a data frame, a DuckDB relation, a Spark or an Ibis table."""
    if isinstance(source, Rows):
        return source
    if isinstance(source, str | Path):
        return _file(Path(source))
    if isinstance(source, Mapping):
        return ArrayRows(source)
    if isinstance(source, np.ndarray) and source.dtype.names:
        return ArrayRows({name: source[name] for name in source.dtype.names})
    kind = type(source).__module__.split(".")[0]
    if kind in {"duckdb", "_duckdb"}:
        from flou.summaries.duck_rows import DuckRows

        return DuckRows(source)
    return _frame(source)


def _file(path: Path) -> Rows:
    import duckdb

    from flou.summaries.duck_rows import DuckRows

    suffixes = [suffix.lower() for suffix in path.suffixes]
    if not path.exists() and not any(sign in str(path) for sign in "*?["):
        raise InvalidData(
            f"There is no file {str(path)!r}.",
            "A table must be there to be asked.",
            "Check the path.",
        )
    connection = duckdb.connect()
    if _TEXT_FILES & set(suffixes):
        relation = connection.read_csv(str(path), header=True, all_varchar=True)
        return DuckRows(relation, as_text=True, engine="duckdb (csv)", keep=connection)
    if ".parquet" in suffixes:
        return DuckRows(connection.read_parquet(str(path)), engine="duckdb (parquet)", keep=connection)
    raise InvalidData(
        f"The file {str(path)!r} is neither CSV nor Parquet by its name.",
        "The way a file is read decides what its rows are, and flou does not guess.",
        "Name it .csv, .tsv or .parquet, or open it with a data frame library and pass the frame.",
    )


def _frame(source: Any) -> Rows:
    import narwhals as nw

    from flou.summaries.lazy_rows import LazyRows

    try:
        frame = nw.from_native(source)
    except TypeError:
        raise InvalidData(
            f"A table cannot be made of a {type(source).__name__}.",
            "flou reads paths, mappings of columns, pandas, Polars, Arrow, DuckDB, Spark and Ibis tables.",
            "Pass one of them, for example a path to a CSV file or a dict of columns.",
        ) from None
    engine = frame.implementation.value
    if isinstance(frame, nw.DataFrame):
        return ArrayRows({name: frame[name].to_native() for name in frame.columns}, engine=engine)
    return LazyRows(frame, engine="spark" if "spark" in engine else engine)
