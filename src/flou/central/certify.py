"""What the certificate of a central release says, block by block."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flou.release import blocks as block
from flou.release.blocks import Statement

if TYPE_CHECKING:
    from flou.central.custody import Custody
    from flou.central.question import Draft, Prepared, Question

__all__ = ["blocks"]

AGAIN = (  # how many times depends on the rows, and is therefore not told
    "more than once, also after noise was drawn; every draw is part of the loss that is stated"
)


def blocks(table: Custody, question: Question, prepared: Prepared, draft: Draft) -> Statement:
    """All blocks but the identity."""
    schema, budget, cost, again = table.schema, table.budget, prepared.cost, prepared.looks_again
    return Statement(
        data=block.Data(
            dataset=schema.name,
            schema_hash=schema.hash,
            size_is_public=schema.relation == "substitute" and schema.unit is None,
            facts={
                "engine": table._rows.engine,
                "conditions": [repr(condition) for condition in table.conditions],
            },
        ),
        unit=block.Unit.of_schema(schema),
        loss=block.Loss(
            cost=cost,
            spent=None if budget is None else budget.spent,
            cap=None if budget is None else budget.total,
        ),
        mechanism=block.Mechanism.of(draft.mechanism),
        keys=block.Keys.of(draft.keys),
        processing=block.Processing(
            statistic=question.statistic,
            column=question.column,
            preprocessing=("clamped to public bounds", "rounded to a public grid", "missing values as declared"),
            postprocessing=tuple(draft.postprocessing),
            touches_data_again=again,
            reads=AGAIN if again else block.ONCE,
        ),
        accuracy=block.Accuracy(uncertainty=draft.uncertainty, notes=draft.note),
        channels=block.Channels(overflow_policy="excluded: sums are made in limbs or in 128 bits"),
        trust=block.Trust(model="central", parties=1, collusion_tolerated=0),
        assurance=block.Assurance(proofs=(question.proof, *draft.proofs)),
        words=block.Words(cost=cost.in_words()),
    )
