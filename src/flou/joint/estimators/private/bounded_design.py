"""The matrix of a regression for private sums: rows are clamped or left out, never refused.

Clamped    numbers are moved to the nearest one that the schema allows (whole numbers are rounded first), and what a
           formula computes from them to the bounds that follow
Left out   rows with a missing value, a category that is not declared, or a value that the formula does not have (the
           logarithm of 0)
Why        each row is treated for itself, so that one row more or less changes its own part of a sum and nothing else
Refusals   of the formula and the schema alone: columns without bounds have no sensitivity
Limits     functions such as log are taken to give the same number wherever a row stands in a batch
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from flou.arrays import Floats
from flou.domain import Schema
from flou.errors import InvalidParameter
from flou.joint.estimators.design.coded_columns import LARGEST, DesignColumn, public_levels
from flou.joint.estimators.design.design import RegressionDesign
from flou.joint.estimators.party_rows import Batch
from flou.joint.estimators.private.row_by_row import PublicCategories, read_numbers
from flou.parameters import shown

__all__ = ["BoundedDesign", "UnitScale"]


class BoundedDesign(RegressionDesign):
    """What a formula makes of rows whose columns all have public bounds."""

    def __init__(self, formula: str, schema: Schema | Mapping[str, Any] | None) -> None:
        super().__init__(formula, schema)
        if not self.columns:
            raise InvalidParameter(
                f"The formula {shown(formula)} reads no column.",
                "Without rows there is nothing to protect and nothing to estimate.",
                "Write for example 'wage ~ age'.",
            )
        for column in self.all_columns:
            if not column.extent.declared or column.extent.size >= LARGEST:
                raise InvalidParameter(
                    f"{shown(column.name)} has no bounds.",
                    "One row could move the sums without limit, and no noise would hide it.",
                    "Declare every column in the schema, for example age=flou.Interval(0, 120), and do not divide by "
                    "what may be zero.",
                )
        categories = {name for column in self.all_columns for name, _ in column.levels}
        self._levels = {name: PublicCategories(public_levels(name, self.schema)) for name in sorted(categories)}

    @property
    def all_columns(self) -> tuple[DesignColumn, ...]:
        """The regressors, and the response as the last one."""
        return self._all.columns

    def clamped(self, batch: Batch) -> Floats:
        """The matrix with the response as its last column, of the rows that are not left out."""
        rows = len(batch[self.columns[0]])
        kept = np.ones(rows, dtype=bool)
        expressions = {number.text: number for column in self.all_columns for number in column.numbers}
        raw = {}
        for name in dict.fromkeys(name for number in expressions.values() for name in number.columns):
            raw[name] = self._within(name, read_numbers(batch[name]))
            kept &= ~np.isnan(raw[name])
        values = {text: number.values(raw) for text, number in expressions.items()}
        places = {name: levels.places(batch[name]) for name, levels in self._levels.items()}
        for place in places.values():
            kept &= place >= 0
        made = np.ones((len(self.all_columns), rows))
        for column, product in zip(self.all_columns, made, strict=True):
            with np.errstate(all="ignore"):  # in rows that are left out
                for number in column.numbers:
                    product *= values[number.text]
                for name, level in column.levels:
                    product *= places[name] == level
            kept &= np.isfinite(product)
            np.clip(product, column.extent.lower, column.extent.upper, out=product)
        return (made if kept.all() else made[:, kept]).T

    def _within(self, name: str, values: Floats) -> Floats:
        """The nearest numbers that the schema allows."""
        assert self.schema is not None
        numbers = self.schema[name].numbers
        assert numbers is not None
        return np.clip(np.rint(values) if numbers.whole else values, *numbers.bounds)


@dataclass(frozen=True)
class UnitScale:
    """Coordinates in which public bounds become -1 and 1: the middle and the half-width of each column.

    With an intercept, z = (x - middle) / half, of the response as well; without one nothing is centred, and z is x
    divided by the largest size that the bounds allow. The intercept stays 1.
    """

    has_intercept: bool
    middle: tuple[float, ...]
    half: tuple[float, ...]
    response_middle: float = 0.0
    response_half: float = 1.0

    @classmethod
    def of(cls, design: BoundedDesign, *, with_response: bool) -> UnitScale:
        """From public bounds; without ``with_response`` the response keeps its units."""
        first = design.has_intercept
        bounds = list(zip(design.names, design.bounds(), strict=True))[int(first) :]
        pairs = [*[(0.0, 1.0)] * first, *(_unit(name, ends, first) for name, ends in bounds)]
        response = _unit(design.response, design.response_bounds, first) if with_response else (0.0, 1.0)
        middle, half = zip(*pairs, strict=True)
        return cls(first, middle, half, *response)

    def regressors(self, X: Floats) -> Floats:
        """The regressors as numbers from -1 to 1."""
        z: Floats = X - np.array(self.middle)
        z /= np.array(self.half)
        return np.clip(z, -1.0, 1.0, out=z)

    def response(self, y: Floats) -> Floats:
        z: Floats = np.clip((y - self.response_middle) / self.response_half, -1.0, 1.0)
        return z

    @property
    def jacobian(self) -> Floats:
        """The derivative of the coefficients of x with respect to those of z."""
        slopes = self.response_half / np.array(self.half)
        found = np.diag(slopes)
        if self.has_intercept:
            found[0, 1:] = -slopes[1:] * np.array(self.middle[1:])
        return found

    def params(self, b: Floats) -> Floats:
        """The coefficients in units of the columns."""
        found: Floats = self.jacobian @ b
        if self.has_intercept:
            found[0] += self.response_middle
        return found

    def covariance(self, matrix: Floats) -> Floats:
        moved: Floats = self.jacobian @ matrix @ self.jacobian.T
        return moved


def _unit(name: str, ends: Sequence[float], centred: bool) -> tuple[float, float]:
    lower, upper = ends
    middle = lower + (upper - lower) / 2 if centred else 0.0
    half = (upper - lower) / 2 if centred else max(abs(lower), abs(upper))
    if not half > 0:
        raise InvalidParameter(
            f"The bounds of {shown(name)} allow only one value.",
            "A constant column cannot be a regressor or a response.",
            "Leave it out of the formula, or declare wider bounds.",
        )
    return middle, half
