"""Coefficients whose standard errors contain the noise, and tell how much of them is noise."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from flou.guarantee import Guarantee
from flou.joint.estimators.design.design import Design
from flou.joint.estimators.design.predict import predicted
from flou.joint.estimators.fit import Fit
from flou.joint.estimators.summary_table import SummaryTable, coefficient_rows, decimal, provenance_facts
from flou.joint.masking.noise import NoiseShare
from flou.parameters import Number, open_probability

__all__ = ["PrivateCoefficients", "guarantee_note"]

Floats: TypeAlias = NDArray[np.float64]

DROWNED = "The noise drowns the regressors: errors have no bound. Take more rows, a larger epsilon or tighter bounds."


def guarantee_note(guarantee: Guarantee, share: NoiseShare, parties: int) -> str:
    """What was promised, and what the promise rests on."""
    if share.honest > parties:
        return f"{guarantee!r} does not hold: it needs the noise of {share.honest} parties, and {parties} took part."
    honest = f"{share.honest} of {parties} parties" if share.honest < parties else f"all {parties} parties"
    return f"{guarantee!r}, if {honest} add their noise ({share.kind}) and keep it to themselves."


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class PrivateCoefficients(Fit):
    """Estimates that are normal in large samples, sampling and noise together."""

    design: Design
    names: tuple[str, ...]
    params: Floats
    sampling: Floats  # the part of the covariance that there would be without noise
    noise: Floats  # the part that the noise adds
    nobs: int  # with noise, like everything else
    drowned: bool
    guarantee: Guarantee
    share: NoiseShare
    parties: int
    notes: tuple[str, ...] = ()

    title: ClassVar[str]

    @property
    def cov_params(self) -> Floats:
        """The covariance of the coefficients; without bound where the noise drowns them."""
        if self.drowned:
            return np.diag(np.full(len(self.params), np.inf))
        return self.sampling + self.noise

    @property
    def bse(self) -> Floats:
        """Standard errors, the noise included."""
        return np.sqrt(np.diag(self.cov_params))

    @property
    def noise_share(self) -> Floats:
        """Which part of each coefficient's variance is noise."""
        with np.errstate(invalid="ignore"):
            return np.ones(len(self.params)) if self.drowned else np.diag(self.noise) / np.diag(self.cov_params)

    @property
    def tvalues(self) -> Floats:
        """Coefficients in standard errors."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.params / self.bse

    @property
    def pvalues(self) -> Floats:
        """Of the hypotheses that a coefficient is zero, against both sides."""
        from scipy.special import ndtr

        return np.asarray(2 * ndtr(-np.abs(self.tvalues)))

    def conf_int(self, level: Number = 0.95) -> Floats:
        """An interval for each coefficient of the population; its two ends are the columns."""
        from scipy.special import ndtri

        outside = (1 - open_probability("level", level)) / 2
        half = -float(ndtri(float(outside))) * self.bse
        return np.column_stack([self.params - half, self.params + half])

    def _linear(self, frame: Any) -> Floats:
        return predicted(self.design, range(len(self.names)), self.params, frame)

    @abstractmethod
    def predict(self, frame: Any) -> Floats:
        """What the coefficients expect for rows of one's own; not a number where a value is missing."""

    def to_dict(self) -> dict[str, dict[str, float]]:
        """For each coefficient its value, error, statistic, P, interval and the part of the variance that is noise."""
        heads = ("coef", "std err", "z", "P", "lower", "upper", "noise")
        columns = (self.params, self.bse, self.tvalues, self.pvalues, *self.conf_int().T, self.noise_share)
        return {
            name: dict(zip(heads, map(float, row), strict=True))
            for name, row in zip(self.names, np.column_stack(columns), strict=True)
        }

    def to_frame(self) -> Any:
        """The same as a pandas table."""
        import pandas as pd  # type: ignore[import-untyped]

        return pd.DataFrame.from_dict(self.to_dict(), orient="index")

    def _facts(self) -> list[tuple[str, str]]:
        """What is told on the left of the table besides the response and the number of rows."""
        return []

    def table(self) -> SummaryTable:
        left = [("Dep. Variable", self.design.response), ("Noise", self.share.kind), *self._facts()]
        right = [
            ("No. Observations", f"{self.nobs} (noisy)"),
            ("Parties", str(self.parties)),
            ("Honest Parties", str(self.share.honest)),
        ]
        rows = coefficient_rows(self.names, self.params, self.bse, self.tvalues, self.pvalues, self.conf_int())
        for row, part in zip(rows, self.noise_share.tolist(), strict=True):
            row.append(decimal(100 * part, 0) + " %")
        notes = [guarantee_note(self.guarantee, self.share, self.parties), *self.notes]
        notes += [DROWNED] if self.drowned else []
        heads = ("coef", "std err", "z", "P>|z|", "[0.025", "0.975]", "noise")
        return SummaryTable(
            self.title, left, right, heads, rows, provenance_facts(self.provenance, max(self.nobs, 0)), notes
        )

    def summary(self) -> str:
        """The table that econometricians know, with the part of each variance that is noise, and the guarantee."""
        return self.table().text()

    def __repr__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        return self.table().html()
