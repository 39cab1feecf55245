"""pure-ldp's side of the benchmark of local randomisers: a report a call, items from 1 on, estimates of counts."""

from collections.abc import Callable
from typing import Any

from pure_ldp.frequency_oracles import (
    DEClient,
    DEServer,
    HadamardResponseClient,
    HadamardResponseServer,
    LHClient,
    LHServer,
    UEClient,
    UEServer,
)

from harness.tasks import Timed, task
from workers.local_data import EPSILON, K, answers, squared_error

ITEMS = range(1, K + 1)
CLIENTS: dict[str, Callable[[], Any]] = {
    "grr": lambda: DEClient(EPSILON, K),
    "oue": lambda: UEClient(EPSILON, K, use_oue=True),
    "olh": lambda: LHClient(EPSILON, K, use_olh=True),
    "hadamard": lambda: HadamardResponseClient(EPSILON, K, None),  # up to epsilon = 1 there is nothing to share
}
SERVERS: dict[str, Callable[[], Any]] = {
    "grr": lambda: DEServer(EPSILON, K),
    "oue": lambda: UEServer(EPSILON, K, use_oue=True),
    "olh": lambda: LHServer(EPSILON, K, use_olh=True),
    "hadamard": lambda: HadamardResponseServer(EPSILON, K),
}


def items(people: int) -> list[int]:
    return (answers(people) + 1).tolist()


def reports_of(method: str, given: list[int]) -> list[Any]:
    privatise = CLIENTS[method]().privatise
    return [privatise(item) for item in given]


def estimates(method: str, reports: list[Any]) -> Any:
    server = SERVERS[method]()
    server.aggregate_all(reports)
    return server.estimate_all(ITEMS, suppress_warnings=True) / len(reports)


@task
def client(method: str, people: int) -> Timed:
    given = items(people)
    return lambda: reports_of(method, given)


@task
def aggregator(method: str, people: int) -> Timed:
    reports = reports_of(method, items(people))
    return lambda: estimates(method, reports)


@task
def error(method: str, people: int, releases: int) -> Timed:
    return squared_error(lambda given: estimates(method, reports_of(method, (given + 1).tolist())), people, releases)
