"""Piecewise constant law: pieces of a grid, one weight a piece.

Law      cells 0..m-1 fall into consecutive pieces of given lengths; a cell of piece i has probability
         proportional to e^(-rate exponent_i)
Sampler  a piece by weighted choice with its length as multiplicity, then a uniform cell inside it: both exact
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from flou.arrays import Floats, Ints
from flou.bits import Bits
from flou.laws.law import Law, as_integers
from flou.laws.weighted_choice import WeightedChoice
from flou.parameters import Number, integer

__all__ = ["PiecewiseConstant"]

MOST_CELLS = 2**60


class PiecewiseConstant(Law):
    """A law on the cells of a grid that is constant on each of a few pieces; empty pieces are allowed."""

    def __init__(self, exponents: ArrayLike, lengths: ArrayLike, *, rate: Number = 1) -> None:
        self.piece = WeightedChoice(exponents, rate=rate, multiplicities=lengths)
        self.lengths: Ints = np.asarray(lengths).astype(np.int64)
        integer("cells", sum(self.lengths.tolist()), 1, MOST_CELLS)
        self.ends: Ints = np.cumsum(self.lengths)

    def __repr__(self) -> str:
        return f"PiecewiseConstant({self.lengths.size} pieces, {self.ends[-1]} cells)"

    def _locate(self, k: Ints) -> Any:
        return np.minimum(np.searchsorted(self.ends, k, side="right"), self.lengths.size - 1)

    def log_pmf(self, k: ArrayLike) -> Any:
        k = as_integers(k)
        i = self._locate(k)
        log = self.piece.log_pmf(i) - np.log(np.maximum(self.lengths[i], 1))
        return np.where((k >= 0) & (k < self.ends[-1]), log, -np.inf)[()]

    def cdf(self, k: ArrayLike) -> Any:
        k = np.minimum(as_integers(k), int(self.ends[-1]) - 1)
        i = self._locate(k)
        inside = (k + 1 - self.ends[i] + self.lengths[i]) / np.maximum(self.lengths[i], 1)
        return np.where(k < 0, 0.0, self.piece.cdf(i - 1) + self.piece.pmf(i) * inside)[()]

    def sf(self, k: ArrayLike) -> Any:
        return 1 - self.cdf(k)

    @cached_property
    def _middles(self) -> Floats:
        return self.ends - (self.lengths + 1) / 2.0

    @property
    def mean(self) -> float:
        return float(np.dot(self.piece.probabilities, self._middles))

    @property
    def variance(self) -> float:
        within = (self.lengths.astype(np.float64) ** 2 - 1) / 12
        return float(np.dot(self.piece.probabilities, (self._middles - self.mean) ** 2 + within))

    @property
    def mean_absolute(self) -> float:
        return self.mean

    def draw(self, size: int, bits: Bits) -> Ints:
        pieces = self.piece.draw(size, bits)
        result = np.empty(size, dtype=np.int64)
        for i in np.unique(pieces).tolist():
            chosen = np.flatnonzero(pieces == i)
            length = int(self.lengths[i])
            result[chosen] = bits.below(length, chosen.size) + (self.ends[i] - length)
        return result
