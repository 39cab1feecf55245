"""What every maximum of a likelihood reports: standard errors, z, P, intervals and information criteria."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from flou.joint.estimators.fit import Fit
from flou.joint.estimators.summary_table import SummaryTable, coefficient_rows
from flou.parameters import Number, open_probability

__all__ = ["Asymptotic"]

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Asymptotic(Fit):
    """Estimates that are normal in large samples."""

    names: tuple[str, ...]
    params: Floats
    cov_params: Floats
    nobs: int
    llf: float
    converged: bool

    heads: ClassVar[tuple[str, ...]] = ("coef", "std err", "z", "P>|z|", "[0.025", "0.975]")

    @property
    def bse(self) -> Floats:
        """Standard errors."""
        return np.sqrt(np.diag(self.cov_params))

    @property
    def tvalues(self) -> Floats:
        """Coefficients in standard errors, under the name that statsmodels gives them."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.params / self.bse

    @property
    def pvalues(self) -> Floats:
        """Of the hypotheses that a coefficient is zero, against both sides."""
        from scipy.special import ndtr

        return np.asarray(2 * ndtr(-np.abs(self.tvalues)))

    def conf_int(self, level: Number = 0.95) -> Floats:
        """An interval for each coefficient."""
        from scipy.special import ndtri

        outside = (1 - open_probability("level", level)) / 2
        half = -float(ndtri(float(outside))) * self.bse
        return np.column_stack([self.params - half, self.params + half])

    @property
    def df_resid(self) -> int:
        return self.nobs - len(self.params)

    @property
    def aic(self) -> float:
        return -2 * self.llf + 2 * len(self.params)

    @property
    def bic(self) -> float:
        return float(-2 * self.llf + np.log(self.nobs) * len(self.params))

    def to_dict(self) -> dict[str, dict[str, float]]:
        """For each coefficient its value, error, statistic, P and interval."""
        heads = ("coef", "std err", "z", "P", "lower", "upper")
        columns = (self.params, self.bse, self.tvalues, self.pvalues, *self.conf_int().T)
        return {
            name: dict(zip(heads, map(float, row), strict=True))
            for name, row in zip(self.names, np.column_stack(columns), strict=True)
        }

    def to_frame(self) -> Any:
        """The same as a pandas table."""
        import pandas as pd  # type: ignore[import-untyped]

        return pd.DataFrame.from_dict(self.to_dict(), orient="index")

    def lines(self) -> list[list[str]]:
        """A line of the summary for each coefficient."""
        return coefficient_rows(self.names, self.params, self.bse, self.tvalues, self.pvalues, self.conf_int())

    @abstractmethod
    def table(self) -> SummaryTable:
        """The summary, to be shown as text or in a notebook."""

    def summary(self) -> str:
        """The table that statsmodels users know, and below it who took part and what was opened."""
        return self.table().text()

    def __repr__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        return self.table().html()
