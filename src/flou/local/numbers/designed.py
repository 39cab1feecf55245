"""Designed: reports whose values and probabilities were computed for the least variance.

Law        a measure of whole weights w_j on values j = -J..J, symmetric, of total W; each answer has a window e_j
           between 0 and 1 with sum of w_j e_j = t: all columns between two ends, and fractions of these. Column j has
           probability w_j (b + (1 - b) e_j) / Z, b = e^-epsilon, Z = b W + (1 - b) t
Guarantee  epsilon-DP for one person's number, in one report
Why        b w_j / Z <= P[j] <= w_j / Z for every answer, and Z is the same for all of them
Error      the rightmost window has the first moment m = sum of j w_j e_j; the window of an answer at u in [-1, 1] is
           the one with u m, so E j = (1 - b) u m / Z, and j Z / ((1 - b) m) is unbiased. The measure is chosen by a
           linear program to make the largest variance least: 3.99 at epsilon = 1; one bit has 4.68
Choice     the program looks, among all reports with values on a grid whose probabilities differ by a factor of at most
           e^epsilon and whose expectation is the answer, for those with the least largest variance. It chooses the
           measure only. Privacy and bias are exact for every measure, so a solver that stops early costs accuracy and
           nothing else
Numerics   exact: windows are rational, the coin between window and measure is enclosed as finely as needed. With more
           than 129 codes the answer is first rounded at random to one of 129, in proportion, which keeps its mean
Limits     epsilon from 0.05 to 10. Respondents and collectors need the same design: other versions of a solver may
           find another one, which the fingerprint of an aggregate shows; pass ``design`` to fix it
Source     flou; Kairouz, Oh, Viswanath (2016) solve such programs for other costs
Proof      docs/explanation/proofs/local_numbers.md
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flou.arrays import Floats, Ints
from flou.bits import SYSTEM, Bits
from flou.errors import InvalidParameter
from flou.laws import Bernoulli
from flou.laws.decide import Uniform
from flou.laws.enclosure import affine, constant, exp_minus, quotient
from flou.laws.tabulated import Tabulated
from flou.local.aggregate import Aggregate
from flou.local.numbers.mean_randomiser import MeanRandomiser, ReportMoments, nothing
from flou.local.numbers.number_randomiser import Scale
from flou.parameters import Number, number

__all__ = ["Designed", "ReportDesign", "design_for"]

MOST_STEPS = 128  # between nodes; a table of their windows is kept
LENGTH = 55  # bits of a uniform beside the row in one word
NODES = 13  # answers from 0 to 1 that the program sees; those below 0 follow by symmetry
COLUMNS = 40  # J
UNIT = 2**30  # weights are whole numbers: this many units of probability
SMALLEST, LARGEST = Fraction(1, 20), Fraction(10)


@dataclass(frozen=True)
class ReportDesign:
    """``weights[j]`` on j and on -j, and how much of them a window holds; all whole numbers."""

    weights: tuple[int, ...]
    window: int

    def __post_init__(self) -> None:
        whole = all(isinstance(weight, int) and 0 <= weight <= 2**40 for weight in (*self.weights, self.window))
        total = 2 * sum(self.weights) - self.weights[0] if whole and self.weights else 0
        if not 1 < len(self.weights) <= 1000 or not 0 < self.window < total:
            raise InvalidParameter(
                "A design needs 2 to 1000 whole weights from 0 to 2**40, and a positive window below their total.",
                "Reports are drawn from the weights, and an answer prefers the part of them in its window.",
                "Pass the weights and the window of a design that was made by flou, unchanged.",
            )

    @property
    def values(self) -> tuple[int, ...]:
        """The numbers with a positive weight, in order."""
        right = [j for j, weight in enumerate(self.weights) if weight]
        return tuple([-j for j in reversed(right) if j] + right)

    @property
    def measure(self) -> tuple[int, ...]:
        """Their weights."""
        return tuple(self.weights[abs(value)] for value in self.values)


class Designed(MeanRandomiser):
    """Reports are columns of the design's values, 0 for the smallest."""

    name = "designed"

    def __init__(
        self, domain: Scale, *, epsilon: Number, design: ReportDesign | None = None, unit: str = "person"
    ) -> None:
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
        """A function of the report whose expectation is the variance, as nearly as the counts of reports allow."""
        nodes = np.linspace(-1, 1, self._between + 1)
        return np.asarray(np.linalg.lstsq(self._table, self._squares - nodes**2, rcond=1e-3)[0], dtype=np.float64)

    def moments(self, aggregate: Aggregate) -> ReportMoments:
        if aggregate.people == 0:
            return nothing(self.unit_variance(self.worst_position))
        shares, numbers = aggregate.sums / aggregate.people, self._scale * np.array(self.design.values)
        total = sum(int(n) * value for n, value in zip(aggregate.sums, self.design.values, strict=True))
        mean, square = self._scale * (total / aggregate.people), float(shares @ numbers**2)
        variances = self._squares - np.linspace(-1, 1, self._between + 1) ** 2
        noise = float(np.clip(shares @ self._noise, variances.min(), variances.max()))
        return ReportMoments(aggregate.people, mean, noise, max(square - min(mean**2, 1.0), noise))


@lru_cache(maxsize=32)
def design_for(epsilon: Fraction) -> ReportDesign:
    """The design of the least largest variance, for epsilon from 0.05 to 10; computed once."""
    if not SMALLEST <= number("epsilon", epsilon) <= LARGEST:
        raise InvalidParameter(
            f"A design needs an epsilon from {float(SMALLEST)} to {float(LARGEST)}, got {float(epsilon):.6g}.",
            "For a smaller epsilon one bit is as good; a larger epsilon needs a finer grid of values.",
            "Use flou.local.mean_of, which chooses the best of the other randomisers.",
        )
    ratio = math.exp(epsilon)
    reach = 1.3 / math.tanh(epsilon / 2)
    values: Floats = np.arange(COLUMNS + 1, dtype=np.float64) * (reach / COLUMNS)
    share = _solved(ratio, values)
    weights = np.rint(share * UNIT).astype(np.int64)
    total = 2 * share.sum() - share[0]
    window = (1 - total) / ((ratio - 1) * total) * int(2 * weights.sum() - weights[0])
    return ReportDesign(tuple(weights.tolist()), max(1, round(window)))


def _solved(ratio: float, values: Floats) -> Floats:
    """The least probability of each value under the best reports."""
    from scipy.optimize import linprog

    answers, columns = np.linspace(0.0, 1.0, NODES), 2 * values.size - 1
    signed = np.concatenate([-values[:0:-1], values])
    # Unknowns: the least probabilities (one for each value >= 0), the probabilities answer by answer, the variance.
    least = np.abs(np.arange(columns) - (values.size - 1))[:, None] == np.arange(values.size)
    copies, each, one = np.kron(np.ones((NODES, 1)), least), np.eye(NODES * columns), np.eye(NODES)
    none = np.zeros((NODES * columns, 1))
    squares = np.hstack([np.zeros((NODES, values.size)), np.kron(one, signed**2), -np.ones((NODES, 1))])
    at_most = np.vstack([np.hstack([copies, -each, none]), np.hstack([-ratio * copies, each, none]), squares])
    limits = np.concatenate([np.zeros(2 * NODES * columns), answers**2])
    both = np.kron(one, np.stack([np.ones(columns), signed]))
    equal = np.hstack([np.zeros((2 * NODES, values.size)), both, np.zeros((2 * NODES, 1))])
    sides = np.stack([np.ones(NODES), answers], axis=1).ravel()
    cost = np.zeros(at_most.shape[1])
    cost[-1] = 1.0
    found = linprog(cost, at_most, limits, equal, sides, bounds=(0, None), method="highs")
    if found.x is None:  # then equal weights, whose window is that of the piecewise randomiser
        return np.full(values.size, 1 / (columns * (1 + (ratio - 1) / (1 + math.sqrt(ratio)))))
    share: Floats = np.maximum(np.asarray(found.x[: values.size], dtype=np.float64), 0.0)
    share[share < 1e-7] = 0.0
    return share


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
