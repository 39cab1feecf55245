"""Whole distributions from reports: expectation maximisation, its linear response, and the intervals built on it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from flou import Integers, Interval
from flou.bits import SeededBits
from flou.errors import InvalidParameter
from flou.local import BoundedLaplace, ClampedWindow, SquareWave
from flou.local.numbers.distribution_estimate import maximised, response, smoothed


@pytest.mark.parametrize("epsilon", [0.5, 1, 4])
def test_the_window_is_the_published_one(epsilon):
    """w / m is near 2 b, and both probabilities are those of the square wave."""
    randomiser = SquareWave(Interval(0, 1, cells=1000), epsilon=epsilon)
    e = math.exp(epsilon)
    b = (epsilon * e - e + 1) / (2 * e * (e - 1 - epsilon))
    assert randomiser.width / 1000 == pytest.approx(2 * b, abs=1e-3)
    law = randomiser.law(500)
    q = 1 / (2 * b * e + 1) / 1000
    assert law.pmf([500, 0]) == pytest.approx([q * e, q], rel=0.01)


def test_tiny_and_huge_epsilons_have_a_window():
    """The series near 0 meets the formula, and a huge epsilon leaves one cell."""
    small = [SquareWave(Integers(0, 9999), epsilon=epsilon).width for epsilon in (0.0009, 0.0011)]
    assert abs(small[0] - small[1]) <= 3
    assert SquareWave(Integers(0, 9), epsilon=800).width == 1


@pytest.mark.parametrize("kind", [SquareWave, BoundedLaplace, ClampedWindow])
@pytest.mark.parametrize("codes", [5, 100, 700])
def test_the_channel_is_the_law(kind, codes):
    """Columns sum to one; where every code is a group they are the laws themselves."""
    randomiser = kind(Integers(0, codes - 1), epsilon=1)
    channel = randomiser.channel
    assert channel.shape == (randomiser.tallies, randomiser.groups)
    assert np.allclose(channel.sum(axis=0), 1)
    if codes <= 100:
        laws = [randomiser.law(i).pmf(np.arange(randomiser.cells)) for i in range(codes)]
        assert np.allclose(channel.T, laws, rtol=1e-9)


def test_expected_reports_give_the_answers_back():
    """With reports in exactly their expected numbers, the most likely distribution is the true one."""
    channel = SquareWave(Integers(0, 9), epsilon=3).channel
    shares = np.arange(1, 11) / 55
    found, iterations = maximised(1e6 * channel @ shares, channel, smooth=False, gain=1e-7)
    assert np.allclose(found, shares, atol=1e-3)
    assert 1 < iterations < 3000


def test_smoothing_keeps_the_mass_and_averages_neighbours():
    shares = np.array([0.0, 1.0, 0.0, 0.0])
    assert np.allclose(smoothed(shares), [0.25, 0.5, 0.25, 0])
    assert smoothed(np.array([1.0, 0, 0, 0])).sum() == 1


@pytest.mark.parametrize("smooth", [True, False])
def test_the_linear_response_is_the_derivative(smooth):
    """Reports moved by little move the estimate as the response says."""
    channel = SquareWave(Integers(0, 11), epsilon=2).channel
    shares = np.linspace(1, 3, 12) / np.linspace(1, 3, 12).sum()
    counts = 1e9 * channel @ shares
    start, done = maximised(counts, channel, smooth=smooth, gain=1e-6)
    change = np.zeros(counts.size)
    change[[3, 9]] = 1e5, -1e5
    moved, _ = maximised(counts + change, channel, smooth=smooth, gain=1e-6)
    predicted = response(start, channel, done, smooth=smooth) @ (change / 1e9)
    assert np.abs(moved - start - predicted).max() < 0.1 * np.abs(predicted).max()


def test_quantiles_and_histograms_of_smooth_answers_are_covered():
    """At epsilon = 2 and 20,000 reports, 95 % intervals of smooth answers hold about as often as they say."""
    randomiser, probabilities, hits, shares = SquareWave((0, 1), epsilon=2), [0.25, 0.5, 0.75], [], []
    generator = np.random.default_rng(8)
    for run in range(10):
        x = generator.beta(3, 4, 20_000)
        aggregate = randomiser.aggregate(randomiser.randomise(x, bits=SeededBits(run)))
        low, high = randomiser.quantiles(aggregate, probabilities).interval()
        truth = np.quantile(x, probabilities)
        hits.append((low <= truth) & (truth <= high))
        wider = randomiser.quantiles(aggregate, probabilities).interval(of="population")
        assert np.all(wider[0] <= low)
        assert np.all(wider[1] >= high)
        release = aggregate.estimate()
        low, high = release.interval()
        ends = [float(label.split()[0]) for label in release.labels] + [1.0]
        truth = np.histogram(x, ends)[0] / x.size
        shares.append((low <= truth) & (truth <= high))
    assert np.mean(hits) > 0.85
    assert np.mean(shares) > 0.85


def test_releases():
    """Shares add up to one, quantiles rise, an empty aggregate says nothing, and what cannot be asked is refused."""
    randomiser = SquareWave(Interval(0, 50, cells=50), epsilon=3, smooth=False)
    x = np.random.default_rng(1).normal(20, 5, 30_000)
    reports = randomiser.randomise(x, bits=SeededBits(9))
    release = randomiser.histogram(reports, bins=5)
    assert release.labels == ("0 to 10", "10 to 20", "20 to 30", "30 to 40", "40 to 50")
    assert np.sum(release.value) == pytest.approx(1)
    assert release.certificate["processing"]["postprocessing"] == ["expectation maximisation"]
    quantiles = randomiser.quantiles(reports, [0.1, 0.5, 0.9])
    assert np.all(np.diff(quantiles.value) > 0)
    assert quantiles.value[1] == pytest.approx(20, abs=1)
    low, high = randomiser.mean(reports).interval()
    assert low < 20 < high
    empty = randomiser.aggregate()
    assert np.array_equal(randomiser.quantiles(empty, [0.5]).interval(), ([0.0], [50.0]))
    assert np.array_equal(empty.estimate().interval()[1], np.ones(10))
    with pytest.raises(InvalidParameter):
        randomiser.quantiles(reports, [0.0])
    with pytest.raises(InvalidParameter):
        randomiser.histogram(reports, bins=1)
