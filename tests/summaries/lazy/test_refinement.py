"""Places of a refinement tell the cells of all its grids."""

from __future__ import annotations

import math

import numpy as np
import pytest

from flou.central.counts.outer_bounds import OuterBounds
from flou.domain import Boolean, Categories, Integers, Interval
from flou.summaries import Code
from flou.summaries.lazy.refinement import MOST_PLACES, Refinement, merged, most_places
from summaries.engines import SPECIAL

POWERS = tuple(request.codes[0].domain for request in OuterBounds("x", 1).counts)
HOSTILE = (
    Interval(0, 0.3, step=0.1),
    Interval(-8e307, 8e307, cells=7, missing=-8e307),
    Interval(1e-9, 1.7e-9, cells=7),
    Interval(-1e-300, 1e300, cells=5, missing=1e300),
    Interval(math.pi, math.tau, step=math.pi / 8),
    Interval(0.1, 100, cells=1),
    Interval(-7.3, 100, cells=8, missing=-7.3),
)


def near(cuts):
    """Every cut, its neighbours among the doubles, and the special ones."""
    x = np.array([*cuts, *(-cut for cut in cuts), *(0.0 if value is None else value for value in SPECIAL)])
    return np.concatenate([x, np.nextafter(x, -np.inf), np.nextafter(x, np.inf), np.linspace(-200, 200, 999)])


@pytest.mark.parametrize("grids", [POWERS, HOSTILE, HOSTILE[:2], POWERS[:3] + HOSTILE], ids=len)
def test_cells_follow_from_places(grids):
    """Of every double, beside the cuts and on them, the place tells the cell in each grid."""
    refinement = Refinement("x", grids)
    x = near(refinement.cuts)
    places = np.where(np.isnan(x), refinement.size - 1, np.searchsorted(refinement.cuts, x, side="right"))
    for grid in grids:
        assert (refinement.cells(grid)[places] == grid.encode(x)).all()


@pytest.mark.parametrize("grids", [POWERS, HOSTILE], ids=len)
def test_no_cut_is_needless(grids):
    """At every cut some grid has another cell than just below it."""
    cuts = np.array(Refinement("x", grids).cuts)
    below = np.nextafter(cuts, -np.inf)
    assert np.any([grid.encode(cuts) > grid.encode(below) for grid in grids], axis=0).all()


def test_merged():
    """Small grids of one column are merged, everything else stays alone, and the bound on places holds."""
    small = [Code("x", grid) for grid in HOSTILE]
    other = Code("y", HOSTILE[0])
    alone = [Code("x", Interval(0, 1, cells=50)), Code("x", Boolean()), Code("x", Integers(0, 3))]
    alone.append(Code("x", Categories(["a"])))
    found = merged([other, *small, *alone])
    assert sorted(map(len, found)) == [1, 1, 1, 1, 1, len(small)]
    assert tuple(small) in found
    assert Refinement("x", HOSTILE).size <= most_places(small)


def test_merges_are_bounded():
    """So many small grids that their places are too many stay alone."""
    many = [Code("x", Interval(0, 1 + i, cells=8)) for i in range(MOST_PLACES // 7 + 1)]
    assert most_places(many) > MOST_PLACES
    assert merged(many) == [(code,) for code in many]
    assert merged(many[1:-1]) == [tuple(many[1:-1])]
