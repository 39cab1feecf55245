"""Custody of rows: a public schema, a budget, and the one loop in which every question is answered.

prepare    from public facts alone; whatever is wrong with the question comes out here, and costs nothing
charge     all questions together, or none
read       one pass over the rows for all of them, where the engine can
answer     question by question; the curator draws the noise, and looks again where the question said so
release    with its cost and a certificate that is chained to the one before
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Any

from flou.bits import SYSTEM, Bits
from flou.central.budget import Budget
from flou.central.question import Curator, Draft, Prepared, PublicFacts, Question
from flou.domain import Schema
from flou.errors import InvalidParameter
from flou.release import Certificate, Release
from flou.release import blocks as block
from flou.release.blocks import Statement, source_of
from flou.summaries.condition import Condition
from flou.summaries.request import Sums, columns_of
from flou.summaries.rows import Rows, quiet

__all__ = ["Custody"]

NOTHING = "not at all: there was nothing to answer about"

AGAIN = (  # how often depends on the rows, and is therefore not stated
    "more than once, also after noise was drawn; every draw is part of the loss that is stated"
)


class _Chain:
    """The certificates of one table, in the order of release; shared by its filtered views, and by threads."""

    def __init__(self) -> None:
        self.certificates: list[Certificate] = []
        self._lock = Lock()

    def issue(self, statement: Statement) -> Certificate:
        with self._lock:
            previous = self.certificates[-1].hash if self.certificates else None
            self.certificates.append(Certificate.issue(statement, previous=previous))
            return self.certificates[-1]


class Custody:
    """Rows behind a public schema and a budget."""

    def __init__(self, rows: Rows, schema: Schema, budget: Budget | None = None, *, bits: Bits = SYSTEM) -> None:
        self._rows = rows
        self.schema = schema
        self.budget = budget
        self._bits = bits
        self._chain = _Chain()
        self._table_rows: int | None = None
        self.conditions: tuple[Condition, ...] = ()  # all of which hold for the rows that are asked about
        for column in (*schema, *(() if schema.unit is None else (schema.unit,))):
            rows.require(column)

    @property
    def certificates(self) -> tuple[Certificate, ...]:
        """All certificates so far, oldest first: a chain that ``flou.release.verify_chain`` can check."""
        return tuple(self._chain.certificates)

    def _counted(self) -> int | None:
        """The number of rows of the whole table, where the relation makes it public."""
        if self.schema.relation != "substitute" or self.schema.unit is not None:
            return None
        if self._table_rows is None:
            self._table_rows = int(self._rows.collect([Sums(((),))])[0][0])
        return self._table_rows

    def _facts(self) -> PublicFacts:
        if self.budget is not None:
            self.budget.require_home()  # before anything is read: an engine may hang in a forked child
        public = self._counted()
        again = self.schema.unit is None  # a unit's rows are chosen anew at every look: a second one would see others
        return PublicFacts(self.schema, None if self.conditions else public, public, source_of(self._bits), again)

    def ask(self, *questions: Question) -> list[Release]:
        """Several questions together: charged together, answered in one pass where the engine can."""
        for question in questions:
            _require_question(question)
        if not questions:
            return []
        facts = self._facts()
        prepared = [question.prepare(facts) for question in questions]
        for column in {column for one in prepared for request in one.requests for column in columns_of(request)}:
            self._rows.require(column)
        if self.budget is not None:
            self.budget.charge(*(one.cost for one in prepared))
        with quiet(self._rows.engine):  # from here on there are two outcomes: an answer, or one error for all reasons
            drafts = self._answered(prepared)
            return [self._released(*one) for one in zip(questions, prepared, drafts, strict=True)]

    def _answered(self, prepared: Sequence[Prepared]) -> list[Draft]:
        """What has been paid for; exact numbers live in the frames of this call only."""
        found = iter(self._capped().read([request for one in prepared for request in one.requests]))
        drafts = []
        for one in prepared:
            with Curator(self._bits, self._rows if one.looks_again else None) as curator:
                drafts.append(one.answer([next(found) for _ in one.requests], curator))
        return drafts

    def _capped(self) -> Rows:
        """The rows that may count: at most ``max_rows_per_unit`` of every unit, enforced by the engine."""
        if self.schema.unit is None:
            return self._rows
        return self._rows.capped(self.schema.unit, self.schema.max_rows_per_unit, bits=self._bits)

    def _released(self, question: Question, prepared: Prepared, draft: Draft) -> Release:
        return Release(
            question.statistic,
            question.column,
            draft.value,
            prepared.cost,
            self._chain.issue(_statement(self, question, prepared, draft)),
            draft.uncertainty,
            draft.labels,
            draft.note,
            draft.layout,
        )


def _require_question(question: Any) -> None:
    if not isinstance(question, Question):
        raise InvalidParameter(
            f"ask takes questions, got a {type(question).__name__}.",
            "A question states its statistic, its column and its price.",
            "Pass for example flou.central.Mean('salary', 0.5), or call table.mean('salary', epsilon=0.5).",
        )


def _statement(table: Custody, question: Question, prepared: Prepared, draft: Draft) -> Statement:
    """What the certificate of a release says, block by block."""
    schema, budget, cost, again = table.schema, table.budget, prepared.cost, prepared.looks_again
    return Statement(
        data=block.DataBlock(
            dataset=schema.name,
            schema_hash=schema.hash,
            size_is_public=schema.relation == "substitute" and schema.unit is None,
            facts={
                "engine": table._rows.engine,
                "conditions": [repr(condition) for condition in table.conditions],
            },
        ),
        unit=block.UnitBlock.of_schema(schema),
        loss=block.LossBlock(
            cost=cost,
            spent=None if budget is None else budget.spent,
            cap=None if budget is None else budget.total,
        ),
        mechanism=block.MechanismBlock.of(draft.mechanism),
        keys=block.KeysBlock.of(draft.keys),
        processing=block.ProcessingBlock(
            statistic=question.statistic,
            column=question.column,
            preprocessing=draft.preprocessing,
            postprocessing=tuple(draft.postprocessing),
            touches_data_again=again,
            reads=AGAIN if again else block.ONCE if prepared.requests else NOTHING,
        ),
        accuracy=block.AccuracyBlock(uncertainty=draft.uncertainty, clipping=draft.clipping, notes=draft.note),
        channels=block.ChannelsBlock(overflow_policy="excluded: sums are made in limbs or in 128 bits"),
        trust=block.TrustBlock(model="central", parties=1, collusion_tolerated=0),
        assurance=block.AssuranceBlock(proofs=(question.proof, *draft.proofs)),
        words=block.WordsBlock(cost=cost.in_words()),
    )
