"""What every joint result carries besides its numbers: who took part, what was opened, and what it cost."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import TypeVar

from flou.guarantee import Guarantee
from flou.release import Certificate

__all__ = ["Fit", "Provenance"]

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
