"""A linear regression's result, with the names that econometricians know from statsmodels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import fdtrc, stdtr, stdtrit

from flou.arrays import Floats
from flou.joint.estimators.coefficients import Coefficients
from flou.joint.estimators.design.design import RegressionDesign
from flou.joint.estimators.linear.linear_sums import LinearSums
from flou.joint.estimators.linear.penalised import PenalisedFit, elastic_net, no_levels, ridge
from flou.joint.estimators.linear.robust import correction
from flou.joint.estimators.summary_table import SummaryTable, decimal
from flou.parameters import Number

__all__ = ["LinearFit"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LinearFit(Coefficients):
    """Coefficients, their errors, and how well they fit."""

    design: RegressionDesign
    sums: LinearSums
    cov_type: str
    meat: Floats | None
    clusters: int | None

    @property
    def names(self) -> tuple[str, ...]:
        """Of the coefficients; categories that no row has are left out, see ``empty``."""
        return self.sums.kept_names

    @property
    def empty(self) -> tuple[str, ...]:
        """Columns of categories that no row has."""
        return self.sums.empty

    @property
    def params(self) -> Floats:
        return self.sums.params

    @property
    def nobs(self) -> int:
        return self.sums.rows

    @property
    def k_constant(self) -> int:
        return int(self.sums.has_constant)

    @property
    def df_model(self) -> int:
        return len(self.names) + self.sums.groups - self.k_constant

    @property
    def df_resid(self) -> int:
        return self.sums.df_resid

    @property
    def ssr(self) -> float:
        """The residual sum of squares."""
        return float(self.sums.residual)

    @property
    def scale(self) -> float:
        """The variance of the errors."""
        return float(self.sums.residual / self.df_resid) if self.df_resid else math.nan

    @cached_property
    def _meat(self) -> Floats:
        """The covariance in coordinates in which the regressors are orthonormal."""
        if self.cov_type == "nonrobust":
            return np.eye(len(self.names)) * self.scale
        if self.meat is None:  # the regressors explain everything
            return np.zeros((len(self.names), len(self.names)))
        factor = float(self.sums.residual / self.nobs) * correction(self.cov_type, self.sums, self.clusters)
        return np.multiply(self.meat, factor)

    @cached_property
    def cov_params(self) -> Floats:
        """The covariance of the coefficients."""
        return self.sums.directions.T @ self._meat @ self.sums.directions

    @property
    def use_t(self) -> bool:
        """Whether the coefficients follow Student's law; with robust errors the normal law is used."""
        return self.cov_type == "nonrobust"

    @property
    def _letter(self) -> str:  # type: ignore[override]
        return "t" if self.use_t else "z"

    def _below(self, statistic: Floats) -> Floats:
        return np.asarray(stdtr(self.df_resid, statistic)) if self.use_t else super()._below(statistic)

    def _quantile(self, probability: float) -> float:
        return float(stdtrit(self.df_resid, probability)) if self.use_t else super()._quantile(probability)

    @property
    def rsquared(self) -> float:
        return float(1 - self.sums.residual / self.sums.total) if self.sums.total else math.nan

    @property
    def rsquared_adj(self) -> float:
        if not self.df_resid:
            return math.nan
        return 1 - (self.nobs - self.k_constant) / self.df_resid * (1 - self.rsquared)

    @property
    def rsquared_within(self) -> float:
        """The share that is explained of what varies within parties; the usual one without effects of parties."""
        if not self.sums.groups:
            return self.rsquared
        return float(1 - self.sums.residual / self.sums.within) if self.sums.within else math.nan

    @property
    def _tested(self) -> int:
        """How many coefficients the F statistic tests: all but the constant; the slopes where parties have effects."""
        return len(self.names) if self.sums.groups else self.df_model

    @property
    def fvalue(self) -> float:
        """The F statistic of all coefficients but the constant; effects of parties are not tested."""
        q = self._tested
        if q == 0 or not self.df_resid:
            return math.nan
        if self.cov_type == "nonrobust":
            whole = self.sums.within if self.sums.groups else self.sums.total
            explained = (whole - self.sums.residual) / q
            return float(explained / (self.sums.residual / self.df_resid)) if self.sums.residual else math.inf
        if q != len(self.names) - self.sums.has_intercept or self.meat is None:
            return math.nan  # the constant is hidden in the regressors
        after = slice(int(self.sums.has_intercept), None)
        along = self.sums.projections[after]
        return float(along @ np.linalg.solve(self._meat[after, after], along)) / q

    @property
    def f_pvalue(self) -> float:
        below = self.clusters - 1 if self.clusters is not None else self.df_resid
        return float(fdtrc(self._tested, below, self.fvalue))

    @property
    def llf(self) -> float:
        """The log-likelihood of normal errors."""
        if not self.sums.residual:
            return math.inf
        return -self.nobs / 2 * (math.log(2 * math.pi) + math.log(self.sums.residual / self.nobs) + 1)

    @property
    def aic(self) -> float:
        return -2 * self.llf + 2 * (self.df_model + self.k_constant)

    @property
    def bic(self) -> float:
        return -2 * self.llf + math.log(self.nobs) * (self.df_model + self.k_constant)

    @property
    def condition_number(self) -> float:
        return self.sums.condition_number

    def predict(self, frame: Any) -> Floats:
        """The response that the coefficients expect for these rows; not a number where a value is missing."""
        if self.sums.groups:
            raise no_levels()
        return self.design.predicted(self.sums.kept, self.params, frame)

    def ridge(self, alpha: Number) -> PenalisedFit:
        """Least squares plus ``alpha`` times the sum of squares of the coefficients, from the same sums."""
        return ridge(self, alpha)

    def lasso(self, alpha: Number) -> PenalisedFit:
        """Least squares over 2n plus ``alpha`` times the sum of the coefficients' sizes, from the same sums."""
        return self.elastic_net(alpha, l1_ratio=1)

    def elastic_net(self, alpha: Number, l1_ratio: Number = 0.5) -> PenalisedFit:
        """The lasso with a share ``1 - l1_ratio`` of the penalty on half the squares, from the same sums."""
        return elastic_net(self, alpha, l1_ratio)

    def table(self) -> SummaryTable:
        left = [
            ("Dep. Variable", self.design.response),
            ("Model", "OLS" if not self.sums.groups else "OLS, party effects"),
            ("Method", "Least Squares"),
            ("No. Observations", str(self.nobs)),
            ("Df Residuals", str(self.df_resid)),
            ("Df Model", str(self.df_model)),
            ("Covariance Type", self.cov_type if self.clusters is None else f"cluster ({self.clusters})"),
        ]
        centred = "" if self.k_constant else " (uncentered)"
        right = [
            (f"R-squared{centred}", decimal(self.rsquared)),
            (f"Adj. R-squared{centred}", decimal(self.rsquared_adj)),
            ("F-statistic", f"{self.fvalue:.4g}"),
            ("Prob (F-statistic)", f"{self.f_pvalue:.3g}"),
            ("Log-Likelihood", f"{self.llf:.5g}"),
            ("AIC", f"{self.aic:.4g}"),
            ("BIC", f"{self.bic:.4g}"),
            ("Cond. No.", f"{self.condition_number:.3g}"),
        ]
        notes = [f"No row has {', '.join(self.empty)}."] if self.empty else []
        if self.sums.groups:
            notes.append(f"The levels of {self.sums.groups} parties are subtracted and not shown; F tests the slopes.")
        facts = self._provenance_facts(self.nobs)
        return SummaryTable("OLS Regression Results", left, right, self.heads, self.lines(), facts, notes)
