"""What is opened about a likelihood at one point, and what it says.

Words      how many parties are outside of what the model allows; n; the log-likelihood; its score; the upper triangle
           of the information, which is minus the Hessian or, for BHHH, the sum of products of scores; on demand these
           products besides
Missing    a score without a function is made of central differences of five points of the log-likelihood, a Hessian
           of those of the score: right to about 1e-12 and 1e-10 of the numbers they are made of, at the cost of 4 p
           calls (16 p^2 for a Hessian without a score). A party makes them of its own rows, without any round
Numerics   multiples of 2^-96; a party with a larger sum than 2^96, or none that is finite, counts as outside
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from flou.arrays import Floats
from flou.joint.estimators.likelihood.cholesky import symmetric
from flou.joint.estimators.likelihood.fixed_point import FixedPoint
from flou.joint.estimators.likelihood.likelihood_model import LikelihoodModel
from flou.joint.estimators.likelihood.newton import OpenedPoint
from flou.joint.estimators.program import Opened

__all__ = ["WORDS", "LikelihoodPoint", "length", "words"]

Rows: TypeAlias = Mapping[str, NDArray[Any]]

WORDS = FixedPoint(fraction=96, bound=2**96)
WIDTH = 2.0**-10
WEIGHTS = ((1, 8.0), (-1, -8.0), (2, -1.0), (-2, 1.0))  # over 12 widths: exact but for the fifth derivative


def length(size: int, products: bool) -> int:
    """How many words there are for this many parameters."""
    triangle = size * (size + 1) // 2
    return 3 + size + triangle + triangle * products


def words(
    model: LikelihoodModel, batches: Iterable[tuple[Rows, int]], at: Floats, slopes: Floats, bhhh: bool, products: bool
) -> list[int]:
    """One party's words; the functions of the model get ``at * slopes``, and derivatives are by ``at``."""
    total = np.zeros(length(len(at), products) - 1)
    with np.errstate(all="ignore"):
        for batch, n in batches:
            total += _Rows(model, batch, n, slopes).summed(at, bhhh, products)
    outside = not WORDS.holds(total)
    return WORDS.words([float(outside), *(np.zeros(len(total)) if outside else total).tolist()])


@dataclass(frozen=True, eq=False)
class _Rows:
    """Functions of ``at`` for one batch."""

    model: LikelihoodModel
    batch: Rows
    n: int
    slopes: Floats

    def values(self, at: Floats) -> Floats:
        return self.model.values(self.batch, at * self.slopes, self.n)

    def scores(self, at: Floats) -> Floats:
        if self.model.score is None:
            return _differences(self.values, at)
        return self.model.scores(self.batch, at * self.slopes, self.n) * self.slopes

    def hessian(self, at: Floats) -> Floats:
        if self.model.hessian is None:
            found = _differences(lambda near: self.scores(near).sum(axis=0), at)
            return (found + found.T) / 2
        return self.model.curvature(self.batch, at * self.slopes, self.n) * self.slopes * self.slopes[:, None]

    def summed(self, at: Floats, bhhh: bool, products: bool) -> Floats:
        upper, scores = np.triu_indices(len(at)), self.scores(at)
        outer = (scores.T @ scores)[upper]
        information = outer if bhhh else -self.hessian(at)[upper]
        parts = [[self.n, self.values(at).sum()], scores.sum(axis=0), information, outer if products else []]
        return np.concatenate(parts)


def _differences(function: Callable[[Floats], Floats], at: Floats) -> Floats:
    """Derivatives by each parameter, along a new last axis."""
    found = []
    for j in range(len(at)):
        move = np.zeros(len(at))
        move[j] = math.ldexp(WIDTH, max(math.frexp(at[j])[1], 0))
        found.append(sum(weight * function(at + times * move) for times, weight in WEIGHTS) / (12 * move[j]))
    return np.stack(found, axis=-1)


@dataclass(frozen=True, eq=False)
class LikelihoodPoint:
    """A point as it was opened."""

    point: OpenedPoint
    n: int
    products: Floats | None  # of scores, summed

    @classmethod
    def of(cls, past: Opened) -> LikelihoodPoint:
        numbers, at = WORDS.numbers(past.sums), np.array(past.ask.parameters["theta"])
        size, triangle = len(at), len(at) * (len(at) + 1) // 2
        value = float(numbers[2]) if past.sums[0] == 0 else -math.inf
        score, curved, outer = np.split(numbers[3:], [size, size + triangle])
        point = OpenedPoint(at, value, score, symmetric(curved, size), past.parties)
        return cls(point, int(numbers[1]), symmetric(outer, size) if len(outer) else None)
