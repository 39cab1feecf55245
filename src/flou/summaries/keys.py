"""Keys of rows: values that can be categories, for columns whose categories are not public.

Rule       texts are themselves (bytes are read as UTF-8), whole numbers up to 2^62 are numbers whatever their type,
           truth values are truth values: two rows have the same key where ``Categories`` says that they are equal
None       NULL, NaN, fractions, dates, the empty text (in a text file it is NULL), texts that no file can hold
Files      a cell of a text file is a text: its type is not guessed, so that "1" and "1.0" are two keys

Which keys exist is private. ``Rows.key_counts`` returns them exactly, and only ``central/counts/keys.py`` may use it.

Limits     engines that compare texts without regard to case would show the spelling of one row: MySQL and SQL Server
           are refused, and columns of other databases must keep their exact collation
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import repeat
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from flou.domain.column import is_numeric, real

if TYPE_CHECKING:
    from flou.summaries.duck.sql import ColumnSQL

__all__ = ["Key", "KeyCounts", "counted", "key_of", "key_sql", "listed"]

Key: TypeAlias = str | int | bool
KeyCounts: TypeAlias = tuple[NDArray[np.object_], NDArray[np.int64]]  # the keys, and how many rows have each
Tagged: TypeAlias = tuple[type, Key]  # Python holds 1 and True for equal; a column that has both does not

LARGEST = 2**62  # the largest whole number that can be a category
WHOLE = {sign + name for sign in ("", "U") for name in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")}


def key_of(element: Any) -> Key | None:
    """The key of one element; an element that raises an error affects only its own row."""
    try:
        kind = type(element)
        if issubclass(kind, str | bytes | bytearray):
            text = str.__str__(element) if issubclass(kind, str) else bytes(element).decode()
            return None if "\0" in text or not text.encode() else text
        if issubclass(kind, bool | np.bool_):
            return bool(element)
        number: Any = real(element)
        if not -LARGEST <= number <= LARGEST:  # compared first: int(Decimal("1e999999")) has a million digits
            return None
        whole = int(number)
        return whole if whole == number else None
    except KeyboardInterrupt:
        raise
    except BaseException:  # a foreign object, NaN, infinity, half a character
        return None


def counted(values: Any) -> Counter[Tagged]:
    """The keys of rows in memory, each with its number of rows."""
    rows, null = np.asarray(values), np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else None
    rows = rows if null is None else rows[~null]
    times: Iterable[int] = repeat(1)
    elements: Iterable[Any] = rows
    if rows.dtype.kind == "U":
        several = Counter(rows.tolist())
        elements, times = several.keys(), several.values()
    elif is_numeric(rows):
        if rows.dtype.kind == "f":  # there may be as many fractions as rows, and none is a key
            with np.errstate(all="ignore"):  # a signalling NaN
                rows = rows[np.floor(rows) == rows]
        distinct, numbers = np.unique(rows, return_counts=True)
        elements, times = distinct.tolist(), numbers.tolist()
    found: Counter[Tagged] = Counter()
    for element, count in zip(elements, times, strict=False):
        key = key_of(element)
        if key is not None:
            found[type(key), key] += count
    return found


def listed(found: Iterable[tuple[Key, int]], least: int) -> KeyCounts:
    """The keys that have at least ``least`` rows."""
    kept = [(key, count) for key, count in found if count >= least]
    keys = np.fromiter((key for key, _ in kept), dtype=object, count=len(kept))
    return keys, np.fromiter((count for _, count in kept), dtype=np.int64, count=len(kept))


def key_sql(column: ColumnSQL) -> str | None:
    """DuckDB's key of each row that was ``read``, or NULL; None where no row has a key.

    Texts are grouped by their bytes, whatever the collation of the column.
    """
    if column.text is not None:
        return f"encode({column.text})"
    if column.kind in {"BOOLEAN", "BLOB"}:
        return column.name
    if column.kind in {"DOUBLE", "FLOAT", "DECIMAL"}:
        # trunc, because the floor of the smallest decimals is none that they could be compared with
        return f"CASE WHEN {column.name} = trunc({column.name}) THEN TRY_CAST({column.name} AS BIGINT) END"
    return f"TRY_CAST({column.name} AS BIGINT)" if column.kind in WHOLE else None
