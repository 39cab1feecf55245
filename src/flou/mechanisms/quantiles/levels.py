"""Cells of a grid scored by ranks: the pieces of one quantile's law, near its target and beyond.

A score is a whole number that depends on how many records lie below a cell (lt) and up to it (le), and grows with the
distance from the target: P[cell] is proportional to e^(-rate score). Between two records, and on a cell that holds
some, the score is constant, so the law has at most 2 n + 1 pieces.

Only pieces near the target matter. Beyond a window of records each side gets one piece, with the smallest score that
it can have; a cell drawn there (a 2^-64 event) is kept with probability e^(-rate (true score - assumed score)), which
needs its two ranks only. What is kept has exactly the law of all pieces. Where one cell holds all records of the window
and scores badly, the window goes on behind that cell. Where the rate is small and the window long, records away from
the target are taken together in blocks whose scores hardly differ, and cells drawn there are kept in the same way.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from flou.arrays import Ints
from flou.bits import Bits
from flou.laws.decide import Uniform
from flou.laws.enclosure import exp_minus
from flou.laws.piecewise import PiecewiseConstant
from flou.mechanisms.quantiles.records import Records

__all__ = ["NEGLIGIBLE", "Levels", "Pieces", "Score"]

Score: TypeAlias = Callable[[Ints, Ints], Ints]  # (lt, le) -> score

NEGLIGIBLE = 64 * math.log(2)  # a window is wide enough when e^-this bounds what lies beyond
LONG = 1000  # cells of a window that are worth taking together
ALIKE = 0.25  # weights of a block differ by a factor of e^this


@dataclass(frozen=True)
class Levels:
    """The law of one cell: P proportional to e^(-rate score)."""

    score: Score
    rate: Fraction  # of the score's unit
    rank: int  # a rank near which the score is smallest
    per_rank: int = 1  # how much the score grows at least with one rank, far from the target
    together: bool = True  # whether records may be taken together

    def reach(self, cells: int, negligible: float = NEGLIGIBLE) -> int:
        """How many ranks on each side of the target are looked at."""
        return math.ceil((math.log(cells) + negligible) / float(self.rate * self.per_rank)) + 2

    def law(self, records: Records) -> PiecewiseConstant:
        """The whole law, from all records."""
        pieces = replace(self, together=False).pieces(records, records.rows)
        return PiecewiseConstant(pieces.scores, pieces.lengths, rate=self.rate)

    def sample(self, records: Records, bits: Bits, *, reach: int | None = None) -> int:
        """One cell, from the records around the target."""
        pieces = self.pieces(records, self.reach(records.cells) if reach is None else reach)
        envelope = PiecewiseConstant(pieces.scores, pieces.lengths, rate=self.rate)
        while True:
            piece = envelope.piece.sample(bits=bits)
            length = int(envelope.lengths[piece])
            cell = int(envelope.ends[piece]) - length + int(bits.below(length, 1)[0])
            if pieces.first <= cell < pieces.last or self._kept(cell, int(pieces.scores[piece]), records, bits):
                return cell

    def _kept(self, cell: int, assumed: int, records: Records, bits: Bits) -> bool:
        excess = self.true_score(cell, records) - assumed
        return Uniform(0, 0, bits).below(exp_minus(self.rate * excess))

    def true_score(self, cell: int, records: Records) -> int:
        """The score of one cell, from its own two ranks."""
        return int(self.score(np.array([records.below(cell)]), np.array([records.below(cell + 1)]))[0])

    def pieces(self, records: Records, reach: int) -> Pieces:
        """The pieces around the target, up to ``reach`` ranks on each side."""
        steps = _steps(records, self.rank - reach, self.rank + reach)
        if steps is None:
            nothing = np.zeros(1, dtype=np.int64)
            return Pieces(np.array([records.cells]), self.score(nothing, nothing), 0, records.cells)
        pieces = self._cut(*steps, records.cells)
        enough = int(pieces.scores[pieces.lengths > 0].min()) + (reach - 2) * self.per_rank
        held, after = steps
        if after[0] > 0 and pieces.scores[0] < enough:
            more = _steps(records, int(after[0]) - reach, int(after[0]))
            if more is not None:
                held, after = np.concatenate([more[0], held]), np.concatenate([more[1][:-1], after])
        if after[-1] < records.rows and pieces.scores[-1] < enough:
            more = _steps(records, int(after[-1]) + 1, int(after[-1]) + 1 + reach)
            if more is not None:
                held, after = np.concatenate([held, more[0]]), np.concatenate([after, more[1][1:]])
        return pieces if held.size == steps[0].size else self._cut(held, after, records.cells)

    def _cut(self, held: Ints, after: Ints, cells: int) -> Pieces:
        """The pieces around cells that hold records, of which ``after`` counts those below the first and up to each."""
        block = int(min(ALIKE / float(self.rate * self.per_rank), 2.0**40))
        a, b = 0, held.size  # these have pieces of their own
        if self.together and held.size > LONG and block > 1:
            a = int(np.searchsorted(after[1:], self.rank - block))
            b = int(np.searchsorted(after[:-1], self.rank + block, side="right"))
        below, above = np.array([a]), np.array([held.size - 1])
        if a:  # blocks from one edge to before the next, whose last cells score best
            below = np.unique(np.append(np.searchsorted(after, np.arange(after[0], after[a], block)), a))
        if b < held.size:  # blocks from behind one edge up to the next, whose first cells score best
            edges = np.searchsorted(after, np.arange(after[b], after[-1], block)) - 1
            above = np.unique(np.append(edges, held.size - 1))
        # between: a cell that holds records, a gap, a cell, ...
        edges = np.repeat(held[a:b], 2)
        edges[1::2] += 1
        ranks = np.repeat(after[a : b + 1], 2)[1:-1]
        lengths = np.diff(np.concatenate([[0], held[below], edges[1:-1], held[above] + 1, [cells]]))
        lt = np.concatenate([after[below], ranks[:-1], after[above + 1]])
        le = np.concatenate([after[below], ranks[1:], after[above + 1]])
        return Pieces(lengths, self.score(lt, le), int(held[a]), int(held[b - 1]) + 1)


@dataclass(frozen=True)
class Pieces:
    """Lengths and scores; cells from ``first`` to before ``last`` have their true scores, the others at most theirs."""

    lengths: Ints
    scores: Ints
    first: int
    last: int


def _steps(records: Records, first: int, last: int) -> tuple[Ints, Ints] | None:
    """The cells that hold records of these ranks, and how many records lie below the first and up to each of them."""
    codes = records.ranked(first, last)
    if not codes.size:
        return None
    starts = np.flatnonzero(codes[1:] != codes[:-1]) + 1
    held = np.concatenate([codes[:1], codes[starts]])
    after = np.empty(held.size + 1, dtype=np.int64)
    after[1:-1] = starts + (max(first, 1) - 1)
    # the first and the last cell may hold more records than these
    after[[0, -1]] = records.below_each(held[[0, -1]] + np.array([0, 1]))
    return held, after
