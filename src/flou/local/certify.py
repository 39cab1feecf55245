"""The release that an estimate from reports is, and what its certificate says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flou.release import Certificate, Layout, Release, Uncertainty
from flou.release.accuracy import accuracy_of

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
    """An estimate with its intervals; it costs nothing beyond what each respondent paid with the report."""
    cost = randomiser.guarantee
    blocks: dict[str, dict[str, Any]] = {
        "data": {"dataset": None, "reports": aggregate.people, "size_is_public": True},
        "unit": {
            "privacy_unit": cost.unit,
            "neighbours": cost.relation,
            "max_rows_per_unit": 1,
            "bounds": {"answer": randomiser.domain.to_dict()},
            "bounds_source": "public",
            "enforcement": "one report a respondent",
        },
        "loss": {**cost.to_dict(), "composition": "one report a respondent", "cap": None},
        "mechanism": {
            "name": randomiser.name,
            **randomiser.parameters(),
            "sampler": "exact",
            "random_source": "the respondent's",
        },
        "keys": {"group_keys": "public", "threshold": None, "unprotected_quantities": ["the number of reports"]},
        "processing": {
            "statistic": statistic,
            "preprocessing": ["encoded on the public domain by the respondent"],
            "postprocessing": list(postprocessing),
            "touches_data_again": False,
        },
        "accuracy": accuracy_of(uncertainty),
        "channels": {"float_policy": "reports and their sums are integers", "timing_policy": "not protected"},
        "trust": {"model": "local", "parties": aggregate.people, "collusion_tolerated": "all others"},
        "assurance": {"proof": "docs/explanation/proofs", "tests": "exhaustive on tiny domains"},
        "words": {
            "cost": cost.in_words(),
            "not_protected": "That you answered, and what the statistics say about everyone.",
        },
    }
    certificate = Certificate.issue(blocks, previous=None)
    return Release(
        statistic=statistic,
        column=None,
        value=value,
        cost=cost,
        certificate=certificate,
        uncertainty=uncertainty,
        labels=labels,
        layout=layout,
    )
