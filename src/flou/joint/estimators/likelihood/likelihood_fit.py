"""The maximum of a likelihood over the rows of several parties."""

from __future__ import annotations

from dataclasses import dataclass

from flou.joint.estimators.likelihood.asymptotic import Asymptotic
from flou.joint.estimators.summary_table import SummaryTable, decimal, provenance_facts

__all__ = ["LikelihoodFit"]

UNFINISHED = "The walk did not arrive within the agreed rounds: the numbers are not those of a maximum."


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class LikelihoodFit(Asymptotic):
    """Parameters, their covariance, and the likelihood."""

    model: str
    response: str
    method: str  # "newton" or "bhhh"
    cov_type: str

    @property
    def message(self) -> str:
        """Why the numbers cannot be used; empty where they can."""
        return "" if self.converged else UNFINISHED

    def table(self) -> SummaryTable:
        left = [
            ("Dep. Variable", self.response),
            ("Model", self.model),
            ("Method", f"MLE ({self.method})"),
            ("converged", str(self.converged)),
            ("Covariance Type", self.cov_type),
        ]
        right = [
            ("No. Observations", str(self.nobs)),
            ("Df Residuals", str(self.df_resid)),
            ("Log-Likelihood", f"{self.llf:.5g}"),
            ("AIC", decimal(self.aic, 1)),
            ("BIC", decimal(self.bic, 1)),
        ]
        notes = [self.message] if self.message else []
        facts = provenance_facts(self.provenance, self.nobs)
        return SummaryTable("Maximum Likelihood Results", left, right, self.heads, self.lines(), facts, notes)
