"""The release of an estimate from reports, with its certificate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flou.release import Certificate, Layout, Release, Uncertainty
from flou.release import blocks as block

if TYPE_CHECKING:
    from flou.local.aggregate import Aggregate
    from flou.local.randomiser import Randomiser

__all__ = ["certified"]


def certified(
    randomiser: Randomiser,
    aggregate: Aggregate,
    statistic: str,
    value: Any,
    uncertainty: Uncertainty,
    labels: tuple[str, ...] | None = None,
    postprocessing: tuple[str, ...] = (),
    layout: Layout | None = None,
) -> Release:
    """An estimate with its intervals; it costs nothing beyond what each respondent paid for the report."""
    cost = randomiser.guarantee
    statement = block.Statement(
        data=block.DataBlock(dataset=None, schema_hash=None, size_is_public=True, facts={"reports": aggregate.people}),
        unit=block.UnitBlock(
            privacy_unit=cost.unit,
            neighbours=cost.relation,
            bounds={"answer": randomiser.domain.to_dict()},
            enforcement="one report a respondent",
        ),
        loss=block.LossBlock(cost=cost, composition="one report a respondent"),
        mechanism=block.MechanismBlock(
            name=randomiser.name,
            sampler="exact",
            random_source="the respondent's",
            facts=randomiser.parameters(),
        ),
        keys=block.KeysBlock(group_keys="public", unprotected_quantities=("the number of reports",)),
        processing=block.ProcessingBlock(
            statistic=statistic,
            preprocessing=("encoded on the public domain by the respondent",),
            postprocessing=tuple(postprocessing),
            reads="once, by the respondent; the estimate is made from reports alone",
        ),
        accuracy=block.AccuracyBlock(
            uncertainty=uncertainty, clipping="declared: answers outside of the public domain are moved into it"
        ),
        channels=block.ChannelsBlock(
            float_policy="reports and their sums are integers",
            overflow_policy="excluded: at most 2^40 reports are added up, in 64 bits",
            null_policy="declared in the domain, answer by answer",
        ),
        trust=block.TrustBlock(model="local", parties=aggregate.people, collusion_tolerated="all others"),
        assurance=block.AssuranceBlock(
            proofs=(randomiser.proof,),
            tests="exhaustive on tiny domains",
            known_limits=("timing", "the device of the respondent", "reports that no randomiser made, if well formed"),
        ),
        words=block.WordsBlock(
            cost=cost.in_words(), not_protected="That you answered, and what the statistics say about everyone."
        ),
    )
    return Release(
        statistic=statistic,
        column=None,
        value=value,
        cost=cost,
        certificate=Certificate.issue(statement),
        uncertainty=uncertainty,
        labels=labels,
        layout=layout,
    )
