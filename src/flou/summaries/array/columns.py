"""Columns in memory, each read when it is first asked about.

A column outside of the schema, the conditions and the unit is never looked at: whatever stands in it can neither stop a
question nor be quoted by what stops. Opening a table reads nothing but names and lengths.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flou.arrays import Booleans
from flou.domain.column import column as as_column
from flou.domain.column import require_column
from flou.errors import InvalidData

__all__ = ["Columns", "masked"]


class Columns:
    """Columns of one length as arrays and masks."""

    def __init__(self, columns: Mapping[str, Any]) -> None:
        for name in columns:
            if not isinstance(name, str):
                raise InvalidData(
                    f"The names of columns must be texts, got a {type(name).__name__}.",
                    "A schema declares columns by their names.",
                    "Rename the column.",
                )
        self._given = dict(columns)
        self._read: dict[str, tuple[NDArray[Any], Booleans | None]] = {}  # an engine may copy what it gives
        self.names = tuple(self._given)
        lengths = {self._length(name, values) for name, values in self._given.items()}
        if len(lengths) > 1:
            raise InvalidData(
                "The columns must have the same number of rows.",
                "A row is one value of every column.",
                "Pass columns of equal length.",
            )
        self.rows = next(iter(lengths), 0)

    def _length(self, name: str, values: Any) -> int:
        require_column(values)
        return len(values) if hasattr(values, "__len__") else len(self.read(name)[0])

    def read(self, name: str) -> tuple[NDArray[Any], Booleans | None]:
        if name not in self._read:
            self._read[name] = as_column(self._given[name])
        return self._read[name]


def masked(values: Any) -> NDArray[Any]:
    """A column of a data frame as an array, masked where a row is missing and its type has no word for that."""
    rows, null = as_column(values)
    return rows if null is None else np.ma.MaskedArray(rows, null)
