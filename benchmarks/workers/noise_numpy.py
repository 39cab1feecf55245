"""NumPy's side of the noise benchmark: what noise costs when it need not be private."""

import os

import numpy as np

from harness.tasks import Timed, calls, task
from workers.noise_scores import scores


@task
def generator_laplace(scale: float, draws: int) -> Timed:
    generator = np.random.default_rng()
    return lambda: generator.laplace(0, scale, draws)


@task
def legacy_laplace(scale: float, draws: int) -> Timed:
    return lambda: np.random.laplace(0, scale, draws)


@task
def generator_normal(scale: float, draws: int) -> Timed:
    generator = np.random.default_rng()
    return lambda: generator.normal(0, scale, draws)


def softmax(utilities: np.ndarray) -> np.ndarray:
    weights = np.exp(0.5 * (utilities - utilities.max()))
    return weights / weights.sum()


@task
def choice(candidates: int) -> Timed:
    generator = np.random.default_rng()
    p = softmax(np.array(scores(candidates)))
    return lambda: generator.choice(candidates, p=p)


@task
def softmax_and_choice(candidates: int) -> Timed:
    generator = np.random.default_rng()
    utilities = np.array(scores(candidates))
    return lambda: generator.choice(candidates, p=softmax(utilities))


@task
def urandom(size: int) -> Timed:
    return lambda: os.urandom(size)


@task
def pcg64(count: int) -> Timed:
    generator = np.random.default_rng()
    return lambda: generator.integers(2**64 - 1, size=count, dtype=np.uint64, endpoint=True)


@task
def draw_generator(scale: float, count: int) -> Timed:
    generator = np.random.default_rng()
    return calls(lambda: generator.laplace(0, scale), count)


@task
def draw_legacy(scale: float, count: int) -> Timed:
    return calls(lambda: np.random.laplace(0, scale), count)
