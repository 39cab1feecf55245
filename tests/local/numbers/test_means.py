"""Randomisers of means: loss and bias outcome by outcome, variances against formulas, draws against laws, intervals."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from flou import Integers, Interval
from flou.bits import SeededBits
from flou.errors import InvalidData, InvalidParameter
from flou.local import Aggregate, Designed, Duchi, Hybrid, Piecewise, ReportDesign, mean_of
from flou.local.numbers.designed import design_for
from flou.local.numbers.mean_randomiser import mean_of_squares, sums_of_squares
from goodness import agrees, compatible, draws_to_detect, tilted

METHODS = [Duchi, Piecewise, Hybrid, Designed]
each = pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.name)


def table(randomiser) -> np.ndarray:
    """P[report | code], a row for each code."""
    reports = np.arange(randomiser.cells)
    return np.array([randomiser.law(code).pmf(reports) for code in range(randomiser.domain.size)])


def numbers(randomiser) -> np.ndarray:
    """What each report stands for between -1 and 1: the estimate from that one report."""

    def number(report: int) -> float:
        return randomiser.moments(randomiser.aggregate([report])).mean

    if isinstance(randomiser, Duchi | Designed):
        return np.array([number(report) for report in range(randomiser.cells)])
    bits = 2 if isinstance(randomiser, Hybrid) else 0
    window = randomiser.cells - bits  # whose numbers lie at equal distances, because only their sum is kept
    near = np.linspace(number(bits), number(bits + window - 1), window) if window else np.zeros(0)
    return np.concatenate([[number(report) for report in range(bits)], near])


def worst_loss(laws: np.ndarray) -> float:
    return float(np.log(laws.max(axis=0) / laws.min(axis=0)).max())


@each
@pytest.mark.parametrize("epsilon", [0.3, 1, 4])
@pytest.mark.parametrize("codes", [2, 3, 8, 131])
def test_the_loss_is_exactly_epsilon_and_there_is_no_bias(kind, epsilon, codes):
    """The largest log-ratio is epsilon, the expectation is the answer, and the variance is the one stated."""
    randomiser = kind(Integers(0, codes - 1), epsilon=epsilon)
    laws, values, answers = table(randomiser), numbers(randomiser), np.linspace(-1, 1, codes)
    assert np.allclose(laws.sum(axis=1), 1, rtol=1e-12)
    assert worst_loss(laws) == pytest.approx(epsilon, rel=1e-10)
    assert np.allclose(laws @ values, answers, rtol=0, atol=1e-11 * np.abs(values).max())
    variances = laws @ values**2 - answers**2
    assert variances == pytest.approx([randomiser.unit_variance(u) for u in answers], rel=1e-9)
    assert variances.max() == pytest.approx(randomiser.unit_variance(randomiser.worst_position), rel=1e-9)
    assert randomiser.variance() == pytest.approx(variances.max() * ((codes - 1) / 2) ** 2, rel=1e-9)


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(1), Fraction(4)])
def test_windows_of_a_design_are_rational_and_exact(epsilon):
    """Mass and first moment of every window are those of the proof as fractions, and no column exceeds its weight."""
    randomiser = Designed(Integers(0, 20), epsilon=epsilon)
    design = randomiser.design
    reach = sum(v * part for v, part in zip(design.values, randomiser._windows[-1], strict=True))
    for i, row in enumerate(randomiser._windows):
        assert sum(row) == design.window
        assert sum(v * part for v, part in zip(design.values, row, strict=True)) == reach * Fraction(i - 10, 10)
        assert all(0 <= part <= weight for part, weight in zip(row, design.measure, strict=True))


@pytest.mark.parametrize(
    ("epsilon", "expected"),
    [
        (1, {"duchi": 4.68, "piecewise": 5.22, "hybrid": 4.29, "designed": 3.99}),
        (4, {"duchi": 1.08, "piecewise": 0.241, "hybrid": 0.219, "designed": 0.127}),
    ],
)
def test_variances_are_those_of_the_literature(epsilon, expected):
    """With the published widths; the best widths and the design have less."""
    bounds = (-1, 1)
    assert Duchi(bounds, epsilon=epsilon).variance() == pytest.approx(expected["duchi"], rel=5e-3)
    for kind in (Piecewise, Hybrid):
        published = kind(bounds, epsilon=epsilon, width="published").variance()
        assert published == pytest.approx(expected[kind.name], rel=3e-3)
        assert kind(bounds, epsilon=epsilon).variance() < published
    assert Designed(bounds, epsilon=epsilon).variance() == pytest.approx(expected["designed"], rel=0.015)
    assert mean_of(bounds, epsilon=epsilon).name == "designed"


@pytest.mark.parametrize("epsilon", [0.5, 2, 6])
def test_the_published_window_has_its_formula(epsilon):
    """x^2 / (s - 1) + (s + 3) / (3 (s - 1)^2), s = e^(epsilon / 2), on a fine grid."""
    s = math.exp(epsilon / 2)
    randomiser = Piecewise(Integers(-(2**16), 2**16), epsilon=epsilon, width="published")
    for x in (0.0, 0.5, 1.0):
        formula = x**2 / (s - 1) + (s + 3) / (3 * (s - 1) ** 2)
        assert randomiser.unit_variance(x) == pytest.approx(formula, rel=1e-3)


@each
@pytest.mark.parametrize("codes", [6, 300])
def test_draws_follow_the_law(kind, codes):
    """Draws for one code agree with its law, and those of a neighbouring epsilon or a tilted law are refused."""
    randomiser, code = kind(Integers(0, codes - 1), epsilon=2), codes // 5
    draws = randomiser.sample(np.full(draws_to_detect(0.05), code), bits=SeededBits(f"{kind.name} {codes}"))
    law = randomiser.law(code)
    assert agrees(draws, law)
    assert not agrees(draws, kind(Integers(0, codes - 1), epsilon=1.6).law(code))
    counts = np.bincount(draws, minlength=randomiser.cells)
    halves = np.array([counts[: randomiser.cells // 2].sum(), counts[randomiser.cells // 2 :].sum()])
    share = law.cdf(randomiser.cells // 2 - 1)
    assert compatible(halves, np.array([share, 1 - share]))
    assert not compatible(halves, tilted(np.array([share, 1 - share]), 0.05))


def test_a_uniform_on_the_edge_of_a_column_is_refined():
    """Where the first 55 bits do not decide, more bits of the same uniform do, as the rational sums say."""
    randomiser = Designed(Integers(0, 4), epsilon=1)
    sums, floors = randomiser._running
    edge = next(j for j, part in enumerate(sums[2]) if 0 < part < 1)
    known = int(floors[2, edge]) - (2 << 55)

    class Edge(SeededBits):
        def words(self, size):
            return np.full(size, known << 9, dtype=np.uint64)

    found = [int(randomiser._columns(np.array([2]), Edge(seed))[0]) for seed in range(300)]
    fraction = float(sums[2][edge] * 2**55 - known)  # of the cell of U that lies below the edge
    assert set(found) <= {edge, edge + 1}
    assert np.mean(np.array(found) == edge) == pytest.approx(fraction, abs=0.2)


@each
def test_aggregates_add_up_and_strangers_are_refused(kind):
    """Parts merged give the whole, other parameters are told apart, and malformed reports leave nothing behind."""
    randomiser = kind(Interval(0, 10, cells=100), epsilon=1)
    reports = randomiser.randomise(np.linspace(-1, 12, 500), bits=SeededBits(2))
    whole = randomiser.aggregate(reports)
    merged = randomiser.aggregate()
    for part in np.array_split(reports, 3):
        merged.merge(Aggregate.from_bytes(randomiser, randomiser.aggregate(part).to_bytes()))
    assert merged == whole
    assert merged.estimate().value == whole.estimate().value
    with pytest.raises(InvalidData, match="another question"):
        kind(Interval(0, 10, cells=100), epsilon=2).aggregate().merge(whole)
    for bad in ([randomiser.cells], [-1], [0.5], [[1]]):
        with pytest.raises(InvalidData, match="Each report"):
            whole.add(bad)
    assert whole.people == 500
    forged = Aggregate(randomiser)
    forged.people, forged.sums = 500, whole.sums * 3
    with pytest.raises(InvalidData, match="do not fit the number"):
        Aggregate.from_bytes(randomiser, forged.to_bytes())
    nothing = randomiser.aggregate().estimate()
    assert nothing.value == 5.0
    assert nothing.interval() == pytest.approx((0.05, 9.95))


def test_sums_stay_exact_for_a_trillion_reports():
    """The sums of 2^40 of the largest reports fit into 64 bits, and mean and mean square come back exactly."""
    largest = Piecewise(Integers(0, 2**18 - 1), epsilon=0.01).cells - 1
    assert largest < 2**20
    one = sums_of_squares(np.array([largest]))
    assert all(int(part) << 40 < 2**63 for part in one)
    mean, square = mean_of_squares(np.array([int(part) << 40 for part in one]), 2**40, 7)
    assert (mean, square) == (2 * largest - 7, (2 * largest - 7) ** 2)


@each
@pytest.mark.parametrize("epsilon", [0.5, 1, 3])
def test_intervals_cover(kind, epsilon):
    """95 % intervals at 10,000 reports hold the mean of the respondents, and of the population, as often as they say.

    One bit cannot show the spread of the answers: for the respondents its intervals may be too wide, never too short.
    """
    runs, people, codes = 600, 10_000, 21
    randomiser, generator = kind(Integers(0, codes - 1), epsilon=epsilon), np.random.default_rng(5)
    shares = np.linspace(1, 5, codes) / np.linspace(1, 5, codes).sum()
    truth, bits, covered = float(shares @ np.arange(codes)), SeededBits(f"{kind.name} {epsilon}"), np.zeros(2)
    for _ in range(runs):
        answers = generator.choice(codes, people, p=shares)
        moments = randomiser.moments(randomiser.aggregate(randomiser.sample(answers, bits=bits)))
        errors = np.abs(moments.mean * 10 + 10 - np.array([answers.mean(), truth]))
        covered += errors <= 1.959964 * 10 * np.sqrt(np.array([moments.noise, moments.total]) / people)
    # three standard deviations of a simulation around 95 %
    assert 0.923 * runs <= covered[1] <= 0.977 * runs
    assert 0.923 * runs <= covered[0]
    assert covered[0] <= 0.977 * runs or kind is Duchi


def test_the_release_is_in_the_units_of_the_domain():
    """A mean with both intervals, labelled by what a respondent paid."""
    randomiser = mean_of((18, 68), epsilon=2)
    ages = np.random.default_rng(1).uniform(20, 50, 100_000)
    release = randomiser.estimate(randomiser.randomise(ages, bits=SeededBits(3)))
    low, high = release.interval()
    assert low < ages.mean() < high < low + 1
    assert release.interval(of="population")[0] < low
    assert release.error.grid == pytest.approx(50 / 2**17)
    assert release.certificate["mechanism"]["name"] == "designed"
    assert release.certificate["trust"]["model"] == "local"


def test_the_method_of_least_variance_is_chosen():
    """Below and above the range of designs another one is taken; a name takes that one."""
    assert mean_of((0, 1), epsilon=0.01).name == "Duchi"
    assert mean_of((0, 1), epsilon=20).name in {"hybrid", "piecewise"}
    assert mean_of((0, 1), epsilon=1, method="piecewise").name == "piecewise"
    assert Hybrid((0, 1), epsilon=0.3).coin.p == 1
    for bad in ({"epsilon": 0}, {"epsilon": 1, "method": "best"}, {"epsilon": 20, "method": "designed"}):
        with pytest.raises(InvalidParameter):
            mean_of((0, 1), **bad)
    for bad in (7, (0, 1, 2), Integers(0, 2**20), Interval(0, 1, cells=1)):
        with pytest.raises(InvalidParameter):
            mean_of(bad, epsilon=1)


def test_designs_are_computed_once_and_can_be_fixed():
    """The same epsilon has the same design; a given one is used, part of the fingerprint, and checked."""
    assert design_for(Fraction(1)) is design_for(Fraction(1))
    given = ReportDesign(weights=(1, 0, 3, 2), window=5)
    assert given.values == (-3, -2, 0, 2, 3)
    randomiser = Designed(Integers(0, 6), epsilon=1, design=given)
    laws, values = table(randomiser), numbers(randomiser)
    assert worst_loss(laws) == pytest.approx(1, rel=1e-12)
    assert np.allclose(laws @ values, np.linspace(-1, 1, 7), atol=1e-12)
    assert randomiser.aggregate().fingerprint != Designed(Integers(0, 6), epsilon=1).aggregate().fingerprint
    for weights, window in (((1,), 1), ((1, 2), 5), ((1, -2), 1), ((1, 2.5), 1), ((1, 2), 0)):
        with pytest.raises(InvalidParameter, match="design"):
            ReportDesign(weights=weights, window=window)
