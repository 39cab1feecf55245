"""Coefficients whose standard errors contain the noise, and show how much of them is noise."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from flou.arrays import Floats
from flou.guarantee import Guarantee
from flou.joint.estimators.coefficients import Coefficients
from flou.joint.estimators.design.design import RegressionDesign
from flou.joint.estimators.summary_table import SummaryTable, decimal
from flou.joint.masking.noise import NoiseShare

__all__ = ["PrivateCoefficients", "guarantee_note"]


DROWNED = (
    "The noise drowns the regressors, so the errors have no bound. Use more rows, a larger epsilon or tighter bounds."
)


def guarantee_note(guarantee: Guarantee, share: NoiseShare, parties: int) -> str:
    """What was promised, and what the promise rests on."""
    if share.honest > parties:
        return f"{guarantee!r} does not hold: it needs the noise of {share.honest} parties, and {parties} took part."
    honest = f"{share.honest} of {parties} parties" if share.honest < parties else f"all {parties} parties"
    return f"{guarantee!r}, if {honest} add their noise ({share.kind}) and keep it to themselves."


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class PrivateCoefficients(Coefficients):
    """Estimates that are normal in large samples, sampling and noise together."""

    design: RegressionDesign
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
    def noise_share(self) -> Floats:
        """Which part of each coefficient's variance is noise."""
        with np.errstate(invalid="ignore"):
            return np.ones(len(self.params)) if self.drowned else np.diag(self.noise) / np.diag(self.cov_params)

    def _linear(self, frame: Any) -> Floats:
        return self.design.predicted(range(len(self.names)), self.params, frame)

    @abstractmethod
    def predict(self, frame: Any) -> Floats:
        """What the coefficients expect for rows of one's own; not a number where a value is missing."""

    def _columns(self) -> dict[str, Floats]:
        return super()._columns() | {"noise": self.noise_share}

    def _facts(self) -> list[tuple[str, str]]:
        """Further facts for the left side of the table, besides the response."""
        return []

    def table(self) -> SummaryTable:
        left = [("Dep. Variable", self.design.response), ("Noise", self.share.kind), *self._facts()]
        right = [
            ("No. Observations", f"{self.nobs} (noisy)"),
            ("Parties", str(self.parties)),
            ("Honest Parties", str(self.share.honest)),
        ]
        rows = self.lines()
        for row, part in zip(rows, self.noise_share.tolist(), strict=True):
            row.append(decimal(100 * part, 0) + " %")
        notes = [guarantee_note(self.guarantee, self.share, self.parties), *self.notes]
        notes += [DROWNED] if self.drowned else []
        facts = self._provenance_facts(max(self.nobs, 0))
        return SummaryTable(self.title, left, right, (*self.heads, "noise"), rows, facts, notes)
