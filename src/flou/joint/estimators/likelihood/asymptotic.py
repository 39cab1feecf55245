"""What every maximum of a likelihood reports: standard errors, z, P, intervals and information criteria."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flou.arrays import Floats
from flou.joint.estimators.coefficients import Coefficients

__all__ = ["Asymptotic"]


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Asymptotic(Coefficients):
    """Estimates that are normal in large samples."""

    names: tuple[str, ...]
    params: Floats
    cov_params: Floats
    nobs: int
    llf: float
    converged: bool

    @property
    def df_resid(self) -> int:
        return self.nobs - len(self.params)

    @property
    def aic(self) -> float:
        return -2 * self.llf + 2 * len(self.params)

    @property
    def bic(self) -> float:
        return float(-2 * self.llf + np.log(self.nobs) * len(self.params))
