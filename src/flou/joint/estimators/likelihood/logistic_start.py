"""The first round of a logistic regression: coordinates, the model without regressors, or why there is no estimate."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from flou.errors import InvalidData
from flou.joint.estimators.design.design import Design
from flou.joint.estimators.likelihood.cholesky import Cholesky
from flou.joint.estimators.likelihood.coordinates import Coordinates
from flou.joint.estimators.likelihood.newton import Point
from flou.joint.estimators.likelihood.raw_moments import RawMoments
from flou.joint.estimators.program import Opened

__all__ = ["LogisticStart", "moment_columns", "one_value"]


def moment_columns(design: Design) -> int:
    """The regressors but for the intercept, and the response."""
    return len(design.names) - design.has_intercept + 1


@dataclass(frozen=True, eq=False)
class LogisticStart:
    """The first round, taken apart."""

    moments: RawMoments
    ones: int  # rows with response 1
    coordinates: Coordinates
    point: Point
    problem: InvalidData | None

    @classmethod
    def of(cls, design: Design, first: Opened) -> LogisticStart:
        moments = RawMoments.opened(moment_columns(design), True, first.sums)
        coordinates = Coordinates.of(moments, design)
        ones = round(moments.sums[-1])  # a mean of zeros and ones is rounded, so this is a whole number but for 2^-50
        if not 0 < ones < moments.n:
            nowhere = Point(np.zeros(0), -math.inf, np.zeros(0), np.zeros((0, 0)), first.parties)
            return cls(moments, ones, coordinates, nowhere, one_value(design.response))
        point = null_point(moments, ones, coordinates, design.has_intercept, first.parties)
        column = Cholesky.dependent(point.information)
        problem = None if column is None else _collinear(design.names[coordinates.kept[column]])
        return cls(moments, ones, coordinates, point, problem)


def null_point(
    moments: RawMoments, ones: int, coordinates: Coordinates, intercept: bool, parties: tuple[str, ...]
) -> Point:
    """The point without regressors follows from the moments, because all probabilities are the same there."""
    n = moments.n
    share = Fraction(ones, n) if intercept else Fraction(1, 2)
    p = float(share)
    rest = [j - intercept for j in coordinates.kept[intercept:]]
    centre = dict(zip(rest, map(Fraction, coordinates.centre[intercept:]), strict=True))
    around = moments.about([*(centre.get(j, Fraction(0)) for j in range(moments.columns - 1)), share])
    gram = np.array([[float(around[j, k]) for k in rest] for j in rest]).reshape(len(rest), len(rest))
    score = [float(around[j, moments.columns - 1]) for j in rest]
    if intercept:
        left = [float(moments.sums[j] - n * centre[j]) for j in rest]
        gram = np.block([[np.array([[n]]), np.array([left])], [np.array([left]).T, gram]])
    powers = np.ldexp(1.0, -np.array(coordinates.exponent))
    at = np.array([math.log(p / (1 - p)), *[0.0] * len(rest)][1 - intercept :])
    return Point(
        at=at,
        value=ones * math.log(p) + (n - ones) * math.log1p(-p),
        score=np.array([0.0, *score][1 - intercept :]) * powers,
        information=gram * powers * powers[:, None] * (p * (1 - p)),
        parties=parties,
    )


def one_value(response: str) -> InvalidData:
    return InvalidData(
        f"The response {response!r} is the same in all rows, or there are no rows.",
        "Then no coefficient is finite.",
        "Choose another response, or look for the parties whose rows are missing.",
    )


def _collinear(name: str) -> InvalidData:
    return InvalidData(
        f"The regressors are collinear in the pooled rows: {name!r} is constant or a combination of those before it.",
        "Then more than one set of coefficients fits the rows equally well.",
        "Leave that regressor out of the formula.",
    )
