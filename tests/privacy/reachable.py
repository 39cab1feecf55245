"""Everything that can be reached from an object, by whatever way Python has, and what of it is no plain public value.

The garbage collector tells what an object refers to. It is silent about arrays, which it does not track, about weak
references, which it does not count, and about what descriptors hide; these are followed by hand. Classes, modules and
the global names of functions are where the program lives, not the data: there the walk ends.
"""

from __future__ import annotations

import ast
import datetime
import decimal
import fractions
import functools
import gc
import struct
import types
import weakref
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from flou.bits import Bits
from flou.central.budget import Budget
from flou.central.grouped import GroupedTable
from flou.central.question import Curator
from flou.central.table import Table
from flou.joint.estimators.party_rows import PartyRows
from flou.mechanisms.quantiles import Records
from flou.summaries.rows import Rows

ENDS = (type, types.ModuleType, types.CodeType, str, bytes, int, float, bool, type(None), type(Ellipsis))
PLAIN = (
    *(str, bytes, int, float, bool, type(None), tuple, list, dict, set, frozenset, types.MappingProxyType, range),
    *(np.ndarray, np.generic, np.dtype, fractions.Fraction, decimal.Decimal, datetime.datetime, datetime.timezone),
)
PRIVATE = (Rows, PartyRows, Records, Bits, Curator, Table, GroupedTable, Budget)


def referents(thing: Any) -> Iterator[tuple[str, Any]]:
    """What an object leads to at once, each with a word for the way."""
    if isinstance(thing, types.FunctionType):
        yield from (("a closure", cell.cell_contents) for cell in thing.__closure__ or () if _full(cell))
        yield from (("a default", value) for value in (*(thing.__defaults__ or ()), thing.__kwdefaults__))
        yield "an attribute", thing.__dict__
        return
    if isinstance(thing, types.FrameType):
        yield from (("a local variable", value) for value in thing.f_locals.values())
        return
    if isinstance(thing, weakref.ReferenceType):
        yield "a weak reference", thing()
    if isinstance(thing, weakref.ProxyTypes):
        yield "a proxy", thing.__repr__.__self__
    if isinstance(thing, np.ndarray):
        yield "the base of an array", thing.base
        if thing.dtype.hasobject:
            yield from (("an array of objects", value) for value in np.asarray(thing).ravel().tolist())
    if isinstance(thing, memoryview):
        yield "a view of memory", thing.obj
    if isinstance(thing, BaseException):
        yield from (("an error before", before) for before in (thing.__cause__, thing.__context__))
    yield from ((type(thing).__name__, value) for value in gc.get_referents(thing))


def _full(cell: Any) -> bool:
    try:
        return bool(cell.cell_contents is not cell)
    except ValueError:
        return False


def reached(root: Any) -> list[tuple[str, Any]]:
    """All objects that can be reached, the root included, each with the way from it."""
    found, seen, waiting = [], {}, [("", root)]
    while waiting:
        path, thing = waiting.pop()
        if id(thing) in seen:
            continue
        seen[id(thing)] = thing  # kept, so that no other object gets its number
        found.append((path, thing))
        if not isinstance(thing, ENDS):
            waiting.extend((f"{path} > {way}", value) for way, value in referents(thing) if not _globals(value))
    return found


def _globals(value: Any) -> bool:
    return isinstance(value, dict) and "__builtins__" in value


def is_plain(thing: Any) -> bool:
    """Whether it is a number, a text, a container, a node of a formula, or an object of flou that is not private."""
    if isinstance(thing, PRIVATE):
        return False
    if isinstance(thing, type) or type(thing) in PLAIN or isinstance(thing, np.generic | np.dtype | ast.AST):
        return True
    return type(thing).__module__.split(".")[0] == "flou"


def strangers(root: Any) -> list[str]:
    """The ways to all that is no plain public value: rows, engines, sources of bits, functions, frames, locks, ..."""
    return [f"{path} > {type(thing).__qualname__}" for path, thing in reached(root) if not is_plain(thing)]


def sightings(root: Any, canaries: Iterable[Any]) -> list[str]:
    """The ways to values that hold a canary: a text in a text, a number as a number or in an array."""
    words = [value for value in canaries if isinstance(value, str)]
    numbers = [value for value in canaries if not isinstance(value, str)]
    return [path for path, thing in reached(root) if _holds(thing, words, numbers)]


def _holds(thing: Any, words: list[str], numbers: list[float]) -> bool:
    if isinstance(thing, str):
        return any(word in thing for word in words)
    if isinstance(thing, bytes | bytearray | memoryview):
        return in_bytes(bytes(thing), [*words, *numbers])
    if isinstance(thing, np.ndarray) and thing.dtype.kind in "iuf":
        return bool(np.isin(thing, numbers).any())
    if isinstance(thing, np.ndarray) and thing.dtype.kind in "US":
        return any(word in str(value) for word in words for value in thing.ravel().tolist())
    if isinstance(thing, int | float | np.generic | fractions.Fraction | decimal.Decimal):
        return any(thing == number for number in numbers)
    return False


def in_bytes(data: bytes, canaries: Iterable[Any]) -> bool:
    """Whether bytes hold a canary, as text or as a number of 4 or 8 bytes, in either order."""
    return any(form in data for canary in canaries for form in _forms(canary))


@functools.cache
def _forms(canary: Any) -> tuple[bytes, ...]:
    if isinstance(canary, str):
        return canary.encode(), canary.encode("utf-16-le")
    kinds = "iq" if isinstance(canary, int) else "d"
    return (repr(canary).encode(), *(struct.pack(order + kind, canary) for order in "<>" for kind in kinds))
