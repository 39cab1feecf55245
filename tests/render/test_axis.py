"""Axes: what fits on them, round ticks, and texts that have room."""

from __future__ import annotations

import itertools
import math

import pytest

from flou.render.axis import Lanes, Scale, shortened, width_of

RANGES = [
    (3.0, 17.0),
    (0.0, 0.0),
    (-5.0, -5.0),
    (-1.0, 1.0),
    (0.0, 300_000.0),
    (-1.7e308, 1.7e308),
    (5e-324, 1e-323),
    (1e-12, 5e-12),
    (1e16, 1e16 + 4),
    (123_456_789.0, 123_456_999.0),
    (1e300, 1e300),
]


@pytest.mark.parametrize("zero", [False, True])
@pytest.mark.parametrize("ends", RANGES)
def test_ticks(ends, zero):
    """Few, on the axis, in order, with texts that differ; numbers keep their order on paper."""
    axis = Scale.around(ends, zero=zero)
    assert -1e300 <= axis.low < axis.high <= 1e300
    assert axis.holds(0) or not zero
    assert 0 <= axis.share(ends[0]) <= axis.share(ends[1]) <= 1
    for most in range(1, 7):
        ticks = axis.ticks(most)
        assert len(ticks) <= most + 1
        assert all(axis.low - 1e-6 * abs(axis.low) <= tick <= axis.high + 1e-6 * abs(axis.high) for tick, _ in ticks)
        assert [tick for tick, _ in ticks] == sorted(tick for tick, _ in ticks)
        if ends[0] < 1e15:
            assert len({text for _, text in ticks}) == len(ticks)


def test_nothing_and_what_is_not_finite():
    """An axis without numbers is one all the same, and what is not finite lies at an end."""
    axis = Scale.around([math.inf, math.nan])
    assert (axis.low < 0, axis.high > 1) == (True, True)
    assert (axis.share(math.inf), axis.share(-math.inf), axis.share(math.nan)) == (1, 0, 0)
    assert not axis.holds(math.nan)
    assert Scale.around([5.0], zero=True).low == 0
    assert Scale.around([-5.0], zero=True).high == 0


@pytest.mark.parametrize("room", [40, 90, 150, 300, 700])
@pytest.mark.parametrize("ends", [(0.0, 300_000.0), (9e8, 1.1e9), (0.0, 1.0), (-3.1, -2.8)])
def test_texts_of_ticks_do_not_meet(ends, room):
    """The texts have room side by side, whatever the room is."""
    axis = Scale(*ends)
    ticks = axis.fitting(room)
    for (a, one), (b, two) in itertools.pairwise(ticks):
        assert room * (axis.share(b) - axis.share(a)) > (width_of(one) + width_of(two)) / 2
    assert ticks or room < 100


def test_short_texts():
    """Thousands and millions are short where there is little room."""
    assert Scale(0, 300_000).fitting(120)[-1][1] in ("200k", "300k", "200,000")
    assert Scale(0, 3e6).ticks(3, short=True)[-1][1] == "3M"
    assert Scale(0, 3e6).ticks(3)[-1][1] == "3,000,000"
    assert Scale(0, 3e13).ticks(3)[-1][1] == "3e13"


def test_names_of_lanes():
    """All lanes show their names while these have room; then every second, third, ... does."""
    assert Lanes(("a",) * 33).every == 1
    assert Lanes(("a",) * 99, pitch=10.0).every == 2


def test_letters():
    """A name that is too long loses its middle; letters of East Asia are wide, accents have no width."""
    assert width_of("日本") > width_of("ab")
    assert width_of("e\u0301") == width_of("e")
    assert shortened("short") == "short"
    one, two = (shortened(f"the department of everything else, part {i}") for i in (1, 2))
    assert one != two
    assert width_of(one) <= width_of("m" * 34)
    assert "…" in one
    assert len(shortened("m" * 50, 20)) >= 1
