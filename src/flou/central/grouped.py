"""A table seen group by group: public groups, or groups whose keys were selected privately."""

from __future__ import annotations

from flou.central.counts.keys import Selection
from flou.central.custody import Custody
from flou.central.in_groups import InGroups
from flou.central.question import Question
from flou.central.statistics import GroupStatistics
from flou.errors import InvalidParameter
from flou.release import Release

__all__ = ["GroupedTable"]

MOST_CELLS = 1000  # of an interval that is grouped by


class GroupedTable(GroupStatistics):
    """A table seen group by group: by public groups, or by keys that were selected privately and paid for once."""

    def __init__(self, table: Custody, by: str, selection: Selection | None = None) -> None:
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
            question = InGroups(question, self._grouping, self._selection)
        return self._table.ask(question)[0]


def _require_public(table: Custody, by: str) -> None:
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
