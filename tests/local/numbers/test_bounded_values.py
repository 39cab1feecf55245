"""Values that stay within bounds: their loss, the faults of naive ones, their errors, their draws."""

from __future__ import annotations

import math

import numpy as np
import pytest

from flou import Integers
from flou.bits import SeededBits
from flou.errors import InvalidParameter
from flou.laws import DiscreteLaplace, DiscreteStaircase
from flou.local import BoundedLaplace, BoundedStaircase, ClampedWindow, SquareWave
from flou.local.numbers.window_randomiser import below_each
from goodness import agrees, compatible, draws_to_detect, tilted

KINDS = {
    "laplace": BoundedLaplace,
    "staircase, absolute": lambda d, epsilon: BoundedStaircase(d, epsilon=epsilon, cost="absolute"),
    "staircase, squared": lambda d, epsilon: BoundedStaircase(d, epsilon=epsilon, cost="squared"),
    "window, absolute": lambda d, epsilon: ClampedWindow(d, epsilon=epsilon, cost="absolute"),
    "window, squared": lambda d, epsilon: ClampedWindow(d, epsilon=epsilon, cost="squared"),
    "square wave": SquareWave,
}
each = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


def table(randomiser) -> np.ndarray:
    """P[report | code], a row for each code."""
    return np.array([randomiser.law(i).pmf(np.arange(randomiser.cells)) for i in range(randomiser.domain.size)])


def worst_loss(laws: np.ndarray) -> float:
    return float(np.log(laws.max(axis=0) / laws.min(axis=0)).max())


@each
@pytest.mark.parametrize("epsilon", [0.1, 1, 3, 7])
@pytest.mark.parametrize("codes", [2, 3, 7, 40])
def test_the_loss_is_exactly_epsilon(kind, epsilon, codes):
    """The largest log-ratio over all reports and pairs of answers is what was paid, and all of it is used."""
    laws = table(kind(Integers(0, codes - 1), epsilon=epsilon))
    assert np.allclose(laws.sum(axis=1), 1, rtol=1e-12)
    assert worst_loss(laws) <= epsilon * (1 + 1e-12)
    assert worst_loss(laws) == pytest.approx(epsilon, rel=1e-10)


def cut(noise, codes: int) -> np.ndarray:
    """What rejection makes of additive noise: each row divided by its sum."""
    places = np.arange(codes)
    weights = np.exp(noise.log_pmf(places - places[:, None]))
    return weights / weights.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("epsilon", [0.5, 1, 3])
def test_a_staircase_cut_at_its_own_epsilon_overspends(epsilon):
    """epsilon + ln(2 - e^(-epsilon / 2)), 1.332 at 1; the calibrated rate is the one of the correction."""
    noise = DiscreteStaircase(1000, epsilon, cost="absolute")
    assert worst_loss(cut(noise, 1001)) == pytest.approx(epsilon + math.log(2 - math.exp(-epsilon / 2)), abs=4e-3)
    right = BoundedStaircase(Integers(0, 1000), epsilon=epsilon)
    s = (1 + math.sqrt(1 + 8 * math.exp(epsilon))) / 4
    assert float(right.rate) == pytest.approx(2 * math.log(s), abs=2e-3)
    assert right.radius == pytest.approx(1000 / (1 + s), abs=2)
    assert worst_loss(cut(DiscreteStaircase(1000, right.rate, r=right.radius), 1001)) == pytest.approx(
        epsilon, rel=1e-9
    )


def test_laplace_noise_for_a_smaller_sensitivity_overspends_when_cut():
    """1.485 for neighbours a fifth of the width apart at epsilon = 1; with the whole width as sensitivity it is 1."""
    laws = cut(DiscreteLaplace(200), 1001)
    near = max(np.log(laws[0] / laws[i]).max() for i in range(201))
    assert near == pytest.approx(1.485, abs=5e-3)
    assert worst_loss(cut(DiscreteLaplace(1000), 1001)) == pytest.approx(1, rel=1e-9)


@each
@pytest.mark.parametrize("epsilon", [0.3, 3])
def test_reports_never_leave_the_grid_and_follow_the_law(kind, epsilon):
    """All draws lie inside, agree with the law of their code, and refuse a tilted one."""
    randomiser = kind(Integers(0, 30), epsilon=epsilon)
    for code in (0, 11, 30):
        draws = randomiser.sample(np.full(draws_to_detect(0.05), code), bits=SeededBits(f"{randomiser.name} {code}"))
        assert draws.min() >= 0
        assert draws.max() < randomiser.cells
        assert agrees(draws, randomiser.law(code))
        probabilities = randomiser.law(code).pmf(np.arange(randomiser.cells))
        counts = np.bincount(draws, minlength=randomiser.cells)
        assert compatible(counts, probabilities)
        assert not compatible(counts, tilted(probabilities, 0.05))


def test_the_first_draw_alone_would_leave_the_bounds():
    """Noise that is not drawn again leaves the interval about half of the time: what the loop is for."""
    first = 30 + DiscreteLaplace(10).sample(1000, bits=SeededBits(1))
    assert 0.3 < np.mean(first > 30) < 0.6


@pytest.mark.parametrize(
    ("epsilon", "laplace", "staircase", "window"),
    [(1, 1.016, 0.993, 0.869), (5, 0.282, 0.163, 0.086), (10, 0.080, 0.0127, 0.0032)],
)
def test_errors_are_those_of_the_table(epsilon, laplace, staircase, window):
    """The largest squared error on [-1, 1], which an answer at an end has."""

    def worst(randomiser) -> float:
        reports = np.arange(2001)
        errors = [randomiser.law(i).pmf(reports) @ ((reports - i) / 1000.0) ** 2 for i in range(0, 1001, 20)]
        assert max(errors) == errors[0]
        return errors[0]

    domain = Integers(0, 2000)
    assert worst(BoundedLaplace(domain, epsilon=epsilon)) == pytest.approx(laplace, rel=0.01)
    assert worst(BoundedStaircase(domain, epsilon=epsilon)) == pytest.approx(staircase, rel=0.03)
    assert worst(ClampedWindow(domain, epsilon=epsilon)) == pytest.approx(window, rel=0.01)


@pytest.mark.parametrize("epsilon", [0.5, 2, 5])
@pytest.mark.parametrize(("cost", "power"), [("absolute", 1), ("squared", 2)])
def test_the_width_of_a_window_is_the_best(cost, power, epsilon):
    """No other width has a smaller largest error; near 1 / (1 + e^(epsilon / 2)) for the absolute one."""
    codes = 41
    randomiser = ClampedWindow(Integers(0, codes - 1), epsilon=epsilon, cost=cost)
    distance = np.abs(np.subtract.outer(np.arange(codes), np.arange(codes))) ** power

    def largest(width: int) -> float:
        randomiser.width = width
        return float((table(randomiser) * distance).sum(axis=1).max())

    best = randomiser.width
    assert largest(best) == pytest.approx(min(largest(width) for width in range(1, codes)), rel=1e-12)
    if cost == "absolute":
        assert best == pytest.approx(codes / (1 + math.exp(epsilon / 2)), abs=1.5)


def test_uniform_integers_with_a_limit_each():
    """All values below a limit are equally likely, and none else occurs."""
    limits = np.repeat([1, 3, 7, 2**31], 40_000)
    draws = below_each(limits, SeededBits(4))
    for limit in (1, 3, 7):
        counts = np.bincount(draws[limits == limit], minlength=limit)
        assert counts.size == limit
        assert compatible(counts, np.full(limit, 1 / limit))
    assert draws.min() >= 0
    assert draws.max() < 2**31


def test_values_come_back_in_the_units_of_the_domain_and_averages_are_biased():
    """Reports decode to values within the bounds; their plain mean is far off, the corrected one is not."""
    x = np.random.default_rng(2).beta(2, 6, 50_000) * 100
    for kind in (BoundedLaplace, BoundedStaircase, ClampedWindow):
        randomiser = kind((0, 100), epsilon=3)
        reports = randomiser.randomise(x, bits=SeededBits(5))
        values = randomiser.values(reports)
        assert values.min() >= 0
        assert values.max() <= 100
        assert abs(values.mean() - x.mean()) > 5
        assert abs(randomiser.mean(reports).value - x.mean()) < 2.5


def test_refusals():
    for kind in (BoundedStaircase, ClampedWindow):
        with pytest.raises(InvalidParameter):
            kind((0, 1), epsilon=1, cost="cubed")
    with pytest.raises(InvalidParameter):
        BoundedLaplace((0, 1), epsilon=-1)
    with pytest.raises(InvalidParameter):
        SquareWave((1, 0), epsilon=1)
