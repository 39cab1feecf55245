"""flou's side of the noise benchmark."""

import numpy as np

from flou.bits import SystemBits
from flou.laws import DiscreteGaussian, DiscreteLaplace, RoundedGaussian
from flou.mechanisms import Exponential, Laplace, NoisyMax, PermuteAndFlip
from harness.tasks import Timed, calls, task
from workers.noise_scores import scores

LAWS = {"DiscreteLaplace": DiscreteLaplace, "DiscreteGaussian": DiscreteGaussian, "RoundedGaussian": RoundedGaussian}
SELECTIONS = {"Exponential": Exponential, "PermuteAndFlip": PermuteAndFlip, "NoisyMax": NoisyMax}


@task
def sample(law: str, scale: int, draws: int) -> Timed:
    noise = LAWS[law](scale)
    return lambda: noise.sample(draws)


@task
def select(mechanism: str, candidates: int) -> Timed:
    selection = SELECTIONS[mechanism](sensitivity=1, epsilon=1)
    utilities = np.array(scores(candidates))
    return lambda: selection.sample(utilities)


@task
def select_again(candidates: int) -> Timed:
    law = Exponential(sensitivity=1, epsilon=1).law(np.array(scores(candidates)))
    return lambda: law.sample()


@task
def words(count: int) -> Timed:
    bits = SystemBits()
    return lambda: bits.words(count)


@task
def draw_law(scale: int, count: int) -> Timed:
    return calls(DiscreteLaplace(scale).sample, count)


@task
def build_and_draw_law(scale: int, count: int) -> Timed:
    return calls(lambda: DiscreteLaplace(scale).sample(), count)


@task
def draw_mechanism(scale: int, count: int) -> Timed:
    mechanism = Laplace(sensitivity=scale, epsilon=1)
    return calls(lambda: mechanism.sample(120), count)


@task
def build_and_draw_mechanism(scale: int, count: int) -> Timed:
    return calls(lambda: Laplace(sensitivity=scale, epsilon=1).sample(120), count)
