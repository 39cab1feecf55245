"""The door for values: one column in, one row at a time.

NumPy looks at all rows to choose one type for them: a single string turns a list of numbers into strings,
a single float turns large integers into rounded ones. A row must never change another row's code, so
arrays that have a type keep it, and everything else (lists, object arrays) is read element by element.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from flou.domain.exported import exported
from flou.errors import InvalidData, InvalidParameter, instead

__all__ = ["checked_codes", "column", "each", "is_numeric", "masked", "real", "require_column"]

Real: TypeAlias = int | float | Decimal | Fraction


def require_column(values: Any) -> None:
    """Refuse anything that is not a column, without looking at its rows."""
    framed = hasattr(values, "to_numpy") or hasattr(values, "__array__")
    if isinstance(values, str | bytes | bytearray | memoryview) or not (framed or isinstance(values, Sequence)):
        raise _not_a_column(f"a {type(values).__name__}")
    dimensions = getattr(values, "ndim", 1)
    if dimensions != 1:
        raise _not_a_column(f"an array of {dimensions} dimensions")


def column(values: object) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """The rows as a one-dimensional array, and which of them are masked (None: no mask)."""
    null = None
    if isinstance(values, np.ndarray):
        rows = np.asarray(values)
        if isinstance(values, np.ma.MaskedArray) and rows.dtype.kind != "V":  # the mask of a record is a record
            null = np.ma.getmaskarray(values)
    else:
        require_column(values)
        if hasattr(values, "to_numpy") or hasattr(values, "__array__"):
            with instead(_not_a_column(f"a {type(values).__name__}"), TypeError):  # an object without a length
                found = exported(values)
            return column(found)
        rows = _objects(values)
    if rows.ndim != 1:
        raise _not_a_column(f"an array of {rows.ndim} dimensions")
    return rows, null


def masked(values: Any) -> NDArray[Any]:
    """A column of a data frame as an array, masked at missing rows where its type has no missing value."""
    rows, null = column(values)
    return rows if null is None else np.ma.MaskedArray(rows, null)


def _objects(values: Any) -> NDArray[Any]:
    # a sequence may be shorter than its length, or not be iterated at all
    with instead(_not_a_column(f"a {type(values).__name__}"), TypeError, ValueError):
        return np.fromiter(values, dtype=object, count=len(values))


def _not_a_column(got: str) -> InvalidData:
    return InvalidData(
        f"values must be one column of rows, got {got}.",
        "Every row gets one code, so the rows must come in a known order and in one dimension.",
        "Pass a list, a one-dimensional NumPy array or a column of a data frame.",
    )


def is_numeric(rows: NDArray[Any]) -> bool:
    """Whether the array's type promises numbers that int64, uint64 or float64 hold exactly."""
    return rows.dtype.kind in "biuf" and rows.dtype.itemsize <= 8


def each(
    rows: NDArray[Any] | list[Any], convert: Callable[[Any], Any], otherwise: float | None, dtype: DTypeLike
) -> NDArray[Any]:
    """Convert element by element; an element that raises an error affects only its own row."""

    def guarded(element: Any) -> Any:
        try:
            return convert(element)
        except KeyboardInterrupt:
            raise
        except BaseException:  # a foreign object may raise anything, and nothing may be raised because of a value
            return otherwise

    return np.fromiter(map(guarded, rows), dtype=dtype, count=len(rows))


def real(element: Any) -> Real | None:
    """The real number that an element is, or None: strings are not parsed, other objects are not asked.

    Numbers are those of Python (bool, int, float, Decimal, Fraction) and of NumPy, durations excepted.
    """
    kind: Any = type(element)
    if kind is float or kind is int:
        return element  # type: ignore[no-any-return]
    if issubclass(kind, np.timedelta64):  # which NumPy counts among the integers
        return None
    if issubclass(kind, np.longdouble):
        return Fraction(*element.as_integer_ratio()) if np.isfinite(element) else float(element)
    if issubclass(kind, np.bool_ | np.integer | np.floating):
        return element.item()  # type: ignore[no-any-return]
    if issubclass(kind, int):  # bool too; the base method, because a subclass may redefine anything
        return int.__int__(element)
    if issubclass(kind, float):
        return float.__float__(element)
    return element if issubclass(kind, Decimal | Fraction) else None


def checked_codes(codes: object, size: int) -> NDArray[np.int64]:
    """Check codes on their way out: whole numbers from 0 to size - 1, in an array of any shape."""
    array = np.asarray(codes)
    if array.size == 0:
        return array.astype(np.int64)
    if array.dtype.kind not in "iu" or array.min() < 0 or array.max() >= size:
        raise InvalidParameter(
            f"codes must be whole numbers from 0 to {size - 1}.",
            "These are the codes of this domain.",
            "Pass codes that encode returned, or that a mechanism chose from them.",
        )
    return array.astype(np.int64)
