"""A table seen group by group: public groups, or groups whose keys were selected privately.

About selected groups the engine is asked with the selected keys and "other", the place of all rows whose key was not
selected. That group is left out before any noise is drawn. So the answer is the one that public keys would give, and
after the selection the keys are public. Parallel composition is that of public groups: a row is in one group at most.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from flou.central.counts.keys import Selection
from flou.central.custody import Custody
from flou.central.question import Curator, Draft, Prepared, PublicFacts, Question, require_few_groups
from flou.central.registry import GroupStatistics
from flou.domain import Boolean, Categories
from flou.errors import InvalidParameter
from flou.release import Release
from flou.release.uncertainty import Certain

__all__ = ["GroupedTable", "InGroups"]


class GroupedTable(GroupStatistics):
    """A table seen group by group: by public groups, or by keys that were selected privately and paid for once."""

    _by: str

    def __init__(self, table: Custody, by: str, selection: Selection | None = None) -> None:
        if selection is None:
            _require_public(table, by)
        self._table, self._by, self._selection = table, by, selection

    def __repr__(self) -> str:
        groups = "public groups" if self._selection is None else f"{len(self._selection.keys)} selected groups"
        return f"GroupedTable({self._by}: {groups}; {self._table!r})"

    @property
    def keys(self) -> Release | None:
        """The release that selected the groups; None where they are public."""
        return None if self._selection is None else self._selection.release

    def _one(self, question: Question) -> Release:
        if self._selection is not None:
            question = InGroups(question, self._by, self._selection)
        return self._table.ask(question)[0]


def _require_public(table: Custody, by: str) -> None:
    """Refuse a column whose groups nobody has declared, and more groups than can be answered."""
    if by not in table.schema:
        raise InvalidParameter(
            f"Column {by!r} is not in the schema, so its groups are not public.",
            "That a group is there at all can reveal the one person who is in it.",
            "Declare its categories, or pass epsilon and delta to group_by, which selects groups that many rows share.",
        )
    require_few_groups(by, table.schema[by])


@dataclass(frozen=True)
class _SelectedGroups(PublicFacts):
    """Facts in which the selected keys, and a last place for all others, are the domain of a column."""

    by: str = ""
    keys: tuple[Any, ...] = ()

    def domain(self, column: str) -> Any:
        if column != self.by:
            return super().domain(column)
        if not self.keys:  # nothing is asked then; the parameters are checked all the same
            return Boolean()
        label = "other"
        while label in self.keys:
            label += "_"
        return Categories(self.keys, other_label=label)

    def labels(self, by: str) -> tuple[str, ...]:
        names = super().labels(by)
        return names[: len(self.keys)] if by == self.by else names


@dataclass(frozen=True)
class InGroups(Question):
    """A question about every selected group of a column; rows with other keys are left out."""

    question: Question
    by: str
    selection: Selection

    @property
    def statistic(self) -> str:  # type: ignore[override]
        return self.question.statistic

    @property
    def column(self) -> str | None:  # type: ignore[override]
        return self.question.column

    @property
    def proof(self) -> str:  # type: ignore[override]
        return self.question.proof

    def prepare(self, facts: PublicFacts) -> Prepared:
        selected = self.selection.keys
        # the rows of the selected groups are not all rows, so that their number is not public
        known = (facts.schema, None, facts.table_rows, facts.random_source, facts.looks_again)
        inside = self.question.prepare(_SelectedGroups(*known, by=self.by, keys=selected))
        keys = {"column": self.by, **self.selection.to_dict()}

        def answer(found: list[Any], curator: Curator) -> Draft:
            draft = inside.answer([table[: len(selected)] for table in found], curator)
            return replace(draft, keys={**draft.keys, **keys}, proofs=(*draft.proofs, "keys"))

        def nothing(found: list[Any], curator: Curator) -> Draft:
            del found, curator
            why = f"No key was selected: those with fewer than about {self.selection.threshold} rows are not shown."
            mechanism = {"name": "none: there is no group to answer about"}
            return Draft(
                np.zeros(0), Certain(float("nan")), mechanism, (), why, keys=keys, proofs=("keys",), preprocessing=()
            )

        if not selected:
            return Prepared(inside.cost, (), nothing, 0)
        return replace(inside, answer=answer)
