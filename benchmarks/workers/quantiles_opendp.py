"""OpenDP's side of the benchmark of quantiles: the best of public candidates, one quantile a mechanism.

Quantiles are composed, so that the rows are handed over once a release, and each has an equal share of epsilon. Under
add-remove the number of rows is unknown; under substitute it is public, and a change is one row out and another in.
"""

from typing import Any

import opendp.prelude as dp

from harness.tasks import Timed, task
from workers.quantiles_data import BOUNDS, GRANULARITY, Release, ordered, probabilities, rank_errors, values

dp.enable_features("contrib")


def candidates_in(data: str, many: int | None) -> list[float]:
    """So many, evenly from bound to bound; or all multiples of the public granularity."""
    lower, upper = BOUNDS[data]
    count = round((upper - lower) / GRANULARITY[data]) + 1 if many is None else many
    return [lower + (upper - lower) * i / (count - 1) for i in range(count)]


def composed(rows: int, data: str, many: int, epsilon: float, relation: str, candidates: int | None) -> dp.Measurement:
    known = relation == "substitute"
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=rows if known else None)
    offered, d_in = candidates_in(data, candidates), 2 if known else 1

    def mechanism(p: float, scale: float) -> dp.Measurement:
        return dp.m.make_private_quantile(domain, dp.symmetric_distance(), dp.max_divergence(), offered, p, scale)

    parts = []
    for p in probabilities(many):
        at_one = mechanism(p, 1.0).map(d_in)  # what it costs is proportional to 1 / scale, up to rounding
        scale = at_one * many / epsilon * (1 + 1e-9)
        parts.append(mechanism(p, scale))
    together = dp.c.make_composition(parts)
    if not together.map(d_in) <= epsilon:
        raise ValueError("the scales do not add up to epsilon")
    return together


@task
def error_of_quantiles(
    data: str, rows: int, many: int, epsilon: float, relation: str, candidates: int | None, **effort: Any
) -> Timed:
    together = composed(rows, data, many, epsilon, relation, candidates)

    def of_set(which: int) -> Release:
        held = list(ordered(data, rows, which))
        return lambda: together(held)

    return lambda: rank_errors(of_set, data, rows, many, **effort)


@task
def quantiles_of_array(data: str, rows: int, many: int, candidates: int) -> Timed:
    """Of a list, which is what it takes; the mechanism is built before the clock starts."""
    held, together = list(values(data, rows)), composed(rows, data, many, 1.0, "add-remove", candidates)
    return lambda: together(held)
