"""Uphill to the maximum of a likelihood, one opened point at a time.

Step       the solution s of information @ s = score; halved, from the same point, while the likelihood at its end is
           lower (one round each). Where the information is not positive definite, its diagonal is raised until it is
Reach      along an exponential tail every step is as long as the one before, and the decrement falls by the factor
           exp(-1/2) for each. Where it falls no faster, two steps are taken at once, then four, up to sixteen, and a
           quarter of that if it was too far
Secant     where the information is only an estimate of the curvature (BHHH), earlier scores correct it for free: by
           the BFGS update along every accepted step
Decrement  sqrt(score' s), the length of the step in standard errors. At 1e-9 the walk has arrived, or below 1e-6 once
           rounding keeps it from shrinking; the last step is still taken, without a round. Newton's next error is of
           the order of the square
Parties    points over other parties cannot be compared: the walk goes on from the latest point with those who remain
Numerics   the same on every machine (see ``cholesky.py``)
Source     Berndt, Hall, Hall, Hausman (1974); Nocedal, Wright (2006), chapters 3 and 6
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from flou.arrays import Floats
from flou.joint.estimators.likelihood.cholesky import Cholesky, dot

__all__ = ["Ascent", "OpenedPoint", "ascended"]


ARRIVED, STALLED = 1e-9, 1e-6
SLACK = 1e-12  # relative: how much lower a value may be because of rounding
MOST_HALVINGS = 40
SLOW, LONGEST = 0.9, 16.0


@dataclass(frozen=True, eq=False)
class OpenedPoint:
    """What was opened at one point: ``value`` is -inf where the likelihood is not defined."""

    at: Floats
    value: float
    score: Floats
    information: Floats
    parties: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Ascent:
    """How far the walk has come."""

    best: OpenedPoint
    step: Floats
    decrement: float
    trail: tuple[float, ...]  # decrements at the points of unbroken full steps, the latest last
    reach: float  # how many steps are taken at once
    halvings: int
    again: bool  # the best point must be opened again, over the parties that remain
    secant: bool

    @property
    def arrived(self) -> bool:
        stalled = len(self.trail) > 1 and self.decrement >= self.trail[-2] * (1.0 if self.secant else 0.5)
        return not self.again and (self.decrement <= ARRIVED or (self.decrement <= STALLED and stalled))

    @property
    def stuck(self) -> bool:
        """Whether even the shortest step leads down: the likelihood and its derivatives contradict each other."""
        return self.halvings > MOST_HALVINGS or not np.all(np.isfinite(self.step))

    @property
    def next(self) -> Floats:
        """Where to look now."""
        if self.again:
            return self.best.at
        length = self.reach
        for _ in range(self.halvings):
            length = max(length / 4, 1.0) if length > 1 else length / 2
        return self.best.at + self.step * length

    @property
    def end(self) -> Floats:
        """The last step, taken."""
        return self.best.at + self.step

    @property
    def value(self) -> float:
        """The likelihood at the end, to the second order."""
        return self.best.value + self.decrement**2 / 2


def ascended(points: Sequence[OpenedPoint], secant: bool = False) -> Ascent:
    """The state after these points, of which the first is defined."""
    best, reach, halvings, again = points[0], 1.0, 0, False
    accepted: list[OpenedPoint] = [best]
    step, decrement = _step(accepted, secant)
    trail: tuple[float, ...] = (decrement,)
    for point in points[1:]:
        moved_on = point.parties != best.parties
        if moved_on and not math.isfinite(point.value):
            again = True
            continue
        if not again and not moved_on and not point.value >= best.value - SLACK * abs(best.value):
            halvings += 1
            continue
        accepted = [point] if moved_on else [*accepted, point]
        before, whole = decrement, halvings == 0 and not moved_on
        step, decrement = _step(accepted, secant)
        slow = whole and not again and not secant and decrement > SLOW * math.exp(-reach / 2) * before
        reach = min(2 * reach, LONGEST) if slow else 1.0
        best, halvings, again = point, 0, False
        trail = (*trail, decrement) if whole else (decrement,)
    return Ascent(best, step, decrement, trail, reach, halvings, again, secant)


def _step(accepted: Sequence[OpenedPoint], secant: bool) -> tuple[Floats, float]:
    best = accepted[-1]
    matrix = best.information
    if secant:
        for a, b in pairwise(accepted):
            matrix = _updated(matrix, b.at - a.at, a.score - b.score)
    step = _solved(matrix, best.score)
    return step, math.sqrt(max(dot(step, best.score), 0.0))


def _updated(matrix: Floats, moved: Floats, fell: Floats) -> Floats:
    """The BFGS update: afterwards matrix @ moved = fell, as for the true curvature."""
    gain = dot(moved, fell)
    image = np.array([dot(row, moved) for row in matrix])
    size = dot(moved, image)
    if not gain > 1e-8 * size > 0:
        return matrix
    updated: Floats = matrix - image[:, None] * image / size + fell[:, None] * fell / gain
    return updated


def _solved(matrix: Floats, score: Floats) -> Floats:
    diagonal = np.abs(np.diag(matrix))
    floor = np.maximum(diagonal, 2.0**-40 * np.max(diagonal, initial=0.0))
    raised = matrix
    for power in range(-20, 41, 4):
        factors = Cholesky.of(raised)
        if factors is not None:
            return factors.solve(score)
        raised = matrix + np.diag(floor * 2.0**power)
    return np.full(len(score), math.nan)
