"""What the certificate of a central release says, block by block."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flou.guarantee import ZCDP
from flou.release.accuracy import accuracy_of

if TYPE_CHECKING:
    from flou.central.custody import Custody
    from flou.central.question import Draft, Prepared, Question

__all__ = ["blocks"]

AGAIN = (  # how many times depends on the rows, and is therefore not told
    "more than once, also after noise was drawn; every draw is part of the loss that is stated"
)
CONVERTED_AT = 1e-6  # the delta at which a rho is also stated as an epsilon


def blocks(table: Custody, question: Question, prepared: Prepared, draft: Draft) -> dict[str, dict[str, Any]]:
    """All blocks but the identity."""
    schema, budget, cost, again = table.schema, table.budget, prepared.cost, prepared.looks_again
    return {
        "data": {
            "dataset": schema.name,
            "schema_hash": schema.hash,
            "engine": table._rows.engine,
            "conditions": [repr(condition) for condition in table.conditions],
            "size_is_public": schema.relation == "substitute" and schema.unit is None,
        },
        "unit": {
            "privacy_unit": schema.unit or "row",
            "unit_column": schema.unit,
            "neighbours": schema.relation,
            "max_rows_per_unit": schema.max_rows_per_unit,
            "max_groups_per_unit": schema.max_rows_per_unit,  # each of its rows may be in another group
            "bounds": {name: schema[name].to_dict() for name in schema},
            "bounds_source": schema.bounds_source or "public",
            "enforcement": "every row is a unit"
            if schema.unit is None
            else "rows beyond the cap are dropped at random",
        },
        "loss": {
            **cost.to_dict(),
            "parameters": {name: getattr(cost, name) for name in cost.parameters},
            "delta": getattr(cost, "delta", 0.0),
            "converted": cost.to_approx(delta=CONVERTED_AT).to_dict() if isinstance(cost, ZCDP) else None,
            "this_release": cost.to_dict(),
            "composition": "sequential, exact",
            "cumulative_after": None if budget is None or budget.spent is None else budget.spent.to_dict(),
            "cap": None if budget is None else budget.total.to_dict(),
        },
        "mechanism": draft.mechanism,
        "keys": {"group_keys": "none", "threshold": None, "unprotected_quantities": [], **draft.keys},
        "processing": {
            "statistic": question.statistic,
            "column": question.column,
            "preprocessing": ["clamped to public bounds", "rounded to a public grid", "missing values as declared"],
            "postprocessing": list(draft.postprocessing),
            "touches_data_again": again,
            "reads": AGAIN if again else "once, before any noise is drawn",
        },
        "accuracy": {
            **accuracy_of(draft.uncertainty),
            "clipping": "declared: clamped to the bounds; how many rows is private",
            "notes": draft.note,
        },
        "channels": {
            "float_policy": "integers until the noise is drawn",
            "overflow_policy": "excluded: sums are made in limbs or in 128 bits",
            "null_policy": "declared in the schema, row by row",
            "error_policy": "no message contains a value",
            "timing_policy": "not protected",
        },
        "trust": {"model": "central", "parties": 1, "collusion_tolerated": 0},
        "assurance": {
            "proof": [f"docs/explanation/proofs/{page}.md" for page in dict.fromkeys((question.proof, *draft.proofs))],
            "tests": "exhaustive on tiny domains, both relations",
            "known_limits": ["timing", "memory of the host"],
        },
        "words": {
            "cost": cost.in_words(),
            "not_protected": "What the statistics say about everyone, you included, whether or not you took part.",
        },
    }
