"""multi-freq-ldpy's side of the benchmark of local randomisers: a report a call, compiled by Numba but for hashing.

Its aggregators cut negative shares off and scale the others to a sum of 1. The variance of the literature is that of
the shares before this, so they are taken from the counts, p and q that the aggregator itself worked out.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from multi_freq_ldpy.pure_frequency_oracles import GRR, LH, SS, UE

from harness.tasks import Timed, task
from workers.local_data import EPSILON, K, answers, squared_error, unbiased

MODULES = {"grr": GRR, "oue": UE, "olh": LH, "subset": SS}
CLIENTS: dict[str, Callable[..., Any]] = {
    "grr": GRR.GRR_Client,
    "oue": UE.UE_Client,
    "olh": LH.LH_Client,
    "subset": SS.SS_Client,
}
CLIP = {method: module.MI for method, module in MODULES.items()}  # as the library has it


def reports_of(method: str, given: list[int]) -> list[Any]:
    one = CLIENTS[method]
    return [one(answer, K, EPSILON) for answer in given]


def estimates(method: str, reports: list[Any]) -> Any:
    if method == "grr":
        return GRR.GRR_Aggregator_MI(reports, K, EPSILON)
    if method == "oue":
        return UE.UE_Aggregator_MI(reports, EPSILON)
    if method == "olh":
        return LH.LH_Aggregator_MI(reports, K, EPSILON)
    return SS.SS_Aggregator_MI(reports, K, EPSILON)


@task
def client(method: str, people: int) -> Timed:
    given = answers(people).tolist()
    reports_of(method, given[:10])  # compiled before the clock starts
    return lambda: reports_of(method, given)


@task
def aggregator(method: str, people: int) -> Timed:
    reports = reports_of(method, answers(people).tolist())
    return lambda: estimates(method, reports)


@task
def error(method: str, people: int, releases: int, published: bool = False) -> Timed:
    """Of the shares before they are cut off, or of those that it returns."""

    def estimate(given: Any) -> Any:
        MODULES[method].MI = CLIP[method] if published else unbiased
        try:
            return np.asarray(estimates(method, reports_of(method, given.tolist())))
        finally:
            MODULES[method].MI = CLIP[method]

    return squared_error(estimate, people, releases)
