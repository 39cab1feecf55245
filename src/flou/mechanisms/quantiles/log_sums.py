"""Sums of exponentials, known by their logarithms: in total, running, and over a sliding stretch.

All terms are positive and nothing is subtracted, so that every sum has a small relative error however far apart its
terms are. A term too small for a float beside a larger one in the same sum changes it by less than 2^-900 of itself.
"""

from __future__ import annotations

import math

import numpy as np

from flou.arrays import Floats, Ints

__all__ = ["running", "sliding", "total", "up_to"]


CHUNK = 256  # terms that are added up as floats
FEW = 1024  # terms that are added up one by one, which takes less time then
_TINY = 2.0**-900


def total(logs: Floats) -> float:
    """log of the sum of e^logs."""
    top = float(np.max(logs, initial=-math.inf))
    return top + math.log(float(np.sum(np.exp(logs - top)))) if top > -math.inf else top


def running(logs: Floats) -> Floats:
    """logs of the sums of e^logs up to and with each term."""
    if logs.size <= FEW:
        return np.logaddexp.accumulate(logs)
    table: Floats = np.full((-(-logs.size // CHUNK), CHUNK), -math.inf)
    table.reshape(-1)[: logs.size] = logs
    found = _floats(table)
    if found is None:
        return np.logaddexp.accumulate(logs)
    tops, sums = found
    before = np.concatenate([[-math.inf], np.logaddexp.accumulate(tops[:-1] + np.log(sums[:-1, -1]))])
    scale = np.maximum(tops, before)
    sums *= np.exp(tops - scale)[:, None]
    sums += np.exp(before - scale)[:, None]
    result: Floats = np.log(sums, out=sums)
    result += scale[:, None]
    return result.reshape(-1)[: logs.size]


def _floats(table: Floats) -> tuple[Floats, Floats] | None:
    """The largest entry of each row, and running sums of e^(entry - largest): None if floats would forget a term."""
    tops = np.max(table, axis=1)
    if not float(np.min(tops)) > -math.inf:
        return None
    sums = np.cumsum(np.exp(table - tops[:, None]), axis=1)
    return (tops, sums) if float(np.min(sums[:, 0])) >= _TINY else None


def _running_rows(table: Floats) -> Floats:
    """``running`` for each row."""
    found = _floats(table) if table.size > FEW else None
    return np.logaddexp.accumulate(table, axis=1) if found is None else found[0][:, None] + np.log(found[1])


def up_to(places: Ints, values: Ints) -> Ints:
    """How many of the places, all different and in order, are at most each value."""
    if places.size and int(places[-1] - places[0]) + 1 == places.size:
        counts: Ints = np.minimum(np.maximum(values - (places[0] - 1), 0), places.size)
        return counts
    return np.searchsorted(places, values, side="right")


def sliding(places: Ints, logs: Floats, starts: Ints, width: int) -> Floats:
    """For each start s, log of the sum of e^logs over the terms with places from s to before s + width.

    Without a subtraction: blocks of ``width`` places are summed from their ends and from their beginnings, and each
    stretch is an end of one block and a beginning of the next.
    """
    block = places // width
    which, row, sizes = np.unique(block, return_inverse=True, return_counts=True)
    column = np.arange(places.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    table = np.full((which.size, int(sizes.max())), -math.inf)
    table[row, column] = logs
    begin = _running_rows(table)[row, column]
    mirror = sizes[row] - 1 - column  # rows begin with their last term
    table[row, mirror] = logs
    end = _running_rows(table)[row, mirror]
    first = np.minimum(up_to(places, starts - 1), places.size - 1)
    last = np.maximum(up_to(places, starts + (width - 1)) - 1, 0)
    home = starts // width
    one: Floats = np.where((block[first] == home) & (places[first] >= starts), end[first], -math.inf)
    two: Floats = np.where((block[last] == home + 1) & (places[last] < starts + width), begin[last], -math.inf)
    return np.logaddexp(one, two)
