"""First and second moments of the columns of a regression, without cancellation whatever their units and origin.

Words      n; the sums; the sums of products, of each column with itself or with every other
Rule       a party centres its rows at a point m near their mean, where sums s and products c of what is left are small,
           and shifts both back to the origin in rational arithmetic: S = s + n m, Q = c + m s' + s m' + n m m'
Why        after opening, Q - S S'/n is formed in rational arithmetic too, so that every error stays of the size of
           2^-53 of the spread of the rows, not of their distance to the origin
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from flou.arrays import Floats
from flou.joint.estimators.likelihood.fixed_point import FixedPoint

__all__ = ["WORDS", "RawMoments"]


WORDS = FixedPoint(fraction=128, bound=2**208)  # columns up to 2^80, and 2^40 rows


@dataclass(frozen=True)
class RawMoments:
    """Of some columns: all products (``full``), or squares only."""

    columns: int
    full: bool
    n: int
    sums: tuple[Fraction, ...]
    products: tuple[Fraction, ...]

    @classmethod
    def of(cls, columns: int, full: bool, batches: Iterable[Floats]) -> RawMoments:
        """The moments of one party's rows."""
        pairs = _pairs(columns, full)
        rows, sums, products = 0, [Fraction(0)] * columns, [Fraction(0)] * len(pairs)
        for batch in batches:
            n = len(batch)
            if n == 0:
                continue
            centre = batch.mean(axis=0)
            left = batch - centre
            over = [Fraction(value) for value in left.sum(axis=0).tolist()]
            around = left.T @ left if full else np.diag(np.einsum("ij,ij->j", left, left))
            middle = [Fraction(value) for value in centre.tolist()]
            rows += n
            for j in range(columns):
                sums[j] += over[j] + n * middle[j]
            for place, (j, k) in enumerate(pairs):
                shift = middle[j] * over[k] + middle[k] * over[j] + n * middle[j] * middle[k]
                products[place] += Fraction(float(around[j, k])) + shift
        return cls(columns, full, rows, tuple(sums), tuple(products))

    @classmethod
    def length(cls, columns: int, full: bool) -> int:
        """How many words there are."""
        return 1 + columns + len(_pairs(columns, full))

    def words(self) -> list[int]:
        return WORDS.words([Fraction(self.n), *self.sums, *self.products])

    @classmethod
    def opened(cls, columns: int, full: bool, sums: Sequence[int]) -> RawMoments:
        """The moments of all rows."""
        numbers = WORDS.fractions(sums)
        return cls(columns, full, int(numbers[0]), tuple(numbers[1 : columns + 1]), tuple(numbers[columns + 1 :]))

    def mean(self, j: int) -> Fraction:
        return self.sums[j] / self.n

    def about(self, centre: Sequence[Fraction]) -> dict[tuple[int, int], Fraction]:
        """Sums of products of distances to a point."""
        found = {}
        for (j, k), product in zip(_pairs(self.columns, self.full), self.products, strict=True):
            a, b = centre[j], centre[k]
            found[j, k] = found[k, j] = product - a * self.sums[k] - b * self.sums[j] + self.n * a * b
        return found


def _pairs(columns: int, full: bool) -> list[tuple[int, int]]:
    return [(j, k) for j in range(columns) for k in (range(j, columns) if full else (j,))]
