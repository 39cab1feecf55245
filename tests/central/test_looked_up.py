"""What a look around ranks sees besides them."""

import numpy as np

from flou.central.looked_up import Groups, LookedUp
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


def test_groups_share_one_look():
    """All groups are seen at once around the ranks they are likely to be asked for; the rest is looked up later."""
    generator, looks = np.random.default_rng(0), []
    codes, groups = generator.integers(0, 1024, 500), generator.integers(0, 3, 500)

    def look(spans):
        looks.append(spans)
        inside = np.zeros(codes.size, dtype=bool)
        for first, last in spans:
            inside |= (codes >= first) & (codes < last)
        pairs, counts = np.unique(groups[inside] * 1024 + codes[inside], return_counts=True)
        return pairs // 1024, pairs % 1024, counts

    counts = np.array([np.bincount(codes[groups == g] >> 5, minlength=32) for g in range(4)])
    shared = Groups(counts, shift=5, cells=1024, look=look)
    shared.prepare(lambda rows: [(rows // 2 - 3, rows // 2 + 3)])
    assert len(looks) == 1
    exact = [SortedRecords(codes[groups == g], cells=1024) for g in range(4)]  # nobody is in the last one
    for one, right in zip(shared.records, exact, strict=True):
        middle = right.rows // 2
        assert np.array_equal(one.ranked(middle - 3, middle + 3), right.ranked(middle - 3, middle + 3))
    assert len(looks) == 1
    everything = np.arange(1025)
    for one, right in zip(shared.records, exact, strict=True):
        assert np.array_equal(one.below_each(everything), right.below_each(everything))
        assert np.array_equal(one.ranked(1, 500), right.ranked(1, 500))
    assert 1 < len(looks) <= 4
