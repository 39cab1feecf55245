"""Records at random places of their cells: whoever looks, and in whatever order, sees the same places."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from flou.bits import SeededBits
from flou.mechanisms.quantiles import Records, SortedRecords
from flou.mechanisms.quantiles import dithered as module
from flou.mechanisms.quantiles.dithered import Dithered, Part, fair_sum
from mechanisms.quantiles.tiny import follows, in_memory


@pytest.fixture(params=[0, 2, 4096])
def crowd(request, monkeypatch):
    """From how many records on a cell is halved."""
    monkeypatch.setattr(module, "CROWD", request.param)
    return request.param


def looked_at(codes, places, looks, seed) -> Dithered:
    """Records that were asked a few questions, each answered as the final order says."""
    records = Dithered(SortedRecords(np.array(codes, dtype=np.int64), cells=12), places, SeededBits(seed))
    seen = [(a, b, records.ranked(a, b), records.below(c), c) for a, b, c in looks]
    everything = records.ranked(1, records.rows)
    assert np.all(np.diff(everything) >= 0)
    assert (everything // places).tolist() == sorted(codes)
    for a, b, found, below, cell in seen:
        assert found.tolist() == everything[max(a - 1, 0) : max(b, 0)].tolist()
        assert below == np.sum(everything < cell)
    return records


@pytest.mark.parametrize("size", [0, 2, 4096])
@settings(deadline=None)
@given(
    st.lists(st.integers(0, 11), max_size=40),
    st.sampled_from([1, 2, 16]),
    st.lists(st.tuples(st.integers(-3, 45), st.integers(-3, 45), st.integers(-5, 200)), max_size=8),
)
def test_looks_agree_with_each_other(size, codes, places, looks):
    """Ranks and counts, asked in any order, are those of one table; halves of crowds included."""
    before, module.CROWD = module.CROWD, size
    try:
        looked_at(codes, places, looks, "looks")
    finally:
        module.CROWD = before


def test_places_are_uniform_and_independent(crowd):
    """The pair of places of two records of one cell is uniform, once put in order; so is a third one elsewhere."""
    draws = []
    for seed in range(1500):
        codes = Dithered(in_memory((1, 1, 3), 4), 4, SeededBits(f"{crowd} {seed}")).ranked(1, 3)
        draws.append((int(codes[0]) - 4) * 16 + (int(codes[1]) - 4) * 4 + int(codes[2]) - 12)
    p = np.zeros((4, 4, 4))
    for a in range(4):
        for b in range(4):
            p[min(a, b), max(a, b)] += 1 / 64
    assert follows(draws, p.ravel())
    assert not follows(draws, np.roll(p, 1, axis=0).ravel())


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 30])
def test_fair_sums_are_binomial(count):
    """A sum of fair bits, as many as asked for."""
    bits = SeededBits(f"sum {count}")
    draws = [fair_sum(count, bits) for _ in range(1000)]
    assert follows(draws + [count] * (max(draws) < count), binom.pmf(np.arange(count + 1), count, 0.5))


def test_long_sums_are_counted_in_slices(monkeypatch):
    """Slices change nothing but the memory."""
    whole = fair_sum(8 * 1000, SeededBits("slices"))
    monkeypatch.setattr(module, "SLICE", 100)
    assert fair_sum(8 * 1000, SeededBits("slices")) == whole


def test_a_crowd_is_not_drawn_as_a_whole():
    """Ten million records in one cell take a moment and little memory."""

    class Crowded(Records):
        rows = 10**7

        def __init__(self):
            self.cells = 3

        def ranked(self, first, last):
            return np.ones(max(0, min(last, self.rows) - max(first, 1) + 1), dtype=np.int64)

        def below(self, cell):
            return 0 if cell <= 1 else self.rows

    records = Dithered(Crowded(), 2**20, SeededBits("crowd"))
    middle = records.ranked(5_000_000, 5_000_010)
    assert np.all(np.abs(middle - 1.5 * 2**20) < 0.001 * 2**20)
    assert 4_999_900 < records.below(int(middle[5])) < 5_000_006  # about ten records share a place


def test_a_part_has_its_own_ranks_and_cells():
    """A part of the records, on a part of the grid, with everything counted from its own beginning."""
    whole = in_memory((0, 2, 2, 2, 5, 7), 10)
    part = Part(whole, (2, 5), (2, 7))
    assert (part.rows, part.cells) == (3, 5)
    assert part.ranked(-5, 99).tolist() == [0, 0, 3]
    assert part.ranked(2, 2).tolist() == [0]
    assert part.ranked(4, 9).tolist() == []
    assert [part.below(c) for c in range(6)] == [0, 2, 2, 2, 3, 3]


def test_readable():
    """What prints tells the size of the grid only."""
    records = Dithered(in_memory((1, 2), 4), 4, SeededBits(1))
    assert repr(records) == "Dithered(cells=16)"
    assert repr(Part(records, (0, 1), (0, 3))) == "Part(cells=3)"
