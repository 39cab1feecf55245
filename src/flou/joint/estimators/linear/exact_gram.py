"""Sums of products of integer columns, exact to the last digit and at the speed of floating-point hardware.

Rule      a code is cut into signed limbs of 20 bits; a matrix product of 2^14 rows of limbs has entries of at most
          2^14 * 2^19 * 2^19 = 2^52, so every partial sum is a whole number that a double holds exactly, whatever the
          order of summation; limbs are put together again in Python integers
Numerics  exact for codes of any length that are whole numbers stored as floats
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from flou.arrays import Floats

__all__ = ["exact_gram", "from_upper", "upper_triangle"]

Matrix: TypeAlias = list[list[int]]

LIMB = 20  # bits
ROWS = 1 << 14
ALONE = 1 << 18  # multiplications up to which OpenBLAS works in one thread
SHORTEST = 64  # rows; below it, threads are worth their wait
FLUSH = 1 << 7  # blocks, each at most 2^52, of which 64-bit integers add up up to 16 at a place


def exact_gram(batches: Iterable[Floats], limits: Sequence[int]) -> Matrix:
    """The sums over rows of the products of any two columns; no code of column j is larger than ``limits[j]``."""
    limbs = [-(-(limit.bit_length() + 1) // LIMB) for limit in limits]
    first = np.concatenate([[0], np.cumsum(limbs)]).tolist()
    recent = np.zeros((first[-1], first[-1]), dtype=np.int64)
    total = np.zeros((len(limits), len(limits)), dtype=object)
    pending = 0
    for batch in batches:
        for start in range(0, len(batch), ROWS):
            cut, used = _limbs(batch[start : start + ROWS], limbs, first)
            recent[np.ix_(used, used)] += _products(cut).astype(np.int64)
            pending += 1
            if pending == FLUSH:
                total += _joined(recent, limbs)
                recent[:], pending = 0, 0
    matrix: Matrix = (total + _joined(recent, limbs)).tolist()
    return matrix


def _limbs(codes: Floats, limbs: Sequence[int], first: Sequence[int]) -> tuple[Floats, list[int]]:
    """The limbs of all columns that are not zero throughout, and their places."""
    cut = np.empty((len(codes), first[-1]), order="F")
    used: list[int] = []
    for j, count in enumerate(limbs):
        rest = codes[:, j].copy()
        for place in range(count - 1, -1, -1):
            weight = math.ldexp(1.0, LIMB * place)
            limb = cut[:, len(used)]
            np.multiply(rest, 1 / weight, out=limb)
            np.rint(limb, out=limb)
            if limb.any():
                rest -= limb * weight
                used.append(first[j] + place)
    return cut[:, : len(used)], used


def _products(limbs: Floats) -> Floats:
    """The sums of products, in steps small enough that BLAS starts no threads: on a busy machine these wait for each
    other fifty times longer than they compute."""
    step = ALONE // max(limbs.shape[1] ** 2, 1)
    whole = len(limbs) // step * step if step >= SHORTEST else 0
    rest = limbs[whole:]
    total: Floats = rest.T @ rest
    if whole:
        parts = limbs[:whole].reshape(-1, step, limbs.shape[1])
        total += (parts.transpose(0, 2, 1) @ parts).sum(axis=0)
    return total


def _joined(products: NDArray[np.int64], limbs: Sequence[int]) -> NDArray[np.object_]:
    """The sums of products of columns, from those of their limbs: each at its place, in Python integers."""
    size, most = len(limbs), max(limbs, default=0)
    rows = [(place, j) for j, count in enumerate(limbs) for place in range(count)]
    places, columns = np.array(rows, dtype=np.int64).reshape(-1, 2).T
    wide = np.zeros((most, size, most, size), dtype=np.int64)
    wide[places[:, None], columns[:, None], places, columns] = products
    total = np.zeros((size, size), dtype=object)
    for place in range(2 * most - 1):
        pairs = range(max(0, place - most + 1), min(place, most - 1) + 1)
        at_place = np.sum([wide[a, :, place - a, :] for a in pairs], axis=0)
        if at_place.any():
            total += at_place.astype(object) * (1 << (LIMB * place))
    return total


def upper_triangle(matrix: Sequence[Sequence[int]]) -> list[int]:
    """The entries on and above the diagonal, row by row."""
    return [value for i, row in enumerate(matrix) for value in row[i:]]


def from_upper(words: Sequence[int], size: int) -> Matrix:
    """The symmetric matrix with these entries."""
    matrix = [[0] * size for _ in range(size)]
    entries = iter(words)
    for i in range(size):
        for j in range(i, size):
            matrix[i][j] = matrix[j][i] = next(entries)
    return matrix
