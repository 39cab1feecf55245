"""Contingency table: two categorical answers of one person in one report, and how they are related.

Law        that of a frequency oracle on all pairs of a row and a column
Guarantee  epsilon-DP for both answers of one person together, in one report
Why        the pair is one category, and the oracle's epsilon is for any change of the category
Error      that of the oracle for each cell. The share of a row is the sum of its cells' estimates: see
           ``support_uncertainty.py`` for its variance, which is not the sum of theirs
Numerics   exact: those of the oracle
Limits     the number of cells is the product of the numbers of categories. Margins alone are cheaper from a ``Survey``
Source     flou
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flou.bits import SYSTEM, Bits
from flou.domain import Domain
from flou.errors import InvalidParameter
from flou.guarantee import PureDP
from flou.local.aggregate import Aggregate
from flou.local.categories.consistency import CONSISTENT, Consistent, nearest_shares
from flou.local.categories.frequency_oracle import categories_of
from flou.local.categories.oracles import frequencies
from flou.local.categories.pairs import Pairs
from flou.local.categories.support_uncertainty import MarginUncertainty
from flou.local.certify import certified
from flou.parameters import Number, choice
from flou.release import Release
from flou.summaries import rows_of
from flou.summaries.request import Code

__all__ = ["ContingencyTable"]

MISSING = object()


class ContingencyTable:
    """``rows`` and ``columns``: how many categories there are, lists of them, or domains; epsilon is for the pair."""

    def __init__(
        self,
        rows: Any,
        columns: Any,
        *,
        epsilon: Number,
        method: str = "auto",
        names: Sequence[str] = ("rows", "columns"),
        unit: str = "person",
    ) -> None:
        self.rows: Domain = categories_of(rows)
        self.columns: Domain = categories_of(columns)
        pair = () if isinstance(names, str) else tuple(map(str, names))
        if len(set(pair)) != 2 or len(pair) != 2:
            raise InvalidParameter(
                "names must be two different names.",
                "They say which answer is which in a table of answers.",
                "Pass for example names=('smokes', 'region'), or leave names out.",
            )
        self.names = pair
        self.oracle = frequencies(Pairs(self.rows, self.columns), epsilon=epsilon, method=method, unit=unit)

    def __repr__(self) -> str:
        return f"ContingencyTable({self.rows!r}, {self.columns!r}, epsilon={float(self.oracle.epsilon):g})"

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows and how many columns there are."""
        return self.rows.size, self.columns.size

    @property
    def guarantee(self) -> PureDP:
        """What a person pays for both answers together."""
        return self.oracle.guarantee

    def randomise(self, first: Any, second: Any = MISSING, *, bits: Bits = SYSTEM) -> NDArray[Any]:
        """One report for each person: from two columns, or from a table that has both by ``names``."""
        pairs = Pairs(self.rows, self.columns)
        if second is not MISSING:
            return self.oracle.sample(pairs.encode((first, second)), bits=bits)
        wanted = [Code(name, domain) for name, domain in zip(self.names, (self.rows, self.columns), strict=True)]
        parts = [pairs.joined(*codes) for codes in rows_of(first).codes(wanted)]
        return self.oracle.sample(np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64), bits=bits)

    def aggregate(self, reports: ArrayLike | Aggregate | None = None) -> Aggregate:
        """An empty aggregate of the ``oracle``, or the aggregate of these reports."""
        return self.oracle.aggregate(reports)

    def estimate(self, reports: ArrayLike | Aggregate, *, consistent: Consistent = "simplex") -> Release:
        """The shares of all pairs with their intervals, row by row; labels are "row, column"."""
        return self.oracle.estimate(reports, consistent=consistent)

    def margins(self, reports: ArrayLike | Aggregate, *, consistent: Consistent = "simplex") -> dict[str, Release]:
        """The shares of the rows and those of the columns, by ``names``, from the same reports.

        They are sums of the unbiased estimates, moved to the nearest shares with ``"simplex"``. So they may differ
        from the sums of the published cells, which were moved cell by cell.
        """
        choice("consistent", consistent, ("simplex", "none"))
        found = self.aggregate(reports)
        table = self.oracle.shares(found).reshape(self.shape)
        releases = {}
        for axis, (name, domain) in enumerate(zip(self.names, (self.rows, self.columns), strict=True)):
            sums = table.sum(axis=1 - axis)
            uncertainty = MarginUncertainty.of(self.oracle, sums, found.people, self.shape[1 - axis])
            value = sums if consistent == "none" else nearest_shares(sums)
            steps = ("sums over the other answer", CONSISTENT[consistent])
            releases[name] = certified(self.oracle, found, f"shares of {name}", value, uncertainty, domain.names, steps)
        return releases
