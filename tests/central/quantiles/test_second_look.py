"""What a look around ranks sees besides them."""

import numpy as np
import pytest

import flou
from central.quantiles.looks import looking
from flou.bits import SeededBits
from flou.central.quantiles.second_look import Groups, LookedUp
from flou.mechanisms.quantiles import SortedRecords


def test_places_next_to_prepared_ranks_need_no_other_look():
    """A look sees the next occupied coarse cells and more on both sides, so that counts near an answer are known."""
    held = np.arange(0, 1024, 3)
    look, looks = looking(held)
    seen = LookedUp(np.bincount(held >> 5, minlength=32), shift=5, cells=1024, look=look, room=100)
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
    shared = Groups(counts, shift=5, cells=1024, look=look, room=100)
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
    assert 1 < len(looks) <= 3  # what one group looks up, all of them learn


def test_windows_that_grow_past_atoms_and_gaps_need_no_other_look():
    """After one look a window may be four times as wide, and go on beyond an atom, and across a gap."""
    atom, far = np.full(4000, 70), 50_000
    held = np.sort(np.concatenate([atom, np.arange(0, 60, 3), far + np.arange(0, 9000, 3)]))
    look, looks = looking(held)
    exact = SortedRecords(held, cells=1 << 16)
    seen = LookedUp(np.bincount(held >> 5, minlength=1 << 11), shift=5, cells=1 << 16, look=look, room=100)
    seen.prepare([(1990, 2010)])  # inside the atom
    for first, last in ((1990, 2010), (1960, 2040), (10, 4030), (4021, 4050)):
        assert np.array_equal(seen.ranked(first, last), exact.ranked(first, last))
    around = np.concatenate([np.arange(0, 128), far + np.arange(32)])
    assert np.array_equal(seen.below_each(around), exact.below_each(around))
    assert len(looks) == 1
    assert seen.ranked(7000, 7000) == exact.ranked(7000, 7000)
    assert len(looks) == 2


def test_all_of_a_small_table_is_seen_at_once():
    """Where the occupied codes are few, one look at everything is as cheap as one at some of them."""
    held, looks = np.repeat(np.arange(0, 1 << 16, 4096), 10_000), []

    def look(spans):
        looks.append(spans)
        return np.unique(held, return_counts=True)

    seen = LookedUp(np.bincount(held >> 5, minlength=1 << 11), shift=5, cells=1 << 16, look=look)
    assert seen.ranked(5, 5) == [0]
    assert seen.ranked(150_001, 150_001) == [15 * 4096]
    assert len(looks) == 1
    assert LookedUp(np.zeros(4, dtype=np.int64), shift=5, cells=128, look=look).below(77) == 0
    assert len(looks) == 1


def test_groups_that_ask_for_nothing_are_not_looked_at():
    """Small ones would be seen whole; a look at cells that begin coarse ones is none either."""
    looks = []

    def look(spans):
        looks.append(spans)
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)

    groups = Groups(np.ones((3, 16), dtype=np.int64), shift=5, cells=512, look=look)
    groups.prepare(lambda _: [])
    groups.look_at([np.array([0, 32, 512]), np.zeros(0, dtype=np.int64), np.array([64])])
    assert looks == []
    groups.look_at([np.array([0, 33]), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)])
    assert len(looks) == 1


KINDS = {
    "an atom of half of the rows": (lambda g, n: np.where(g.random(n) < 0.5, 3.0, g.uniform(0, 1000, n)), (0, 1000)),
    "atoms only": (lambda g, n: g.choice([1.0, 2.0, 5.0, 10.0, 20.0, 500.0], n), (0, 1000)),
    "a gap": (lambda g, n: np.where(g.random(n) < 0.5, g.uniform(0, 10, n), g.uniform(900, 910, n)), (0, 1000)),
    "wide bounds": (lambda g, n: g.lognormal(10.5, 0.5, n), (0, 1e8)),
    "rounded": (lambda g, n: np.round(g.lognormal(10.5, 0.5, n), -2), (0, 3e5)),
}


@pytest.mark.parametrize("relation", ["add-remove", "substitute"])
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_quantiles_need_one_look_after_the_first(kind, grouped, relation, monkeypatch):
    """Of data with atoms and gaps, between wide bounds and in groups, rows are read twice and not more often."""
    draw, bounds = KINDS[kind]
    generator, rows = np.random.default_rng(0), 100_000
    columns = {"x": draw(generator, rows), "g": np.array(["a", "b", "c"])[generator.integers(0, 3, rows)]}
    domains = {"x": flou.Interval(*bounds), "g": flou.Categories(["a", "b", "c"])}
    table = flou.open(columns, schema=flou.Schema(domains, relation=relation), bits=SeededBits(kind))
    looks, tally = [], table._rows.tally
    monkeypatch.setattr(table._rows, "tally", lambda *asked: looks.append(asked) or tally(*asked))
    asked = table.group_by("g") if grouped else table
    for ask in (asked.deciles, asked.median, asked.boxplot, asked.quartiles):
        looks.clear()
        ask("x", epsilon=1)
        assert len(looks) <= 1
    looks.clear()
    hundredths = asked.quantiles("x", np.arange(1, 100) / 100, epsilon=1)
    assert hundredths.certificate["mechanism"]["name"].startswith("quantiles, focused")
    assert len(looks) <= 1
