"""A coordinator that withholds shares, so that some parties do not mask with others, gets no smaller sum.

Who has no masks in common with someone must not hear that this one survives: otherwise the sum of a part of the
survivors stands alone. Each attack below works against parties that do not look.
"""

from __future__ import annotations

import pytest

from flou.errors import ProtocolError
from joint.round.rounds import Game, Party, Trusting, setting_for

WORDS = [[10**i, -(2**i), i] for i in range(12)]


def total(group):
    return tuple(sum(WORDS[i][j] for i in group) for j in range(3))


GONE, LEFT, RIGHT = {6, 7, 8, 9}, {0, 1, 2}, {3, 4, 5}
SURVIVORS = LEFT | RIGHT


def split(kind):
    """Ten parties may lose four: two groups of three see no shares of each other, and the rest is said to be gone."""
    across = lambda i, j: (i in LEFT and j in RIGHT) or (i in RIGHT and j in LEFT)  # noqa: E731
    return Game(setting_for(10, dropouts=4), WORDS[:10], kind=kind, shares_withheld=across)


def test_parties_that_do_not_look_are_split_without_any_conspirator():
    """The attack: the coordinator learns the sum over three parties where the plan asks for six."""
    game = split(Trusting)
    assert not game.agree(dict.fromkeys(SURVIVORS, SURVIVORS))
    assert not game.unmask()
    assert game.setting.minimum == 6
    assert game.opened(LEFT) == total(LEFT)
    assert game.opened(RIGHT) == total(RIGHT)


def test_parties_are_not_split():
    """The parties notice before they sign, so nothing is released."""
    game = split(Party)
    refused = game.agree(dict.fromkeys(SURVIVORS, SURVIVORS))
    assert set(refused) == SURVIVORS
    assert {error.what for error in refused.values()} == {
        "The coordinator lists a neighbour as present, but its shares never arrived."
    }
    assert not game.agreed


@pytest.mark.parametrize("what", ["adverts_withheld", "shares_withheld"])
def test_one_party_cannot_be_left_out_in_secret(what):
    """Nobody masks with party 4, which is said to survive: its words could be left away, whatever was opened before."""
    around = {what: lambda i, _: i == 4}
    others = set(range(8)) - {4}
    trusting = Game(setting_for(8), WORDS[:8], kind=Trusting, **around)
    assert not trusting.agree(dict.fromkeys(others, range(8)))
    assert not trusting.unmask()
    assert trusting.opened(others) == total(others)

    game = Game(setting_for(8), WORDS[:8], **around)
    assert game.agree(dict.fromkeys(range(8), range(8))).keys() >= others
    game.unmask()
    assert not game.released


def test_what_is_withheld_from_one_is_refused_by_one():
    """A single missing share is enough for its receiver to stop; the others have enough signatures and go on."""
    game = Game(setting_for(8), WORDS[:8], shares_withheld=lambda i, j: (i, j) == (2, 5))
    refused = game.agree(dict.fromkeys(range(8), range(8)))
    assert set(refused) == {5}
    assert not game.unmask()


def test_a_lost_party_may_be_without_shares():
    """Who is lost before its shares came is nobody's peer, and the sum of the others is opened as usual."""
    game = Game(setting_for(8), WORDS[:8], shares_withheld=lambda i, _: i in (1, 6))
    living = set(range(8)) - {1, 6}
    assert not game.agree(dict.fromkeys(living, living))
    assert not game.unmask()
    assert game.opened(living) == total(living)


@pytest.mark.parametrize("what", ["adverts_withheld", "shares_withheld"])
def test_too_few_neighbours(what):
    """Whoever hears of fewer neighbours than have to agree does not even mask."""
    for withheld, fits in ((2, True), (3, False)):
        hide = {what: lambda i, j, withheld=withheld: j == 0 and 1 <= i <= withheld}
        if fits:
            game = Game(setting_for(8), WORDS[:8], **hide)
            assert len(game.parties[0].peers) == 5
            assert not game.refused
        elif what == "adverts_withheld":
            with pytest.raises(ProtocolError, match="Only 4 of 7 neighbours are there"):
                Game(setting_for(8), WORDS[:8], **hide)
        else:
            refused = Game(setting_for(8), WORDS[:8], **hide).refused
            assert refused.keys() == {0}
            assert refused[0].what == "Only 4 neighbours have shared their secrets."
