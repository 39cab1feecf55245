"""A table that answers questions: charge first, then one pass over the rows, then noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any

from flou.bits import SYSTEM, Bits
from flou.central.budget import Budget
from flou.central.counts.count import Count, Histogram
from flou.central.counts.density import Density
from flou.central.counts.keys import Keys
from flou.central.counts.outer_bounds import OuterBounds
from flou.central.counts.selection import MajorityAnswer, Mode, TopK
from flou.central.curator import Curator
from flou.central.grouped import GroupedTable
from flou.central.matrices.covariance import Correlation, Covariance
from flou.central.matrices.regression import Regression
from flou.central.moments.mean import Mean
from flou.central.moments.total import Total
from flou.central.moments.variance import StandardDeviation, Variance
from flou.central.price import Given, Price
from flou.central.public_facts import PublicFacts, source_of
from flou.central.quantiles.calls import QuantileCalls
from flou.central.question import Draft, Question
from flou.domain import Schema
from flou.errors import InvalidParameter
from flou.guarantee import Guarantee, PureDP
from flou.guarantee.measure import agree
from flou.parameters import Number, shown
from flou.release import Certificate, Release
from flou.summaries.condition import Condition
from flou.summaries.request import Request, Sums, codes_of
from flou.summaries.rows import Rows, quiet
from flou.summaries.source import rows_of

__all__ = ["Table", "open_table"]


class _Chain:
    """The certificates of one table, in the order of release; shared by its filtered views, and by threads."""

    def __init__(self) -> None:
        self.certificates: list[Certificate] = []
        self._lock = Lock()

    def issue(self, blocks: Mapping[str, Mapping[str, Any]]) -> Certificate:
        with self._lock:
            previous = self.certificates[-1].hash if self.certificates else None
            self.certificates.append(Certificate.issue(blocks, previous=previous))
            return self.certificates[-1]


class Table(QuantileCalls):
    """Rows behind a public schema and a budget."""

    def __init__(
        self,
        rows: Rows,
        schema: Schema,
        budget: Budget | None,
        *,
        bits: Bits = SYSTEM,
        filtered: bool = False,
        chain: Any = None,
    ) -> None:
        self._rows = rows
        self.schema = schema
        self.budget = budget
        self._bits = bits
        self._filtered = filtered
        self._chain = chain or _Chain()
        self._table_rows: int | None = None
        self.conditions: tuple[Condition, ...] = ()  # all of which hold for the rows that are asked about
        for column in (*schema, *(() if schema.unit is None else (schema.unit,))):
            rows.require(column)

    def __repr__(self) -> str:
        return f"Table({', '.join(self.schema)}; {self._rows.engine}; {self.budget or 'no budget'})"

    @property
    def certificates(self) -> tuple[Certificate, ...]:
        """All certificates so far, oldest first: a chain that ``flou.release.verify_chain`` can check."""
        return tuple(self._chain.certificates)

    def _counted(self) -> int | None:
        """The number of rows, where the relation makes it public."""
        if self.schema.relation != "substitute" or self.schema.unit is not None:
            return None
        if self._table_rows is None and not self._filtered:
            self._table_rows = int(self._rows.collect([Sums(((),))])[0][0])
        return self._table_rows

    def _facts(self) -> PublicFacts:
        if self.budget is not None:
            self.budget.require_home()  # before anything is read: an engine may hang in a forked child
        public = self._counted()
        again = self.schema.unit is None  # a unit's rows are chosen anew at every look: a second one would see others
        return PublicFacts(self.schema, None if self._filtered else public, public, source_of(self._bits), again)

    def _curator(self, question: Question, facts: PublicFacts) -> Curator:
        return Curator(self._bits, self._rows if question.looks_again(facts) else None)

    def ask(self, *questions: Question) -> list[Release]:
        """Several questions together: charged together, answered in one pass where the engine can."""
        for question in questions:
            _require_question(question)
        facts = self._facts()
        costs = [question.cost(facts) for question in questions]
        wanted = [question.requests(facts) for question in questions]
        for column in {code.column for requests in wanted for request in requests for code in codes_of(request)}:
            self._rows.require(column)
        if self.budget is not None:
            self.budget.charge(*costs)
        with quiet(self._rows.engine):  # from here on there are two outcomes: an answer, or one error for all reasons
            return self._answered(questions, wanted, costs, facts)

    def _answered(
        self,
        questions: Sequence[Question],
        wanted: Sequence[Sequence[Request]],
        costs: Sequence[Guarantee],
        facts: PublicFacts,
    ) -> list[Release]:
        """What has been paid for; exact numbers live in the frames of this call only."""
        found = iter(self._capped().collect([request for requests in wanted for request in requests]))
        drafts = []
        for question, requests in zip(questions, wanted, strict=True):
            with self._curator(question, facts) as curator:
                drafts.append(question.answer([next(found) for _ in requests], facts, curator))
        return [self._released(q, d, c, facts) for q, d, c in zip(questions, drafts, costs, strict=True)]

    def _one(self, question: Question) -> Release:
        return self.ask(question)[0]

    def _capped(self) -> Rows:
        """The rows that may count: at most so many of every unit, enforced by the engine."""
        if self.schema.unit is None:
            return self._rows
        return self._rows.capped(self.schema.unit, self.schema.max_rows_per_unit, bits=self._bits)

    def _released(self, question: Question, draft: Draft, cost: Guarantee, facts: PublicFacts) -> Release:
        from flou.central.certify import blocks

        return Release(
            question.statistic,
            question.column,
            draft.value,
            cost,
            self._chain.issue(blocks(self, question, draft, cost, facts)),
            draft.uncertainty,
            draft.labels,
            draft.note,
            draft.layout,
        )

    def where(self, condition: Condition) -> Table:
        """The rows for which a condition holds; the budget is shared."""
        if not isinstance(condition, Condition):
            raise InvalidParameter(
                f"where takes a condition on rows, got a {type(condition).__name__}.",
                "Rows are filtered one by one, by what each of them holds.",
                'Write for example table.where(flou.column("age") >= 18).',
            )
        self._counted()
        with quiet(self._rows.engine):
            rows = self._rows.where(condition)
        view = Table(rows, self.schema, self.budget, bits=self._bits, filtered=True, chain=self._chain)
        view._table_rows = self._table_rows
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
                "Public groups cost nothing; groups that are selected cost an epsilon, and a delta for rare keys.",
                "Pass for example epsilon=0.5 and delta=1e-8, or declare the categories in the schema.",
            )
        return GroupedTable(self, column, Keys(column, epsilon, delta, min_rows).select(self))

    def count(self, *, epsilon: Given = None, delta: Given = None, rho: Given = None) -> Release:
        """How many rows there are."""
        return self.ask(Count(Price.of(epsilon, delta, rho)))[0]

    def sum(self, column: str, *, epsilon: Given = None, delta: Given = None, rho: Given = None) -> Release:
        """The sum of a column."""
        return self.ask(Total(column, Price.of(epsilon, delta, rho)))[0]

    def mean(self, column: str, *, epsilon: Given = None, delta: Given = None, rho: Given = None) -> Release:
        """The mean of a column."""
        return self.ask(Mean(column, Price.of(epsilon, delta, rho)))[0]

    def variance(self, column: str, *, epsilon: Given = None, delta: Given = None, rho: Given = None) -> Release:
        """The variance of a column, with divisor n - 1."""
        return self.ask(Variance(column, Price.of(epsilon, delta, rho)))[0]

    def std(self, column: str, *, epsilon: Given = None, delta: Given = None, rho: Given = None) -> Release:
        """The standard deviation of a column, with divisor n - 1."""
        return self.ask(StandardDeviation(column, Price.of(epsilon, delta, rho)))[0]

    def mode(self, column: str, *, bins: int | None = None, epsilon: Number) -> Release:
        """The most common value of a column, or its fullest bin."""
        return self.ask(Mode(column, epsilon, 1, bins))[0]

    def top_k(self, column: str, k: int, *, bins: int | None = None, epsilon: Number) -> Release:
        """The k most common values of a column, the most common first."""
        return self.ask(TopK(column, epsilon, k, bins))[0]

    def majority(self, column: str, *, epsilon: Number) -> Release:
        """Whether more rows of a Boolean column say yes than no."""
        return self.ask(MajorityAnswer(column, epsilon))[0]

    def bounds(self, column: str, *, epsilon: Number) -> Release:
        """Powers of two beyond which few values of a column lie, when no bounds are known."""
        return self.ask(OuterBounds(column, epsilon))[0]

    def keys(self, column: str, *, epsilon: Number, delta: Number, min_rows: int = 1) -> Release:
        """The values of a column that enough rows share, with their counts: for categories that are not public.

        With ``min_rows``, keys of fewer rows are left out before any noise, for the price of a threshold that is
        higher by ``min_rows - 1``: far fewer keys leave the engine.
        """
        return Keys(column, epsilon, delta, min_rows).select(self).release

    def covariance(self, *columns: str, epsilon: Given = None, delta: Given = None, rho: Given = None) -> Release:
        """The covariance matrix of several columns, row by row."""
        return self.ask(Covariance(columns, Price.of(epsilon, delta, rho)))[0]

    def correlation(self, *columns: str, epsilon: Given = None, delta: Given = None, rho: Given = None) -> Release:
        """The correlation matrix of several columns, row by row."""
        return self.ask(Correlation(columns, Price.of(epsilon, delta, rho)))[0]

    def regression(
        self, response: str, *regressors: str, epsilon: Given = None, delta: Given = None, rho: Given = None
    ) -> Release:
        """The coefficients of a linear regression with an intercept."""
        return self.ask(Regression(response, regressors, Price.of(epsilon, delta, rho)))[0]

    def density(
        self,
        column: str,
        *,
        terms: int | None = None,
        points: int = 65,
        epsilon: Given = None,
        delta: Given = None,
        rho: Given = None,
    ) -> Release:
        """The density of a column at equally spaced points, as a series of so many cosines."""
        return self.ask(Density(column, Price.of(epsilon, delta, rho), terms, points))[0]

    def histogram(
        self, column: str, *, bins: int | None = None, epsilon: Given = None, delta: Given = None, rho: Given = None
    ) -> Release:
        """How many rows fall into each bin of an interval (20 without ``bins``), or have each category."""
        return self.ask(Histogram(column, Price.of(epsilon, delta, rho), bins))[0]


def _require_question(question: Any) -> None:
    if not isinstance(question, Question):
        raise InvalidParameter(
            f"ask takes questions, got a {type(question).__name__}.",
            "A question states its statistic, its column and its price.",
            "Pass for example flou.central.Mean('salary', 0.5), or call table.mean('salary', epsilon=0.5).",
        )


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
