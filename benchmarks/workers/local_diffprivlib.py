"""diffprivlib's side of the benchmark of local randomisers: GRR by its exponential mechanism for categories.

With the same utility for every pair of categories a report is right with weight e^epsilon and each other one has weight
1, which is GRR; a report a call. It has no aggregator and none of the other methods.
"""

from itertools import combinations

from diffprivlib.mechanisms import ExponentialCategorical

from harness.tasks import Timed, task
from workers.local_data import EPSILON, K, answers, counted, squared_error


def mechanism() -> ExponentialCategorical:
    names = [str(code) for code in range(K)]
    return ExponentialCategorical(epsilon=EPSILON, utility_list=[(a, b, 1) for a, b in combinations(names, 2)])


def named(codes: object) -> list[str]:
    return [str(code) for code in codes]  # type: ignore[attr-defined]


@task
def client(method: str, people: int) -> Timed:
    assert method == "grr"
    given, randomise = named(answers(people)), mechanism().randomise
    return lambda: [randomise(answer) for answer in given]


@task
def error(method: str, people: int, releases: int) -> Timed:
    assert method == "grr"
    randomise = mechanism().randomise
    return squared_error(lambda given: counted([int(randomise(a)) for a in named(given)]), people, releases)
