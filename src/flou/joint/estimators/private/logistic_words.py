"""Score and information of a logistic regression, as integers that one row moves by a known amount.

Row        z in [-1, 1]^p, y 0 or 1, pi = 1/(1 + exp(-z'b)), q = |y - pi|, so that pi (1 - pi) = q (1 - q)
Words      score          trunc(S z_i (y - pi)), p of them
           information    trunc(S B z_i z_j pi (1 - pi)), i <= j
           rows           S/2 each, in the last round only (``counted``)
Moved      with r = |z|^2 <= p, a = sum |z_i| <= p, and sum_(i<=j) z_i^2 z_j^2 <= (r^2 + r)/2, see ``gram_words.py``:
             L2, squared  S^2 (r q^2 + B^2 (r^2 + r)/2 q^2 (1-q)^2). With B^2 = 2 phi^5/(p+1), phi the golden ratio, it
                          is at most S^2 r q^2 (1 + phi^5 (1-q)^2) <= S^2 r: the least of (1-q^2)/(q^2 (1-q)^2) = (1+q)/
                          (q^2 (1-q)) is where q^2 + q = 1, and it is phi^5. So at most S^2 p: the information is free
             L1           S (a q + B (a^2 + a)/2 q (1-q)) <= S a q (1 + 2 (1-q)) <= 9/8 S p for B = 4/(p+1), q = 3/4
           Replacing a row moves them by at most twice as much. The count adds S^2/4 and S/2; replacing leaves it alone
Why        cutting off towards 0 makes no word longer, and a factor of 1 - 2^-40 pays for all rounding before
Row by row pi comes from a table, with straight lines in between (within 2e-8), and all else is +, -, * and trunc of
           single numbers: the same wherever a row stands among others, which exp and matrix products need not be
Proof      docs/explanation/proofs/joint-noise.md
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from flou.arrays import Floats
from flou.joint.estimators.private.privacy import Sensitivity
from flou.parameters import Relation

__all__ = ["LogisticWords", "probabilities"]


MOST_ROWS = 2**40  # of one party
BLOCK = 2**14  # rows at a time: sums of integers below 2^24 2^14 are exact
SHORTER = 1 - 2.0**-40
FINEST = 24  # bits of the grid
FREE = Fraction("11.09")  # a little less than phi^5
FARTHEST, STEPS = 40, 2**10  # of the table: beyond, pi is 0 or 1 to all digits that matter


@lru_cache(maxsize=1)
def _table() -> Floats:
    points = np.arange(-FARTHEST * STEPS, FARTHEST * STEPS + 2) / STEPS  # one more, for the end of the last line
    return np.asarray(0.5 + 0.5 * np.tanh(points / 2))


def probabilities(eta: Floats) -> Floats:
    """1/(1 + exp(-eta)), each by itself."""
    place = (np.clip(eta, -FARTHEST, FARTHEST) + FARTHEST) * STEPS
    left = np.floor(place)
    table, at = _table(), left.astype(np.int64)
    found: Floats = table[at] + (place - left) * (table[at + 1] - table[at])
    return np.clip(found, 0.0, 1.0)


@dataclass(frozen=True)
class LogisticWords:
    """Words for ``size`` coefficients on a grid of 2^-grid."""

    size: int
    grid: int
    pure: bool  # weighted for the L1 norm
    counted: bool

    @property
    def unit(self) -> int:
        """S: the integer that stands for 1."""
        return 1 << self.grid

    @property
    def weight(self) -> float:
        """B: how many times finer the information is than the score."""
        p = self.size
        exact = Fraction(4, p + 1) if self.pure else 2 * FREE / (p + 1)
        return math.floor(1024 * (float(exact) if self.pure else math.sqrt(exact))) / 1024

    @property
    def length(self) -> int:
        return self.size * (self.size + 3) // 2 + self.counted

    @property
    def limit(self) -> int:
        """No word of one party is larger."""
        return 4 * MOST_ROWS * self.unit

    def sensitivity(self, relation: Relation) -> Sensitivity:
        S, p = self.unit, self.size
        l1, l2_squared = -(-9 * S * p // 8), S * S * p
        if not self.pure:  # the weight is for the L2 norm, and nobody asks for the other one
            l1 = S * p * (p + 3)
        if relation == "substitute":  # the number of rows stays
            return Sensitivity(2 * l1, 4 * l2_squared, self.length)
        return Sensitivity(l1 + S // 2 * self.counted, l2_squared + S * S // 4 * self.counted, self.length)

    def sums(self, parts: Iterable[tuple[Floats, Floats]], b: Sequence[float]) -> list[int]:
        """The words, at the coefficients b, of rows and responses that come in parts."""
        words, rows = np.zeros(self.length - self.counted, dtype=np.int64), 0
        for z, y in parts:
            rows += len(y)
            for start in range(0, len(y), BLOCK):
                block = slice(start, start + BLOCK)
                words += self.words(z[block], y[block], b).sum(axis=1).astype(np.int64)
        totals = [int(word) for word in words]
        return [*totals, rows * (self.unit // 2)] if self.counted else totals

    def words(self, z: Floats, y: Floats, b: Sequence[float]) -> Floats:
        """What each row adds, a column for each row: integers stored as floats, without the count."""
        columns = np.ascontiguousarray(z.T)
        eta = np.zeros(len(y))
        for column, coefficient in zip(columns, b, strict=True):
            eta += column * coefficient
        pi = probabilities(eta)
        error, spread = (y - pi) * (SHORTER * self.unit), pi * (1 - pi) * (SHORTER * self.unit * self.weight)
        made = np.empty((self.size * (self.size + 3) // 2, len(y)))
        for i, column in enumerate(columns):
            np.multiply(column, error, out=made[i])
        pairs = [(i, j) for i in range(self.size) for j in range(i, self.size)]
        for place, (i, j) in enumerate(pairs, self.size):
            np.multiply(columns[i] * columns[j], spread, out=made[place])
        return np.trunc(made, out=made)

    def opened(self, sums: Sequence[int]) -> tuple[Floats, Floats, float]:
        """The score, the information, and the number of rows (0 unless counted), in units of z."""
        p = self.size
        scaled = np.array([float(Fraction(total, self.unit)) for total in sums])
        upper = np.zeros((p, p))
        upper[np.triu_indices(p)] = scaled[p : p + p * (p + 1) // 2] / self.weight
        return scaled[:p], upper + np.triu(upper, 1).T, 2 * float(scaled[-1]) if self.counted else 0.0
