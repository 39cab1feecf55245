"""The one door to engines: whatever holds a table becomes rows that answer requests.

Tables in memory (arrays, lists, pandas, Polars, Arrow) are read through NumPy; files and DuckDB relations by DuckDB's
SQL, larger than memory and in one pass; lazy frames (Polars, Spark, Ibis) by narwhals expressions. Types come from the
schema, never from a look at the values: a CSV file is read as text (``duck/text_file.py``), and each column by its
domain.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from flou.errors import InvalidData
from flou.summaries.array.rows import ArrayRows
from flou.summaries.rows import Rows

__all__ = ["rows_of"]

LARGE = 2**26  # bytes of Parquet files whose rows are counted before they are read: the files say how many there are
_TEXT_FILES = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz")


def rows_of(source: Any) -> Rows:
    """Open a path, a mapping of columns, a data frame, a DuckDB relation, a Spark or an Ibis table."""
    if isinstance(source, Rows):
        return source
    if type(source).__module__.startswith("narwhals") and hasattr(source, "to_native"):
        source = source.to_native()
    if isinstance(source, str | Path):
        return _file(str(source))
    if isinstance(source, Mapping):
        return ArrayRows(source)
    if isinstance(source, np.ndarray) and source.dtype.names:
        return ArrayRows({name: source[name] for name in source.dtype.names})
    if type(source).__name__ == "DuckDBPyRelation":
        return _relation(source)
    return _frame(source)


def _relation(source: Any) -> Rows:
    from flou.summaries.duck.rows import DuckRows
    from flou.summaries.duck.select import USERS
    from flou.summaries.lazy.text_scan import require_no_text_scan
    from flou.summaries.rows import quiet

    with USERS, quiet("duckdb"):
        require_no_text_scan(source, "duckdb")
        return DuckRows(source)


def _file(path: str) -> Rows:
    """A file, or several by a pattern such as ``data/2026-*.parquet``; the connection lives as long as its rows."""
    from flou.summaries.duck.engine import connected, lenient
    from flou.summaries.duck.rows import DuckRows
    from flou.summaries.duck.select import Select
    from flou.summaries.duck.sql import literal
    from flou.summaries.duck.text_file import text_sql
    from flou.summaries.rows import quiet

    name = path.lower()
    if not name.endswith((*_TEXT_FILES, ".parquet")):
        raise InvalidData(
            f"The name of the file {path!r} says neither CSV nor Parquet.",
            "The format decides what the rows are, and flou does not guess it.",
            "Name it .csv, .csv.gz, .tsv or .parquet, or open it with a data frame library and pass the frame.",
        )
    connection = connected(local="://" not in path)
    files = [path] if _is_file(path) else _matches(connection, path)
    if not files:
        raise InvalidData(
            f"There is no file {path!r}.",
            "A question needs a table that exists.",
            "Check the path.",
        )
    escaped = [file.replace("[", "[[]").replace("*", "[*]").replace("?", "[?]") for file in files]
    with quiet("duckdb"):
        if name.endswith(".parquet"):
            listed = ", ".join(map(literal, escaped))
            counted = "://" in path or sum(Path(file).stat().st_size for file in files) > LARGE
            rows = Select(connection, f"SELECT * FROM read_parquet([{listed}]{lenient()})")
            return DuckRows(rows, engine="duckdb (parquet)", counted=counted)
        return DuckRows(Select(connection, text_sql(files, escaped)), as_text=True, engine="duckdb (csv)")


def _is_file(path: str) -> bool:
    try:
        return Path(path).is_file()
    except OSError:  # a name that no file can have
        return False


def _matches(connection: Any, pattern: str) -> list[str]:
    if not any(sign in pattern for sign in "*?["):
        return []
    return [file for (file,) in connection.execute("SELECT file FROM glob(?) ORDER BY file", [pattern]).fetchall()]


def _require_names(source: Any) -> None:
    """Refuse two columns with the same name: a question could be about either of them."""
    names: list[Any] = list(getattr(source, "column_names", getattr(source, "columns", ())))
    if len(set(names)) < len(names):
        raise InvalidData(
            "Two columns of the table have the same name.",
            "A question names its column, and the name must be unique.",
            "Rename one of them, or leave it out.",
        )


def _frame(source: Any) -> Rows:
    import narwhals as nw

    from flou.summaries.lazy.rows import LazyRows
    from flou.summaries.lazy.text_scan import require_no_text_scan
    from flou.summaries.rows import quiet

    with quiet(type(source).__module__.split(".")[0]):
        if not type(source).__module__.startswith("polars"):  # where names are unique, and to list them is work
            _require_names(source)
        frame = nw.from_native(source, pass_through=True)
    if not isinstance(frame, nw.DataFrame | nw.LazyFrame):
        raise InvalidData(
            f"A {type(source).__name__} cannot be opened as a table.",
            "flou reads paths, mappings of columns, pandas, Polars, Arrow, DuckDB, Spark and Ibis tables.",
            "Pass one of them, for example a path to a CSV file or a dict of columns.",
        )
    engine = str(frame.implementation.value)
    with quiet(engine):
        if isinstance(frame, nw.DataFrame):
            return ArrayRows({name: frame[name].to_native() for name in frame.columns}, engine=engine)
        if engine in ("polars", "ibis"):
            require_no_text_scan(source, engine)
        return LazyRows(frame, engine="spark" if "spark" in engine else engine)
