"""How numbers are cut into bins, and what the bins are called."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import flou
from flou.central.counts.histogram import ONE_BY_ONE, binned, for_histogram
from flou.domain import Categories, Integers, Interval
from flou.domain.even_numbers import Runs
from flou.errors import InvalidParameter


@given(st.integers(-1000, 1000), st.integers(1, 3000), st.integers(1, 400), st.integers(0, 2**30))
def test_whole_numbers_fall_into_the_runs_that_name_them(lower, width, bins, seed):
    """Every whole number, in bounds or not, is counted in the bin whose name holds what it is clamped to."""
    domain = Integers(lower, lower + width)
    runs = binned("x", domain, bins)
    ends = [tuple(map(int, name.split(" to "))) * (1 if " to " in name else 2) for name in runs.names]
    assert runs.size == len(ends) <= bins
    assert ends[0][0] == domain.lower
    assert ends[-1][1] == domain.upper
    assert all(a[1] + 1 == b[0] for a, b in pairwise(ends))
    assert len({b - a for a, b in ends[:-1]}) <= 1
    values = np.random.default_rng(seed).integers(lower - 50, lower + width + 50, 200)
    for value, code in zip(np.clip(values, domain.lower, domain.upper), runs.encode(values), strict=True):
        assert ends[code][0] <= value <= ends[code][1]
    assert runs.missing_code == runs.encode(np.array([domain.missing]))[0]


def test_large_whole_numbers_are_told_apart():
    """Up to 2^49 no number falls into the bin next to its own."""
    top = 2**49 - 1
    runs = binned("x", Integers(0, top), 3)
    edges = [int(edge) for edge in runs.edges()[1:-1]]
    values = np.array([edge + step for edge in edges for step in (-1, 0)], dtype=np.int64)
    assert runs.encode(values).tolist() == [0, 1, 1, 2]
    with pytest.raises(InvalidParameter, match="beyond 2\\^49"):
        binned("x", Integers(0, 2**49), 3)


def test_histograms_of_whole_numbers():
    """Few are shown one by one, many in 20 bins, and as many as are asked for."""
    assert for_histogram("x", Integers(1, ONE_BY_ONE), None) == Integers(1, ONE_BY_ONE)
    assert isinstance(for_histogram("x", Integers(0, ONE_BY_ONE), None), Runs)
    ages = list(range(120))
    release = flou.histogram(ages, domain=Integers(0, 119), bins=12, epsilon=1000)
    assert release.value.tolist() == [10] * 12
    assert release.labels[:2] == ("0 to 9", "10 to 19")
    assert flou.histogram(ages, domain=Integers(0, 10**9), epsilon=1000).value.tolist() == [120] + [0] * 19


def test_groups_are_never_joined():
    """Counting groups counts every one of them, however many there are."""
    table = flou.open({"k": list(range(300))}, schema={"k": Integers(0, 299)})
    assert table.group_by("k").count(epsilon=1000).value.tolist() == [1] * 300


def test_groups_of_an_interval_are_its_cells():
    """They are the same for every statistic, and a grid too fine to be named is refused."""
    schema = {"age": Interval(0, 100, cells=4), "fine": Interval(0, 100), "x": Interval(0, 1)}
    table = flou.open({"age": [5, 30, 30, 99], "fine": [1] * 4, "x": [1] * 4}, schema=schema)
    counts, sums = table.group_by("age").count(epsilon=1000), table.group_by("age").sum("x", epsilon=1000)
    assert counts.labels == sums.labels == ("0 to 25", "25 to 50", "50 to 75", "75 to 100")
    assert counts.value.tolist() == np.round(sums.value).tolist() == [1, 2, 0, 1]
    with pytest.raises(InvalidParameter, match="too many to be groups"):
        table.group_by("fine")


def test_categories_take_no_bins():
    """They are bins already."""
    with pytest.raises(InvalidParameter, match="cannot be cut into bins"):
        binned("x", Categories(["a"]), 2)
