"""A column of a data frame as an array, by the type that the frame declares, without looking at the values.

Engines stop at the first cell that Python cannot hold (a text that is not UTF-8, a time stamp beyond the year 9999),
quote it, or panic. So cells are asked for in a form that always exists: texts as bytes, dates and times as the integers
that they are. What is not a value in that form is missing, and no other cell is affected.

Type                 becomes
whole numbers        an array of their type, masked where they are NULL
floats               an array of their type, NaN where they are NULL
truth values         an array of truth values, masked where they are NULL
texts, categories    texts; None where they are NULL, or where the bytes are not UTF-8
dates, times         datetime64 or timedelta64, NaT where they are NULL; no domain takes them for numbers
decimals, bytes      objects of Python, None where they are NULL
lists, structs, maps None: no domain holds them
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["exported"]

NOT_A_TIME = -(2**63)


def exported(values: Any) -> NDArray[Any] | list[Any]:
    """The rows of a data frame's column."""
    engine = type(values).__module__.split(".")[0]
    if engine == "pyarrow" and hasattr(values, "type"):
        return _arrow(values)
    if engine == "polars" and hasattr(values, "dtype"):
        return _polars(values)
    return _pandas(values) if engine == "pandas" and hasattr(values, "dtype") else _foreign(values)


def _none(rows: int) -> NDArray[Any]:
    return np.full(rows, None, dtype=object)


def _texts(cells: Iterable[bytes | None]) -> list[str | None]:
    """Texts from their bytes."""

    def text(cell: bytes) -> str | None:
        try:
            return cell.decode()
        except UnicodeDecodeError:
            return None

    return [None if cell is None else text(cell) for cell in cells]


def _one_by_one(rows: int, cell: Callable[[int], Any]) -> list[Any]:
    """Cells that are asked for by their places; a cell that cannot be read is None."""

    def guarded(place: int) -> Any:
        try:
            return cell(place)
        except KeyboardInterrupt:
            raise
        except BaseException:  # whatever the engine says about it may depend on its value
            return None

    return [guarded(place) for place in range(rows)]


def _arrow(values: Any) -> NDArray[Any] | list[Any]:
    """A ChunkedArray or an Array of pyarrow."""
    import pyarrow as pa

    kind, types = values.type, pa.types
    if types.is_dictionary(kind) or isinstance(kind, pa.BaseExtensionType) or types.is_run_end_encoded(kind):
        return _arrow(_plain(values))
    if types.is_integer(kind) or types.is_boolean(kind):
        if not values.null_count:
            return np.asarray(_numpy(values))
        filled = _numpy(values.fill_null(False if types.is_boolean(kind) else 0))
        return np.ma.MaskedArray(filled, _numpy(values.is_null()))
    if types.is_floating(kind) or types.is_timestamp(kind) or types.is_date(kind) or types.is_duration(kind):
        return np.asarray(_numpy(values))
    if types.is_time(kind):
        whole = values.cast(pa.int32() if types.is_time32(kind) else pa.int64()).cast(pa.int64())
        return np.asarray(_numpy(whole.fill_null(NOT_A_TIME))).view(f"m8[{kind.unit}]")
    if types.is_string(kind) or types.is_large_string(kind) or str(kind) == "string_view":
        try:
            return np.asarray(_numpy(values))
        except Exception:  # some cell is not UTF-8
            return _texts(values.cast(pa.large_binary()).to_pylist())
    if types.is_nested(kind) or types.is_null(kind):
        return _none(len(values))
    return _one_by_one(len(values), lambda place: values[place].as_py())


def _plain(values: Any) -> Any:
    """The same rows without a dictionary, without runs, and of the type that an extension is stored as."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(values, pa.ChunkedArray):
        kind = values.type
        inner = getattr(kind, "storage_type", None) or kind.value_type
        return pa.chunked_array([_plain(chunk) for chunk in values.chunks], type=inner)
    if isinstance(values, pa.ExtensionArray):
        return values.storage
    return values.dictionary_decode() if isinstance(values, pa.DictionaryArray) else pc.run_end_decode(values)


def _numpy(values: Any) -> Any:
    return values.to_numpy() if type(values).__name__ == "ChunkedArray" else values.to_numpy(zero_copy_only=False)


def _polars(values: Any) -> NDArray[Any] | list[Any]:
    """A Series of Polars."""
    import polars as pl

    kind = values.dtype
    if kind in (pl.String, pl.Categorical, pl.Enum):
        cells = values.cast(pl.String).cast(pl.Binary)
        try:
            return np.asarray(cells.cast(pl.String).to_numpy())  # which checks the bytes before Python sees them
        except Exception:  # some cell is not UTF-8
            return _texts(cells.to_list())
    if kind.is_temporal():
        whole = values.to_physical().cast(pl.Int64).fill_null(NOT_A_TIME).to_numpy()
        unit = "D" if kind == pl.Date else getattr(kind, "time_unit", "ns")
        return np.asarray(whole).view(f"{'M' if kind in (pl.Date, pl.Datetime) else 'm'}8[{unit}]")
    if kind.is_float():
        return np.asarray(values.to_numpy())
    if kind == pl.Boolean or (kind.is_integer() and "128" not in str(kind)):
        if not values.null_count():
            return np.asarray(values.to_numpy())
        filled = values.fill_null(False if kind == pl.Boolean else 0)
        return np.ma.MaskedArray(filled.to_numpy(), values.is_null().to_numpy())
    if kind in (pl.Binary, pl.Object) or kind.is_numeric():
        return list(values.to_list())
    return _none(len(values))


def _pandas(values: Any) -> NDArray[Any] | list[Any]:
    """A Series, an Index or an array of pandas."""
    kind, name = values.dtype, type(values.dtype).__name__
    held = getattr(values, "array", values)
    if name == "ArrowDtype" or "pyarrow" in str(getattr(kind, "storage", "")):
        return _arrow(held.__arrow_array__())
    if name == "DatetimeTZDtype":
        return np.asarray(held, dtype=f"M8[{kind.unit}]")
    if name == "CategoricalDtype":
        return _chosen(_pandas(held.categories), np.asarray(held.codes))
    if getattr(kind, "numpy_dtype", None) is not None and hasattr(held, "isna"):
        whole = kind.numpy_dtype
        if whole.kind in "biu":
            null = np.asarray(held.isna())
            return np.ma.MaskedArray(held.to_numpy(dtype=whole, na_value=whole.type(0)), null)
        if whole.kind == "f":
            return np.asarray(held.to_numpy(dtype=whole, na_value=whole.type("nan")))
    return _foreign(values)


def _chosen(rows: NDArray[Any] | list[Any], places: NDArray[Any]) -> NDArray[Any]:
    """The row at each place, masked where there is no place."""
    null = np.ma.getmaskarray(rows)[places] if isinstance(rows, np.ma.MaskedArray) else np.zeros(len(places), bool)
    known = np.asarray(rows) if isinstance(rows, np.ndarray) else np.fromiter(rows, dtype=object, count=len(rows))
    if not len(known):
        return _none(len(places))
    return np.ma.MaskedArray(np.take(known, places, mode="clip"), null | (places < 0))


def _foreign(values: Any) -> NDArray[Any] | list[Any]:
    """A column of another engine: as an array, or cell by cell where that would round the integers.

    Engines turn integers into floats as soon as one row is NULL, and some refuse to export such a column: both would
    let one row change others, so both take the way through a list.
    """
    declared = str(getattr(values, "dtype", getattr(values, "type", ""))).lower()
    try:
        found = values.to_numpy() if hasattr(values, "to_numpy") else values.__array__()
        if found.dtype.kind != "f" or "float" in declared or "double" in declared:
            rows: NDArray[Any] = found
            return rows
    except Exception:  # whatever the engine raised may depend on a value: its cells decide
        found = None
    for name in ("to_pylist", "to_list", "tolist"):
        try:
            listed = getattr(values, name)()
        except Exception:  # not a method of this engine
            continue
        if isinstance(listed, list):
            return listed
    if isinstance(found, np.ndarray):
        return found
    place = getattr(values, "iloc", values)
    return _one_by_one(len(values), lambda i: place[i])
