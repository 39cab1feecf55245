"""A table seen group by group: public groups, or groups whose keys were selected privately."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flou.central.counts.count import GroupCounts
from flou.central.counts.grouped_histogram import GroupedHistogram
from flou.central.counts.keys import Selection
from flou.central.in_groups import InGroups
from flou.central.moments.mean import Mean
from flou.central.moments.total import Total
from flou.central.moments.variance import StandardDeviation, Variance
from flou.central.price import Given, Price
from flou.central.quantiles.calls import QuantileCalls
from flou.central.question import Question
from flou.errors import InvalidParameter
from flou.release import Release

if TYPE_CHECKING:
    from flou.central.table import Table

__all__ = ["GroupedTable"]

MOST_CELLS = 1000  # of an interval that is grouped by


class GroupedTable(QuantileCalls):
    """A table seen group by group: by public groups, or by keys that were selected privately and paid for once."""

    def __init__(self, table: Table, by: str, selection: Selection | None = None) -> None:
        if selection is None:
            _require_public(table, by)
        self._table, self._by, self._selection = table, by, selection
        self._grouping = by

    @property
    def keys(self) -> Release | None:
        """The release that selected the groups; None where they are public."""
        return None if self._selection is None else self._selection.release

    def _one(self, question: Question) -> Release:
        if self._selection is not None:
            question = InGroups(question, self._by, self._selection)
        return self._table.ask(question)[0]

    def count(self, *, epsilon: Given = None, delta: Given = None, rho: Given = None) -> Release:
        """How many rows every group has."""
        return self._one(GroupCounts(self._by, Price.of(epsilon, delta, rho)))

    def sum(self, column: str, *, epsilon: Given = None, delta: Given = None, rho: Given = None) -> Release:
        """The sum of a column in every group."""
        return self._one(Total(column, Price.of(epsilon, delta, rho), self._by))

    def mean(self, column: str, *, epsilon: Given = None, delta: Given = None, rho: Given = None) -> Release:
        """The mean of a column in every group."""
        return self._one(Mean(column, Price.of(epsilon, delta, rho), self._by))

    def variance(self, column: str, *, epsilon: Given = None, delta: Given = None, rho: Given = None) -> Release:
        """The variance of a column in every group."""
        return self._one(Variance(column, Price.of(epsilon, delta, rho), self._by))

    def std(self, column: str, *, epsilon: Given = None, delta: Given = None, rho: Given = None) -> Release:
        """The standard deviation of a column in every group."""
        return self._one(StandardDeviation(column, Price.of(epsilon, delta, rho), self._by))

    def histogram(
        self, column: str, *, bins: int | None = None, epsilon: Given = None, delta: Given = None, rho: Given = None
    ) -> Release:
        """How many rows of every group fall into each bin of an interval, or have each category, group by group."""
        return self._one(GroupedHistogram(column, Price.of(epsilon, delta, rho), bins, by=self._by))


def _require_public(table: Table, by: str) -> None:
    """Refuse a column whose groups nobody has declared, and more groups than can be answered."""
    if by not in table.schema:
        raise InvalidParameter(
            f"Column {by!r} is not in the schema, so that its groups are not public.",
            "That a group is there at all can reveal the one person who is in it.",
            "Declare its categories, or pass epsilon and delta to group_by, which selects groups that many rows share.",
        )
    if not table.schema[by].discrete and table.schema[by].size > MOST_CELLS:
        raise InvalidParameter(
            f"Column {by!r} is an interval of {table.schema[by].size} cells, too many to be groups.",
            "Every cell is a group, and a group should be something that a reader can name.",
            "Declare it with few cells, for example Interval(0, 100, cells=10), or as integers or categories.",
        )
    if table.schema[by].size > 2**20:
        raise InvalidParameter(
            f"Column {by!r} has more than 2^20 groups.",
            "Every public group is answered, the empty ones too.",
            "Declare it with a coarser grid, or as categories.",
        )
