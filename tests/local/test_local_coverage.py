"""Intervals from reports hold the truth as often as they say; the whole table is studies/local_coverage.py."""

from __future__ import annotations

import pytest

from flou.local import GRR
from local_coverage import MEANS, Cell, cells, covered, means_covered

QUICK = [cell for cell in cells() if cell.k == 128] + [Cell("warner", 2, 1.0)]


@pytest.mark.parametrize("cell", QUICK, ids=lambda cell: f"{cell.method}-{cell.k}-{cell.epsilon}")
def test_intervals_hold_as_often_as_they_say(cell):
    """Between 93 and 97 %, for the respondents and for the population: 2,560 intervals, standard error 0.4 %."""
    held = covered(cell, 20 if cell.k == 128 else 1_500)
    assert all(0.93 <= share <= 0.97 for share in held.values()), held


@pytest.mark.parametrize("method", MEANS)
def test_intervals_of_means_hold_as_often_as_they_say(method):
    """300 intervals, standard error 1.3 %; those of Duchi for the respondents may hold more."""
    held = means_covered(method, 1.0, 300)
    assert all(0.91 <= share <= (1 if method == "duchi" else 0.985) for share in held.values()), held
    assert all(share < 0.9 for share in means_covered(method, 1.0, 300, shrink=0.6).values())


def test_intervals_that_are_too_narrow_are_noticed():
    """Four fifths of the width hold about 88 %."""
    held = covered(Cell("grr", 2, 1.0, people=1_000), 1_000, shrink=0.8)
    assert all(share < 0.91 for share in held.values())


def test_the_interval_of_the_population_is_wilsons():
    """The score interval of the share of reports, moved to the scale of shares."""
    oracle = GRR(4, epsilon=1)
    counts, n, z = [50, 30, 12, 8], 100, 1.959963984540054
    reports = [v for v, c in enumerate(counts) for _ in range(c)]
    low, high = oracle.estimate(reports).interval(of="population")
    for v, c in enumerate(counts):
        r = c / n
        centre = (r + z * z / (2 * n)) / (1 + z * z / n)
        half = z / (1 + z * z / n) * (r * (1 - r) / n + z * z / (4 * n * n)) ** 0.5
        for end, sign in ((low, -1), (high, 1)):
            assert end[v] == pytest.approx(min(max((centre + sign * half - oracle.q) / oracle.gap, 0), 1))
    narrow, wide = oracle.estimate(reports).interval(of="data"), (low, high)
    assert all(wide[1] - wide[0] >= narrow[1] - narrow[0] - 1e-12)
