"""Each row is read by itself."""

from __future__ import annotations

import numpy as np
import pytest

from flou.errors import InvalidParameter
from flou.joint.estimators.party_rows import PartyRows, Reading
from flou.joint.estimators.private.row_by_row import MISSING, PublicCategories, RowByRow, read_numbers

X = Reading(("x",))
CELLS = ["1", "2.5", "true", "abc", " 3 ", "1e2", "nan", "inf", "", "x1", "FALSE", "-0"]


def table(cells):
    return {"x": np.array(cells, dtype=str)}


def counted(rows):
    """How often each value occurs, whichever type it was read as."""
    found = {}
    for batch in rows.batches(("x",)):
        for value in batch["x"].tolist():
            found[value] = found.get(value, 0) + 1
    return found


def test_a_cell_that_is_no_number_does_not_touch_the_others():
    """Leaving out any one row of texts changes the numbers that are read by that row's own number, or by nothing."""
    whole = counted(RowByRow(PartyRows(table(CELLS), X)))
    assert whole == {1.0: 2, 2.5: 1, 3.0: 1, 100.0: 1, np.inf: 1, 0.0: 2}
    for place, cell in enumerate(CELLS):
        rest = counted(RowByRow(PartyRows(table(CELLS[:place] + CELLS[place + 1 :]), X)))
        gone = {value: whole[value] - rest.get(value, 0) for value in whole if whole[value] != rest.get(value, 0)}
        assert set(rest) <= set(whole)
        assert gone in ({}, dict.fromkeys(gone, 1))
        assert len(gone) == (cell not in ("abc", "nan", "", "x1"))


def test_the_plain_reader_would():
    """Without this reader one text turns the numbers of all other rows into texts."""
    kinds = []
    for cells in (["1", "2"], ["1", "2", "abc"]):
        kinds += [batch["x"].dtype.kind for batch in PartyRows(table(cells), X).batches(("x",))]
    assert kinds == ["f", "U"]


def test_files_are_read_the_same_way(tmp_path):
    """A text file gives the numbers that its cells give in memory."""
    path = tmp_path / "cells.csv"
    path.write_text("x,y\n" + "".join(f"{cell},1\n" for cell in CELLS))
    assert counted(RowByRow(PartyRows(path, X))) == counted(RowByRow(PartyRows(table(CELLS), X)))


@pytest.mark.parametrize("levels", [["1", "2", "abc"], [1, 2, 3], [True, False], ["true", "x1"], ["07", "8"]])
def test_a_category_is_the_same_in_any_company(levels):
    """The place of a cell does not depend on which other cells the file has."""
    known = PublicCategories(levels)
    cells = ["1", "2", "abc", "3", "true", "false", "x1", "7", "07", "8.0", "nan"]
    alone, together = [], []
    for cell in cells:
        for batch in PartyRows(table([cell]), X).batches(("x",)):
            alone += known.places(batch["x"]).tolist() or [MISSING]
    for batch in PartyRows(table(cells), X).batches(("x",)):
        together += known.places(batch["x"]).tolist()
    assert alone == together
    for place, level in enumerate(levels):
        assert place in together or level == 3 or str(level) in {"07", "8"}


def test_numbers_and_texts_of_the_same_value_are_one_category():
    """A float column and a text column name the same categories."""
    levels = PublicCategories(["1", "b", "2"])
    assert levels.places(np.array([1.0, 2.0, 3.0])).tolist() == [0, 2, -1]
    assert levels.places(np.array(["1.0", "b", "02", "c"])).tolist() == [0, 1, 2, -1]
    assert PublicCategories(["b"]).places(np.array([1.0])).tolist() == [-1]


def test_unknown_categories_become_none_of_the_list():
    """Texts and numbers that are not listed stay in the batch, as something that no list holds."""
    rows = PartyRows({"t": np.array(["a", "zz", "b"]), "w": np.array([1, 5, 2])}, Reading(("t", "w")))
    read = RowByRow(rows, {"t": PublicCategories(["a", "b"]), "w": PublicCategories([1, 2])})
    (batch,) = read.batches(("t", "w"))
    assert batch["t"].tolist()[::2] == ["a", "b"]
    assert batch["t"][1] not in ("a", "b")
    assert batch["w"].tolist() == [1.0, np.inf, 2.0]


@pytest.mark.parametrize("levels", [["1", "1.0"], [1, True], ["nan", "a"], ["true", 1]])
def test_categories_that_cannot_be_told_apart_are_refused(levels):
    """Whatever a file could write in the same way."""
    with pytest.raises(InvalidParameter, match="read as the same value"):
        PublicCategories(levels)


def test_numbers_stay_numbers():
    """Doubles pass through, texts are read one by one."""
    np.testing.assert_array_equal(read_numbers(np.array([1.5, np.inf])), [1.5, np.inf])
    np.testing.assert_array_equal(read_numbers(np.array(["1.5", "TRUE", "x", "1_0"])), [1.5, 1, np.nan, 10])
