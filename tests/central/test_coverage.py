"""Intervals hold what they promise, no less and not much more: exactly for counts, in simulation for everything else.

The simulation is a small part of ``benchmarks/coverage.py``. A true coverage of 94.5 % or more fails a case with
probability below 1e-6, and so does one of 98 % or less where the upper limit applies. Intervals of half the width are
refused by the same check in every statistic.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from itertools import count

import numpy as np
import pytest
from scipy.stats import binom, poisson

from central_coverage import EPSILONS, ROWS, Cell, Coverage, cells, enough, not_too_much, simulate
from coverage_summary import Result, by_line, exceptions, shortfalls, summaries
from flou.central.counts.noisy_counts import CountUncertainty
from flou.laws import DiscreteGaussian, DiscreteLaplace
from populations import POPULATIONS
from subjects import SUBJECTS

RUNS, MANY = 120, 700  # the second where too much caution must be seen: 0.98^700 is below 1e-6
ALPHA = 1e-6


def is_enough(found: Coverage) -> bool:
    """For the entry that is covered least."""
    return bool(binom.cdf(round(found.least * found.runs), found.runs, 0.945) > ALPHA)


def is_not_too_much(found: Coverage) -> bool:
    """For the average over the entries, which has no larger error than one entry."""
    return bool(binom.sf(round(found.coverage * found.runs) - 1, found.runs, 0.98) > ALPHA)


def chosen() -> list[Cell]:
    """Every statistic at every number of rows: shapes, relations and epsilons take turns."""
    found, turn = [], count()
    for statistic in SUBJECTS:
        for rows in ROWS:
            choices = [cell for cell in cells() if (cell.statistic, cell.rows) == (statistic, rows)]
            found += [choices[7 * next(turn) % len(choices)] for _ in range(2 if choices else 0)]
    return found


@pytest.mark.parametrize("cell", chosen(), ids=lambda cell: cell.seed)
def test_intervals_cover(cell):
    """95 % intervals hold the truth at least 94.5 % of the time, for the data and for the population."""
    assert all(is_enough(found) for found in simulate(cell, RUNS).values())


def test_the_chosen_cells_are_of_every_kind():
    """All statistics, shapes, relations, numbers of rows and epsilons are among them."""
    for name, all_of_it in (
        ("statistic", set(SUBJECTS)),
        ("shape", set(POPULATIONS)),
        ("relation", {"add-remove", "substitute"}),
        ("rows", {10, 100, 1000, 10_000}),
        ("epsilon", {0.1, 1.0, 10.0}),
    ):
        assert {getattr(cell, name) for cell in chosen()} == all_of_it


@pytest.mark.parametrize("shape", ["salaries", "near a bound"])
@pytest.mark.parametrize("statistic", ["sum", "mean"])
def test_intervals_do_not_cover_too_much(statistic, shape):
    """With 1,000 rows and an epsilon of 1 they hold the truth at most 98 % of the time, where rows fill their bounds.

    Where they do not, the population may have rows at the other bound that were not seen; the rows themselves may not.
    """
    cell = Cell(statistic, shape, "add-remove", 1000, 1.0)
    assert [cell.capped(of) for of in ("data", "population")] == [True, shape == "salaries"]
    for of, found in simulate(cell, MANY).items():
        assert is_enough(found)
        assert is_not_too_much(found) or not cell.capped(of)


@pytest.mark.parametrize("statistic", SUBJECTS)
def test_half_as_wide_intervals_are_refused(statistic):
    """The check can fail, for each statistic and for both of its intervals."""
    for found in simulate(Cell(statistic, "uniform", "add-remove", 1000, 1.0), RUNS, shrink=0.5).values():
        assert not is_enough(found)


def test_intervals_much_too_wide_are_refused():
    """Useless caution is noticed too."""
    for found in simulate(Cell("mean", "salaries", "add-remove", 1000, 1.0), MANY, shrink=2.5).values():
        assert not is_not_too_much(found)


def test_a_cell_gives_the_same_numbers_each_time():
    """Data and noise depend on the cell alone."""
    cell = Cell("mean", "salaries", "substitute", 100, 1.0)
    assert simulate(cell, 20) == simulate(cell, 20)
    assert simulate(cell, 20) != simulate(replace(cell, epsilon=0.1), 20)


@pytest.mark.parametrize("name", POPULATIONS)
def test_populations_are_what_they_say(name):
    """Means, variances and shares of many draws agree with the closed forms, within five standard errors."""
    population, n = POPULATIONS[name], 400_000
    x = population.draw(np.random.default_rng(1), n)
    assert population.lower <= x.min()
    assert x.max() <= population.upper
    assert abs(x.mean() - population.mean) <= 5 * np.sqrt(population.variance / n)
    squares = (x - x.mean()) ** 2
    assert abs(x.var() - population.variance) <= 5 * squares.std() / np.sqrt(n) + 1e-9 * population.width**2
    shares, found = population.shares(5), np.histogram(x, 5, (population.lower, population.upper))[0] / n
    assert np.all(np.abs(found - shares) <= 5 * np.sqrt(shares * (1 - shares) / n))


# Counts, by summing over the laws


NOISES = [DiscreteLaplace(1), DiscreteLaplace(2), DiscreteLaplace(10), DiscreteGaussian(9)]


@pytest.mark.parametrize("rows", [None, 10, 1000])
@pytest.mark.parametrize("noise", NOISES, ids=str)
def test_counts_are_covered_exactly(noise, rows):
    """For every count near 0, near all rows and between, the probability of being held is 95 % or a little more."""
    far = noise.interval(0.95)[1]
    counts = {*range(2 * far + 3), 500} if rows is None else {*range(2 * far + 3), *range(rows - 2 * far - 2, rows + 1)}
    z = np.arange(-40 * far, 40 * far + 1)
    for c in (c for c in counts if 0 <= c <= (rows or c)):
        low, high = CountUncertainty(c + z, noise, rows).data(0.95)
        held = noise.pmf(z)[(low <= c) & (c <= high)].sum()
        assert held >= 0.95
        assert held <= 0.98 or (rows is not None and rows <= 2 * far)  # all of so few rows are possible


RATES = [0, 0.1, 1, 5, 20, 400, 3000]
PLACES = [(None, rate) for rate in RATES]
PLACES += [(n, rate) for n in (1000, 100_000) for rate in (*RATES, n - 1, n) if rate <= n]


@pytest.mark.parametrize(("rows", "rate"), PLACES)
@pytest.mark.parametrize("noise", NOISES[:2], ids=str)
def test_rates_are_covered_exactly(noise, rows, rate):
    """Of Poisson and binomial counts with noise: the rate is held with a probability of 95 % or a little more."""
    law = poisson(rate) if rows is None else binom(rows, rate / rows)
    k = np.arange(*((0, 1) if rate == 0 else (law.ppf(1e-7), law.ppf(1 - 1e-7) + 1)))
    z = np.arange(-60, 61)
    probability = np.convolve(law.pmf(k), noise.pmf(z))
    first = int(k[0] + z[0])

    def ends(y: int) -> tuple[float, float]:
        return CountUncertainty(np.array([first + y]), noise, rows, grouped=False).population(0.95)

    # both ends grow with the noisy count, so that the counts whose intervals hold the rate are a range
    start = bisect_left(range(probability.size), True, key=lambda y: ends(y)[1] >= rate)
    stop = bisect_left(range(probability.size), True, key=lambda y: ends(y)[0] > rate)
    assert 0.9499 <= probability[start:stop].sum() <= 0.98


def test_counts_that_were_moved_lie_in_their_intervals():
    """A value outside of the interval of its noisy count stretches it, and nothing that was held is lost."""
    noisy, value = np.array([[-30, 5], [90, 140]]), np.array([[0, 40], [60, 0]])
    before = CountUncertainty(noisy, DiscreteLaplace(1), 100)
    after = CountUncertainty(noisy, DiscreteLaplace(1), 100, value=value)
    for of in ("data", "population"):
        (low, high), (least, most) = getattr(before, of)(0.95), getattr(after, of)(0.95)
        assert np.all((least <= np.minimum(low, value)) & (np.maximum(high, value) <= most))
        assert np.all((low >= 0) & (high <= 100))


# The summary


def result(statistic="mean", rows=1000, epsilon=1.0, data=0.95, population=0.96, least=None, runs=2000) -> Result:
    cell = Cell(statistic, "uniform", "substitute", rows, epsilon)
    found = {"data": data, "population": population}
    return Result(cell, {of: Coverage(c, least or c, 1.5, runs) for of, c in found.items()})


def test_claims_are_judged_within_the_error_of_the_simulation():
    """Three standard errors below 94.5 % and above 98 % are let pass, a little more is not."""
    assert enough(0.931, 2000)
    assert not enough(0.929, 2000)
    assert not_too_much(0.989, 2000)
    assert not not_too_much(0.990, 2000)


def test_broken_claims_are_listed():
    """Cells with too little coverage, of one entry or for the population, and with too much where it counts."""
    good = [result(rows=n, epsilon=e) for n in ROWS for e in EPSILONS]
    assert [len(line) for line in by_line(good).values()] == [len(ROWS)] * 2 * len(EPSILONS)
    assert shortfalls(good) == exceptions(good) == []
    assert all(one.holds for one in summaries(good))
    low, entry, high, few = result(population=0.9), result(least=0.9), result(data=1.0), result(rows=100, data=1.0)
    assert [(of, c) for _, of, c in shortfalls([low])] == [("population", 0.9)]
    assert [of for _, of, _ in shortfalls([entry])] == ["data", "population"]
    assert [(of, c) for _, of, c in exceptions([high, few])] == [("data", 1.0)]
    replaced = [low if one.cell == low.cell else one for one in good]
    assert [(one.of, one.rows, one.epsilon) for one in summaries(replaced) if not one.holds] == [
        ("population", 1000, 1.0)
    ]


def test_results_survive_json():
    """A result is read back as it was, an infinite width too."""
    one = Result(
        result().cell, {"data": Coverage(0.95, 0.94, float("inf"), 10), "population": Coverage(0.9, 0.9, 2.5, 10)}
    )
    assert Result.from_dict(one.to_dict()) == one
    assert one.to_dict()["data"]["width"] is None
