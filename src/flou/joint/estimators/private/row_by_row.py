"""Rows read one by one, so that no row changes how another one is read.

Why        a text file's column is read as numbers when all of its cells are: one cell that is not would change the
           meaning of all others, and one row would then move the sums by more than a row's part
Numbers    a cell that reads as a number is that number, true and false are 1 and 0; all others are missing
Levels     a category equals a cell when both read as the same number, or neither does and the texts are the same: "1",
           "1.0" and 1 are one category wherever they stand, and "nan" is missing wherever it stands
Refusals   none because of a value: all that a cell decides is what becomes of its own row
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from flou.arrays import Floats
from flou.errors import InvalidParameter
from flou.joint.estimators.party_rows import Batch, PartyRows, number_of
from flou.parameters import shown

__all__ = ["MISSING", "UNKNOWN", "PublicCategories", "RowByRow", "read_numbers"]

Level: TypeAlias = str | int | bool

UNKNOWN, MISSING = -1, -2


def _number(text: str) -> float | None:
    """What a text reads as, by the rules of ``party_rows.py``; None where it is no number."""
    try:
        return number_of(text)
    except ValueError:
        return None


class _Numbers(dict[str, float]):
    def __missing__(self, text: str) -> float:
        number = _number(text)
        self[text] = found = np.nan if number is None else number
        return found


def read_numbers(values: NDArray[Any]) -> Floats:
    """Each cell as a number; not a number where it is none."""
    if values.dtype.kind == "f":
        return np.asarray(values, dtype=np.float64)
    return np.fromiter(map(_Numbers().__getitem__, values.tolist()), dtype=np.float64, count=len(values))


def _key(level: Level) -> float | str:
    """What two equal categories have in common."""
    number = _number(level) if isinstance(level, str) else float(level)
    return str(level) if number is None else number


class PublicCategories:
    """Public categories, and the place of each cell among them."""

    def __init__(self, values: Sequence[Level]) -> None:
        self.values = tuple(values)
        keys = [_key(value) for value in self.values]
        if len(set(keys)) != len(keys) or any(key != key for key in keys):
            raise InvalidParameter(
                f"Some of the categories {shown(values)} read as the same value, or as a missing one.",
                "A text that reads as a number counts as this number: files do not separate the two.",
                "Recode these categories.",
            )
        self._places = {key: place for place, key in enumerate(keys)}
        self._numbers = np.array(sorted(key for key in keys if isinstance(key, float)))

    def places(self, cells: NDArray[Any]) -> NDArray[np.int64]:
        """The place of each cell; UNKNOWN for other values, and MISSING where there is no value."""
        if cells.dtype.kind != "f":
            known = _Places(self._places)
            return np.fromiter(map(known.__getitem__, cells.tolist()), dtype=np.int64, count=len(cells))
        if not self._numbers.size:
            return np.full(len(cells), UNKNOWN, dtype=np.int64)
        near = np.minimum(np.searchsorted(self._numbers, cells), len(self._numbers) - 1)
        places = np.array([self._places[number] for number in self._numbers.tolist()], dtype=np.int64)
        return np.where(self._numbers[near] == cells, places[near], UNKNOWN)


class _Places(dict[str, int]):
    def __init__(self, places: Mapping[float | str, int]) -> None:
        self._public = places

    def __missing__(self, text: str) -> int:
        key = _key(text)
        self[text] = place = MISSING if key != key else self._public.get(key, UNKNOWN)
        return place


class RowByRow(PartyRows):
    """The rows of a party with each cell read by itself: as a number, or as one of some public categories.

    Rows without a number where one is needed are left out. A cell that is no category becomes a text, or a number, that
    the list of categories does not hold.
    """

    def __init__(self, rows: PartyRows, categories: Mapping[str, PublicCategories] | None = None) -> None:
        super().__init__(rows, rows.reading)
        self._categories = categories or {}

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        for batch in self._source.batches(columns):
            read = {name: self._read(name, batch[name]) for name in columns}
            present = np.logical_and.reduce([there for _, there in read.values()])
            yield {name: values[present] for name, (values, _) in read.items()}

    def _read(self, name: str, values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """The cells of a column, and where there are any."""
        levels = self._categories.get(name)
        if levels is None:
            numbers = read_numbers(values)
            return numbers, ~np.isnan(numbers)
        places = levels.places(values)
        texts = [level for level in levels.values if isinstance(level, str)]
        if len(texts) == len(levels.values):
            known: NDArray[Any] = np.array([*texts, max(texts, key=len) + "+"])  # the last is longer than all others
        else:
            known = np.array([*map(float, levels.values), np.inf])
        return known[np.maximum(places, UNKNOWN)], places != MISSING
