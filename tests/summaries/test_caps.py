"""Nobody has more rows than the cap, and which ones is left to chance."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from flou.domain import Integers
from flou.errors import InvalidParameter
from flou.summaries import Code, Counts, column, rows_of
from summaries.engines import Made

SIZES = {"anna": 1, "o'neil": 2, "bo": 3, "": 5, "Anna": 7, "großé": 12, None: 4}
UNITS = [unit for unit, size in SIZES.items() for _ in range(size)]
IDENT = [Counts((Code("id", Integers(0, len(UNITS) - 1)),))]


def made(kind, units):
    return Made(
        {"id": ("long", list(range(len(units)))), "the unit": (kind, units), "flou_rank": ("long", [7] * len(units))}
    )


NUMBERS = {unit: (None if unit is None else place) for place, unit in enumerate(SIZES)}
TABLES = [("text", UNITS), ("long", [NUMBERS[u] for u in UNITS])]
TABLES += [("double", [float("nan") if u is None else NUMBERS[u] / 2 for u in UNITS])]


@pytest.mark.parametrize(("kind", "units"), TABLES, ids=["text", "long", "double"])
@pytest.mark.parametrize("most", [1, 3])
def test_cap(opened, engine, kind, units, most):
    """Every unit keeps exactly as many rows as it has, up to the cap; rows without a unit are left out."""
    if engine == "csv":
        units = [None if unit == "" or unit != unit else unit for unit in units]
    rows = opened(made(kind, units))
    sizes = Counter(unit for unit in units if unit is not None and unit == unit)
    found = rows.capped("the unit", most)
    assert found.columns == rows.columns
    kept = found.collect(IDENT)[0]
    assert set(kept.tolist()) <= {0, 1}
    assert Counter(units[i] for i in kept.nonzero()[0]) == {unit: min(size, most) for unit, size in sizes.items()}


def test_the_choice_is_random(opened):
    """Every row of a unit can be chosen, and two calls choose differently."""
    size, draws = 4, 30  # a row is never chosen with probability (3/4)^30 < 2e-4 * 4 rows; repeated below
    rows = opened(made("long", [1] * size))
    ident = [Counts((Code("id", Integers(0, size - 1)),))]
    chosen = sum(rows.capped("the unit", 1).collect(ident)[0] for _ in range(draws))
    for _ in range(3):
        if not chosen.all():
            chosen = chosen + sum(rows.capped("the unit", 1).collect(ident)[0] for _ in range(draws))
    assert chosen.all()
    assert chosen.max() < draws


def test_units_choose_by_themselves(opened):
    """Units of one size keep rows at different places, so that an order of the rows, by date say, is no bias."""
    units = [f"p{i}" for i in range(60) for _ in range(3)]
    rows = opened(made("text", units))
    ident = [Counts((Code("id", Integers(0, len(units) - 1)),))]
    places = np.flatnonzero(rows.capped("the unit", 1).collect(ident)[0]) % 3
    assert len(places) == 60
    assert min(Counter(places.tolist()).get(place, 0) for place in range(3)) >= 3  # less in 1 of 10^6 tries


def test_filter_before_and_after(opened):
    """A cap counts the rows that were left, and a condition after it chooses among the rows that were kept."""
    rows = opened(made("text", UNITS))
    few = rows.where(column("the unit") == "großé").capped("the unit", 3)
    assert few.collect(IDENT)[0].sum() == 3
    capped = rows.capped("the unit", 3).where(column("the unit") == "Anna")
    assert capped.collect(IDENT)[0].sum() == 3


def test_units_of_mixed_types():
    """Numbers are the same unit whatever their type, texts are other units, and what cannot be compared is none."""

    class Odd:
        __hash__ = None

    units = [1, 1.0, np.int64(1), True, "1", "1", b"1", None, float("nan"), Odd(), 2**60, 2**60 + 1]
    kept = rows_of({"id": list(range(12)), "the unit": units}).capped("the unit", 1).collect(IDENT)[0].nonzero()[0]
    assert Counter("number" if i < 4 else "text" if i < 7 else i for i in kept.tolist()) == {
        "number": 1,
        "text": 1,
        10: 1,
        11: 1,
    }


@pytest.mark.parametrize("most", [0, -1, 1.5, None, "2", True])
def test_impossible_caps_are_refused(opened, most):
    """A cap is a whole number of at least one row."""
    with pytest.raises(InvalidParameter):
        opened(made("text", UNITS)).capped("the unit", most)
