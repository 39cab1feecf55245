"""Records answer the same questions in the same way, from an array and from counts, and as a plain list would."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flou.bits import SeededBits
from flou.errors import InvalidData, InvalidParameter
from flou.mechanisms.quantiles import CellCounts, QExp, SortedRecords
from flou.mechanisms.quantiles.records import LARGEST_GRID, MOST_CELLS
from mechanisms.quantiles.tiny import as_counts, in_memory

tables = st.lists(st.integers(0, 9), max_size=30).map(lambda x: tuple(sorted(x)))


@settings(deadline=None)
@given(tables, st.integers(-5, 40), st.integers(-5, 40), st.integers(-3, 15))
def test_both_summaries_answer_as_a_list_would(table, first, last, cell):
    """Ranks and counts below a cell are those of the sorted list, ranks that do not exist are left out."""
    expected = [table[rank - 1] for rank in range(max(first, 1), min(last, len(table)) + 1)]
    for records in (in_memory(table, 10), as_counts(table, 10)):
        assert records.rows == len(table)
        assert records.ranked(first, last).tolist() == expected
        assert records.ranked(first, last).dtype == np.int64
        assert records.below(cell) == sum(code < cell for code in table)
        assert records.below_each(np.arange(-3, 15)).tolist() == [records.below(c) for c in range(-3, 15)]
        assert records.prepare([(first, last)]) is None


@settings(deadline=None)
@given(tables)
def test_empty_cells_may_be_listed(table):
    """Counts of 0 change nothing."""
    every = CellCounts(np.arange(10), np.bincount(np.array(table, dtype=np.int64), minlength=10), cells=10)
    assert every.ranked(1, 30).tolist() == list(table)
    assert [every.below(c) for c in range(11)] == [in_memory(table, 10).below(c) for c in range(11)]


@pytest.mark.parametrize("kind", [np.uint8, np.int8, np.int16, np.uint64, np.int64])
def test_codes_of_any_integer_type(kind):
    """A short type of integers can be asked about cells that it could not hold itself."""
    records = SortedRecords(np.array([7, 3, 3], dtype=kind), cells=10**6)
    asked = np.array([-1, 0, 3, 4, 7, 8, 300, 10**6])
    assert [records.below(c) for c in asked.tolist()] == [0, 0, 0, 2, 2, 3, 3, 3]
    assert records.below_each(asked).tolist() == [0, 0, 0, 2, 2, 3, 3, 3]
    assert records.ranked(1, 3).tolist() == [3, 3, 7]


def test_an_array_in_order_is_not_copied():
    """A column that was sorted once serves many quantiles."""
    codes = np.arange(5)
    assert SortedRecords(codes, cells=5, ordered=True)._codes is codes


@pytest.mark.parametrize("codes", [[0.5], [[1, 2]], [1, 10], [-1, 2], ["a"], [True]])
def test_codes_off_the_grid_are_refused_without_being_shown(codes):
    """What is wrong is told by type and shape."""
    with pytest.raises(InvalidData) as caught:
        SortedRecords(codes, cells=10)
    assert "0.5" not in str(caught.value)


@pytest.mark.parametrize(
    ("codes", "counts"),
    [([1, 0], [1, 1]), ([0, 0], [1, 1]), ([0], [-1]), ([0, 1], [1]), ([0.0], [1]), ([0], [1.5]), ([10], [1]), (0, 1)],
)
def test_counts_off_the_grid_are_refused(codes, counts):
    """Cells come in increasing order, counts are whole and not negative."""
    with pytest.raises(InvalidData):
        CellCounts(codes, counts, cells=10)


def test_grids_have_a_size():
    """A grid has a cell at least, and answers come from grids of up to 2^40 cells."""
    with pytest.raises(InvalidParameter):
        SortedRecords([], cells=0)
    with pytest.raises(InvalidParameter):
        CellCounts([], [], cells=LARGEST_GRID + 1)
    largest = SortedRecords([1], cells=MOST_CELLS + 1)
    with pytest.raises(InvalidParameter, match="cells"):
        QExp(0.5, epsilon=1).sample(largest)


def test_records_do_not_print_their_codes():
    """A summary of confidential records says its public size only."""
    assert repr(in_memory((3, 5), 10)) == "SortedRecords(cells=10)"
    assert repr(as_counts((3, 5), 10)) == "CellCounts(cells=10)"


@pytest.mark.parametrize("cells", [7, 2**33, MOST_CELLS])
def test_the_same_bits_give_the_same_answer(cells):
    """Who answers does not matter, draw by draw."""
    table = (0, 2, 2, 2, 3, 6)
    for seed in range(20):
        one, other = (
            QExp(0.3, epsilon=1).sample(r, bits=SeededBits(seed))
            for r in (in_memory(table, cells), as_counts(table, cells))
        )
        assert one == other
