"""A table that answers questions: every statistic is a method, and views of some rows or of groups share its budget."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flou.bits import SYSTEM, Bits
from flou.central.budget import Budget
from flou.central.counts.keys import Keys, Selection
from flou.central.custody import Custody
from flou.central.grouped import GroupedTable
from flou.central.question import Question
from flou.central.registry import TableStatistics
from flou.domain import Schema
from flou.errors import InvalidParameter
from flou.guarantee import Guarantee, PureDP
from flou.guarantee.measure import agree
from flou.parameters import Number, shown
from flou.release import Release
from flou.summaries.condition import Condition
from flou.summaries.rows import quiet
from flou.summaries.source import rows_of

__all__ = ["Table", "open_table"]


class Table(Custody, TableStatistics):
    """Rows behind a public schema and a budget."""

    def __repr__(self) -> str:
        return f"Table({', '.join(self.schema)}; {self._rows.engine}; {self.budget or 'no budget'})"

    def _one(self, question: Question) -> Release:
        return self.ask(question)[0]

    def where(self, condition: Condition) -> Table:
        """The rows for which a condition holds; the budget is shared."""
        if not isinstance(condition, Condition):
            raise InvalidParameter(
                f"where takes a condition on rows, got a {type(condition).__name__}.",
                "A condition decides about each row by the values of that row.",
                'Write for example table.where(flou.column("age") >= 18).',
            )
        self._counted()
        with quiet(self._rows.engine):
            rows = self._rows.where(condition)
        view = Table(rows, self.schema, self.budget, bits=self._bits)
        view._chain, view._table_rows = self._chain, self._table_rows
        view.conditions = (*self.conditions, condition)
        return view

    def group_by(
        self, column: str, *, epsilon: Number | None = None, delta: Number | None = None, min_rows: int = 1
    ) -> GroupedTable:
        """Questions about every group of a column: the public ones, the empty ones included; or, with ``epsilon`` and
        ``delta``, those whose keys enough rows share, selected privately here and now, and paid for once.
        """
        if not isinstance(column, str):
            raise InvalidParameter(
                f"group_by takes the name of one column, got {shown(column)}.",
                "Every code of that column is a group.",
                "For groups of several columns, make one column of them before the table is opened.",
            )
        if epsilon is None and delta is None:
            return GroupedTable(self, column)
        if epsilon is None or delta is None:
            raise InvalidParameter(
                "group_by takes both epsilon and delta, or neither.",
                "Public groups cost nothing. Selecting groups costs epsilon, and delta for rare keys.",
                "Pass for example epsilon=0.5 and delta=1e-8, or declare the categories in the schema.",
            )
        return GroupedTable(self, column, Selection(self._one(Keys(column, epsilon, delta, min_rows))))


def open_table(
    source: Any,
    *,
    schema: Schema | Mapping[str, Any] | str,
    budget: Guarantee | Number | None = None,
    bits: Bits = SYSTEM,
) -> Table:
    """A table from a path, a mapping of columns, a data frame or an engine's table, with its public schema.

    ``budget`` is what may be spent in total: an epsilon, or a guarantee. Without one every question is answered, and
    the costs are yours to add up.
    """
    known = Schema.of(schema)
    unit = known.unit or "row"
    purse = None if budget is None else Budget(budget, relation=known.relation, unit=unit)
    if purse is not None:
        agree(purse.total, PureDP(1, relation=known.relation, unit=unit))
    return Table(rows_of(source), known, purse, bits=bits)
