"""A whole number between public bounds.

Rule       code = floor(x) - lower, clamped to 0, ..., upper - lower
Out        values below and above the bounds, infinities included, count as the bound
Missing    NULL, NaN and everything that is not a number (texts are not parsed, dates are not counted) count
           as the public value ``missing``
Numerics   exact for every integer type; integers never pass through floats
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from flou.domain.column import checked_codes
from flou.domain.domain import Domain
from flou.domain.even_numbers import EvenNumbers, Runs
from flou.domain.rule import FARTHEST, Wholes
from flou.domain.table import checked_bounds, checked_table
from flou.errors import InvalidParameter
from flou.parameters import integer, shown

__all__ = ["Integers"]

EXACT = 2**49  # between bounds of this size whole numbers are whole numbers of units (``rule.py``)


@dataclass(frozen=True, slots=True, init=False)
class Integers(EvenNumbers):
    """Whole numbers from ``lower`` to ``upper``, both included."""

    kind: ClassVar[str] = "integers"
    about: ClassVar[str] = "a whole number between public bounds"
    lines: ClassVar[str] = """\
bounds = []                     # for example [0, 120]: values outside count as the nearest bound
# missing = 0                   # optional: what a missing value counts as; the middle of the bounds otherwise
"""
    declared: ClassVar[tuple[str, ...]] = tuple(
        sign + size for sign in ("", "U") for size in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
    )
    whole: ClassVar[bool] = True

    lower: int
    upper: int
    missing: int
    rule: Wholes = field(init=False, repr=False, compare=False)

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
        rule = Wholes(bottom, top, nothing)
        for one, value in zip(fields(self), (bottom, top, nothing, rule), strict=True):
            object.__setattr__(self, one.name, value)

    @property
    def bounds(self) -> tuple[float, float]:
        return float(self.lower), float(self.upper)

    @property
    def step(self) -> float:
        return 1.0

    def binned(self, column: str, bins: int) -> Domain:
        if max(abs(self.lower), abs(self.upper)) >= EXACT:
            raise InvalidParameter(
                f"Column {column!r} has bounds beyond 2^49, and cannot be cut into bins.",
                "Bins cannot separate whole numbers of that size exactly.",
                "Declare it with bounds below 2^49, or as an interval.",
            )
        return Runs.of(self, bins)

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
        told = checked_table("integers", table, required=("type", "bounds"), optional=("missing",))
        return cls(*checked_bounds(told["bounds"]), missing=told.get("missing"))
