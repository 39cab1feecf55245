"""How far sums of Laplace noises stray: the rule against their exact laws, and the bound against many draws."""

from __future__ import annotations

import math

import numpy as np
import pytest

from flou.theory.laplace_sums import reach

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
