"""Public coordinates in which regressors have mean about zero and spread about one.

Rule       z = (x - centre) / 2^exponent, where centre is the mean of all rows and 2^exponent is near their deviation;
           without an intercept centres are zero. A power of two divides without rounding
Why        a maximum of the likelihood in these coordinates is one in the old ones, because Z b = X beta for the beta
           that ``params`` gives. Information matrices have condition numbers that only correlations make large: with
           a regressor at 1e9 +- 1, the plain ones lose all digits of the standard errors
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from flou.arrays import Floats
from flou.joint.estimators.design.design import RegressionDesign
from flou.joint.estimators.likelihood.fixed_point import FixedPoint

__all__ = ["MOMENT_WORDS", "Coordinates", "RawMoments", "moment_columns"]

MOMENT_WORDS = FixedPoint(fraction=128, bound=2**208)  # columns up to 2^80, and 2^40 rows


@dataclass(frozen=True)
class RawMoments:
    """First and second moments of some columns: all products (``full``), or squares only.

    A party centres its rows at a point m near their mean, where sums s and products c of what is left are small, and
    shifts both back to the origin in rational arithmetic: S = s + n m, Q = c + m s' + s m' + n m m'. After opening,
    Q - S S'/n is formed in rational arithmetic too, so that every error stays of the size of 2^-53 of the spread of the
    rows, not of their distance to the origin.
    """

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
    def of_design(cls, design: RegressionDesign, full: bool, parts: Iterable[tuple[Floats, Floats]]) -> RawMoments:
        """The moments of the regressors without the intercept, and of the response behind them."""
        first = int(design.has_intercept)
        return cls.of(moment_columns(design), full, (np.column_stack([X[:, first:], y]) for X, y in parts))

    @classmethod
    def length(cls, columns: int, full: bool) -> int:
        """How many words there are."""
        return 1 + columns + len(_pairs(columns, full))

    def words(self) -> list[int]:
        return MOMENT_WORDS.words([Fraction(self.n), *self.sums, *self.products])

    @classmethod
    def opened(cls, columns: int, full: bool, sums: Sequence[int]) -> RawMoments:
        """The moments of all rows."""
        numbers = MOMENT_WORDS.fractions(sums)
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


def moment_columns(design: RegressionDesign) -> int:
    """The regressors without the intercept, and the response."""
    return len(design.names) - design.has_intercept + 1


@dataclass(frozen=True)
class Coordinates:
    """A centre and a power of two for each regressor that is kept; the intercept, if any, is the first."""

    kept: tuple[int, ...]  # columns of the matrix: all but the indicators of categories that no row has
    centre: tuple[float, ...]
    exponent: tuple[int, ...]

    @classmethod
    def of(cls, moments: RawMoments, design: RegressionDesign) -> Coordinates:
        """From the moments of the regressors without the intercept, and of the response behind them."""
        first = int(design.has_intercept)
        squares = moments.about([Fraction(0)] * moments.columns)
        kept = [j for j in range(first, len(design.names)) if squares[j - first, j - first] or not design.indicators[j]]
        means = [float(moments.mean(j)) if first and moments.n else 0.0 for j in range(moments.columns)]
        around = moments.about([Fraction(mean) for mean in means])
        exponents = [_exponent(around[j - first, j - first] / max(moments.n, 1)) for j in kept]
        centres = [means[j - first] for j in kept]
        return cls((*range(first), *kept), (*[0.0] * first, *centres), (*[0] * first, *exponents))

    def parameters(self) -> dict[str, Any]:
        return {"kept": list(self.kept), "centre": list(self.centre), "exponent": list(self.exponent)}

    @classmethod
    def from_parameters(cls, asked: Mapping[str, Any]) -> Coordinates:
        return cls(tuple(asked["kept"]), tuple(asked["centre"]), tuple(asked["exponent"]))

    def moved(self, X: Floats) -> Floats:
        """The regressors that are kept, in these coordinates."""
        chosen = X if len(self.kept) == X.shape[1] else X[:, list(self.kept)]
        moved: Floats = (chosen - np.array(self.centre)) * np.ldexp(1.0, -np.array(self.exponent))
        return moved

    def params(self, b: Sequence[float]) -> Floats:
        """The parameters in the old coordinates; those behind the coefficients stay as they are."""
        size = len(self.exponent)
        scaled = [Fraction(float(b[j])) / _power(self.exponent[j]) for j in range(size)]
        if any(self.centre):  # then the first is the intercept
            scaled[0] -= sum((s * Fraction(c) for s, c in zip(scaled, self.centre, strict=True)), Fraction(0))
        return np.array([*map(float, scaled), *b[size:]])

    def covariance(self, matrix: Floats) -> Floats:
        """The covariance of ``params`` from that of b."""
        slopes = np.ldexp(1.0, -np.array(self.exponent))
        jacobian = np.diag([*slopes, *[1.0] * (len(matrix) - len(slopes))])
        if any(self.centre):
            jacobian[0, 1 : len(slopes)] = -slopes[1:] * np.array(self.centre[1:])
        moved: Floats = jacobian @ matrix @ jacobian.T
        return moved


def _power(exponent: int) -> Fraction:
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)


def _exponent(variance: Fraction) -> int:
    """Of a power of two within a factor of two of the deviation; 0 where nothing varies."""
    return (variance.numerator.bit_length() - variance.denominator.bit_length()) // 2 if variance > 0 else 0
