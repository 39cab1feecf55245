"""What follows from sums, for everyone alike: the next question, or the result once enough parties have confirmed.

Everyone who has the transcript issues the same certificate.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from flou.domain import Schema
from flou.errors import instead
from flou.joint.agreement.plan import Plan
from flou.joint.estimators.fit import Fit, Provenance
from flou.joint.estimators.program import Ask, Opened, Program, not_of_rows
from flou.joint.round.setting import Setting
from flou.release import Certificate
from flou.release import blocks as block

__all__ = ["certificate_of", "concluded", "confirmations", "next_ask"]

EXACT = "every sum that was opened: the sums are exact"


def certificate_of(plan: Plan, opened: Sequence[Opened], head: bytes) -> Certificate:
    """The certificate of a result; ``head`` stands for all rounds, and is the identity of the release."""
    program, parties, rounds = plan.program, len(opened[-1].parties), len(opened)
    cost, shares = program.guarantee, [one.ask.noise for one in opened if one.ask.noise is not None]
    told = program.terms().get("schema")
    schema = None if told is None else Schema.from_dict(told)
    kinds = " and ".join(dict.fromkeys(share.kind for share in shares))
    need = max((share.honest for share in shares), default=0)
    honest = f"This holds if {need} of the {parties} parties add their noise and keep it to themselves."
    statement = block.Statement(
        data=block.DataBlock(
            dataset=None if schema is None else schema.name,
            schema_hash=None if schema is None else schema.hash,
            size_is_public=cost is not None and cost.relation == "substitute",
            facts={
                "plan": plan.hash.hex(),
                "transcript": head.hex(),
                "columns": list(plan.reading.columns),
                "conditions": [plan.where] if plan.where else [],
            },
        ),
        unit=block.UnitBlock(
            privacy_unit="row" if cost is None else cost.unit,
            neighbours=None if cost is None else cost.relation,
            bounds={} if schema is None else {name: schema[name].to_dict() for name in schema},
            bounds_source="public" if schema is None else schema.bounds_source or "public",
        ),
        loss=block.LossBlock(
            cost=cost, composition="no loss is bounded" if cost is None else "the losses of all rounds add up"
        ),
        mechanism=block.MechanismBlock(
            name=f"masked sums with {kinds} noise in shares" if shares else "masked sums, exact",
            sampler="exact" if shares else None,
            random_source="each party's own" if shares else None,
            facts={
                "rounds": rounds,
                "scalars": sum(one.ask.length for one in opened),
                "noise": [None if one.ask.noise is None else one.ask.noise.to_dict() for one in opened],
            },
        ),
        keys=block.KeysBlock(unprotected_quantities=("who took part", *(() if cost is not None else (EXACT,)))),
        processing=block.ProcessingBlock(
            statistic=program.estimator,
            preprocessing=("coded as whole numbers, as the plan says", "missing values as the statistic declares"),
            postprocessing=("computed from the opened sums",),
            touches_data_again=rounds > 1,
            reads="once" if rounds == 1 else f"once in each of {rounds} rounds; earlier sums decide what is asked next",
        ),
        accuracy=block.AccuracyBlock(
            uncertainty=None,
            clipping="as the plan declares; how many rows is private",
            notes=f"The errors stand in the result; they {'contain the noise' if shares else 'are those of sampling'}.",
            facts={} if shares else {"noise": 0.0},
        ),
        channels=block.ChannelsBlock(
            float_policy="words and sums are integers",
            overflow_policy="excluded by a proof in the plan, but for noise beyond 2^-128",
            null_policy="declared by the statistic, row by row",
        ),
        trust=block.TrustBlock(model="joint", parties=parties, collusion_tolerated=plan.colluders),
        assurance=block.AssuranceBlock(
            proofs=program.proofs,
            tests="faults and lies at every step; the noise exactly, share by share",
            known_limits=("timing", "memory of the host", "a party that lies about its own rows"),
        ),
        words=block.WordsBlock(
            cost=None if cost is None else f"{cost.in_words()} {honest}",
            not_protected="Who took part, and what the statistics say about everyone.",
        ),
    )
    return Certificate.issue(statement, release=head)


def confirmations(setting: Setting) -> int:
    """How many neighbours must have confirmed a result; the others may have been lost."""
    return setting.resilience.quorum


def _of_rows() -> instead:
    """What no rows could give may have no square root, or no inverse."""
    error = not_of_rows("Nothing follows from these sums.")
    return instead(error, ArithmeticError, ValueError, np.linalg.LinAlgError)


def next_ask(program: Program, opened: Sequence[Opened]) -> Ask | None:
    """What is added up next."""
    with _of_rows():
        return program.next(opened)


def concluded(plan: Plan, opened: Sequence[Opened], head: bytes) -> Fit:
    """The result of what was opened, with how it came about; ``head`` stands for all rounds."""
    with _of_rows():
        fit: Fit = plan.program.result(opened)
    scalars, cost = sum(one.ask.length for one in opened), plan.program.guarantee
    issued = certificate_of(plan, opened, head)
    return fit.with_provenance(Provenance(opened[-1].parties, len(opened), scalars, head.hex(), cost, issued))
