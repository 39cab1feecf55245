"""Two categories of one person as one category: every pair of a row and a column is a category."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from flou.domain import Domain
from flou.errors import InvalidData

__all__ = ["Pairs"]


class Pairs(Domain):
    """A domain of pairs, the second category counting fastest; values are a sequence of two columns."""

    def __init__(self, rows: Domain, columns: Domain) -> None:
        self.rows = rows
        self.columns = columns

    def __repr__(self) -> str:
        return f"Pairs({self.rows!r}, {self.columns!r})"

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows and how many columns there are."""
        return self.rows.size, self.columns.size

    @property
    def sides(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """What the rows and the columns are called."""
        return self.rows.names, self.columns.names

    @property
    def size(self) -> int:
        """How many pairs there are."""
        return self.rows.size * self.columns.size

    @property
    def missing_code(self) -> int:
        """The code of the pair in which both are missing."""
        return self.rows.missing_code * self.columns.size + self.columns.missing_code

    def joined(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.int64]:
        """The codes of pairs, from those of their parts."""
        if first.shape != second.shape:
            raise InvalidData(
                "The two columns must have the same length.",
                "Each person has one answer in each column, and both go into one report.",
                "Pass two columns with one row for each person.",
            )
        return first * self.columns.size + second

    def encode(self, values: Any) -> NDArray[np.int64]:
        """The code of each person's pair, from two columns."""
        if isinstance(values, str) or not hasattr(values, "__len__") or len(values) != 2:
            raise InvalidData(
                "Pairs must be passed as two columns.",
                "The first column has each person's row of the table, the second each person's column.",
                "Pass for example (['yes', 'no'], ['north', 'south']).",
            )
        return self.joined(self.rows.encode(values[0]), self.columns.encode(values[1]))

    def decode(self, codes: object) -> NDArray[Any]:
        """The labels of pairs, as texts: the row, a comma, the column."""
        first, second = np.divmod(np.asarray(codes), self.columns.size)
        both = zip(self.rows.decode(first).tolist(), self.columns.decode(second).tolist(), strict=True)
        return np.array([f"{row}, {column}" for row, column in both], dtype=object)

    def to_dict(self) -> dict[str, Any]:
        """Both domains as tables."""
        return {"type": "pairs", "rows": self.rows.to_dict(), "columns": self.columns.to_dict()}
