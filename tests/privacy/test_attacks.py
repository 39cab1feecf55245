"""Published attacks on implementations: each is shown to work on the naive way, and to find nothing in flou."""

from __future__ import annotations

import time
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import spearmanr

from flou import Interval
from flou.bits import SeededBits
from flou.laws import DiscreteLaplace
from flou.mechanisms import Gaussian, Laplace

FINE = 2.0**-53


def off_the_fine_grid(releases: np.ndarray) -> float:
    """Of the releases close to zero, the share that is no multiple of 2^-53: the mark that an added centre leaves."""
    near = releases[np.abs(releases) < 1 / 8]
    return float(np.mean(near / FINE != np.round(near / FINE)))


def test_finite_precision_attack_succeeds_on_float_noise():
    """With floats the low bits tell the centre 0 from the centre 1: 9 in 10 releases against none."""
    noise = np.random.default_rng(1)
    shares = [off_the_fine_grid(centre + noise.laplace(size=400_000)) for centre in (0.0, 1.0)]
    assert shares[0] > 0.8
    assert shares[1] < 0.01


@pytest.mark.parametrize("kind", [Laplace, Gaussian])
def test_finite_precision_attack_finds_nothing(kind):
    """On a grid every release lies on the grid, wherever the centre is."""
    grid = Interval(0, 1, cells=2**20)
    options = {"epsilon": 0.9} if kind is Laplace else {"epsilon": 0.9, "delta": 1e-6}
    mechanism = kind(sensitivity=grid.cells, **options)
    shares = []
    for centre in (0, grid.cells):
        released = mechanism.sample(np.full(400_000, centre), bits=SeededBits(f"grid {centre}"))
        values = released * grid.step
        assert np.all(values / grid.step == np.round(values / grid.step))
        shares.append(off_the_fine_grid(values))
    assert shares == [0, 0]


def test_every_point_of_the_grid_is_reachable_from_both_neighbours():
    """No release is possible for one answer and impossible for its neighbour: small supports are equal."""
    mechanism = Laplace(sensitivity=1, epsilon=3)
    sets = [set(mechanism.sample(np.full(300_000, answer), bits=SeededBits(answer)).tolist()) for answer in (0, 1)]
    assert set(range(-2, 4)) <= sets[0] & sets[1]


def test_float_sums_break_their_declared_sensitivity():
    """Rows in [2^40, 2^40 + 1] declare a range of 1, and a float sum of shuffled rows moves by more."""
    rows = 2.0**40 + np.random.default_rng(2).random(2**14)
    moved = 0.0
    shuffle = np.random.default_rng(3)
    for _ in range(20):
        moved = max(moved, abs(float(np.cumsum(shuffle.permutation(rows))[-1]) - float(np.cumsum(rows)[-1])))
    assert moved > 1


def test_sums_of_codes_keep_their_sensitivity_exactly():
    """As integers of a grid the rows have one sum in any order, and one row moves it by at most the largest code."""
    column = Interval(2**40, 2**40 + 1, cells=2**10)
    generator = np.random.default_rng(4)
    rows = 2.0**40 + generator.random(2**14)
    codes = column.encode(rows)
    assert int(np.sum(codes)) == int(np.sum(column.encode(generator.permutation(rows))))
    for _ in range(50):
        i, value = generator.integers(rows.size), 2.0**40 + generator.uniform(-3, 3)
        other = rows.copy()
        other[i] = value
        exact = Fraction(int(np.sum(column.encode(other)))) - Fraction(int(np.sum(codes)))
        assert abs(exact) <= column.size - 1


def test_noise_does_not_show_in_the_time_it_takes():
    """The time of one draw says nothing about its size (Spearman below .05, seven standard deviations of chance)."""
    law = DiscreteLaplace(1000)
    law.sample(1)
    times, sizes = [], []
    for _ in range(20_000):
        start = time.perf_counter_ns()
        drawn = law.sample()
        times.append(time.perf_counter_ns() - start)
        sizes.append(abs(drawn))
    assert abs(spearmanr(times, sizes).statistic) < 0.05


def test_the_timing_check_sees_a_sampler_that_counts_its_noise_out():
    """A loop that runs as long as the noise is large is caught by the same measure."""
    sizes = np.abs(DiscreteLaplace(300).sample(3000, bits=SeededBits("slow")))
    times = []
    for size in sizes.tolist():
        start = time.perf_counter_ns()
        for _ in range(size):
            pass
        times.append(time.perf_counter_ns() - start)
    assert abs(spearmanr(times, sizes).statistic) > 0.5


def test_the_number_of_bits_drawn_does_not_depend_on_the_answer():
    """With the same tape of bits neighbours take the same path: the same bytes are asked for, in the same order."""

    class Counting(SeededBits):
        def __init__(self) -> None:
            super().__init__("path")
            self.asked: list[int] = []

        def take(self, size):
            self.asked.append(size)
            return super().take(size)

    for mechanism in (Laplace(sensitivity=1, epsilon=0.1), Gaussian(sensitivity=1, epsilon=0.5, delta=1e-6)):
        paths, releases = [], []
        for answer in ([10, 20, 30], [10, 21, 30]):
            bits = Counting()
            releases.append(mechanism.sample(answer, bits=bits))
            paths.append(bits.asked)
        assert paths[0] == paths[1]
        assert (releases[1] - releases[0]).tolist() == [0, 1, 0]
