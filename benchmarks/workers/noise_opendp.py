"""OpenDP's side of the noise benchmark: 64-bit integers, for its default of 32 bits saturates at large scales."""

import opendp.prelude as dp

from harness.tasks import Timed, calls, task
from workers.noise_scores import scores

dp.enable_features("contrib")

MEASURES = {"exponential": dp.max_divergence, "gumbel": dp.zero_concentrated_divergence}


@task
def laplace(scale: float, draws: int) -> Timed:
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    mechanism = dp.m.make_laplace(*space, scale=float(scale))
    zeros = [0] * draws
    return lambda: mechanism(zeros)


@task
def gaussian(scale: float, draws: int) -> Timed:
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T=float)
    mechanism = dp.m.make_gaussian(*space, scale=float(scale))
    zeros = [0] * draws
    return lambda: mechanism(zeros)


@task
def noisy_max(noise: str, candidates: int) -> Timed:
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64")
    mechanism = dp.m.make_noisy_max(*space, MEASURES[noise](), scale=2.0)
    utilities = scores(candidates)
    return lambda: mechanism(utilities)


def build(scale: float) -> dp.Measurement:
    return dp.m.make_laplace(dp.atom_domain(T="i64"), dp.absolute_distance(T="i64"), scale=float(scale))


@task
def draw(scale: float, count: int) -> Timed:
    mechanism = build(scale)
    return calls(lambda: mechanism(120), count)


@task
def build_and_draw(scale: float, count: int) -> Timed:
    return calls(lambda: build(scale)(120), count)
