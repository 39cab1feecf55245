"""What the opened sums of products say about a linear regression, in exact arithmetic until the last step.

Units    column j holds codes, 2^bits_j times its values; ``matrix`` holds sums of products of codes times 2^extra
Results  every number is the exact rational one, rounded to a double once, or computed from such doubles without
         cancellation; a regressor at 1e6 + N(0, 1) or columns of scales 1e-6 and 1e9 lose nothing
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from flou.arrays import Floats
from flou.errors import InvalidData
from flou.joint.estimators.linear.exact_solve import Dependent, Orthogonal, orthogonalised
from flou.joint.estimators.program import not_of_rows

__all__ = ["LinearSums"]


PRECISION = 100  # bits of a square: what is left of a regressor below it is the rounding of the doubles in the rows


@dataclass(frozen=True)
class LinearSums:
    """Sums of products of regressors and response, the response last."""

    names: tuple[str, ...]
    response: str
    indicators: tuple[bool, ...]
    bits: tuple[int, ...]
    has_intercept: bool  # then the first regressor is the constant
    matrix: Sequence[Sequence[int]]
    totals: tuple[int, ...] | None  # sums of the columns; None where each party has taken off its means
    response_sums: tuple[int, int]  # the sum of the response and of its square
    rows: int
    groups: int = 0  # parties with rows, where each has an effect of its own
    extra: int = 0
    tolerance: int = 0

    @cached_property
    def kept(self) -> tuple[int, ...]:
        """The regressors without those indicators that are zero in all rows."""
        return tuple(j for j in range(len(self.names)) if self.matrix[j][j] or not self.indicators[j])

    @property
    def kept_names(self) -> tuple[str, ...]:
        return tuple(self.names[j] for j in self.kept)

    @property
    def empty(self) -> tuple[str, ...]:
        """Categories that no row has."""
        return tuple(name for j, name in enumerate(self.names) if j not in self.kept)

    @property
    def df_resid(self) -> int:
        return self.rows - len(self.kept) - self.groups

    @cached_property
    def orthogonal(self) -> Orthogonal:
        """The regressors that are kept, and the response, made orthogonal one after the other."""
        if self.rows < len(self.kept) + self.groups:
            raise InvalidData(
                f"There are {self.rows} rows for {len(self.kept) + self.groups} coefficients.",
                "Fewer rows than coefficients do not determine them.",
                "Add parties with more rows, or use fewer regressors.",
            )
        places = (*self.kept, len(self.names))
        try:
            taken = [[self.matrix[i][j] for j in places] for i in places]
            found = orthogonalised(taken, tolerance=self.tolerance, precision=PRECISION)
        except Dependent as one:
            others = "a combination of the regressors before it, up to rounding" if one.place else "zero"
            within = ", after each party's mean is subtracted" if self.groups else ""
            name = self.kept_names[one.place]
            raise InvalidData(
                f"The regressors are collinear in the pooled rows: {name!r} is {others}{within}.",
                "Then more than one set of coefficients fits the rows equally well.",
                "Leave that regressor out of the formula.",
            ) from None
        if found.residual < -self.tolerance:
            raise not_of_rows("The sum of squared residuals would be negative.")
        return replace(found, squares=(*found.squares[:-1], max(found.residual, Fraction(0))))  # but for rounding

    @cached_property
    def has_constant(self) -> bool:
        """Whether some combination of the regressors is the same in all rows."""
        if self.has_intercept or self.groups:
            return True
        assert self.totals is not None
        inner = [[*(self.matrix[i][j] for j in self.kept), self.totals[i]] for i in self.kept]
        last = [*(self.totals[i] for i in self.kept), self.rows]
        return orthogonalised([*inner, last]).residual == 0

    # In the units of the columns.

    def _unit(self, place: int) -> Fraction:
        return Fraction(1, 1 << self.bits[place])

    @cached_property
    def params(self) -> Floats:
        of_response = self._unit(-1)
        pairs = zip(self.kept, self.orthogonal.coefficients, strict=True)
        return np.array([float(value * of_response / self._unit(j)) for j, value in pairs])

    @cached_property
    def residual(self) -> Fraction:
        """The residual sum of squares."""
        return self.orthogonal.residual * self._unit(-1) ** 2 / (1 << self.extra)

    @cached_property
    def within(self) -> Fraction:
        """The sum of squares of the response, around each party's mean where parties have effects."""
        return self.matrix[-1][-1] * self._unit(-1) ** 2 / (1 << self.extra)

    @cached_property
    def total(self) -> Fraction:
        """The sum of squares of the response, around its mean if there is a constant."""
        first, second = self.response_sums
        centred = second - Fraction(first * first, self.rows) if self.has_constant else Fraction(second)
        return centred * self._unit(-1) ** 2

    @cached_property
    def directions(self) -> Floats:
        """Rows t_k: the combinations sum_j t_kj x_j of the regressors are orthonormal over the rows.

        The inverse of the regressors' Gram matrix is T'T, with T these rows.
        """
        return self._normalised[:-1, :-1]

    @cached_property
    def residual_direction(self) -> Floats:
        """The combination of regressors and response that is the residual over sqrt(residual / rows)."""
        scaled: Floats = self._normalised[-1] * math.sqrt(self.rows)
        return scaled

    @cached_property
    def _normalised(self) -> Floats:
        places = (*self.kept, len(self.names))
        made = np.zeros((len(places), len(places)))
        for k, (row, square) in enumerate(zip(self.orthogonal.rows, self.orthogonal.squares, strict=True)):
            unit = self._unit(places[k])
            length = math.sqrt(square * unit**2 / (1 << self.extra))
            for j, weight in enumerate(row):
                value = float(weight * unit / self._unit(places[j]))
                made[k, j] = value / length if length else math.nan
        return made

    @cached_property
    def projections(self) -> Floats:
        """The response's products with the orthonormal combinations of the regressors."""
        made = []
        for square, product in zip(self.orthogonal.squares[:-1], self.orthogonal.products[:-1], strict=True):
            length = math.sqrt(square / (1 << self.extra))
            made.append(float(product * self._unit(-1) / (1 << self.extra)) / length)
        return np.array(made)

    @cached_property
    def means(self) -> tuple[Fraction, ...]:
        """Of the kept regressors and the response."""
        assert self.totals is not None
        places = (*self.kept, len(self.names))
        return tuple(Fraction(self.totals[j], self.rows) * self._unit(j) for j in places)

    @cached_property
    def gram(self) -> Floats:
        """The sums of products of the kept regressors."""
        scale = Fraction(1, 1 << self.extra)
        return np.array(
            [[float(self.matrix[i][j] * scale * self._unit(i) * self._unit(j)) for j in self.kept] for i in self.kept]
        )

    @property
    def condition_number(self) -> float:
        """The largest over the smallest singular value of the matrix of regressors."""
        return math.sqrt(np.linalg.eigvalsh(self.gram)[-1]) * float(np.linalg.norm(self.directions, 2))
