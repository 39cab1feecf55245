"""Sanitiser: every cell of a row randomised by itself, within its public bounds or categories.

Law        numbers follow the randomiser of ``method`` (clamped window, bounded Laplace or staircase), categories and
           yes-or-no columns GRR; all columns are drawn independently. A number on a grid of more than 2^16 codes is
           randomised on a coarser grid, and is then uniform within the coarse cell
Guarantee  ``budget="total"``: epsilon-DP for all columns and all rows of one person together. ``budget="per-column"``:
           epsilon for each column of each row, so that a person pays epsilon times columns times rows
Why        the cells of a person are randomised independently, so the log-ratios of their laws add up
Error      every value is far from the truth: a sanitised table is for software that needs rows. Estimates from reports
           (``frequencies``, ``mean_of``, ``Survey``, ``NaiveBayes``) cost the same and are more accurate
Numerics   exact: each randomiser's own, and uniform integers
Limits     that a person is in the table, how many rows there are, and their order are not hidden
Source     document 002, with public bounds, mechanisms that keep their epsilon, and a stated total
Proof      docs/explanation/proofs/local_numbers.md, docs/explanation/proofs/randomised_response.md
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np

from flou.arrays import Ints
from flou.bits import SYSTEM, Bits
from flou.domain import Domain, Integers, Numbers, Schema
from flou.errors import InvalidParameter
from flou.guarantee import PureDP
from flou.local.categories.grr import GRR
from flou.local.numbers.bounded_laplace import BoundedLaplace
from flou.local.numbers.bounded_staircase import BoundedStaircase
from flou.local.numbers.clamped_window import ClampedWindow
from flou.local.numbers.window_randomiser import below_each
from flou.local.randomiser import Randomiser
from flou.parameters import Number, choice, number

__all__ = ["Codes", "ColumnRandomiser", "Sanitiser"]

Budget: TypeAlias = Literal["total", "per-column"]
Method: TypeAlias = Literal["window", "laplace", "staircase"]
Codes: TypeAlias = dict[str, Ints]  # of each column, all of the same length

METHODS: dict[str, type[ClampedWindow] | type[BoundedLaplace] | type[BoundedStaircase]] = {
    "window": ClampedWindow,
    "laplace": BoundedLaplace,
    "staircase": BoundedStaircase,
}
MOST_CELLS = 2**16
MOST_CODES = 2**31


@dataclass(frozen=True)
class ColumnRandomiser:
    """Randomises one column: ``merged`` neighbouring codes form one coarse code, which ``randomiser`` randomises."""

    domain: Domain
    randomiser: Randomiser
    merged: int = 1

    @classmethod
    def of(cls, domain: Domain, epsilon: Fraction, method: str, unit: str) -> ColumnRandomiser:
        if not isinstance(domain, Numbers) or not domain.measured:
            return cls(domain, GRR(domain, epsilon=epsilon, unit=unit))
        if domain.size > MOST_CODES:
            raise InvalidParameter(
                f"The grid has {domain.size} codes, but at most 2^31 codes can be randomised.",
                "The noise moves values over the whole grid, so a finer grid adds no information.",
                "Declare a coarser step, or fewer cells.",
            )
        merged = -(-domain.size // MOST_CELLS)
        coarse = domain if merged == 1 else Integers(0, -(-domain.size // merged) - 1)
        return cls(domain, METHODS[method](coarse, epsilon=epsilon, unit=unit), merged)

    def sample(self, codes: Ints, bits: Bits) -> Ints:
        """A random code of the domain for each code."""
        if self.merged == 1:
            return np.asarray(self.randomiser.sample(codes, bits=bits), dtype=np.int64)
        start = self.randomiser.sample(codes // self.merged, bits=bits) * self.merged
        return np.asarray(start + below_each(np.minimum(self.merged, self.domain.size - start), bits), dtype=np.int64)


class Sanitiser:
    """One randomiser for each column of a public ``schema``, and what they cost together."""

    def __init__(
        self,
        schema: Schema | Mapping[str, Any] | str | os.PathLike[str],
        *,
        epsilon: Number,
        budget: Budget = "total",
        method: Method = "window",
    ) -> None:
        self.schema = Schema.of(schema)
        self.epsilon = number("epsilon", epsilon)
        self.budget: Budget = choice("budget", budget, ("total", "per-column"))
        self.method: Method = choice("method", method, tuple(METHODS))
        number("epsilon", self.guarantee.epsilon)
        _ = self.cells  # refuse a column that cannot be randomised before any row is read

    def __repr__(self) -> str:
        return f"Sanitiser({', '.join(self.schema)}; {self.method}; {self.in_words()})"

    @property
    def parts(self) -> int:
        """How many cells of one person are randomised: columns times rows."""
        return len(self.schema) * self.schema.max_rows_per_unit

    @property
    def share(self) -> Fraction:
        """What one cell costs."""
        return self.epsilon / self.parts if self.budget == "total" else self.epsilon

    @property
    def guarantee(self) -> PureDP:
        """What a person pays for all their cells together."""
        return PureDP(self.share * self.parts, relation="substitute", unit=self.schema.unit or "person")

    @cached_property
    def cells(self) -> dict[str, ColumnRandomiser]:
        """How each column is randomised."""
        found = {}
        for name, domain in self.schema.columns.items():
            try:
                found[name] = ColumnRandomiser.of(domain, self.share, self.method, self.guarantee.unit)
            except InvalidParameter as error:
                raise InvalidParameter(f"Column {name!r}: {error.what}", error.why, error.do) from None
        return found

    @property
    def randomisers(self) -> dict[str, Randomiser]:
        """What draws the reports of each column."""
        return {name: cell.randomiser for name, cell in self.cells.items()}

    def sample(self, codes: Mapping[str, Ints], *, bits: Bits = SYSTEM) -> Codes:
        """A random code for each code, column by column in the order of the schema."""
        return {name: cell.sample(codes[name], bits) for name, cell in self.cells.items()}

    def in_words(self) -> str:
        """What a person pays, in one sentence."""
        whom, total = f"a {self.guarantee.unit}", float(self.guarantee.epsilon)
        columns, rows = len(self.schema), self.schema.max_rows_per_unit
        where = f"{columns} columns" + (f" of {rows} rows" if rows > 1 else "")
        if self.budget == "total":
            return f"{whom} pays epsilon = {total:g} in total, {float(self.share):.3g} for each of {where}"
        times = f"{columns} columns" + (f" times {rows} rows" if rows > 1 else "")
        return f"{whom} pays epsilon = {total:g} in total: {float(self.epsilon):g} times {times}"
