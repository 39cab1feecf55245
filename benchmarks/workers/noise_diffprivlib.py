"""diffprivlib's side of the noise benchmark: mechanisms that draw one number a call."""

import math

from diffprivlib import mechanisms

from harness.tasks import Timed, calls, task
from workers.noise_scores import scores

DELTA = 1e-5


def build(mechanism: str, scale: int) -> mechanisms.DPMechanism:
    """Noise of the given scale: sensitivity over epsilon, or the standard deviation."""
    if mechanism == "Laplace":
        return mechanisms.Laplace(epsilon=1, sensitivity=float(scale))
    if mechanism == "Geometric":
        return mechanisms.Geometric(epsilon=1, sensitivity=scale)
    if mechanism == "Gaussian":
        sensitivity = scale / math.sqrt(2 * math.log(1.25 / DELTA))
        return mechanisms.Gaussian(epsilon=1, delta=DELTA, sensitivity=sensitivity)
    discrete = mechanisms.GaussianDiscrete(epsilon=1, delta=DELTA)
    discrete._scale = float(scale)  # it finds its sigma by itself, and slowly; only the draws are compared
    return discrete


@task
def draw(mechanism: str, scale: int, count: int, answer: int = 0) -> Timed:
    noise = build(mechanism, scale)
    return calls(lambda: noise.randomise(answer), count)


@task
def build_and_draw(mechanism: str, scale: int, count: int, answer: int = 0) -> Timed:
    return calls(lambda: build(mechanism, scale).randomise(answer), count)


@task
def select(mechanism: str, candidates: int) -> Timed:
    selection = getattr(mechanisms, mechanism)
    utilities = scores(candidates)
    return lambda: selection(epsilon=1, sensitivity=1, utility=utilities).randomise()
