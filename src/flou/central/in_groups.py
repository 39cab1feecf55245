"""A question about groups whose keys were selected, where the engine and the question know of public groups only.

The engine is asked about the selected keys and "other", the place of all rows whose key was not selected. That group is
left out before any noise is drawn: what is answered is what would be answered if the selected keys were public, and
after the selection they are. Parallel composition is that of public groups: every row is in one group at the most.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flou.central.counts.keys import Selection
from flou.central.curator import Curator
from flou.central.public_facts import PublicFacts
from flou.central.question import Draft, Question
from flou.domain import Boolean, Categories
from flou.guarantee import Guarantee
from flou.release.uncertainty import Certain
from flou.summaries.request import Code, Request

__all__ = ["InGroups"]


@dataclass(frozen=True)
class _SelectedGroups(PublicFacts):
    """Facts in which the selected keys are the domain of a column, with or without a place for all others."""

    by: str = ""
    keys: tuple[Any, ...] = ()
    other: bool = True

    def domain(self, column: str) -> Any:
        if column != self.by:
            return super().domain(column)
        if not self.keys:  # nothing is asked then; the parameters are checked all the same
            return Boolean()
        if not self.other:
            return Categories(self.keys, other=False, missing=self.keys[0])
        label = "other"
        while label in self.keys:
            label += "_"
        return Categories(self.keys, other_label=label)

    def code(self, column: str) -> Code:
        return Code(column, replace(self, other=True).domain(column))

    def groups(self, by: str | None) -> int:
        return len(self.keys) + 1 if by == self.by else super().groups(by)


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

    def _inside(self, facts: PublicFacts, *, other: bool) -> PublicFacts:
        # the rows of the selected groups are not all rows, so that their number is not public
        known = (facts.schema, None, facts.table_rows, facts.random_source, facts.looks_again)
        return _SelectedGroups(*known, by=self.by, keys=self.selection.keys, other=other)

    @property
    def proof(self) -> str:  # type: ignore[override]
        return self.question.proof

    def looks_again(self, facts: PublicFacts) -> bool:
        return bool(self.selection.keys) and self.question.looks_again(self._inside(facts, other=True))

    def cost(self, facts: PublicFacts) -> Guarantee:
        return self.question.cost(self._inside(facts, other=True))

    def requests(self, facts: PublicFacts) -> tuple[Request, ...]:
        return self.question.requests(self._inside(facts, other=True)) if self.selection.keys else ()

    def answer(self, found: list[NDArray[Any]], facts: PublicFacts, curator: Curator) -> Draft:
        keys = {"column": self.by, **self.selection.to_dict()}
        if not self.selection.keys:
            why = f"No key was selected: those with fewer than about {self.selection.threshold} rows are not shown."
            mechanism = {"name": "none: there is no group to answer about"}
            return Draft(np.zeros(0), Certain(float("nan")), mechanism, (), why, keys=keys)
        groups = len(self.selection.keys)
        draft = self.question.answer([table[:groups] for table in found], self._inside(facts, other=False), curator)
        return replace(draft, keys={**draft.keys, **keys}, proofs=(*draft.proofs, "keys"))
