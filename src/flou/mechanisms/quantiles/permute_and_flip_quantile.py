"""PermuteAndFlipQuantile: one quantile by permute-and-flip, never worse than inverse sensitivity on the grid.

Law        cells are visited in random order; the first whose coin of probability exp(-t (s - least s)) shows heads is
           released, s the score of ``GridInverseSensitivity``, which is least for the cell that holds the quantile
Guarantee  epsilon-DP with the same t
Why        it is permute-and-flip on the cells, and only differences of scores count
Error      every tail of the score is at most that of inverse sensitivity; down to half of it where few cells are good
           (ties, coarse grids), and about the same where many are (fine grids)
Numerics   exact: all coins of a piece are decided at once by the first time at which one of them shows heads; a race
           between pieces that floats cannot decide is decided by integers
Limits     one quantile; the law is listed for grids of up to 2^20 cells
Source     McKenna and Sheldon (2020)
Proof      docs/explanation/proofs/quantiles.md
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from flou.arrays import Floats, Ints, Words
from flou.bits import Bits
from flou.laws.decide import Uniform
from flou.laws.enclosure import Enclosure, exp_minus
from flou.laws.normal import gauss_legendre
from flou.laws.tabulated import Tabulated
from flou.mechanisms.quantiles.grid_inverse_sensitivity import GridInverseSensitivity
from flou.mechanisms.quantiles.levels import Pieces
from flou.mechanisms.quantiles.records import Records
from flou.parameters import integer

__all__ = ["PermuteAndFlipQuantile"]

MOST_LISTED = 2**20
SLACK = 2.0**-40  # of logarithms, exponentials and products: see decide.py
FARTHEST = 600.0  # exponents beyond are as good as this one: no such piece ever wins


class PermuteAndFlipQuantile(GridInverseSensitivity):
    """One quantile; the first cell in random order whose coin shows heads."""

    def law(self, records: Records) -> Tabulated:  # type: ignore[override]
        """The law of the cell, listed."""
        integer("cells", records.cells, 1, MOST_LISTED)
        levels = replace(self.levels(records.rows), together=False)
        pieces = levels.pieces(records, records.rows)
        heads = np.exp(-float(levels.rate) * (pieces.scores - pieces.scores[pieces.lengths > 0].min()))

        def draw(size: int, bits: Bits) -> Ints:
            return np.concatenate([self.answers(records, bits) for _ in range(size)])

        return Tabulated(np.repeat(_first_head(np.minimum(heads, 1), pieces.lengths), pieces.lengths), draw)

    def answers(self, records: Records, bits: Bits) -> Ints:
        levels = self.levels(records.rows)
        pieces = levels.pieces(records, levels.reach(records.cells))
        race = Race(pieces, levels.rate, bits)
        while True:
            piece, cell = race.winner()
            if pieces.first <= cell < pieces.last:
                return np.array([cell])
            excess = levels.true_score(cell, records) - int(pieces.scores[piece])
            if Uniform(0, 0, bits).below(exp_minus(levels.rate * excess)):
                return np.array([cell])
            race.refuse(piece, cell)


class Race:
    """Pieces of many cells: the first time at which a coin of each shows heads, and who is first.

    The cells of piece i show heads with probability p_i = e^(-rate gap_i). With V the largest of as many uniforms as
    it has cells, its first head comes at (1 - V) / p_i; after a refusal the next one comes at (1 - V V') / p_i, V' the
    largest of one uniform less.
    """

    def __init__(self, pieces: Pieces, rate: Fraction, bits: Bits) -> None:
        self._present = np.flatnonzero(pieces.lengths)
        self._lengths = pieces.lengths[self._present]
        self._starts = (np.cumsum(pieces.lengths) - pieces.lengths)[self._present]
        scores = pieces.scores[self._present]
        self._gaps, self._rate, self._bits = scores - scores.min(), rate, bits
        self._waits = np.exp(np.minimum(self._gaps * float(rate), FARTHEST))
        words = bits.words(self._lengths.size)
        self._factors: dict[int, list[Largest]] = {}  # of pieces with more than one, or whose bits were looked at
        self._words = words
        self._low, self._high = _one_minus_largest(words, self._lengths)
        self._refused: dict[int, set[int]] = {}

    def winner(self) -> tuple[int, int]:
        """The piece whose head comes first, and the cell that shows it."""
        high = self._high * self._waits * (1 + SLACK)
        near = np.flatnonzero(self._low * self._waits * (1 - SLACK) <= high.min()).tolist()
        first = near[0]
        for other in near[1:]:
            if self._before(other, first):
                first = other
        length, start = int(self._lengths[first]), int(self._starts[first])
        refused = self._refused.get(first, set())
        while (cell := start + int(self._bits.below(length, 1)[0])) in refused:
            pass
        return int(self._present[first]), cell

    def refuse(self, piece: int, cell: int) -> None:
        """The head of this cell does not count: its piece has to wait for the next one."""
        i = int(np.searchsorted(self._present, piece))
        known, refused = self._known(i), self._refused.setdefault(i, set())
        refused.add(cell)
        left = int(self._lengths[i]) - len(refused)
        if left == 0:
            self._low[i] = self._high[i] = np.inf
            return
        words = self._bits.words(1)
        low, high = _one_minus_largest(words, np.array([left]))
        known.append(Largest(int(words[0]), left, self._bits))
        self._low[i] = (self._low[i] + float(low[0]) * (1 - self._low[i])) * (1 - 2.0**-48)
        self._high[i] = (self._high[i] + float(high[0]) * (1 - self._high[i])) * (1 + 2.0**-48)

    def _known(self, i: int) -> list[Largest]:
        if i not in self._factors:
            self._factors[i] = [Largest(int(self._words[i]), int(self._lengths[i]), self._bits)]
        return self._factors[i]

    def _before(self, i: int, j: int) -> bool:
        """Whether the head of piece i comes before that of piece j, exactly."""
        if np.isinf(self._low[i]) or np.isinf(self._low[j]):
            return bool(self._low[i] < self._low[j])
        gap = int(self._gaps[i]) - int(self._gaps[j])
        ratio = exp_minus(abs(gap) * self._rate)
        precision = 192
        while True:
            near, far = (_one_minus_product(self._known(k), precision) for k in (i, j))
            scale = ratio(precision)
            # multiply the one with the smaller gap by e^(-rate |difference|), instead of the other by its inverse
            if gap > 0:
                far = (far[0] * scale[0] >> precision, -(-far[1] * scale[1] >> precision))
            else:
                near = (near[0] * scale[0] >> precision, -(-near[1] * scale[1] >> precision))
            if near[1] < far[0]:
                return True
            if far[1] < near[0]:
                return False
            precision *= 2


class Largest:
    """The largest of many uniforms, known as far as it was asked for: V > v exactly when 1 - U < 1 - v^count."""

    def __init__(self, word: int, count: int, bits: Bits) -> None:
        self._rest = Uniform(word, 64, bits)  # 1 - U, where V = U^(1/count)
        self._count = count
        self._known, self._length = 0, 0

    def __call__(self, precision: int) -> tuple[int, int]:
        while self._length < precision:
            middle = 2 * self._known + 1
            self._length += 1
            self._known = (
                middle if self._rest.below(_one_minus_power(middle, self._length, self._count)) else middle - 1
            )
        low = self._known >> (self._length - precision)
        return low, low + 1


def _one_minus_power(m: int, length: int, count: int) -> Enclosure:
    """1 - (m / 2^length)^count."""

    def enclose(precision: int) -> tuple[int, int]:
        work = precision + 2 * count.bit_length() + 16
        low = high = 1 << work
        base_low, base_high = m << work >> length, -(-m << work >> length)
        for bit in f"{count:b}":
            low, high = low * low >> work, -(-high * high >> work)
            if bit == "1":
                low, high = low * base_low >> work, -(-high * base_high >> work)
        spare = work - precision
        return (1 << precision) - -(-high >> spare), (1 << precision) - (low >> spare)

    return enclose


def _one_minus_product(factors: list[Largest], precision: int) -> tuple[int, int]:
    low = high = 1 << precision
    for factor in factors:
        a, b = factor(precision)
        low, high = low * a >> precision, -(-high * b >> precision)
    return (1 << precision) - high, (1 << precision) - low


def _one_minus_largest(words: Words, counts: Ints) -> tuple[Floats, Floats]:
    """Bounds of 1 - V, where 1 - U begins with these words: -expm1(log1p(-(1 - U)) / count), rising with 1 - U."""
    rest = words * 2.0**-64
    low, high = rest * (1 - 2.0**-51), np.minimum((rest + 2.0**-64) * (1 + 2.0**-51), 1.0)
    with np.errstate(divide="ignore"):
        return -np.expm1(np.log1p(-low) / counts) * (1 - 2.0**-46), -np.expm1(np.log1p(-high) / counts) * (1 + 2.0**-46)


def _first_head(heads: Floats, lengths: Ints) -> Floats:
    """P[cell of piece i] = p_i times the integral over w in [0, 1] of the product of all (1 - p_j w) but its own."""
    nodes, weights = gauss_legendre(400)
    end = min(1.0, 100 / float(np.sum(heads * lengths)))
    w = end * (nodes + 1) / 2
    logs = np.log1p(-np.multiply.outer(heads, w))
    return np.asarray(heads * (np.exp(lengths @ logs - logs) @ weights) * end / 2)
