"""Programs run on a table, without any protocol: words of all parties are added up in the open."""

from __future__ import annotations

import json

import numpy as np

from flou.joint.estimators.party_rows import PartyRows
from flou.joint.estimators.program import Ask, Opened

__all__ = ["parts", "pooled", "run"]


def run(program, parties, leave=None, most=200):
    """The result and the opened sums; ``leave`` maps a round to the places of the parties that are gone from it on.

    Everything a real round demands is asserted: length and limit of every word, and parameters that survive a file.
    """
    opened, here = [], list(range(len(parties)))
    while (ask := program.next(opened)) is not None:
        assert len(opened) < most, "endless"
        here = [place for place in here if place not in (leave or {}).get(len(opened), ())]
        ask = Ask.from_dict(json.loads(json.dumps(ask.to_dict())))
        assert program.next(opened).agrees(ask)
        words = [program.words(ask, PartyRows(parties[place], program.reading())) for place in here]
        for word in words:
            assert len(word) == ask.length
            assert all(type(number) is int and abs(number) <= ask.limit for number in word)
        sums = tuple(map(sum, zip(*words, strict=True)))
        opened.append(Opened(ask, sums, tuple(f"party {place}" for place in here)))
    if not leave:
        assert sum(len(past.sums) for past in opened) <= program.scalars
    return program.result(opened), opened


def parts(columns, sizes):
    """A mapping of columns cut into parties of these sizes; the last gets the rest."""
    cuts = np.cumsum(sizes)
    names = list(columns)
    pieces = [np.split(np.asarray(columns[name]), cuts) for name in names]
    return [dict(zip(names, piece, strict=True)) for piece in zip(*pieces, strict=True)]


def pooled(parties):
    """The rows of all parties, one after the other."""
    return {name: np.concatenate([np.asarray(party[name]) for party in parties]) for name in parties[0]}
