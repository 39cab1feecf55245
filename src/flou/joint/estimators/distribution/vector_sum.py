"""Element-wise sums of the parties' own vectors: tables of counts or of totals that were made elsewhere.

Opened   the ``length`` sums, in one round
Grid     numbers are rounded to multiples of 2^-fraction, and sums of these are exact
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flou.errors import InvalidData
from flou.joint.estimators.fit import Fit
from flou.joint.estimators.party_rows import PartyRows
from flou.joint.estimators.program import Ask, Opened, Program
from flou.parameters import checked_text, integer

__all__ = ["VectorSum", "VectorSumFit"]


@dataclass(frozen=True)
class VectorSumFit(Fit):
    """The sums, in the order of the rows."""

    totals: NDArray[np.float64]
    exact: tuple[int, ...]  # in units of 2^-fraction


@dataclass(frozen=True)
class VectorSum(Program):
    """The sum over the parties of one column, row by row; every party has the same number of rows."""

    column: str
    length: int
    limit: int = 2**40
    fraction: int = 0
    estimator, _required, _optional = "vector sum", ("column", "length"), ("limit", "fraction")

    def __post_init__(self) -> None:
        checked_text("column", self.column)
        integer("length", self.length, 1, 2**24)
        integer("limit", self.limit, 1, 2**62)
        integer("fraction", self.fraction, 0, 64)

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def scalars(self) -> int:
        return self.length

    def next(self, opened: Sequence[Opened]) -> Ask | None:
        return None if opened else Ask("totals", self.length, self.limit << self.fraction)

    def words(self, ask: Ask, rows: PartyRows) -> Sequence[int]:
        values = np.concatenate([batch[self.column] for batch in rows.batches(self.columns)])
        if values.dtype.kind != "f" or len(values) != ask.length:
            raise InvalidData(
                f"The column {self.column!r} must hold {ask.length} numbers, none of them missing.",
                "The vectors of all parties are added up row by row.",
                "Fill in zeros where there is nothing to count.",
            )
        if not np.all(np.abs(values) <= self.limit):
            raise InvalidData(
                f"The column {self.column!r} holds a number that is larger than the plan allows.",
                "The limit guarantees that no sum overflows.",
                "Agree on a plan with a larger limit.",
            )
        whole = np.rint(np.ldexp(values, self.fraction))
        return [int(value) for value in whole.tolist()]

    def result(self, opened: Sequence[Opened]) -> VectorSumFit:
        sums = opened[-1].sums
        return VectorSumFit(totals=np.ldexp(np.array(sums, dtype=float), -self.fraction), exact=sums)

    def terms(self) -> dict[str, Any]:
        return {"column": self.column, "length": self.length, "limit": self.limit, "fraction": self.fraction}
