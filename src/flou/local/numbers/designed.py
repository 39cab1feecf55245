"""Designed: reports whose values and probabilities were computed for the least variance.

Law        a measure of whole weights w_j on values j = -J..J, symmetric, of total W; each answer has a window e_j
           between 0 and 1 with sum of w_j e_j = t: all columns between two ends, and fractions of these. Column j has
           probability w_j (b + (1 - b) e_j) / Z, b = e^-epsilon, Z = b W + (1 - b) t
Guarantee  epsilon-DP for one person's number, in one report
Why        b w_j / Z <= P[j] <= w_j / Z for every answer, and Z is the same for all of them
Error      the rightmost window has the first moment m = sum of j w_j e_j; the window of an answer at u in [-1, 1] is
           the one with u m, so E j = (1 - b) u m / Z, and j Z / ((1 - b) m) is unbiased. The measure is chosen by a
           linear program to make the largest variance least (``design.py``): 3.99 at epsilon = 1; one bit has 4.68
Numerics   exact: windows are rational, the coin between window and measure is enclosed as finely as needed. With more
           than 129 codes the answer is first rounded at random to one of 129, in proportion, which keeps its mean
Limits     epsilon from 0.05 to 10. Respondents and collectors need the same design: other versions of a solver may
           find another one, which the fingerprint of an aggregate shows; pass ``design`` to fix it
Source     flou; Kairouz, Oh, Viswanath (2016) solve such programs for other costs
Proof      docs/explanation/proofs/local_numbers.md
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flou.arrays import Ints
from flou.bits import SYSTEM, Bits
from flou.laws import Bernoulli
from flou.laws.decide import Uniform
from flou.laws.enclosure import affine, constant, exp_minus, quotient
from flou.laws.tabulated import Tabulated
from flou.local.aggregate import Aggregate
from flou.local.numbers.design import Design, design_for
from flou.local.numbers.mean_randomiser import MeanRandomiser, Moments, nothing
from flou.local.numbers.scale import Scale
from flou.local.randomiser import whole_numbers
from flou.parameters import Number

__all__ = ["Designed"]

MOST_STEPS = 128  # between nodes; a table of their windows is kept
LENGTH = 55  # bits of a uniform beside the row in one word


class Designed(MeanRandomiser):
    """Reports are columns of the design's values, 0 for the smallest."""

    name = "designed"

    def __init__(self, domain: Scale, *, epsilon: Number, design: Design | None = None, unit: str = "person") -> None:
        super().__init__(domain, epsilon=epsilon, unit=unit)
        self.design = design_for(self.epsilon) if design is None else design

    def parameters(self) -> dict[str, Any]:
        return {**super().parameters(), "weights": list(self.design.weights), "window": self.design.window}

    @property
    def _between(self) -> int:
        """Steps between the first and the last node."""
        return min(self.steps, MOST_STEPS)

    @cached_property
    def _windows(self) -> list[list[Fraction]]:
        """For each node the mass w_j e_j of every column: exactly rational."""
        values, measure, mass = self.design.values, self.design.measure, self.design.window
        last = _rightmost(measure, mass)
        reach = sum(value * part for value, part in zip(values, last, strict=True))
        right = [Fraction(2 * i, self._between) - 1 for i in range((self._between + 1) // 2, self._between + 1)]
        rows = [_window(values, measure, mass, node * reach) for node in right]
        left = [row[::-1] for row in reversed(rows)]  # the windows of -u, the one of 0 among them once more
        return left[: self._between + 1 - len(rows)] + rows

    @cached_property
    def _reach(self) -> Fraction:
        """m: the first moment of the rightmost window."""
        return sum((v * part for v, part in zip(self.design.values, self._windows[-1], strict=True)), Fraction(0))

    @cached_property
    def _preferred(self) -> Bernoulli:
        """The coin that says whether the report comes from the window: (1 - b) t / Z."""
        b, mass, total = exp_minus(self.epsilon), self.design.window, sum(self.design.measure)
        return Bernoulli(quotient(affine(b, times=-mass, plus=mass), affine(b, times=total - mass, plus=mass)))

    @cached_property
    def _scale(self) -> float:
        """Z / ((1 - b) m): what a value of 1 stands for on the scale from -1 to 1."""
        return float(self.design.window / self._reach) / self._preferred.p

    @cached_property
    def _table(self) -> NDArray[np.float64]:
        """The probabilities, a row for each node."""
        windows = np.array([[float(part / self.design.window) for part in row] for row in self._windows])
        measure = np.array(self.design.measure) / sum(self.design.measure)
        return self._preferred.p * windows + self._preferred.q * measure

    @cached_property
    def _running(self) -> tuple[list[list[Fraction]], Ints]:
        """Running sums of every node's window and, in the last row, of the measure: as rationals, and as floors."""
        total = sum(self.design.measure)
        rows = [[part / self.design.window for part in row] for row in self._windows]
        rows.append([Fraction(part, total) for part in self.design.measure])
        sums = [list(accumulate(row[:-1])) for row in rows]
        floors = [[(i << LENGTH) + math.floor(part * 2**LENGTH) for part in row] for i, row in enumerate(sums)]
        return sums, np.array(floors, dtype=np.int64)

    def law(self, answer: int) -> Tabulated:
        code = min(max(int(answer), 0), self.steps)
        node, rest = divmod(code * self._between, self.steps)
        row = self._table[node]
        if rest:
            row = row + (self._table[node + 1] - row) * (rest / self.steps)
        return Tabulated(row, lambda size, bits: self.sample(np.full(size, code), bits=bits))

    def sample(self, answer: Ints, *, bits: Bits = SYSTEM) -> NDArray[Any]:
        codes = np.clip(answer, 0, self.steps)
        node = codes
        if self._between < self.steps:
            node, rest = np.divmod(codes * self._between, self.steps)
            node = node + (bits.below(self.steps, codes.size) < rest)
        preferred = self._preferred.draw(codes.size, bits) == 1
        return self._columns(np.where(preferred, node, self._between + 1), bits)

    def _columns(self, row: Ints, bits: Bits) -> Ints:
        """A column from each row: how many of its running sums are at most U."""
        sums, floors = self._running
        flat, width = floors.ravel(), floors.shape[1]
        known = (bits.words(row.size) >> np.uint64(64 - LENGTH)).astype(np.int64)
        key = (row << LENGTH) + known
        # Floors below the known bits are at most U, those above are more; only where they are equal U must be refined.
        found = np.searchsorted(flat, key, side="left")
        close = np.flatnonzero(flat[np.minimum(found, flat.size - 1)] == key)
        found -= row * width
        for i in close.tolist():
            uniform = Uniform(int(known[i]), LENGTH, bits)
            found[i] = sum(not uniform.below(constant(part)) for part in sums[int(row[i])])
        return found

    def checked(self, reports: ArrayLike) -> NDArray[Any]:
        return whole_numbers(reports, self.cells - 1)

    @property
    def cells(self) -> int:
        return len(self.design.values)

    @property
    def tallies(self) -> int:
        return self.cells

    def tally(self, reports: NDArray[Any]) -> Ints:
        return np.bincount(reports, minlength=self.tallies).astype(np.int64)

    def possible(self, people: int, sums: Ints) -> bool:
        return bool(np.all(sums >= 0)) and int(sums.sum()) == people

    @cached_property
    def _squares(self) -> NDArray[np.float64]:
        """E[number^2] at every node."""
        found: NDArray[np.float64] = self._table @ (self._scale * np.array(self.design.values)) ** 2
        return found

    def unit_variance(self, position: float) -> float:
        nodes = np.linspace(-1, 1, self._between + 1)
        return float(np.interp(position, nodes, self._squares)) - position**2

    @cached_property
    def worst_position(self) -> float:
        places = np.linspace(-1, 1, self.steps + 1)
        variances = np.interp(places, np.linspace(-1, 1, self._between + 1), self._squares) - places**2
        return float(places[np.argmax(variances)])

    @cached_property
    def _noise(self) -> NDArray[np.float64]:
        """A function of the report whose expectation is the variance, as nearly as the counts of reports can tell."""
        nodes = np.linspace(-1, 1, self._between + 1)
        return np.asarray(np.linalg.lstsq(self._table, self._squares - nodes**2, rcond=1e-3)[0], dtype=np.float64)

    def moments(self, aggregate: Aggregate) -> Moments:
        if aggregate.people == 0:
            return nothing(self.unit_variance(self.worst_position))
        shares, numbers = aggregate.sums / aggregate.people, self._scale * np.array(self.design.values)
        total = sum(int(n) * value for n, value in zip(aggregate.sums, self.design.values, strict=True))
        mean, square = self._scale * (total / aggregate.people), float(shares @ numbers**2)
        variances = self._squares - np.linspace(-1, 1, self._between + 1) ** 2
        noise = float(np.clip(shares @ self._noise, variances.min(), variances.max()))
        return Moments(aggregate.people, mean, noise, max(square - min(mean**2, 1.0), noise))


def _rightmost(measure: tuple[int, ...], mass: int) -> list[Fraction]:
    """The last columns that together weigh ``mass``, the first of them in part."""
    parts = []
    for weight in reversed(measure):
        parts.append(Fraction(min(weight, mass)))
        mass -= min(weight, mass)
    return parts[::-1]


def _window(values: tuple[int, ...], measure: tuple[int, ...], mass: int, moment: Fraction) -> list[Fraction]:
    """The window of this mass and first moment: whole columns between two ends, and parts of the ends."""
    for left in range(len(values)):
        inner, first = 0, 0  # of the whole columns left + 1 .. right - 1
        for right in range(left + 1, len(values)):
            rest, lack = mass - inner, moment - first
            if rest < 0:
                break
            # Parts A and B of the two ends: A + B = rest, left A + right B = lack. Tried only where they may fit.
            if rest <= measure[left] + measure[right]:
                b = (lack - values[left] * rest) / (values[right] - values[left])
                if 0 <= b <= measure[right] and 0 <= rest - b <= measure[left]:
                    whole = [Fraction(weight if left < j < right else 0) for j, weight in enumerate(measure)]
                    whole[left], whole[right] = rest - b, b
                    return whole
            inner, first = inner + measure[right], first + values[right] * measure[right]
    raise AssertionError("every moment between those of the two outermost windows has a window")  # pragma: no cover
