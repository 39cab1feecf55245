"""A logistic regression over the rows of several parties, as statsmodels' Logit reports it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from flou.arrays import Floats
from flou.errors import InvalidParameter
from flou.joint.estimators.coefficients import Asymptotic
from flou.joint.estimators.design.design import RegressionDesign
from flou.joint.estimators.summary_table import SummaryTable, decimal

__all__ = ["LogisticFit"]


SEPARATION = {
    "complete": "The regressors separate the responses without exception: the likelihood has no maximum, and its "
    "coefficients grow without end. Those shown are where the search stopped; their errors are meaningless.",
    "partial": "Some coefficients keep growing: a combination of regressors separates some of the rows, or nearly "
    "does; sums do not show which. Those shown are where the search stopped; their errors are meaningless.",
}


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class LogisticFit(Asymptotic):
    """Coefficients, their covariance, and the likelihood."""

    design: RegressionDesign
    kept: tuple[int, ...]  # columns of the matrix: all but the categories that no row has
    llnull: float
    separation: str  # "", "complete" or "partial"
    means: Floats | None  # of the columns of the matrix; None when parties left after they were opened

    @property
    def empty(self) -> tuple[str, ...]:
        """Categories that no row has."""
        return tuple(name for j, name in enumerate(self.design.names) if j not in self.kept)

    @property
    def df_model(self) -> int:
        """Coefficients but for one, the constant, which statsmodels takes for granted."""
        return len(self.params) - 1

    @property
    def prsquared(self) -> float:
        """McFadden's pseudo R-squared."""
        return 1 - self.llf / self.llnull

    @property
    def llr(self) -> float:
        return 2 * (self.llf - self.llnull)

    @property
    def llr_pvalue(self) -> float:
        """Of the hypothesis that no regressor matters; it means something where there is a constant."""
        from scipy.stats import chi2

        return float(chi2.sf(self.llr, self.df_model))

    @property
    def message(self) -> str:
        return SEPARATION.get(self.separation, super().message)

    def predict(self, frame: Any) -> Floats:
        """The probability of a 1 for each row; not a number where a regressor is missing."""
        return _probability(self.design.predicted(self.kept, self.params, frame))

    def marginal_effects(self) -> tuple[Floats, Floats]:
        """How the probability changes with each column of the matrix at the mean of all rows, and the standard errors.

        The intercept's is the first, if there is one, and has no meaning.
        """
        if self.means is None:
            raise InvalidParameter(
                "Marginal effects are not known.",
                "Parties have left, and the means of the regressors over those who remain were not opened.",
                "Fit again among the parties that remain.",
            )
        p = float(_probability(self.means @ self.params))
        weight = p * (1 - p)
        jacobian = weight * (np.eye(len(self.params)) + (1 - 2 * p) * np.outer(self.params, self.means))
        return weight * self.params, np.sqrt(np.diag(jacobian @ self.cov_params @ jacobian.T))

    def table(self) -> SummaryTable:
        left = [
            ("Dep. Variable", self.design.response),
            ("Model", "Logit"),
            ("Method", "MLE"),
            ("converged", str(self.converged)),
            ("AIC", decimal(self.aic, 1)),
            ("BIC", decimal(self.bic, 1)),
            ("Covariance Type", "nonrobust"),
        ]
        right = [
            ("No. Observations", str(self.nobs)),
            ("Df Residuals", str(self.df_resid)),
            ("Df Model", str(self.df_model)),
            ("Pseudo R-squ.", f"{self.prsquared:.4f}"),
            ("Log-Likelihood", f"{self.llf:.5g}"),
            ("LL-Null", f"{self.llnull:.5g}"),
            ("LLR p-value", f"{self.llr_pvalue:.4g}"),
        ]
        notes = [f"No row has {', '.join(self.empty)}."] if self.empty else []
        notes += [self.message] if self.message else []
        facts = self._provenance_facts(self.nobs)
        return SummaryTable("Logit Regression Results", left, right, self.heads, self.lines(), facts, notes)


def _probability(eta: Any) -> Floats:
    with np.errstate(invalid="ignore"):  # where a regressor is missing
        return np.asarray(np.exp(-np.logaddexp(0.0, -eta)), dtype=np.float64)
