"""Yes or no.

Rule       True and the number 1 have code 1, False and the number 0 have code 0
Missing    everything else (NULL, NaN, 2, "yes") counts as the public value ``missing``
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flou.domain.column import checked_codes, column, each, is_numeric, real
from flou.domain.table import checked_table
from flou.errors import InvalidParameter
from flou.parameters import shown

__all__ = ["Boolean"]


@dataclass(frozen=True, slots=True, init=False)
class Boolean:
    """True or False."""

    missing: bool

    def __init__(self, *, missing: bool = False) -> None:
        if not isinstance(missing, bool | np.bool_):
            raise InvalidParameter(
                f"missing must be True or False, got {shown(missing)}.",
                "Rows without a usable value are counted as this public value.",
                "Pass one of the two, for example missing=False.",
            )
        object.__setattr__(self, "missing", bool(missing))

    @property
    def size(self) -> int:
        """How many codes there are."""
        return 2

    @property
    def missing_code(self) -> int:
        """The code of ``missing``."""
        return int(self.missing)

    def encode(self, values: object) -> NDArray[np.int64]:
        """1 for each row that is true, 0 for each row that is false."""
        rows, null = column(values)
        if is_numeric(rows):
            with np.errstate(all="ignore"):  # a signalling NaN
                codes = np.where(rows == 1, 1, np.where(rows == 0, 0, self.missing_code)).astype(np.int64)
        else:
            codes = each(rows, self._code, self.missing_code, np.int64)
        if null is not None:
            codes[null] = self.missing_code
        return codes

    def _code(self, element: Any) -> int:
        number = real(element)
        return 1 if number == 1 else 0 if number == 0 else self.missing_code

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
