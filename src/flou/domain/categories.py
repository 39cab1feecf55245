"""One of a public list of values.

Rule       the code of a value is its place in the list
Unknown    values that are not in the list, NULL and NaN have the last code, "other"; without it they count
           as the public value ``missing``
Equality   texts equal texts (bytes are read as UTF-8), numbers equal numbers whatever their type (1 is 1.0),
           and booleans equal booleans only (1 is not True)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from flou.arrays import Listed
from flou.domain.column import checked_codes, column, each, is_numeric, real
from flou.domain.table import checked_table, checked_text
from flou.errors import InvalidParameter
from flou.parameters import shown

__all__ = ["Categories"]

Value: TypeAlias = str | int | bool

LARGEST = 2**62  # the largest whole number that can be a category
BLOCK = 2**16  # rows that become Python objects at a time
SPAN = 2**20  # numbers closer together than this are looked up in a table


@dataclass(frozen=True, slots=True, init=False, eq=False)
class Categories:
    """The public ``values`` (texts, whole numbers or booleans) in their order, then "other"."""

    values: tuple[Value, ...]
    other: bool
    missing: Value | None
    other_label: str
    _texts: dict[str, int] = field(init=False, repr=False)
    _numbers: dict[int, int] = field(init=False, repr=False)
    _booleans: dict[bool, int] = field(init=False, repr=False)

    def __init__(
        self,
        values: Listed | NDArray[Any],
        *,
        other: bool = True,
        missing: Value | None = None,
        other_label: str = "other",
    ) -> None:
        listed = values.tolist() if isinstance(values, np.ndarray) and values.ndim == 1 else values
        if not isinstance(listed, list | tuple | range) or not listed:
            got = "an empty list" if isinstance(listed, list) else shown(values)
            raise InvalidParameter(
                f"values must be a list of at least one category, got {got}.",
                "Categories are public and their order gives the codes.",
                "Pass a list, for example values=['care', 'research'].",
            )
        if not isinstance(other, bool):
            raise InvalidParameter(
                f"other must be True or False, got {shown(other)}.",
                "It says whether unknown values have a code of their own.",
                "Pass one of the two, for example other=True.",
            )
        texts: dict[str, int] = {}
        numbers: dict[int, int] = {}
        booleans: dict[bool, int] = {}
        checked = tuple(map(_checked_value, listed))
        for code, value in enumerate(checked):
            codes: dict[Any, int] = (
                booleans if isinstance(value, bool) else numbers if isinstance(value, int) else texts
            )
            if codes.setdefault(value, code) != code:
                raise InvalidParameter(
                    f"values must be distinct, got {shown(value)} twice.",
                    "A row has one code, so no two categories can be the same.",
                    "Remove one of the two from values.",
                )
        fields = {
            "values": checked,
            "other": other,
            "missing": None if missing is None else _checked_value(missing, "missing"),
            "other_label": checked_text("other_label", other_label),
            "_texts": texts,
            "_numbers": numbers,
            "_booleans": booleans,
        }
        for name, content in fields.items():
            object.__setattr__(self, name, content)
        self._check_unknown()

    def _check_unknown(self) -> None:
        """Unknown values have exactly one place to go."""
        if self.other and self.missing is not None:
            raise InvalidParameter(
                f"missing must be left out when other is True, got {shown(self.missing)}.",
                "Unknown values and NULL go to one place, and that is the category of its own.",
                "Pass other=False as well, or leave missing out.",
            )
        if self.other and self.other_label in self._texts:
            raise InvalidParameter(
                f"other_label must not be one of the values, got {shown(self.other_label)}.",
                "Two codes would have the same name.",
                f"Pass another other_label, or other=False and missing={shown(self.other_label)}.",
            )
        if not self.other and (self.missing is None or self._find(self.missing) is None):
            raise InvalidParameter(
                f"missing must be one of the values when other is False, got {shown(self.missing)}.",
                "Unknown values and NULL must be counted somewhere.",
                f"Pass one of them, for example missing={shown(self.values[0])}.",
            )

    @property
    def size(self) -> int:
        """How many codes there are, "other" included."""
        return len(self.values) + self.other

    @property
    def missing_code(self) -> int:
        """The code of unknown values and of NULL."""
        code = None if self.missing is None else self._find(self.missing)
        return len(self.values) if code is None else code

    @property
    def labels(self) -> tuple[Value, ...]:
        """What each code stands for."""
        return (*self.values, self.other_label) if self.other else self.values

    def encode(self, values: object) -> NDArray[np.int64]:
        """The code of each row."""
        rows, null = column(values)
        unknown = self.missing_code
        if rows.dtype.kind == "b":
            pair = [self._booleans.get(answer, unknown) for answer in (False, True)]
            codes = np.array(pair, dtype=np.int64)[rows.astype(np.int64)]
        elif is_numeric(rows):
            codes = self._numeric(rows, unknown)
        else:

            def code(element: Any) -> int:
                found = self._find(element)
                return unknown if found is None else found

            codes = np.empty(len(rows), dtype=np.int64)
            for start in range(0, len(rows), BLOCK):
                block, end = rows[start : start + BLOCK], start + BLOCK
                if block.dtype.kind == "U":  # nothing but texts
                    found = map(self._texts.get, block.tolist(), repeat(unknown))
                    codes[start:end] = np.fromiter(found, dtype=np.int64, count=len(block))
                else:
                    codes[start:end] = each(block, code, unknown, np.int64)
        if null is not None:
            codes[null] = unknown
        return codes

    def _find(self, element: Any) -> int | None:
        """The code of one element; None when it is not in the list."""
        kind = type(element)
        if issubclass(kind, str):
            return self._texts.get(str.__str__(element))
        if issubclass(kind, bytes):
            return self._texts.get(bytes.decode(element))
        if issubclass(kind, bool | np.bool_):
            return self._booleans.get(bool(element))
        number: Any = real(element)
        return None if number is None else self._numbers.get(number)

    def _numeric(self, rows: NDArray[Any], unknown: int) -> NDArray[np.int64]:
        if not self._numbers:
            return np.full(len(rows), unknown, dtype=np.int64)
        # Numbers without a place in int64 become one that no category can be.
        if rows.dtype.kind == "f":
            with np.errstate(all="ignore"):  # a signalling NaN
                numbers = rows.astype(np.float64)
                fits = (np.floor(numbers) == numbers) & (np.abs(numbers) < 2.0**63)
            whole = np.where(fits, numbers, -(2.0**63)).astype(np.int64)
        elif rows.dtype.kind == "u":
            whole = np.minimum(rows.astype(np.uint64), np.uint64(2**63 - 1)).astype(np.int64)
        else:
            whole = rows.astype(np.int64)
        known = np.array(sorted(self._numbers), dtype=np.int64)
        places = np.array([self._numbers[number] for number in known.tolist()], dtype=np.int64)
        first, last = int(known[0]), int(known[-1])
        if last - first < SPAN:  # a table from the number to its code, with an unknown one at both ends
            table = np.full(last - first + 3, unknown, dtype=np.int64)
            table[known - (first - 1)] = places
            return table[np.clip(whole, first - 1, last + 1) - (first - 1)]
        nearest = np.minimum(np.searchsorted(known, whole), len(known) - 1)
        return np.where(known[nearest] == whole, places[nearest], unknown)

    def decode(self, codes: object) -> NDArray[np.object_]:
        """The category of each code, as Python objects."""
        named: NDArray[np.object_] = np.fromiter(self.labels, dtype=object, count=self.size)[
            checked_codes(codes, self.size)
        ]
        return named

    def to_dict(self) -> dict[str, Any]:
        """The domain as a TOML table."""
        table = {"type": "categories", "values": list(self.values), "other": self.other}
        return table | ({"other_label": self.other_label} if self.other else {"missing": self.missing})

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> Categories:
        """The domain that a TOML table describes."""
        fields = checked_table(
            "categories", table, required=("type", "values"), optional=("other", "missing", "other_label")
        )
        del fields["type"]
        return cls(fields.pop("values"), **fields)

    # Python holds 1 and True for equal; two lists of categories that differ in them are not.

    def _key(self) -> tuple[Any, ...]:
        return tuple((type(label), label) for label in self.labels), self.other, self.missing_code

    def __eq__(self, there: object) -> bool:
        return self._key() == there._key() if isinstance(there, Categories) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())


def _checked_value(value: Any, name: str = "values") -> Value:
    """A category as a text, a whole number or a boolean of Python."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, str):
        return checked_text(name, value, empty=True)
    number = real(value)
    if isinstance(number, int) and abs(number) <= LARGEST:
        return number
    raise InvalidParameter(
        f"{name} must be texts, whole numbers up to 2**62 or booleans, got {shown(value)}.",
        "Other values have no equality that all engines agree on.",
        "Pass values of these types, for example values=['care', 'research'].",
    )
