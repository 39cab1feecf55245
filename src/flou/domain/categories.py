"""One of a public list of values.

Rule       the code of a value is its place in the list
Unknown    values that are not in the list, NULL and NaN have the last code, "other"; without it they count
           as the public value ``missing``
Equality   texts equal texts (bytes are read as UTF-8), numbers equal numbers whatever their type (1 is 1.0),
           and booleans equal booleans only (1 is not True)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from flou.arrays import Listed
from flou.domain.column import checked_codes, real
from flou.domain.domain import Domain
from flou.domain.lookup import Lookup, Value
from flou.domain.table import checked_table
from flou.errors import InvalidParameter
from flou.parameters import checked_text, shown

__all__ = ["Categories"]

LARGEST = 2**62  # the largest whole number that can be a category


@dataclass(frozen=True, slots=True, init=False)
class Categories(Domain):
    """The public ``values`` (texts, whole numbers or booleans) in their order, then "other"."""

    kind: ClassVar[str] = "categories"
    about: ClassVar[str] = "one of a public list"
    lines: ClassVar[str] = """\
values = []                     # for example ["care", "research"]: the public list, in the order of tables and plots
other = true                    # unknown and missing values are counted as "other"
"""
    declared: ClassVar[tuple[str, ...]] = ("VARCHAR", "ENUM")

    values: tuple[Value, ...]
    other: bool
    missing: Value | None
    other_label: str
    rule: Lookup = field(init=False, repr=False)

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
        checked = tuple(map(_checked_value, listed))
        places: dict[tuple[type, Value], int] = {}  # by type: Python holds 1 and True for equal
        for code, value in enumerate(checked):
            if places.setdefault((type(value), value), code) != code:
                raise InvalidParameter(
                    f"values must be distinct, got {shown(value)} twice.",
                    "A row has one code, so no two categories can be the same.",
                    "Remove one of the two from values.",
                )
        nothing = None if missing is None else _checked_value(missing, "missing")
        label = checked_text("other_label", other_label)
        place = None if nothing is None else places.get((type(nothing), nothing))
        if other and nothing is not None:
            raise InvalidParameter(
                f"missing must be left out when other is True, got {shown(nothing)}.",
                "Unknown values and NULL are counted together, in the extra category that other=True adds.",
                "Pass other=False as well, or leave missing out.",
            )
        if other and (str, label) in places:
            raise InvalidParameter(
                f"other_label must not be one of the values, got {shown(label)}.",
                "Two codes would have the same name.",
                f"Pass another other_label, or other=False and missing={shown(label)}.",
            )
        if not other and place is None:
            raise InvalidParameter(
                f"missing must be one of the values when other is False, got {shown(nothing)}.",
                "Unknown values and NULL must be counted somewhere.",
                f"Pass one of them, for example missing={shown(checked[0])}.",
            )
        rule = Lookup(checked, len(checked) + other, len(checked) if place is None else place)
        for one, content in zip(fields(self), (checked, other, nothing, label, rule), strict=True):
            object.__setattr__(self, one.name, content)

    @property
    def labels(self) -> tuple[Value, ...]:
        """What each code stands for."""
        return (*self.values, self.other_label) if self.other else self.values

    @property
    def levels(self) -> tuple[Value, ...]:
        return self.values

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
        told = checked_table(
            "categories", table, required=("type", "values"), optional=("other", "missing", "other_label")
        )
        del told["type"]
        return cls(told.pop("values"), **told)


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
        "Engines do not agree on when other values are equal.",
        "Pass values of these types, for example values=['care', 'research'].",
    )
