"""Yes or no.

Rule       True and the number 1 have code 1, False and the number 0 have code 0
Missing    everything else (NULL, NaN, 2, "yes") counts as the public value ``missing``
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from flou.domain.column import checked_codes
from flou.domain.domain import Domain
from flou.domain.even_numbers import EvenNumbers
from flou.domain.lookup import Truth
from flou.domain.table import checked_table
from flou.errors import InvalidParameter
from flou.parameters import shown

__all__ = ["Boolean"]


@dataclass(frozen=True, slots=True, init=False)
class Boolean(EvenNumbers):
    """True or False; as numbers, 1 or 0."""

    kind: ClassVar[str] = "boolean"
    about: ClassVar[str] = "yes or no"
    lines: ClassVar[str] = """\
missing = false                 # what a missing value counts as
"""
    declared: ClassVar[tuple[str, ...]] = ("BOOLEAN",)
    whole: ClassVar[bool] = True
    binary: ClassVar[bool] = True

    missing: bool
    rule: Truth = field(init=False, repr=False, compare=False)

    def __init__(self, *, missing: bool = False) -> None:
        if not isinstance(missing, bool | np.bool_):
            raise InvalidParameter(
                f"missing must be True or False, got {shown(missing)}.",
                "Rows without a usable value are counted as this public value.",
                "Pass one of the two, for example missing=False.",
            )
        object.__setattr__(self, "missing", bool(missing))
        object.__setattr__(self, "rule", Truth(int(missing)))

    @property
    def bounds(self) -> tuple[float, float]:
        return 0.0, 1.0

    binned = Domain.binned

    def decode(self, codes: object) -> NDArray[np.bool_]:
        """True for each 1."""
        return checked_codes(codes, 2).astype(np.bool_)

    def to_dict(self) -> dict[str, Any]:
        """The domain as a TOML table."""
        return {"type": "boolean", "missing": self.missing}

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> Boolean:
        """The domain that a TOML table describes."""
        fields = checked_table("boolean", table, required=("type",), optional=("missing",))
        return cls(missing=fields.get("missing", False))
