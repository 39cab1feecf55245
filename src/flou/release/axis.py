"""Numbers on a line: a range that fits, its round ticks, and where a number lies on paper."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Axis"]


@dataclass(frozen=True)
class Axis:
    """The numbers from ``low`` to ``high``, drawn from ``start`` to ``stop``."""

    low: float
    high: float
    start: float
    stop: float

    @classmethod
    def around(cls, numbers: Iterable[float], start: float, stop: float, *, zero: bool = False) -> Axis:
        """An axis on which all numbers fit; with ``zero``, zero as well."""
        found = [x for x in numbers if math.isfinite(x)] + ([0.0] if zero else [])
        low, high = (min(found), max(found)) if found else (0.0, 1.0)
        room = (high / 20 - low / 20) or abs(high) / 20 or 1.0
        if not zero or low < 0:
            low -= room
        return cls(low, high + room, start, stop)

    def holds(self, number: float) -> bool:
        """Whether a number lies on the axis."""
        return self.low <= number <= self.high

    def at(self, number: float) -> float:
        """Where a number lies; numbers that do not fit lie at the end."""
        share = (min(max(number, self.low), self.high) - self.low) / (self.high - self.low)
        return round(self.start + share * (self.stop - self.start), 2)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Up to six round numbers, as numbers and as text; fewer where their texts are long."""
        span = self.high - self.low
        most = 4 if len(f"{max(abs(self.low), abs(self.high)):,.0f}") > 11 else 5
        power = 10.0 ** math.floor(math.log10(span / most))
        step = next(power * digit for digit in (1, 2, 5, 10) if power * digit * most * 1.001 >= span)
        decimals = max(0, -math.floor(math.log10(step) + 1e-9))
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [(k * step, f"{k * step:,.{decimals}f}" if k else "0") for k in range(first, last + 1)]
