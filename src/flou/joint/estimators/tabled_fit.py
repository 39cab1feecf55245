"""A result that is shown as a table: in a terminal, and in a notebook."""

from __future__ import annotations

from abc import ABC, abstractmethod

from flou.joint.estimators.fit import Fit
from flou.joint.estimators.summary_table import SummaryTable

__all__ = ["TabledFit"]


class TabledFit(Fit, ABC):
    """A result with a summary."""

    @abstractmethod
    def table(self) -> SummaryTable:
        """The summary, to be shown as text or in a notebook."""

    def summary(self) -> str:
        """The numbers, and below them who took part and what was opened."""
        return self.table().text()

    def __repr__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        return self.table().html()
