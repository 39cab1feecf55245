"""Arrays and columns as types: what a signature says about them, defined once.

Arrays    ``Floats``, ``Ints``, ``Words`` and ``Booleans`` are NumPy arrays of one type. Whole numbers are ``Ints``
          because ``Integers`` is a domain: the public knowledge that a column holds whole numbers.
Columns   ``Values`` is what a call accepts as one column of rows: a list, a tuple, an array, or a column of a data
          frame, which has ``to_numpy`` or ``__array__``. A text is not a column: it is a value.
Bounds    ``Bounds`` is a pair of public numbers, the lower one first.

Types are for people and checkers; the doors check again at run time (``domain/column.py``, ``parameters.py``).
"""

from __future__ import annotations

from typing import Any, Protocol, SupportsIndex, TypeAlias

import numpy as np
from numpy.typing import NDArray

from flou.parameters import Number

__all__ = ["Booleans", "Bounds", "Exported", "Floats", "Ints", "Listed", "Values", "Viewed", "Words"]

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Words: TypeAlias = NDArray[np.uint64]
Booleans: TypeAlias = NDArray[np.bool_]


class Listed(Protocol):
    """Rows in a list, a tuple or a range.

    A type checker takes a text for a sequence as well. ``__contains__`` excludes texts: a list accepts any object after
    ``in``, a text only texts. ``index`` excludes mappings, which do not have it.
    """

    def __len__(self) -> int: ...
    def __getitem__(self, place: SupportsIndex, /) -> Any: ...
    def __contains__(self, value: object, /) -> bool: ...
    def index(self, value: Any, /) -> int: ...


class Viewed(Protocol):
    """Rows that NumPy can view: arrays, and columns of pandas, Polars and Arrow."""

    def __array__(self) -> NDArray[Any]: ...


class Exported(Protocol):
    """Rows that can be converted to an array."""

    def to_numpy(self) -> NDArray[Any]: ...


Values: TypeAlias = Listed | Viewed | Exported
Bounds: TypeAlias = tuple[Number, Number] | list[Number] | list[int] | list[float]
