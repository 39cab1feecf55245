"""Continuous exponential mechanism, on a grid: utilities that are constant on pieces of a range.

Law        every cell of the range has P[release = cell] proportional to exp(t u), u the utility of its piece
Guarantee  epsilon-DP when the utility of no cell moves by more than ``sensitivity`` between neighbours, with
           t = epsilon / (2 sensitivity), or epsilon / sensitivity for utility="monotone"; the number of cells is
           public, where the pieces end is not
Why        it is the exponential mechanism whose outcomes are the cells
Error      P[utility of the release <= best - v] <= (cells / cells of the best piece) exp(-t v)
Numerics   exact: a piece by weighted choice with its length as multiplicity, then a uniform cell
Limits     up to 2^60 cells; time grows with the number of pieces, not of cells
Source     McSherry and Talwar (2007); documents 000 (4.1), 003
Proof      docs/explanation/proofs/exponential.md
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from flou.bits import SYSTEM, Bits
from flou.errors import InvalidData
from flou.laws.piecewise import PiecewiseConstant
from flou.mechanisms.mechanism import integer_vector
from flou.mechanisms.selection_mechanism import SelectionMechanism

__all__ = ["PiecewiseExponential"]


class PiecewiseExponential(SelectionMechanism):
    """A cell of a public grid, given pieces: their lengths in cells and their integer utilities."""

    def law(self, pieces: tuple[ArrayLike, ArrayLike]) -> PiecewiseConstant:
        """The law on cells 0, 1, ..., for ``pieces = (lengths, utilities)``."""
        lengths, utilities = (integer_vector(n, v) for n, v in zip(("lengths", "utilities"), pieces, strict=True))
        if lengths.shape != utilities.shape:
            raise InvalidData(
                "lengths and utilities must have the same number of entries.",
                "Every piece has one length and one utility.",
                "Pass two vectors of equal length.",
            )
        return PiecewiseConstant(~utilities, lengths, rate=self.rate)

    def sample(self, pieces: tuple[ArrayLike, ArrayLike], *, bits: Bits = SYSTEM) -> int:
        """The cell that was chosen."""
        return self.law(pieces).sample(bits=bits)
