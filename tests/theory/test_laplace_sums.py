"""How far sums of Laplace noises stray: the rule against their exact laws, and the bound against many draws."""

from __future__ import annotations

import math

import numpy as np
import pytest

from flou.laws import DiscreteLaplace
from flou.theory.laplace_sums import HALF, reach, rule, smooth_variance

NODES = np.linspace(1e-4, 200, 100_001)
SHAPES = [[1.0] * k for k in (2, 3, 4, 6, 10, 20, 40)] + [
    [1.0] + [r] * k for r in (0.1, 0.3, 0.7) for k in (1, 3, 9, 20)
]


def beyond(scales, t: float) -> float:
    """P(|sum of Laplace variables of these scales| > t standard deviations), from the characteristic function."""
    unit = np.array(scales) / math.sqrt(2 * np.sum(np.square(scales)))
    transform = np.ones_like(NODES)
    for a, times in zip(*np.unique(unit, return_counts=True), strict=True):
        transform /= (1 + (a * NODES) ** 2) ** times
    return 1 - 2 / math.pi * float(np.trapezoid(np.sin(NODES * t) / NODES * transform, NODES)) - 2 / math.pi * 1e-4 * t


def test_the_tail_of_one_laplace_is_known():
    """The inversion is seen to be right where the answer is known."""
    assert beyond([1.0], 2.0) == pytest.approx(math.exp(-2 * math.sqrt(2)), abs=1e-4)


@pytest.mark.parametrize("level", [0.5, 0.7, 0.8, 0.88, 0.9, 0.91, 0.92, 0.93, 0.95, 0.99])
def test_the_rule_holds_for_sums_of_every_kind(level):
    """Few noises or many, equal or not: none strays farther than the larger of the two quantiles, too often."""
    (far,) = reach(level, np.array([1.0]))
    assert max(beyond(scales, far) for scales in SHAPES) <= 1 - level + 1e-5
    assert max(beyond(scales, 0.9 * far) for scales in SHAPES) > 1 - level  # and a tenth less would not do


@pytest.mark.parametrize("terms", [1, 3, 8, 50])
def test_the_bound_holds_far_out(terms):
    """So many equal noises: of many draws no more are beyond than may be, and the bound is no wider than the rule."""
    draws = np.random.default_rng(1).laplace(size=(200_000, terms)).sum(axis=1) / math.sqrt(2 * terms)
    for level in (0.999, 0.9999):
        (far,) = reach(level, np.array([float(terms)]))
        assert far <= math.log(1 / (1 - level)) / math.sqrt(2) + 1e-12
        assert np.mean(np.abs(draws) > far) <= (1 - level) * 1.5
    assert reach(0.9999, np.array([1e9]))[0] == pytest.approx(math.sqrt(2 * math.log(2e4)), rel=1e-4)


def test_reach_grows_with_the_level_and_falls_with_the_terms():
    """More certainty needs more room; more noises stray less."""
    terms = np.array([1.0, 4.0, 16.0, 256.0])
    assert np.all(np.diff([reach(level, terms) for level in (0.5, 0.9, 0.99, 0.9999)], axis=0) >= 0)
    assert np.all(np.diff(reach(0.99999, terms)) <= 0)


LEVELS = (0.5, 0.6827, 0.8, 0.9, 0.95, 0.99, 0.999, 0.9999)
SCALES = [1 / rate for rate in (0.5, 1, 1.6, 2, 2.5, 3, 4, 4.5, 5, 5.6, 6, 7, 8)]


def discrete_sum(scale: float, weights: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """The values and probabilities of a sum of discrete Laplace noises with whole weights, convolved."""
    most = math.ceil(40 * scale) + 1
    a = math.exp(-1 / scale)
    one, found = (1 - a) / (1 + a) * a ** np.abs(np.arange(-most, most + 1)), np.ones(1)
    for weight in weights:
        spread = np.zeros(2 * most * weight + 1)
        spread[::weight] = one
        found = np.convolve(found, spread)
    return np.arange(found.size) - found.size // 2, found


@pytest.mark.parametrize("weights", [(1,), (1, 1), (1, 1, 1, 1), (1, 3), (1, 9), (3, 1, 1), (9, 1, 1, 1), (1, 1, 9, 9)])
def test_discrete_sums_stay_within_half_a_unit_more(weights):
    """As shares of the largest weight, which counts whole records; neither the half nor the variance is dispensable."""
    unit, worst = max(weights), {"both": 0.0, "no half": 0.0, "own variance": 0.0}
    for scale in SCALES:
        values, chances = discrete_sum(scale, weights)
        variance = DiscreteLaplace(scale).variance
        assert np.sum(chances * values**2) == pytest.approx(variance * sum(w * w for w in weights), rel=1e-6)
        assert smooth_variance(variance) == pytest.approx(2 * scale**2)
        for level in LEVELS:
            spread = rule(level) * math.sqrt(sum(w * w for w in weights)) / unit
            for name, of_one, more in (("both", 2 * scale**2, HALF), ("no half", 2 * scale**2, 0),
                                       ("own variance", variance, HALF)):  # fmt: skip
                missed = np.sum(chances[np.abs(values) / unit > spread * math.sqrt(of_one) + more + 1e-9])
                worst[name] = max(worst[name], missed / (1 - level))
    assert worst["both"] <= 1
    if len(weights) < 3:
        assert worst["no half"] > 1
        assert worst["own variance"] > 1


def test_a_noise_that_is_always_nothing_has_no_variance():
    assert smooth_variance(0.0) == 0.0
    assert 0 < smooth_variance(1e6) - 1e6 < 1 / 6 + 1e-6
