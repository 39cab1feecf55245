"""Bounds that moments can be computed with: sums, means, variances and products of columns.

Intervals of variances need fourth powers of the bounds, summed over the rows. Between 1e-70 and 1e70 these are ordinary
floats for any number of rows; beyond they overflow or vanish, and that would come out only once the question is paid.
"""

from __future__ import annotations

from flou.domain import Domain
from flou.errors import InvalidParameter

__all__ = ["require_moderate"]

LARGEST, NARROWEST = 1e70, 1e-70


def require_moderate(column: str, domain: Domain) -> None:
    """Refuse bounds whose powers are no floats, before anything is charged."""
    low, high = (0.0, 1.0) if domain.numbers is None else domain.numbers.bounds
    if max(abs(low), abs(high)) > LARGEST or high - low < NARROWEST:
        raise InvalidParameter(
            f"Sums and moments need bounds of size {LARGEST:g} at most, {NARROWEST:g} apart at least; "
            f"column {column!r} has {low:g} and {high:g}.",
            "Powers of the bounds would be too large or too small for floats, and the answer no number.",
            "Change the unit of the column, or ask for quantiles or a histogram.",
        )
