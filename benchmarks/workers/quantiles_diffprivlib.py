"""diffprivlib's side of the benchmark of quantiles: ``tools.quantile``, which takes any number and divides epsilon.

Its scores move by at most 1 when a row is replaced: substitution. Every call has an accountant of its own, for the
shared one slows down with every call.
"""

import warnings
from typing import Any

import numpy as np
from diffprivlib import BudgetAccountant, tools

from harness.tasks import Timed, task
from workers.quantiles_data import BOUNDS, GRANULARITY, Release, one_by_one, probabilities, rank_errors, snapped, values

warnings.simplefilter("ignore")  # what it has to say goes to the standard error, and slows it down


def private(held: np.ndarray, asked: list[float], data: str, epsilon: float) -> np.ndarray:
    return tools.quantile(held, asked, epsilon=epsilon, bounds=BOUNDS[data], accountant=BudgetAccountant())


@task
def error_of_quantiles(data: str, rows: int, many: int, epsilon: float, snap: bool, **effort: Any) -> Timed:
    def of_set(which: int) -> Release:
        held = np.asarray(values(data, rows, which))
        limit = None if which else effort["limit"]  # the first set tells
        release = one_by_one(lambda p: float(private(held, [p], data, epsilon / many)), many, limit)
        return (lambda: snapped(release(), GRANULARITY[data])) if snap else release

    return lambda: rank_errors(of_set, data, rows, many, **effort)


@task
def quantiles_of_array(data: str, rows: int, many: int) -> Timed:
    held = np.asarray(values(data, rows))
    return lambda: private(held, probabilities(many), data, 1.0)
