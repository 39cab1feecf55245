"""Coordinates in which public bounds become -1 and 1.

Rule       with an intercept, z = (x - middle) / half, of the response as well; without one nothing is centred, and z is
           x divided by the largest size that the bounds allow. The intercept stays 1
Back       coefficients b of z are coefficients J b + shift of x, see :meth:`UnitScale.params`
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from flou.arrays import Floats
from flou.errors import InvalidParameter
from flou.joint.estimators.private.bounded_design import BoundedDesign
from flou.parameters import shown

__all__ = ["UnitScale"]


@dataclass(frozen=True)
class UnitScale:
    """The middle and the half-width of each regressor, and of the response."""

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
            f"The bounds of {shown(name)} leave it one value only.",
            "A constant explains nothing, and nothing explains it.",
            "Leave it out of the formula, or declare wider bounds.",
        )
    return middle, half
