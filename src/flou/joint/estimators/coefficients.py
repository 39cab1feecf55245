"""Coefficients with their covariance: standard errors, statistics, P and intervals, as statsmodels names them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtr, ndtri

from flou.arrays import Floats
from flou.joint.estimators.fit import TabledFit
from flou.joint.estimators.summary_table import decimal
from flou.parameters import Number, open_probability

__all__ = ["Asymptotic", "Coefficients"]


UNFINISHED = "The search did not reach the maximum within the agreed rounds: the numbers are not those of the maximum."


class Coefficients(TabledFit):
    """Estimates that are normal in large samples; with another law, override ``_below`` and ``_quantile``."""

    _letter = "z"  # of the statistic

    if TYPE_CHECKING:  # fields here, computed there

        @property
        def names(self) -> tuple[str, ...]: ...
        @property
        def params(self) -> Floats: ...
        @property
        def cov_params(self) -> Floats: ...

    def _below(self, statistic: Floats) -> Floats:
        """The probability that a coefficient without effect has a lower statistic."""
        return np.asarray(ndtr(statistic))

    def _quantile(self, probability: float) -> float:
        return float(ndtri(probability))

    @property
    def bse(self) -> Floats:
        """Standard errors."""
        return np.sqrt(np.diag(self.cov_params))

    @property
    def tvalues(self) -> Floats:
        """Coefficients in standard errors."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.divide(self.params, self.bse)

    @property
    def pvalues(self) -> Floats:
        """Of the hypotheses that a coefficient is zero, against both sides."""
        return 2 * self._below(-np.abs(self.tvalues))

    def conf_int(self, level: Number = 0.95) -> Floats:
        """An interval for each coefficient; its two ends are the columns."""
        outside = (1 - open_probability("level", level)) / 2
        half = -self._quantile(float(outside)) * self.bse
        return np.column_stack([self.params - half, self.params + half])

    def _columns(self) -> dict[str, Floats]:
        lower, upper = self.conf_int().T
        errors = {"coef": self.params, "std err": self.bse, self._letter: self.tvalues, "P": self.pvalues}
        return errors | {"lower": lower, "upper": upper}

    def to_dict(self) -> dict[str, dict[str, float]]:
        """For each coefficient its value, error, statistic, P and interval."""
        columns = self._columns()
        rows = np.column_stack(list(columns.values()))
        return {
            name: dict(zip(columns, map(float, row), strict=True)) for name, row in zip(self.names, rows, strict=True)
        }

    def to_frame(self) -> Any:
        """The same as a pandas table."""
        import pandas as pd  # type: ignore[import-untyped]

        return pd.DataFrame.from_dict(self.to_dict(), orient="index")

    @property
    def heads(self) -> tuple[str, ...]:
        """Of the columns of the summary."""
        return ("coef", "std err", self._letter, f"P>|{self._letter}|", "[0.025", "0.975]")

    def lines(self) -> list[list[str]]:
        """A line of the summary for each coefficient."""
        rows = zip(self.names, self.params, self.bse, self.tvalues, self.pvalues, self.conf_int(), strict=True)
        return [
            [name, decimal(coef, 4), decimal(error), f"{statistic:.3f}", f"{p:.3f}", *map(decimal, ends)]
            for name, coef, error, statistic, p, ends in rows
        ]


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Asymptotic(Coefficients):
    """The maximum of a likelihood: coefficients, whether the walk arrived, and information criteria."""

    names: tuple[str, ...]
    params: Floats
    cov_params: Floats
    nobs: int
    llf: float
    converged: bool

    @property
    def message(self) -> str:
        """Why the numbers cannot be used; empty where they can."""
        return "" if self.converged else UNFINISHED

    @property
    def df_resid(self) -> int:
        return self.nobs - len(self.params)

    @property
    def aic(self) -> float:
        return -2 * self.llf + 2 * len(self.params)

    @property
    def bic(self) -> float:
        return float(-2 * self.llf + np.log(self.nobs) * len(self.params))
