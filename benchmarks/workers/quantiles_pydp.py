"""PyDP's side of the benchmark of quantiles: ``Percentile``, one a call, from Python lists that are there already.

Its noise is for one row more or less: add-remove.
"""

from typing import Any

from pydp.algorithms.laplacian import Percentile

from harness.tasks import Timed, task
from workers.quantiles_data import BOUNDS, GRANULARITY, Release, one_by_one, probabilities, rank_errors, snapped, values


def private(held: list[float], p: float, data: str, epsilon: float) -> float:
    lower, upper = (float(bound) for bound in BOUNDS[data])
    found = Percentile(epsilon=epsilon, percentile=p, lower_bound=lower, upper_bound=upper, dtype="float")
    return found.quick_result(held)


@task
def error_of_quantiles(data: str, rows: int, many: int, epsilon: float, snap: bool, **effort: Any) -> Timed:
    def of_set(which: int) -> Release:
        held = list(values(data, rows, which))
        limit = None if which else effort["limit"]  # the first set tells
        release = one_by_one(lambda p: private(held, p, data, epsilon / many), many, limit)
        return (lambda: snapped(release(), GRANULARITY[data])) if snap else release

    return lambda: rank_errors(of_set, data, rows, many, **effort)


@task
def quantiles_of_array(data: str, rows: int, many: int) -> Timed:
    held = list(values(data, rows))
    return lambda: [private(held, p, data, 1.0 / many) for p in probabilities(many)]
