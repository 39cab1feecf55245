"""One column of a regression's matrix: what it is computed from, its bounds, and the grid of its codes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from flou.joint.estimators.design.expression import Expression, Extent

__all__ = ["DesignColumn", "product_extent"]

LARGEST = 2.0**80
BITS = 60  # of a code, where bounds are declared
LEAST_FRACTION = 32
DEFAULT_FRACTION = 56
SLACK = 1 + 2.0**-40  # functions such as exp may round beyond the value at a bound


@dataclass(frozen=True)
class DesignColumn:
    """A column of the matrix: a product of numbers and of indicators of categories."""

    name: str
    numbers: tuple[Expression, ...]
    levels: tuple[tuple[str, int], ...]  # a category and the place of its level
    extent: Extent

    @property
    def fraction_bits(self) -> int:
        """A code is the value times 2 to this power."""
        if self.extent.whole:
            return 0
        if not self.extent.declared or self.extent.size >= LARGEST:
            return DEFAULT_FRACTION
        return max(BITS - math.frexp(self.extent.size)[1], LEAST_FRACTION)

    @property
    def largest(self) -> float:
        """No value is larger than this."""
        return self.extent.size * SLACK

    @property
    def code_limit(self) -> int:
        """No code is larger than this."""
        return math.ceil(Fraction(self.largest) * (1 << self.fraction_bits))


def product_extent(extents: Iterable[Extent], *, with_zero: bool) -> Extent:
    """Bounds of a product, nowhere beyond 2^80; indicators of categories also make it zero."""
    lower = upper = 1.0
    whole = declared = True
    for factor in extents:
        ends = [a * b for a in (lower, upper) for b in (factor.lower, factor.upper)]
        if any(map(math.isnan, ends)):  # nothing times everything
            ends = [-LARGEST, LARGEST]
        lower, upper = (min(max(end, -LARGEST), LARGEST) for end in (min(ends), max(ends)))
        whole, declared = whole and factor.whole, declared and factor.declared
    if with_zero:
        lower, upper = min(lower, 0.0), max(upper, 0.0)
    return Extent(lower, upper, whole, declared)
