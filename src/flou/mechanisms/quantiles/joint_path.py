"""Joint quantiles, drawn exactly: a path backwards through the tables, kept with the probability that makes it right.

A draw goes from the last answer to the first. At each step the next interval has an integer weight, the table's rounded
up, and is chosen exactly by these weights; so the probability q of the whole proposal is a known rational number. Its
true weight w is e^-x times a rational number. The tables prove w <= C q for all paths, with a constant C close to the
sum of all weights; the path is kept with probability w / (C q), decided without rounding. What is kept has exactly the
law that is proportional to w, whatever errors the tables have.

A path that is refused leads to tables with twice the reach. Each try that keeps a path keeps it with the same law, so
it does not matter which try it was.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from flou.arrays import Floats, Ints
from flou.bits import Bits
from flou.laws.decide import Uniform
from flou.laws.enclosure import Enclosure, exp_minus
from flou.mechanisms.quantiles.joint_tables import LOWER, UPPER, Tables
from flou.mechanisms.quantiles.joint_windows import Gaps, Windows
from flou.mechanisms.quantiles.records import Records

__all__ = ["draw_jointly"]

MakeTables = Callable[[Gaps, Windows, int], Tables]


def first_reach(gaps: Gaps, rows: int) -> int:
    """Ranks around each target that are looked at first: what lies beyond is rare when data is spread out."""
    rate, answers = float(gaps.rate), len(gaps.targets)
    gain = answers * math.log(2 + 3 * rate * rows / answers) + 20
    return math.ceil(min(gain / (2 * rate), max(float(rows), float(gaps.end)))) + 1


def draw_jointly(
    gaps: Gaps,
    records: Records,
    bits: Bits,
    *,
    reach: int | None = None,
    runs: int | None = None,
    make: MakeTables = Tables,
) -> Ints:
    """One cell for each target, in order: P proportional to e^(-rate score) on all tuples of cells, then sorted."""
    reach = first_reach(gaps, records.rows) if reach is None else reach
    runs = 4 + 4 * len(gaps.targets) // (records.rows + 1) if runs is None else runs
    while True:
        windows = Windows(gaps, records, reach)
        path = _Path(make(gaps, windows, runs), bits)
        if path.kept():
            return path.cells()
        reach, runs = reach if windows.whole else 2 * reach, min(2 * runs, len(gaps.targets))


@dataclass(frozen=True)
class _Group:
    """Neighbouring answers that lie in one interval or lump of ``length`` cells: theirs, in order."""

    first: int
    cells: Ints
    length: int
    rank: int | None  # of all cells, None in a lump
    side: int = LOWER  # of the lump


@dataclass
class _Chances:
    """The probability of what was chosen, as a fraction and as a logarithm."""

    bits: Bits
    chosen: list[int] = field(default_factory=list)
    among: list[int] = field(default_factory=list)

    def choose(self, logs: Floats) -> int:
        """An index with probability in proportion to integers just above e^logs."""
        shift = 61 - max(logs.size - 1, 1).bit_length()
        weights = np.ceil(np.exp(logs - np.max(logs)) * 2.0**shift).astype(np.int64)
        weights = np.maximum(weights, logs > -math.inf)
        running = np.cumsum(weights)
        found = int(np.searchsorted(running, self.bits.below(int(running[-1]), 1)[0], side="right"))
        self.chosen.append(int(weights[found]))
        self.among.append(int(running[-1]))
        return found

    def log(self) -> float:
        return float(np.sum(np.log(np.array(self.chosen)) - np.log(np.array(self.among))))


class _Path:
    """One proposal."""

    def __init__(self, tables: Tables, bits: Bits) -> None:
        self.tables, self.bits = tables, bits
        self.windows, self.gaps = tables.windows, tables.gaps
        self.chances = _Chances(bits)
        self.log_bound = tables.log_bound
        self.groups: list[_Group] = []
        j, choices = tables.answers - 1, tables.last
        while j >= 0:
            found, size = self.chances.choose(choices), choices.size - 2
            j, choices = self._lump(found - size, j) if found >= size else self._interval(found, j)
        self.groups.reverse()

    def cells(self) -> Ints:
        return np.concatenate([group.cells for group in self.groups])

    # Proposal

    def _interval(self, found: int, j: int) -> tuple[int, Floats]:
        """Answer j is in interval ``found`` of its window: how many others are, and where the one before may be."""
        tables, windows = self.tables, self.windows
        at = windows.slices[j].start + found
        last = j
        some = slice(found, found + 1)
        kinds = [
            float(tables.run(j, k, some)[0])
            for k in range(1, min(tables.runs, j + 1) + 1)
            if at < windows.slices[j - k + 1].stop
        ]
        k = self.chances.choose(np.array([*kinds, float(tables.longer[j][found])])) + 1
        while k > len(kinds):  # more than ``runs``: go on until the first ``runs`` of them are left
            j -= 1
            found = at - windows.slices[j].start
            short = -math.inf
            if at < windows.slices[j - tables.runs + 1].stop:
                short = float(tables.run(j, tables.runs, slice(found, found + 1))[0])
            if self.chances.choose(np.array([short, float(tables.longer[j][found])])) == 0:
                k = tables.runs
                break
        first = j - k + 1
        rank, length, start = int(windows.ranks[at]), int(windows.lengths[at]), int(windows.starts[at])
        self._place(first, last, start, length, rank)
        if first == 0:
            return -1, np.zeros(0)
        here = windows.slices[first - 1]
        return first - 1, self._before(first - 1, tables.deviation(first, rank), at - here.start)

    def _lump(self, side: int, j: int) -> tuple[int, Floats]:
        first = self.chances.choose(self.tables.lump_runs(side, j))
        if side == LOWER:
            self._place(first, j, 0, self.windows.below[j], None, LOWER)
        else:
            length = self.windows.above[first]
            self._place(first, j, self.windows.records.cells - length, length, None, UPPER)
        if first == 0:
            return -1, np.zeros(0)
        choices = self._before(first - 1, float(self.tables.edges[side]), None)
        choices[side - 2] = -math.inf
        return first - 1, choices

    def _before(self, j: int, deviation: float, most: int | None) -> Floats:
        """The log weights of answer j: its first ``most`` intervals, the two lumps."""
        tables = self.tables
        logs = tables.total[j] - tables.rate * np.abs(tables.deviations(j) - deviation)
        if most is not None:
            logs = logs[: max(most, 0)]
        return np.append(logs, tables.lump_total[:, j] - tables.rate * np.abs(tables.edges - deviation))

    def _place(self, first: int, last: int, start: int, length: int, rank: int | None, side: int = LOWER) -> None:
        cells = start + np.sort(self.bits.below(length, last - first + 1))
        self.groups.append(_Group(first, cells, length, rank, side))

    # Decision

    def kept(self) -> bool:
        ranks = self._ranks()
        if ranks is None:
            return False
        exponent = self.gaps.rate * self.gaps.score(ranks, self.windows.records.rows)
        sizes = [(group.length, group.cells.size) for group in self.groups]
        log = sum(k * math.log(length) - math.lgamma(k + 1) for length, k in sizes)
        ties = self._ties()
        log += (
            math.log(ties.numerator)
            - math.log(ties.denominator)
            - float(exponent)
            - self.chances.log()
            - self.log_bound
        )
        margin = (8 * len(ranks) + 64) * (self.tables.largest + float(exponent) + abs(self.log_bound)) * 2.0**-50
        word = int(self.bits.words(1)[0])
        u = word * 2.0**-64
        if u < math.exp(log - margin) - 2.0**-50:
            return True
        if u > math.exp(min(log + margin, 1.0)) + 2.0**-50:
            return False
        number = math.prod((Fraction(length**k, math.factorial(k)) for length, k in sizes), start=ties)
        number *= Fraction(math.prod(self.chances.among), math.prod(self.chances.chosen)) / self._bound()
        return Uniform(word, 64, self.bits).below(_scaled(exponent, number))

    def _bound(self) -> Fraction:
        """A rational number of at least e^log_bound."""
        power = math.floor(self.log_bound / math.log(2))
        rest = self.log_bound - power * math.log(2) + (abs(self.log_bound) + 1) * 2.0**-49
        return Fraction(math.exp(rest)) * Fraction(2) ** power

    def _ranks(self) -> list[int] | None:
        """The true ranks of all answers; None if they are out of order, or not in the lumps they were drawn for."""
        if np.any(np.diff(self.cells()) < 0):
            return None
        lumps = [group.cells + 1 for group in self.groups if group.rank is None]
        looked_up = iter(self.windows.records.below_each(np.concatenate(lumps)).tolist() if lumps else [])
        found: list[int] = []
        for group in self.groups:
            if group.rank is not None:
                found += [group.rank] * group.cells.size
                continue
            for j in range(group.first, group.first + group.cells.size):
                rank = next(looked_up)
                deviation = rank - self.gaps.targets[j]
                beyond = deviation < -self.windows.lower if group.side == LOWER else deviation > self.windows.upper
                if not beyond:
                    return None
                found.append(rank)
        return found

    def _ties(self) -> Fraction:
        """Ways to order equal cells, group by group, over those of all of them together: 1 but for lumps."""
        if all(group.rank is not None for group in self.groups):
            return Fraction(1)
        each = math.prod(math.factorial(n) for group in self.groups for n in Counter(group.cells.tolist()).values())
        return Fraction(each, math.prod(math.factorial(n) for n in Counter(self.cells().tolist()).values()))


def _scaled(x: Fraction, by: Fraction) -> Enclosure:
    """The enclosure of by e^-x, a number of at most about 1."""
    power, finer = exp_minus(x), max(0, by.numerator.bit_length() - by.denominator.bit_length()) + 8

    def enclose(precision: int) -> tuple[int, int]:
        low, high = power(precision + finer)
        return low * by.numerator // by.denominator >> finer, -(-high * by.numerator // by.denominator >> finer)

    return enclose
