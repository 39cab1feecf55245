"""A question about groups whose keys were selected, where the engine and the question know of public groups only.

The engine is asked about the selected keys and "other", the place of all rows whose key was not selected. That group is
left out before any noise is drawn: what is answered is what would be answered if the selected keys were public, and
after the selection they are. Parallel composition is that of public groups: every row is in one group at the most.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from flou.central.counts.keys import Selection
from flou.central.question import Curator, Draft, Prepared, PublicFacts, Question
from flou.domain import Boolean, Categories
from flou.release.uncertainty import Certain

__all__ = ["InGroups"]


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
            return Draft(np.zeros(0), Certain(float("nan")), mechanism, (), why, keys=keys)

        if not selected:
            return Prepared(inside.cost, (), nothing, 0)
        return replace(inside, answer=answer)
