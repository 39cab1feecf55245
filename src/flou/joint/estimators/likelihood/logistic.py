"""Logistic regression over the rows of all parties: Newton's method, a point a round.

Model      P[y = 1] = 1 / (1 + exp(-X beta)), y being 0 or 1, or a truth value
Rounds     1  n, and the sums, squares and products of the regressors and the response, exactly. They give public
              coordinates (``coordinates.py``) and, because it depends on nothing else, the whole first Newton step from
              the model without regressors
           2+ the log-likelihood, its score and its information at one point. A step that leads down is halved, which
              costs one round more. Ordinary data need 5 to 8 rounds in all
Opens      with d coefficients, one of them the intercept, 1 + d (d + 3)/2 numbers a round, the first included (which
           opens d + 2 more without an intercept)
Parties    who leaves is missing from the next point on: the walk goes on from there, and everything that is reported
           is about the parties of the last point; n and the sum of y are opened again for them (2 numbers)
Separation when the log-likelihood exceeds -log 2, every row has a likelihood above 1/2, and the regressors separate
           the responses without exception: a maximum does not exist. When a step of 1e-5 standard errors still moves a
           coefficient by a thousandth, and the information along it is a millionth of what it was at the start (or
           singular), some combination of regressors separates a part of the rows, or all but does: sums cannot tell
           which. Both end the walk, cap the coefficients where they are, and are reported
Numerics   parties compute in doubles and round to 2^-64; the public part is the same on every machine, but for the last
           digit of the logarithm at the start
Limits     d (d + 3)/2 numbers a round say more than the coefficients: demand many more rows than numbers
Source     McCullagh, Nelder (1989); Albert, Anderson (1984) on separation
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from flou.arrays import Floats
from flou.errors import InvalidData, ProtocolError
from flou.joint.estimators.design.design import RegressionDesign
from flou.joint.estimators.likelihood.cholesky import Cholesky, dot, symmetric
from flou.joint.estimators.likelihood.coordinates import MOMENT_WORDS, Coordinates, RawMoments, moment_columns
from flou.joint.estimators.likelihood.fixed_point import FixedPoint
from flou.joint.estimators.likelihood.logistic_fit import LogisticFit
from flou.joint.estimators.likelihood.newton import Ascent, OpenedPoint, ascended
from flou.joint.estimators.party_rows import PartyRows
from flou.joint.estimators.program import Ask, Opened, Program
from flou.parameters import integer

__all__ = ["LogisticRegression", "LogisticStart"]


@dataclass(frozen=True, eq=False)
class LogisticStart:
    """The first round, taken apart."""

    moments: RawMoments
    ones: int  # rows with response 1
    coordinates: Coordinates
    point: OpenedPoint
    problem: InvalidData | None

    @classmethod
    def of(cls, design: RegressionDesign, first: Opened) -> LogisticStart:
        moments = RawMoments.opened(moment_columns(design), True, first.sums)
        coordinates = Coordinates.of(moments, design)
        ones = round(moments.sums[-1])  # a mean of zeros and ones is rounded, so this is a whole number but for 2^-50
        if not 0 < ones < moments.n:
            nowhere = OpenedPoint(np.zeros(0), -math.inf, np.zeros(0), np.zeros((0, 0)), first.parties)
            return cls(moments, ones, coordinates, nowhere, _one_value(design.response))
        point = _null_point(moments, ones, coordinates, design.has_intercept, first.parties)
        column = Cholesky.dependent(point.information)
        problem = None if column is None else _collinear(design.names[coordinates.kept[column]])
        return cls(moments, ones, coordinates, point, problem)


def _null_point(
    moments: RawMoments, ones: int, coordinates: Coordinates, intercept: bool, parties: tuple[str, ...]
) -> OpenedPoint:
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
    return OpenedPoint(
        at=at,
        value=ones * math.log(p) + (n - ones) * math.log1p(-p),
        score=np.array([0.0, *score][1 - intercept :]) * powers,
        information=gram * powers * powers[:, None] * (p * (1 - p)),
        parties=parties,
    )


def _one_value(response: str) -> InvalidData:
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


WORDS = FixedPoint(fraction=64, bound=2**96)
ROUNDS = 25
BLOCK = 1 << 14  # rows at a time, which stay in a cache
RUNAWAY, COLLAPSED, GROWING = 1e-5, 1e-6, 1e-3  # see Separation above


@dataclass(frozen=True, eq=False)
class _State:
    """What the opened sums say so far."""

    walk: Ascent
    counts: dict[tuple[str, ...], tuple[int, int]]  # for each set of parties: rows, and rows with response 1
    separation: str  # "", "complete" or "partial"

    @property
    def ended(self) -> bool:
        return bool(self.separation) or self.walk.arrived or self.walk.stuck

    @property
    def counted(self) -> bool:
        return self.walk.best.parties in self.counts


class LogisticRegression(Program):
    """The maximum of the likelihood of a response of zeros and ones."""

    estimator, _required, _optional = "logit", ("formula",), ("schema", "max_rounds")

    def __init__(self, formula: str, schema: Any = None, *, max_rounds: int = ROUNDS) -> None:
        self.design = RegressionDesign(formula, schema)
        self.max_rounds = integer("max_rounds", max_rounds, 2, 1000)
        self._known: tuple[Opened, LogisticStart] | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        return self.design.columns

    @property
    def scalars(self) -> int:
        first = RawMoments.length(moment_columns(self.design), full=True)
        return first + (self.max_rounds - 1) * (_length(len(self.design.names)) + 2)

    def _start(self, opened: Sequence[Opened]) -> LogisticStart:
        """The first round, taken apart once."""
        if self._known is None or self._known[0] != opened[0]:
            self._known = opened[0], LogisticStart.of(self.design, opened[0])
        return self._known[1]

    def next(self, opened: Sequence[Opened]) -> Ask | None:
        if not opened:
            return Ask("moments", RawMoments.length(moment_columns(self.design), full=True), MOMENT_WORDS.limit)
        start = self._start(opened)
        if start.problem is not None or len(opened) >= self.max_rounds:
            return None
        state = self._state(opened)
        if state.ended and state.counted:
            return None
        stay = state.ended and not state.walk.arrived
        there = state.walk.best.at if stay else state.walk.next
        asked = {"b": there.tolist(), "counts": not state.counted, **start.coordinates.parameters()}
        return Ask("point", _length(len(there)) + 2 * (not state.counted), WORDS.limit, asked)

    def words(self, ask: Ask, rows: PartyRows) -> list[int]:
        parts = ((X, self._response(y)) for X, y in map(self.design.matrix, rows.batches(self.columns)))
        if ask.step == "moments":
            return RawMoments.of_design(self.design, True, parts).words()
        coordinates, b = Coordinates.from_parameters(ask.parameters), np.array(ask.parameters["b"])
        total, ones, n = np.zeros(_length(len(b))), 0, 0
        for X, y in parts:
            n, ones = n + len(y), ones + int(y.sum())
            for start in range(0, len(y), BLOCK):
                block = slice(start, start + BLOCK)
                total += _likelihood(coordinates.moved(X[block]), y[block], b)
        return WORDS.words([*total.tolist(), *([n, ones] if ask.parameters["counts"] else [])])

    def _response(self, y: Floats) -> Floats:
        if not np.all((y == 0) | (y == 1)):
            raise InvalidData(
                f"The response {self.design.response!r} holds other numbers than 0 and 1.",
                "A logistic regression needs a response with two values.",
                "Recode the response as 0 and 1, or as truth values.",
            )
        return y

    def _state(self, opened: Sequence[Opened]) -> _State:
        start = self._start(opened)
        counts = {opened[0].parties: (start.moments.n, start.ones)}
        points = [start.point]
        for past in opened[1:]:
            numbers, b = WORDS.numbers(past.sums), np.array(past.ask.parameters["b"])
            points.append(_point(b, numbers[: _length(len(b))], past.parties))
            if past.ask.parameters["counts"]:
                counts[past.parties] = (round(numbers[-2]), round(numbers[-1]))
        walked = ascended(points)
        return _State(walked, counts, _separation(walked, start.point))

    def result(self, opened: Sequence[Opened]) -> LogisticFit:
        start = self._start(opened)
        if start.problem is not None:
            raise start.problem
        state, coordinates = self._state(opened), start.coordinates
        walked, best = state.walk, state.walk.best
        if not state.counted:
            raise ProtocolError(
                "Parties have left in the last of the agreed rounds.",
                "The number of rows of those who remain was not opened.",
                "Fit again among the parties that remain, or allow more rounds.",
            )
        n, ones = state.counts[best.parties]
        if not 0 < ones < n:
            raise _one_value(self.design.response)
        gone = np.flatnonzero(~(np.diag(best.information) > 0))
        if gone.size:
            name = self.design.names[coordinates.kept[gone[0]]]
            raise InvalidData(
                f"The regressor {name!r} is zero in all rows of the parties that remain.",
                "The parties that left held all rows that determine this coefficient.",
                "Fit again among the parties that remain.",
            )
        factors = Cholesky.of(best.information)
        covariance = np.full(best.information.shape, math.nan) if factors is None else factors.inverse()
        first = int(self.design.has_intercept)
        means = [1.0 if j < first else float(start.moments.mean(j - first)) for j in coordinates.kept]
        return LogisticFit(
            design=self.design,
            kept=coordinates.kept,
            names=tuple(self.design.names[j] for j in coordinates.kept),
            params=coordinates.params((walked.end if walked.arrived else best.at).tolist()),
            cov_params=coordinates.covariance(covariance),
            nobs=n,
            llf=walked.value if walked.arrived else best.value,
            llnull=ones * math.log(ones / n) + (n - ones) * math.log1p(-ones / n),
            converged=walked.arrived and not state.separation,
            separation=state.separation,
            means=np.array(means) if best.parties == opened[0].parties else None,
        )

    def terms(self) -> dict[str, Any]:
        return {**self.design.terms(), "max_rounds": self.max_rounds}


def _length(size: int) -> int:
    """Numbers that are opened at a point."""
    return 1 + size * (size + 3) // 2


def _likelihood(Z: Floats, y: Floats, b: Floats) -> Floats:
    """The log-likelihood, the score, and the upper triangle of the information."""
    sign = 2 * y - 1
    margin = sign * (Z @ b)
    rare = np.exp(-np.abs(margin))
    wrong = np.where(margin > 0, rare, 1.0) / (1 + rare)
    value = -np.sum(np.log1p(rare) + np.maximum(-margin, 0.0))
    score = Z.T @ (sign * wrong)
    information = (Z * (rare / (1 + rare) ** 2)[:, None]).T @ Z
    return np.concatenate([[value], score, information[np.triu_indices(len(b))]])


def _point(at: Floats, numbers: Floats, parties: tuple[str, ...]) -> OpenedPoint:
    value, score, information = float(numbers[0]), *np.split(numbers[1:], [len(at)])
    return OpenedPoint(at, value, score, symmetric(information, len(at)), parties)


def _separation(walked: Ascent, start: OpenedPoint) -> str:
    best, step = walked.best, walked.step
    if best.value > -math.log(2) + 1e-9:
        return "complete"
    if best is start:
        return ""
    if Cholesky.of(best.information) is None:
        return "partial"
    at_start = dot(step, np.array([dot(row, step) for row in start.information]))
    collapsed = walked.decrement <= RUNAWAY and walked.decrement**2 < COLLAPSED * at_start
    return "partial" if collapsed and np.any(np.abs(step) > GROWING * np.abs(best.at)) else ""
