"""The walk that looks for rows finds them however they are hidden; and a curator is of no use once answers are made."""

from __future__ import annotations

import copy
import functools
import inspect
import pickle
import pkgutil
import re
import sys
import weakref
from dataclasses import dataclass, fields, is_dataclass
from importlib import import_module

import numpy as np
import pytest

import flou
from flou.bits import SeededBits
from flou.central.question import Curator
from flou.release.uncertainty import Certain
from flou.summaries.array.rows import ArrayRows
from flou.summaries.request import Code
from privacy.reachable import in_bytes, reached, sightings, strangers

ROWS = ArrayRows({"x": np.array(["canary", "b"], dtype=object), "y": np.array([7.03125, 1.0])})
CANARIES = ("canary", 7.03125)


class Slotted:
    """Keeps what it is given in a slot."""

    __slots__ = ("kept",)

    def __init__(self, kept):
        self.kept = kept


def closure():
    rows = ROWS
    return lambda: rows


def failed(chained=False):
    """An error that was raised where the rows were at hand; its frames hold them, or those of the error before it."""
    rows = ROWS
    try:
        try:
            raise KeyError(len(rows.columns))
        except KeyError as first:
            if not chained:
                raise
            raise ValueError("another") from first
    except (KeyError, ValueError) as error:
        return error.with_traceback(None) if chained else error


def generator():
    rows = ROWS
    yield 1
    yield rows


def started():
    running = generator()
    next(running)
    return running


HIDDEN = {
    "itself": lambda: ROWS,
    "a bound method": lambda: ROWS.tally,
    "a closure": closure,
    "a default": lambda: lambda rows=ROWS: rows,
    "a default by name": lambda: lambda *, rows=ROWS: rows,
    "an attribute of a function": lambda: functools.wraps(ROWS.collect)(lambda: None),
    "a partial": lambda: functools.partial(len, ROWS),
    "a weak reference": lambda: weakref.ref(ROWS),
    "a weak method": lambda: weakref.WeakMethod(ROWS.tally),
    "a proxy": lambda: weakref.proxy(ROWS),
    "a weak dictionary": lambda: weakref.WeakValueDictionary({1: ROWS}),
    "an error with its trace": failed,
    "an error behind an error": lambda: failed(chained=True),
    "a generator": started,
    "an iterator": lambda: iter([ROWS]),
    "a bound method of a builtin": lambda: [ROWS].append,
    "an array of objects": lambda: np.array([ROWS, None], dtype=object),
    "a slot": lambda: Slotted(ROWS),
    "a tuple in a dictionary in a list": lambda: [{"k": (ROWS,)}],
    "a cached function": lambda: functools.lru_cache(closure()),
    "a table": lambda: flou.open(ROWS, schema={"y": flou.Interval(0, 10)}),
    "a curator": lambda: Curator(rows=ROWS),
}


def planted(what):
    """A release that keeps something it should not."""
    release = flou.mean([1.0, 2.0], bounds=(0, 10), epsilon=1)
    object.__setattr__(release, "uncertainty", Certain(what))
    return release


@pytest.mark.parametrize("way", HIDDEN)
def test_hidden_rows_are_found(way):
    """Rows that a release leads to are found by the walk, with their canaries, however they are hidden."""
    release = planted(HIDDEN[way]())
    assert strangers(release)
    assert any(thing is ROWS for _, thing in reached(release))
    assert sightings(release, CANARIES)


@pytest.mark.parametrize("what", ["a canary", b"canary", 7.03125, np.float64(7.03125), np.array([1, 7.03125])[1:]])
def test_values_of_rows_are_found(what):
    """A value of a row is found as a text, as bytes, as a number, in an array and in what an array is a part of."""
    assert sightings(planted(what), CANARIES)
    base = np.array([7.03125, 1.0])
    assert sightings(planted(base[1:]), CANARIES)
    assert in_bytes(pickle.dumps(planted(what)), CANARIES)


@pytest.mark.parametrize("what", [SeededBits(1), open, sys.stdout, pytest, np.random.default_rng(1), lambda: 1])
def test_what_is_no_plain_value_is_refused(what):
    """Sources of bits, functions, files, modules and foreign objects have no place in a release."""
    assert strangers(planted(what))


def test_a_sound_release_passes():
    """A release of numbers has nothing strange in it, so that the checks above are not for nothing."""
    release = flou.mean([1.0, 2.0], bounds=(0, 10), epsilon=1)
    assert not strangers(release)
    assert not sightings(release, CANARIES)
    assert not in_bytes(pickle.dumps(release), CANARIES)


@pytest.mark.parametrize("leave", [pickle.dumps, copy.deepcopy])
@pytest.mark.parametrize("kept", [Curator(rows=ROWS), ROWS, ROWS.tally])
def test_rows_and_curators_are_neither_pickled_nor_copied(kept, leave):
    """Rows, the curator and methods bound to rows cannot be pickled or copied, nor can a release that keeps them."""
    for thing in (kept, planted(kept)):
        with pytest.raises(flou.InvalidParameter, match="neither pickled nor copied"):
            leave(thing)


def test_a_curator_serves_until_answers_are_made():
    """After its block a curator has neither rows nor bits, so that whoever keeps it can ask nothing."""
    code = Code("y", flou.Interval(0, 10))
    with Curator(SeededBits(1), ROWS) as curator:
        assert curator.tally(code, [(0, code.domain.size)])[2].sum() == 2
        assert curator.bits.take(1).size == 1
    for ask in (lambda: curator.tally(code, [(0, 1)]), lambda: curator.bits):
        with pytest.raises(flou.InvalidParameter, match="curator"):
            ask()
    assert not sightings(curator, CANARIES)
    assert not hasattr(curator, "__dict__")


def private_fields(kinds):
    """Fields whose declared type is rows, a table, a source of bits, or something that can be called."""
    words = re.compile(r"\b(Rows|Table|Curator|Bits|Callable|Look|Tallier|Records)\b")
    return {
        f"{kind.__name__}.{field.name}"
        for kind in kinds
        if is_dataclass(kind)
        for field in fields(kind)
        if words.search(str(field.type))
    }


def test_no_value_declares_a_place_for_rows():
    """No frozen value of questions, answers and releases has a field for rows, bits or callables; one is noticed.

    Two have one and are never part of a release: a prepared question, which lives until it is answered, and the words
    of the command line.
    """
    modules = [
        import_module(found.name)
        for room in (flou.central, flou.release, flou.guarantee)
        for found in pkgutil.iter_modules(room.__path__, f"{room.__name__}.")
    ]
    kinds = {kind for module in modules for kind in vars(module).values() if inspect.isclass(kind)}
    assert len([kind for kind in kinds if is_dataclass(kind)]) > 40
    passing = {"Prepared.answer", "Phrase.arguments"}
    assert private_fields(kinds) == passing

    @dataclass(frozen=True)
    class Spoiled:
        context: Curator | None

    assert private_fields({*kinds, Spoiled}) == {*passing, "Spoiled.context"}
