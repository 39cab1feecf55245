"""PyDP's side of the noise benchmark: mechanisms that draw one number a call."""

from pydp.algorithms.numerical_mechanisms import GaussianMechanism, LaplaceMechanism, NumericalMechanism

from harness.tasks import Timed, calls, task


def build(mechanism: str, scale: float) -> NumericalMechanism:
    if mechanism == "LaplaceMechanism":
        return LaplaceMechanism(1.0, float(scale))
    return GaussianMechanism.create_from_standard_deviation(float(scale))


@task
def draw(mechanism: str, scale: float, count: int, answer: int = 0) -> Timed:
    noise = build(mechanism, scale)
    return calls(lambda: noise.add_noise(answer), count)


@task
def build_and_draw(mechanism: str, scale: float, count: int, answer: int = 0) -> Timed:
    return calls(lambda: build(mechanism, scale).add_noise(answer), count)
