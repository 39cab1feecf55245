"""Private programs run on tables, without the masks: every party adds its share of noise by its real law."""

from __future__ import annotations

import json

import numpy as np

from flou.joint.estimators.party_rows import PartyRows, Reading
from flou.joint.estimators.program import Ask, Opened

__all__ = ["farthest", "run", "words"]


def words(program, table, schema=None):
    """The words of one party for the first question."""
    rows = PartyRows(table, Reading.of(program.columns, schema=schema))
    return np.array(program.words(program.next([]), rows), dtype=object)


def run(program, tables, bits=None, leave=None):
    """The result and the opened sums; without ``bits`` no noise is added, and ``leave`` is as in ``summed.run``."""
    opened, here = [], list(range(len(tables)))
    while (ask := program.next(opened)) is not None:
        here = [place for place in here if place not in (leave or {}).get(len(opened), ())]
        told = Ask.from_dict(json.loads(json.dumps(ask.to_dict())))
        assert ask.agrees(told)
        sums = np.zeros(ask.length, dtype=object)
        for place in here:
            own = program.words(told, PartyRows(tables[place], program.reading()))
            assert len(own) == ask.length
            assert all(type(word) is int and abs(word) <= ask.limit for word in own)
            sums += np.array(own, dtype=object)
            if bits is not None:
                sums += ask.noise.law.sample(ask.length, bits=bits)
        opened.append(Opened(told, tuple(map(int, sums)), tuple(f"party {place}" for place in here)))
    assert sum(len(past.sums) for past in opened) <= program.scalars
    return program.result(opened), opened


def farthest(parts, relation):
    """The largest L1 norm and squared L2 norm between sums that differ in one row, given what each row adds."""
    parts = np.unique(np.array(parts, dtype=np.int64), axis=0)
    others = np.zeros((1, parts.shape[1]), dtype=np.int64) if relation == "add-remove" else parts
    l1 = l2_squared = 0
    for other in others:
        moved = np.abs(parts - other)
        l1, l2_squared = max(l1, int(moved.sum(axis=1).max())), max(l2_squared, int((moved**2).sum(axis=1).max()))
    return l1, l2_squared
