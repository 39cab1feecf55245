"""flou's side of the benchmark of local randomisers: the calls that users make, with intervals and certificate."""

from flou.local import frequencies
from harness.tasks import Timed, task
from workers.local_data import EPSILON, K, answers, squared_error


@task
def client(method: str, people: int) -> Timed:
    oracle, given = frequencies(K, epsilon=EPSILON, method=method), answers(people)
    return lambda: oracle.randomise(given)


@task
def aggregator(method: str, people: int) -> Timed:
    oracle = frequencies(K, epsilon=EPSILON, method=method)
    reports = oracle.randomise(answers(people))
    return lambda: oracle.estimate(reports)


@task
def error(method: str, people: int, releases: int, published: bool = False) -> Timed:
    """Of the unbiased estimates, or of those that are published unless one asks for others."""
    oracle = frequencies(K, epsilon=EPSILON, method=method)
    wanted = {} if published else {"consistent": "none"}
    return squared_error(lambda given: oracle.estimate(oracle.randomise(given), **wanted).value, people, releases)
