"""How the entries of a release lie: in groups, in bins, along a curve, in a matrix. It decides how they are drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = ["Layout"]

Kind: TypeAlias = Literal["values", "units", "coefficients", "bins", "curve", "quantiles", "boxes", "matrix", "table"]


@dataclass(frozen=True)
class Layout:
    """Groups one after the other, and in each of them the same entries; everything here is public.

    ``kind`` says what the entries are: ``"values"`` with a name each; ``"units"``, values that have units of their own;
    ``"coefficients"``, an intercept and slopes; counts of ``"bins"``; points of a ``"curve"``; ``"quantiles"``; the
    five quantiles of ``"boxes"``; a ``"matrix"`` of columns by columns; or a ``"table"`` of rows by columns.
    """

    kind: Kind
    groups: tuple[str, ...] | None = None  # of a matrix or a table, the rows; None where nothing is grouped
    names: tuple[str, ...] = ()  # of the entries of one group
    places: tuple[float, ...] = ()  # where they are: the edges of bins, the points of a curve, probabilities
