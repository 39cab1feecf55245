"""The demo costs what it says, and its intervals hold what they should."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from flou import demo
from flou.bits import SeededBits
from flou.errors import InvalidParameter
from flou.laws import DiscreteLaplace
from flou.mechanisms import Laplace
from flou.parameters import exact
from flou.reproduce.salaries import made_salaries

ALPHA = 1e-9  # how often a test of coverage fails although the intervals are right
RUNS = 600  # an interval that holds 80 % of the time is refused with a probability above 99.9 %
ROWS = 2000


@pytest.fixture(scope="module")
def table():
    return made_salaries(ROWS)


@pytest.fixture(scope="module")
def runs(table):
    bits = SeededBits("the demo's coverage")
    return [demo.ask(table, epsilon=1, bits=bits) for _ in range(RUNS)]


def enough(held):
    """Whether so many intervals out of all the runs are compatible with a coverage of 95 %."""
    return sum(held) >= binom.ppf(ALPHA, RUNS, demo.LEVEL)


def half_as_wide(value, interval, truth):
    low, high = (value + (end - value) / 2 for end in interval)
    return low <= truth <= high


@pytest.mark.parametrize("question", ["count", "mean"])
def test_coverage(runs, question):
    """The intervals of the count and of the mean hold the truth 95 times in 100; half as wide ones are refused."""
    answers = [getattr(run, question) for run in runs]
    assert enough([answer.holds for answer in answers])
    assert not enough([half_as_wide(answer.value, answer.interval, answer.truth) for answer in answers])


def test_coverage_of_all_bars(runs):
    """The intervals of the bars hold all the true counts at once; half as wide ones are refused."""
    assert enough([all(run.histogram.holds) for run in runs])
    half = [all(map(half_as_wide, run.histogram.values, run.histogram.intervals, run.histogram.truths)) for run in runs]
    assert not enough(half)


def test_a_check_of_coverage_has_power():
    """The bound lies well below 95 % of the runs and well above 80 % of them."""
    threshold = binom.ppf(ALPHA, RUNS, demo.LEVEL)
    assert binom.cdf(threshold - 1, RUNS, 0.8) > 0.999
    assert binom.cdf(threshold - 1, RUNS, demo.LEVEL) <= ALPHA


@pytest.mark.parametrize(("total", "count"), [(-137, 5), (0, 5), (120, 3)])
def test_exact_coverage_of_the_mean(total, count):
    """Summed over all noises, the interval of a mean holds with probability 95 % or more; a half as wide one does not.

    The table is so tiny that the noise may turn its count negative. Noises left out count as missed.
    """
    noises = {"sum_noise": DiscreteLaplace(10), "count_noise": DiscreteLaplace(1)}
    held = held_by_half = 0.0
    for z in range(-80, 81):
        for w in range(-8, 9):
            chance = float(noises["sum_noise"].pmf(z) * noises["count_noise"].pmf(w))
            low, high = demo.mean_interval(total + z, count + w, bounds=(-60, 60), **noises)
            middle, quarter = (low + high) / 2, (high - low) / 4
            held += chance * (low <= total / count <= high)
            held_by_half += chance * (middle - quarter <= total / count <= middle + quarter)
    assert held >= 0.95
    assert held_by_half < 0.95


@pytest.mark.parametrize("epsilon", [0.1, 1, 10])
def test_sharpness_of_the_mean(table, epsilon):
    """The interval of the mean is wider than the sum's noise alone, and narrower than a union bound over both."""
    questions = demo.Questions(epsilon)
    steps = demo.GRID.encode(table) - demo.HALF
    total, count = int(steps.sum()), steps.size
    mean = total / count
    low, high = demo.mean_interval(
        total,
        count,
        sum_noise=questions.sum.noise,
        count_noise=questions.count.noise,
        bounds=(-demo.HALF, demo.HALF - 1),
    )
    alone = questions.sum.noise.interval(0.95)[1] / count
    z, w = (noise.interval(0.975)[1] for noise in (questions.sum.noise, questions.count.noise))
    assert low < mean < high
    assert 2 * alone <= high - low < 2 * (z + abs(mean) * w) / count


def test_sharpness_with_blocks():
    """Where the count's noise is too wide for its values one by one, blocks of them cost less than 2 % of width."""
    noises = {"sum_noise": DiscreteLaplace(10**8), "count_noise": DiscreteLaplace(10**4), "bounds": (-(10**5), 10**5)}
    low, high = demo.mean_interval(-(10**10), 10**6, **noises)
    # The law of Z - mW, m the middle, without blocks: both noises are all but continuous here.
    a, b = 10**8, 10**4 * 10**4

    def tail(t):  # of the sum of two Laplace noises of the same scale
        return math.exp(-t / a) * (1 + t / (2 * a))

    assert a == b
    t = next(t for t in np.arange(0, 10 * a, a / 1000) if tail(t) <= 0.05)
    assert 2 * t / 10**6 * 0.99 <= high - low <= 2 * t / 10**6 * 1.03


def test_ends_are_rounded_outwards():
    """An interval as text is never narrower than the interval: cents for a narrow one, whole numbers for others."""
    cost = demo.Questions(1).count.guarantee
    assert demo.Answer(5.5, (1.001, 9.999), 5, cost).between == ("1.00", "10.00")
    assert demo.Answer(5000.5, (1000.9, 9000.1), 5, cost).between == ("1,000", "9,001")
    assert demo.Answer(1005, (1000, 1010), 1003, cost).between == ("1,000", "1,010")


@pytest.mark.parametrize("epsilon", [1, 0.1, 0.3, 1e-5, 7.77, 10_000, Fraction(1, 3)])
def test_total_cost(table, epsilon):
    """The three costs add up to epsilon, exactly."""
    answers = demo.ask(table[:50], epsilon=epsilon, bits=SeededBits(1))
    parts = [part.cost.exact_epsilon for part in (answers.count, answers.mean, answers.histogram)]
    assert sum(parts) == answers.cost.exact_epsilon == exact(epsilon)
    assert (answers.cost.relation, answers.cost.unit) == ("add-remove", "row")


def test_scales():
    """The noise has the scale sensitivity / epsilon of each question."""
    questions = demo.Questions(Fraction(1, 2))
    assert questions.count.noise.scale == 5
    assert questions.sum.noise.scale == 5 * 2**31
    assert questions.sum.noise.scale * Fraction(demo.GRID.step) == 5 * 150_000
    assert questions.histogram.noise.scale == 10


@pytest.mark.parametrize("person", [0, -1e300, 20_000, 62_701.18, 299_999.99, 300_000, math.inf, -math.inf, math.nan])
def test_sensitivities(table, person):
    """One person more moves the sum by at most half the grid, and one bin by one."""
    more = np.append(table.astype(float), person)
    moved = demo.GRID.encode(more) - demo.HALF
    assert abs(int(moved.sum()) - int((demo.GRID.encode(table) - demo.HALF).sum())) <= 2**31
    bins = [np.bincount(demo.BINS.encode(rows), minlength=15) for rows in (table, more)]
    assert np.abs(bins[1] - bins[0]).sum() == 1


def test_noise_is_the_mechanisms(table):
    """What is released is what the three mechanisms draw, in their order, and nothing else."""
    answers = demo.ask(table, epsilon=1, bits=SeededBits("replay"))
    bits = SeededBits("replay")
    count = Laplace(sensitivity=1, epsilon=Fraction(2, 5)).sample(ROWS, bits=bits)
    total = Laplace(sensitivity=2**31, epsilon=Fraction(2, 5)).sample(
        int((demo.GRID.encode(table) - 2**31).sum()), bits=bits
    )
    bins = Laplace(sensitivity=1, epsilon=Fraction(1, 5)).sample(np.bincount(table // 20_000, minlength=15), bits=bits)
    assert answers.count.value == count
    assert answers.mean.value == pytest.approx(150_000 + (total / count + 0.5) * 300_000 / 2**32, rel=1e-14)
    assert answers.histogram.values == tuple(np.maximum(bins, 0).tolist())


def test_truth(table):
    """The truth beside each answer is the table's, and without noise the answers are the truth."""
    answers = demo.ask(table, epsilon=10_000, bits=SeededBits(1))
    assert answers.count.value == answers.count.truth == ROWS
    assert answers.mean.truth == table.mean()
    assert answers.mean.value == pytest.approx(table.mean(), abs=0.5)
    assert answers.histogram.values == answers.histogram.truths == tuple(np.histogram(table, 15, (0, 300_000))[0])
    assert answers.histogram.edges == tuple(range(0, 300_001, 20_000))


@pytest.mark.parametrize("epsilon", [1e-5, 1e-3, 0.1])
@pytest.mark.parametrize("rows", [1, 2, 30])
def test_small_tables(rows, epsilon):
    """However little there is to say, values stay within the bounds and within their intervals."""
    table = made_salaries(rows)
    for seed in range(20):
        answers = demo.ask(table, epsilon=epsilon, bits=SeededBits(seed))
        for answer, upper in ((answers.count, math.inf), (answers.mean, 300_000)):
            assert 0 <= answer.interval[0] <= answer.value <= answer.interval[1] <= upper
        for value, (low, high) in zip(answers.histogram.values, answers.histogram.intervals, strict=True):
            assert 0 <= low <= value <= high


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, 1e-7, 1e5, "1", None, True])
def test_bad_epsilon(epsilon):
    """An epsilon that protects nothing or tells nothing is refused before the table is looked at."""
    with pytest.raises(InvalidParameter, match=r"^epsilon must") as caught:
        demo.ask(object(), epsilon=epsilon)
    assert all(part.endswith(".") for part in (caught.value.what, caught.value.why, caught.value.do))
