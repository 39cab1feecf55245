"""What leaves a table is data, and only public data: nothing in a release leads to a row, whatever held the rows."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

import flou
from flou.summaries.array.rows import ArrayRows
from flou.summaries.duck.rows import DuckRows
from flou.summaries.lazy.rows import LazyRows
from privacy.canaries import CANARIES, FEW, KINDS, ORDINARY, made, schema
from privacy.reachable import in_bytes, reached, sightings, strangers

RELATIONS = ("add-remove", "substitute")
LASTING = ("mean", "regression", "deciles", "filtered variance", "keys", "ecdf")


@pytest.fixture
def exact(monkeypatch):
    """All arrays that engines hand over, in the order in which they do."""
    found = []

    def watched(ask):
        def asked(self, *given, **named):
            answer = ask(self, *given, **named)
            found.extend(answer)
            return answer

        return asked

    for kind in (ArrayRows, DuckRows, LazyRows):
        for name in ("collect", "tally", "key_counts"):
            monkeypatch.setattr(kind, name, watched(getattr(kind, name)))
    return found


def kinds(engine):
    """Everything in memory and from a file; every statistic elsewhere; and few where an answer takes seconds."""
    if engine in ("numpy", "csv"):
        return KINDS
    return FEW if engine.startswith(("ibis", "spark")) else ORDINARY


@pytest.mark.parametrize("relation", RELATIONS)
def test_nothing_leads_to_a_row(engine, source, relation, exact):
    """From no release can a row, an engine, exact counts or a canary be reached, nor from its copy, pickle or JSON."""
    table = flou.open(source(made()), schema=schema(relation))
    for kind in kinds(engine):
        exact.clear()
        release = KINDS[kind](table)
        arrays = [thing for _, thing in reached(release) if isinstance(thing, np.ndarray)]
        assert exact or (kind, relation) == ("count", "substitute"), kind  # the engine was watched
        assert not any(np.may_share_memory(array, counts) for array in arrays for counts in exact), kind
        data = pickle.dumps(release)
        again = pickle.loads(data)
        for form in (release, copy.deepcopy(release), again):
            assert not strangers(form), kind
            assert not sightings(form, CANARIES), kind
        assert not in_bytes(data + release.to_json().encode(), CANARIES), kind
        assert again == release, kind
        assert again.to_json() == release.to_json(), kind


@pytest.mark.parametrize("relation", RELATIONS)
def test_rows_die_with_their_table(engine, source, relation):
    """A release keeps neither rows nor their source alive, and no cache does: they go when the table is gone."""
    foreign = engine.startswith(("ibis", "spark"))
    held = source(made())
    table = flou.open(held, schema=schema(relation))
    releases = [KINDS[kind](table) for kind in (FEW[:1] if foreign else LASTING)]
    dying = [weakref.ref(table), weakref.ref(table._rows)]
    if not foreign:  # what a session keeps of its tables is its own affair
        dying += [weakref.ref(thing) for thing in (held, *_columns(held)) if type(thing).__weakrefoffset__]
    del held, table
    gc.collect()
    assert [ref() for ref in dying] == [None] * len(dying)
    assert all(np.all(release.interval()[0] <= release.interval()[1]) for release in releases)


def _columns(held):
    return [column for column in held.values() if isinstance(column, np.ndarray)] if isinstance(held, dict) else []
