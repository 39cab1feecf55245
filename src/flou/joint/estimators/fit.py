"""What every joint result carries besides its numbers: who took part, what was opened, what it cost; and its table."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TypeVar

from flou.guarantee import Guarantee
from flou.joint.estimators.summary_table import WIDTH, SummaryTable
from flou.release import Certificate

__all__ = ["Fit", "Provenance", "TabledFit"]

F = TypeVar("F", bound="Fit")


@dataclass(frozen=True)
class Provenance:
    """How a result came about."""

    parties: tuple[str, ...]  # whose rows are in it
    rounds: int
    scalars: int  # numbers that were opened
    transcript: str  # the hash of everything that was opened and confirmed, hexadecimal
    guarantee: Guarantee | None  # None: the opened sums are exact
    certificate: Certificate | None = field(default=None, compare=False, repr=False)  # dated by whoever issued it

    @property
    def privacy(self) -> str:
        """What the result costs, in words."""
        return "none added: the sums are exact" if self.guarantee is None else self.guarantee.in_words()


@dataclass(frozen=True, kw_only=True)
class Fit:
    """A result of several parties."""

    provenance: Provenance | None = None

    @property
    def certificate(self) -> Certificate | None:
        """Everything public about the result; None before it is known how it came about."""
        return None if self.provenance is None else self.provenance.certificate

    def with_provenance(self: F, provenance: Provenance) -> F:
        return dataclasses.replace(self, provenance=provenance)

    def _provenance_facts(self, rows: int) -> list[tuple[str, str]]:
        """Who took part, what was opened and what it cost; nothing where the provenance is not known."""
        known = self.provenance
        if known is None:
            return []
        parties = ", ".join(known.parties)
        if len(parties) > WIDTH - 30:
            parties = parties[: WIDTH - 33] + "..."
        each = f" ({rows / known.scalars:.1f} rows per scalar)" if known.scalars else ""
        return [
            ("Parties", f"{len(known.parties)} ({parties})"),
            ("Rounds", str(known.rounds)),
            ("Opened", f"{known.scalars} scalars{each}"),
            ("Privacy", known.privacy),
            ("Transcript", known.transcript),
        ]


class TabledFit(Fit, ABC):
    """A result that is shown as a table: in a terminal, and in a notebook."""

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
