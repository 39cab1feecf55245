"""A whole number between public bounds.

Rule       code = floor(x) - lower, clamped to 0, ..., upper - lower
Out        values below and above the bounds, infinities included, count as the bound
Missing    NULL, NaN and everything that is not a number (texts are not parsed, dates are not counted) count
           as the public value ``missing``
Numerics   exact for every integer type; integers never pass through floats
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flou.domain.column import checked_codes, column, each, is_numeric, real
from flou.domain.table import checked_table
from flou.errors import InvalidParameter
from flou.parameters import integer, shown

__all__ = ["Integers"]

FARTHEST = 2**62  # sums and differences of two bounds stay within 64 bits


@dataclass(frozen=True, slots=True, init=False)
class Integers:
    """Whole numbers from ``lower`` to ``upper``, both included."""

    lower: int
    upper: int
    missing: int

    def __init__(self, lower: int, upper: int, *, missing: int | None = None) -> None:
        bottom, top = (
            integer("lower", lower, -FARTHEST, FARTHEST),
            integer("upper", upper, -FARTHEST, FARTHEST),
        )
        if not 0 < top - bottom < 2 * FARTHEST:
            raise InvalidParameter(
                f"lower must be below upper by less than 2**63, got {shown(lower)} and {shown(upper)}.",
                "Values are clamped to these public bounds, and codes are 64-bit integers.",
                "Pass bounds that hold for the population, for example lower=0 and upper=120.",
            )
        nothing = (bottom + top) // 2 if missing is None else integer("missing", missing, bottom, top)
        for name, value in zip(self.__slots__, (bottom, top, nothing), strict=True):
            object.__setattr__(self, name, value)

    @property
    def size(self) -> int:
        """How many codes there are."""
        return self.upper - self.lower + 1

    @property
    def last(self) -> int:
        """The code of the upper bound, and of all that lies beyond."""
        return self.upper - self.lower

    @property
    def missing_code(self) -> int:
        """The code of ``missing``."""
        return self.missing - self.lower

    def encode(self, values: object) -> NDArray[np.int64]:
        """The code of each row."""
        rows, null = column(values)
        codes = self._numeric(rows) if is_numeric(rows) else each(rows, self._code, self.missing_code, np.int64)
        if null is not None:
            codes[null] = self.missing_code
        return codes

    def _numeric(self, rows: NDArray[Any]) -> NDArray[np.int64]:
        lost = None
        if rows.dtype.kind == "f":
            with np.errstate(all="ignore"):  # a signalling NaN
                floors = np.floor(rows.astype(np.float64))
            lost = np.isnan(floors)
            floors[lost] = 0
            whole = np.clip(floors, -(2.0**62), 2.0**62).astype(np.int64)
        elif rows.dtype.kind == "u":
            whole = np.minimum(rows.astype(np.uint64), np.uint64(FARTHEST)).astype(np.int64)
        else:
            whole = rows.astype(np.int64)
        codes = np.clip(whole, self.lower, self.upper)
        codes -= self.lower
        if lost is not None:
            codes[lost] = self.missing_code
        return codes

    def _code(self, element: Any) -> int:
        number = real(element)
        if number is None or number != number:
            return self.missing_code
        # Compared first: the floor of Decimal("1e999999") has a million digits.
        if number <= self.lower:
            return 0
        return (self.upper if number >= self.upper else math.floor(number)) - self.lower

    def decode(self, codes: object) -> NDArray[np.int64]:
        """The whole number of each code."""
        wholes: NDArray[np.int64] = checked_codes(codes, self.size) + self.lower
        return wholes

    def to_dict(self) -> dict[str, Any]:
        """The domain as a TOML table."""
        return {"type": "integers", "bounds": [self.lower, self.upper], "missing": self.missing}

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> Integers:
        """The domain that a TOML table describes."""
        fields = checked_table("integers", table, required=("type", "bounds"), optional=("missing",))
        bounds = fields["bounds"]
        if not isinstance(bounds, list | tuple) or len(bounds) != 2:
            raise InvalidParameter(
                f"bounds must be a list of two whole numbers, got {shown(bounds)}.",
                "Values are clamped to these public bounds.",
                "Write them as bounds = [0, 120].",
            )
        return cls(*bounds, missing=fields.get("missing"))
