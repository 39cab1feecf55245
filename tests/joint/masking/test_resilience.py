"""How many may conspire: found by going through everything that a lying coordinator can show to honest parties.

A coordinator decides which list of survivors each honest party sees (one a round, the party in it), which of them it
cuts off, and who gets to hold shares of whom. A party releases something only when q neighbours in its list have signed
the same list; those who conspire sign anything and hold both kinds of shares.
"""

from __future__ import annotations

import itertools

import pytest

from flou.errors import InvalidParameter
from flou.joint.masking.graph import Resilience, resilience

DENSE_CASES = [(m, d) for m in range(3, 13) for d in range((m - 1) // 2 + 1) if m - d >= 2]


def lists_with(party: int, m: int):
    others = [other for other in range(m) if other != party]
    return [frozenset([party, *chosen]) for size in range(m) for chosen in itertools.combinations(others, size)]


def broken_by_lists(m: int, found: Resilience, colluders: int) -> bool:
    """Whether some choice of lists gives both secrets of an honest party, or opens two lists: all choices are tried."""
    honest, corrupt = range(m - colluders), frozenset(range(m - colluders, m))
    for shown in itertools.product(*([None, *lists_with(party, m)] for party in honest)):
        released = {}
        for party in honest:
            mine = shown[party]
            if mine is not None:
                same = sum(other != party and shown[other] == mine for other in honest if other in mine)
                if same + len(corrupt & mine) >= found.quorum:
                    released[party] = mine
        if len(set(released.values())) > 1:
            return True
        for party in honest:
            alive = colluders + sum(party in mine for other, mine in released.items() if other != party)
            gone = colluders + sum(party not in mine for other, mine in released.items() if other != party)
            if (party in released or alive >= found.threshold) and gone >= found.threshold:
                return True
    return False


def broken_by_counts(m: int, found: Resilience, colluders: int) -> bool:
    """The same up to the names of parties, for one target and two lists, also when adverts were withheld from it.

    Of the other honest parties, x are shown the list X with the target, y a list Y without it, z are cut off; and of
    each some do not hold shares of the target. A target that signs X has shares of everyone in X.
    """
    k, t, q = found.neighbours, found.threshold, found.quorum
    others = m - 1 - colluders
    for signs in (True, False):
        for x, y, z in itertools.product(range(others + 1), repeat=3):
            for x_more, y_more in itertools.product(range(1 if signs else others + 1), range(others + 1)):
                z_more = others - (x + y + z + x_more + y_more)
                holders = x + y + z + colluders
                if z_more < 0 or not q <= holders <= k:
                    continue
                opens = signs and x + colluders >= q
                x_opens = x + x_more + signs - 1 + colluders >= q
                y_opens = y + y_more - 1 + colluders >= q
                alive, gone = colluders + x * x_opens, colluders + y * y_opens
                enough = min(t, holders)
                if (opens or alive >= enough) and gone >= enough:
                    return True
    return False


@pytest.mark.parametrize(("m", "d"), [(3, 0), (4, 0), (4, 1), (5, 0), (5, 1), (6, 1)])
def test_all_lists(m, d):
    """Whatever lists are shown, the promised number of conspirators gets nothing; one more does."""
    found = resilience(m, d)
    assert not broken_by_lists(m, found, found.colluders)
    assert broken_by_lists(m, found, found.colluders + 1)


@pytest.mark.parametrize(("m", "d"), DENSE_CASES)
def test_all_counts(m, d):
    """The same for up to twelve parties, also when shares are held by fewer; and both ways of counting agree."""
    found = resilience(m, d)
    assert found.colluders == (m - 2 if d == 0 else m - 2 * d - 1)
    assert found.colluders < found.quorum + found.threshold - found.neighbours
    for colluders in range(found.colluders + 1):
        assert not broken_by_counts(m, found, colluders)
    assert broken_by_counts(m, found, found.colluders + 1)


@pytest.mark.parametrize(("m", "d"), [(m, d) for m, d in DENSE_CASES if d])
def test_a_lower_quorum_or_threshold_is_not_enough(m, d):
    """With one signature less, or with a threshold that conspirators reach alone, they would get both secrets."""
    found = resilience(m, d)
    k, t, q, c = found.neighbours, found.threshold, found.quorum, found.colluders
    assert broken_by_counts(m, Resilience(k, t, q - 1, c, d), c)
    assert broken_by_counts(m, Resilience(k, c, q, c, d), c)
    assert not broken_by_counts(m, found, c)


@pytest.mark.parametrize(("m", "d"), DENSE_CASES)
def test_as_many_as_promised_may_be_lost(m, d):
    """However the losses fall on the steps: enough are left to sign, and to restore whoever must be restored."""
    found = resilience(m, d)
    for early in range(d + 1):  # before they could hold shares
        holders = m - 1 - early
        assert m - 1 - d >= found.quorum
        for late in range(1, d - early + 1):  # after they have shared: each of them has to be restored by the rest
            assert holders - (late - 1) >= min(found.threshold, holders)
            assert m - early - late >= min(found.threshold, holders)
            assert m - early - late >= found.threshold  # also when they held shares, and went before they gave one


def test_halves_cannot_both_be_right():
    """When half of the parties may be lost, two halves could each believe that the other is gone."""
    for m in range(3, 13):
        with pytest.raises(InvalidParameter, match=f"at most {(m - 1) // 2}"):
            resilience(m, m // 2 if m % 2 == 0 else m // 2 + 1)


def test_many_parties():
    """Above a hundred the promise is a tenth that conspires and a twentieth that is lost, and no more is accepted."""
    found = resilience(1000)
    assert (found.colluders, found.dropouts) == (100, 50)
    assert found.quorum == found.threshold > found.neighbours / 2
    assert resilience(1000, 10).dropouts == 10
    with pytest.raises(InvalidParameter, match="at most 50"):
        resilience(1000, 51)
