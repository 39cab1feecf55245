"""Ridge, lasso and elastic net from the sums that a linear regression has opened: no further round.

Rule      with n rows, coefficients w and an intercept b that is not penalised,
          ridge        min |y - b - Xw|^2 + alpha |w|^2
          elastic net  min |y - b - Xw|^2 / (2n) + alpha l1_ratio |w|_1 + alpha (1 - l1_ratio) |w|^2 / 2
          lasso        the elastic net with l1_ratio = 1; these are the objectives of scikit-learn
Numerics  the ridge is an exact rational solution. For the others coordinate descent on the correlations finds which
          coefficients are zero and the signs of the rest, whose equations are then solved exactly and the conditions of
          Karush, Kuhn and Tucker checked; where collinear regressors leave a choice, descent has the last word
Source    Hoerl and Kennard (1970); Tibshirani (1996); Friedman, Hastie and Tibshirani (2010)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from flou.arrays import Floats
from flou.errors import InvalidParameter
from flou.joint.estimators.design.design import RegressionDesign
from flou.joint.estimators.fit import TabledFit
from flou.joint.estimators.linear.exact_solve import Dependent, orthogonalised
from flou.joint.estimators.linear.linear_sums import LinearSums
from flou.joint.estimators.summary_table import SummaryTable, decimal
from flou.parameters import Number, exact, is_number, probability, shown

if TYPE_CHECKING:
    from flou.joint.estimators.linear.linear_fit import LinearFit

__all__ = ["PenalisedFit", "elastic_net", "no_levels", "ridge"]


SWEEPS = 20_000
STEPS = (1e-7, 1e-10, 1e-13, 1e-15)  # changes after which the signs are tried
SLACK = 1e-9  # relative, of the conditions on coefficients that are zero


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PenalisedFit(TabledFit):
    """Coefficients that a penalty has drawn towards zero; they have no standard errors."""

    design: RegressionDesign
    names: tuple[str, ...]
    params: Floats
    alpha: float
    l1_ratio: float
    nobs: int
    predicts: bool

    @property
    def nonzero(self) -> tuple[str, ...]:
        """The regressors whose coefficients are not zero."""
        return tuple(name for name, value in zip(self.names, self.params, strict=True) if value)

    def predict(self, frame: Any) -> Floats:
        """The response that the coefficients expect for these rows; not a number where a value is missing."""
        if not self.predicts:
            raise no_levels()
        return self.design.predicted(range(len(self.names)), self.params, frame)

    def to_dict(self) -> dict[str, float]:
        return dict(zip(self.names, map(float, self.params), strict=True))

    def table(self) -> SummaryTable:
        kind = {0.0: "Ridge", 1.0: "Lasso"}.get(self.l1_ratio, "Elastic Net")
        left = [("Dep. Variable", self.design.response), ("No. Observations", str(self.nobs))]
        right = [("alpha", f"{self.alpha:g}"), ("l1_ratio", f"{self.l1_ratio:g}")]
        rows = [[name, decimal(float(value), 4)] for name, value in zip(self.names, self.params, strict=True)]
        facts = self._provenance_facts(self.nobs)
        return SummaryTable(f"{kind} Regression Results", left, right, ("coef",), rows, facts)


def no_levels() -> InvalidParameter:
    return InvalidParameter(
        "A regression with effects of parties predicts no levels.",
        "The level of each party was never opened.",
        "Add frame @ params to a level of your own, or fit without fixed_effects.",
    )


class _Centred:
    """Sums of products around the means, times a common whole number; the intercept is no regressor here."""

    def __init__(self, sums: LinearSums) -> None:
        self.sums = sums
        last = len(sums.names)
        self.places = list(range(int(sums.has_intercept), last))
        totals = sums.totals if sums.has_intercept and sums.totals is not None else None
        self.common = sums.rows if totals is not None else 1
        taken = totals or (0,) * (last + 1)
        every = (*self.places, last)
        self.matrix = [[self.common * sums.matrix[i][j] - taken[i] * taken[j] for j in every] for i in every]
        self.bits = [sums.bits[j] for j in every]

    def solved(self, active: Sequence[int], square: Fraction, signs: Sequence[int], size: Fraction) -> list[Fraction]:
        """The coefficients w with S w + square w = s - size signs, of the active regressors."""
        extra, below = self.sums.extra, square.denominator * size.denominator
        scale = self.common * below
        matrix = [[below * self.matrix[i][j] for j in (*active, -1)] for i in (*active, -1)]
        for place, (i, sign) in enumerate(zip(active, signs, strict=True)):
            matrix[place][place] += int(square * scale) << (2 * self.bits[i] + extra)
            moved = int(size * scale) * sign << (self.bits[i] + self.bits[-1] + extra)
            matrix[place][-1] -= moved
            matrix[-1][place] -= moved
        found = orthogonalised(matrix, tolerance=self.sums.tolerance * scale).coefficients
        return [value * Fraction(2) ** (self.bits[i] - self.bits[-1]) for i, value in zip(active, found, strict=True)]

    def floats(self) -> tuple[Floats, Floats, Floats]:
        """Correlations of the regressors, theirs with the response, and their deviations, the response's last."""
        unit = [
            Fraction(1, (self.common * max(self.sums.rows, 1)) << (2 * bits + self.sums.extra)) for bits in self.bits
        ]
        deviations = np.array([math.sqrt(self.matrix[j][j] * unit[j]) for j in range(len(self.bits))])
        lengths = [math.isqrt(self.matrix[j][j] << 128) or 1 for j in range(len(self.bits))]
        correlations = np.array(
            [
                [(entry << 128) / (a * b) for entry, b in zip(row, lengths, strict=True)]
                for row, a in zip(self.matrix, lengths, strict=True)
            ]
        )
        return correlations[:-1, :-1], correlations[:-1, -1], deviations


def ridge(fit: LinearFit, alpha: Number) -> PenalisedFit:
    """Least squares plus alpha times the squares of the coefficients."""
    centred, weight = _Centred(fit.sums), _penalty(alpha)
    every = range(len(centred.places))
    try:
        found = centred.solved(every, weight, [0] * len(every), Fraction(0))
    except Dependent:
        fit.sums.orthogonal  # noqa: B018  says which regressor is collinear: without a penalty nothing is determined
        raise
    return _fit(fit, found, float(weight), 0.0)


def elastic_net(fit: LinearFit, alpha: Number, l1_ratio: Number) -> PenalisedFit:
    """Least squares over 2n plus penalties on sizes and squares."""
    weight, share = _penalty(alpha), probability("l1_ratio", l1_ratio)
    centred, rows = _Centred(fit.sums), fit.sums.rows
    sizes, squares = weight * share, weight * (1 - share)
    correlations, along, deviations = centred.floats()
    scale = np.where(deviations[:-1] > 0, deviations[:-1], 1.0)
    thresholds = np.divide(float(sizes), scale * (deviations[-1] or 1.0))
    shrink = float(squares) / scale**2
    v = np.zeros(len(scale))
    found: list[Fraction] | None = None
    for step in STEPS:
        v = _descended(correlations, along, thresholds, shrink, v, step)
        active = [int(j) for j in np.flatnonzero(v)]
        signs = [int(sign) for sign in np.sign(v[active])]
        try:
            exactly = centred.solved(active, rows * squares, signs, rows * sizes)
        except Dependent:
            continue
        trial = np.zeros(len(v))
        trial[active] = np.array([float(value) for value in exactly]) * scale[active] / (deviations[-1] or 1.0)
        slope = along - correlations @ trial
        zero = np.setdiff1d(np.arange(len(v)), active)
        kept = all(value * sign >= 0 for value, sign in zip(exactly, signs, strict=True))
        if kept and np.all(np.abs(slope[zero]) <= thresholds[zero] * (1 + SLACK) + 1e-15):
            found = [Fraction(0)] * len(v)
            for j, value in zip(active, exactly, strict=True):
                found[j] = value
            break
    if found is None:
        found = [Fraction(float(value)) for value in v * (deviations[-1] or 1.0) / scale]
    return _fit(fit, found, float(weight), float(share))


def _descended(
    correlations: Floats, along: Floats, thresholds: Floats, shrink: Floats, start: Floats, step: float
) -> Floats:
    """Coordinate descent until no coefficient of the standardised problem moves by more than ``step``."""
    v = start.copy()
    slope = along - correlations @ v
    own = np.diag(correlations)
    for _ in range(SWEEPS):
        moved = 0.0
        for j in np.flatnonzero(own > 0):
            raw = slope[j] + own[j] * v[j]
            new = math.copysign(max(abs(raw) - thresholds[j], 0.0), raw) / (own[j] + shrink[j])
            if new != v[j]:
                slope -= correlations[:, j] * (new - v[j])
                moved = max(moved, abs(new - v[j]))
                v[j] = new
        if moved <= step:
            break
    return v


def _penalty(alpha: Any) -> Fraction:
    if not is_number(alpha) or alpha < 0:
        raise InvalidParameter(
            f"alpha must be a number of at least 0, got {shown(alpha)}.",
            "It is the weight of the penalty; a negative one would reward large coefficients.",
            "Pass for example alpha=1.0.",
        )
    return exact(alpha)


def _fit(fit: LinearFit, slopes: Sequence[Fraction], alpha: float, l1_ratio: float) -> PenalisedFit:
    sums, params = fit.sums, list(slopes)
    if sums.has_intercept:
        assert sums.totals is not None
        means = [Fraction(total, max(sums.rows, 1) << bits) for total, bits in zip(sums.totals, sums.bits, strict=True)]
        explained = sum((slope * mean for slope, mean in zip(slopes, means[1:-1], strict=True)), Fraction(0))
        params = [means[-1] - explained, *params]
    return PenalisedFit(
        provenance=fit.provenance,
        design=fit.design,
        names=sums.names,
        params=np.array([float(value) for value in params]),
        alpha=alpha,
        l1_ratio=l1_ratio,
        nobs=sums.rows,
        predicts=not sums.groups,
    )
