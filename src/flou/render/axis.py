"""The two directions of a panel: numbers on a line with round ticks, or lanes with a name each. How wide texts are."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from operator import ge

__all__ = ["BOLD", "FINE", "Lanes", "Scale", "shortened", "width_of"]

LARGEST = 1e300  # beyond it, differences would overflow
LINE = 15  # pixels that a name needs
HUGE, TINY = 1e12, 1e-5  # beyond these an exponent is easier to read than zeros
LETTER, BOLD, FINE = 7.8, 9.0, 6.2  # pixels of a letter, of a bold one and of a small one
LONGEST = 34  # letters of a name


@dataclass(frozen=True)
class Scale:
    """The numbers from ``low`` to ``high``, and what they are."""

    low: float
    high: float
    name: str = ""

    @classmethod
    def around(cls, numbers: Iterable[float], name: str = "", *, zero: bool = False) -> Scale:
        """An axis on which all numbers fit; with ``zero``, zero as well."""
        found = [min(max(x, -LARGEST), LARGEST) for x in numbers if math.isfinite(x)] + ([0.0] if zero else [])
        low, high = (min(found), max(found)) if found else (0.0, 1.0)
        room = max(high / 20 - low / 20, 1e-12 * max(abs(low), abs(high))) or 1.0
        if low == high != 0:
            room = max(abs(high) / 20, room)
        if not zero or low < 0:
            low -= room
        if not zero or high > 0 or low == 0:
            high += room
        return cls(max(low, -LARGEST), min(high, LARGEST), name)

    def holds(self, number: float) -> bool:
        """Whether a number lies on the axis."""
        return self.low <= number <= self.high

    def clamped(self, number: float) -> float:
        """A number that lies on the axis; numbers that do not fit lie at an end."""
        return min(self.high, max(self.low, number))

    def share(self, number: float) -> float:
        """Where a number lies, from 0 to 1."""
        return (self.clamped(number) / 2 - self.low / 2) / (self.high / 2 - self.low / 2)

    def ticks(self, most: int = 5, *, short: bool = False) -> list[tuple[float, str]]:
        """About ``most`` round numbers, never more than one above, as numbers and as texts; thousands can be short."""
        part = (self.high / most) - (self.low / most)
        power = 10.0 ** math.floor(math.log10(part))
        step = next((power * digit for digit in (1, 2, 5) if power * digit * 1.001 >= part), power * 10)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [(k * step, _written(k, step, max(abs(first), abs(last)), short)) for k in range(first, last + 1)]

    def fitting(self, room: float) -> list[tuple[float, str]]:
        """As many ticks as have room side by side; with short texts where otherwise there would not be two."""
        for short in (False, True):
            for most in range(6, 0, -1):
                ticks = self.ticks(most, short=short)
                apart = [room * (self.share(b) - self.share(a)) for (a, _), (b, _) in pairwise(ticks)]
                wide = [(width_of(a) + width_of(b)) / 2 + 8 for (_, a), (_, b) in pairwise(ticks)]
                if len(ticks) > 1 and all(map(ge, apart, wide)):
                    return ticks
        return self.ticks(1)[:1]


def _written(k: int, step: float, most: int, short: bool) -> str:
    """The number k * step; numbers up to most * step are written in the same way."""
    if k == 0:
        return "0"
    if most * step >= HUGE or step < TINY:
        digit, exponent = f"{k * step:.{math.ceil(math.log10(most))}e}".split("e")
        return f"{digit.rstrip('0').rstrip('.') if '.' in digit else digit}e{int(exponent)}"
    unit, letter = next((one for one in ((1e6, "M"), (1e3, "k")) if short and step >= one[0]), (1.0, ""))
    return f"{k * step / unit:,.{max(0, -math.floor(math.log10(step) + 1e-9))}f}{letter}"


@dataclass(frozen=True)
class Lanes:
    """Places with names, the first on top or at the left: the lane of number i reaches from i - 1/2 to i + 1/2."""

    names: tuple[str, ...]
    texts: tuple[str, ...] = ()  # at the other end: the numbers that the lanes show
    pitch: float = 24.0  # pixels of one lane

    @property
    def every(self) -> int:
        """How many lanes share a name: one, where there is room for all names."""
        return math.ceil(LINE / self.pitch)


def width_of(text: str, letter: float = LETTER) -> float:
    """The width in pixels, about; letters of East Asia are twice as wide, and accents that combine have no width."""
    wide = (unicodedata.east_asian_width(c) in "WF" for c in text if not unicodedata.combining(c))
    return letter * sum(1.8 if one else 1.0 for one in wide)


def shortened(text: str, room: float = LONGEST * LETTER, letter: float = LETTER) -> str:
    """A text that fits, without its middle: names of groups often differ at the end."""
    left = len(text)
    head, tail = text, ""
    while left > 1 and width_of(head + tail, letter) > room:
        left -= 1
        head, tail = text[: left - left // 3].rstrip() + "…", text[len(text) - left // 3 :].lstrip()
    return head + tail
