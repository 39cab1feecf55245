"""What a look around ranks sees besides them."""

import numpy as np

from flou.central.looked_up import LookedUp
from flou.mechanisms.quantiles import SortedRecords


def test_places_next_to_prepared_ranks_need_no_other_look():
    """A look sees the coarse cells beside the wanted ones too, so that counts near an answer are known."""
    held, looks = np.arange(0, 1024, 3), []

    def look(spans):
        looks.append(spans)
        inside = np.zeros(held.size, dtype=bool)
        for first, last in spans:
            inside |= (held >= first) & (held < last)
        return np.unique(held[inside], return_counts=True)

    seen = LookedUp(np.bincount(held >> 5, minlength=32), shift=5, cells=1024, look=look)
    seen.prepare([(100, 105), (340, 342)])
    assert looks == [[(256, 352), (960, 1024)]]
    near = np.concatenate([np.arange(256, 353), np.arange(960, 1025)])
    expected = SortedRecords(held, cells=1024).below_each(near)
    assert np.array_equal(seen.below_each(near), expected)
    assert len(looks) == 1
    seen.below(40)
    assert looks[1:] == [[(0, 96)]]
