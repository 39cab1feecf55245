"""Decide now, refine if unsure: exact decisions about uniform reals at the speed of floats.

A uniform real U is an endless string of fair bits of which one 64-bit word is drawn at first, so U lies
in [w, w + 1) / 2^64. A decision about U (is U < p? which k has tail(k + 1) <= U < tail(k)?) is taken in
floating point wherever a rigorous margin shows that neither the unknown bits nor rounding can change
it. The few entries left over are decided by integer enclosures (``enclosure.py``), with more bits of
the same U drawn as needed. The decisions are those of exact arithmetic, always; only their speed
depends on the margin.

Margins. IEEE operations err by at most 2^-53 relative. The logarithm and exponential of the platform are
trusted to 2^-49 relative (16 units in the last place; current libraries stay below 4, and a test measures
this one). A word of 2^52 or more determines ln U to 2^-51 whatever its unknown bits are.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from flou.arrays import Floats, Ints, Words
from flou.bits import Bits
from flou.laws.enclosure import Enclosure

__all__ = ["CHUNK", "Uniform", "coins", "tail_index"]


CHUNK = 1 << 15  # entries decided at a time: the working arrays stay in the cache
MORE = 64  # bits added to a uniform when a comparison is still open

_TO_UNIT = 2.0**-64
_LONG = np.uint64(1 << 52)


class Uniform:
    """A uniform real on [0, 1) that is drawn only as far as comparisons need it."""

    def __init__(self, known: int, length: int, bits: Bits) -> None:
        self.known = known
        self.length = length
        self.bits = bits

    def below(self, number: Enclosure) -> bool:
        """Whether U < number, exactly (the two are equal with probability zero)."""
        while True:
            low, high = number(self.length + 8)
            if (self.known + 1) << 8 <= low:
                return True
            if self.known << 8 >= high:
                return False
            self.known = self.known << MORE | self.bits.integer(MORE)
            self.length += MORE

    def index(self, tail: Callable[[int], Enclosure], guess: int) -> int:
        """The k >= 0 with tail(k + 1) <= U < tail(k), for a tail that falls from 1 to 0."""
        low = max(guess, 0)
        step = 1
        while low > 0 and not self.below(tail(low)):
            low, step = max(low - step, 0), 2 * step
        high, step = low + 1, 1
        while self.below(tail(high)):
            low, high, step = high, high + step, 2 * step
        while high - low > 1:  # U < tail(low) and not U < tail(high)
            middle = (low + high) // 2
            if self.below(tail(middle)):
                low = middle
            else:
                high = middle
        return low


def coins(
    words: Words,
    approximate: Floats | float,
    slack: Floats | float,
    number: Callable[[int], Enclosure],
    bits: Bits,
) -> NDArray[np.bool_]:
    """For each entry i, whether its uniform is below the number p_i.

    ``approximate`` holds floats within a relative ``slack`` (at least 2^-50) of the p_i, and
    ``number(i)`` is the exact p_i.
    """
    u = words * _TO_UNIT  # rounded: off by at most 2^-53 relative, and 2^-64 for the unknown bits
    heads = u < approximate
    margin = approximate * slack + (2.0**-51 * u + 2.0**-62)
    unsure = np.flatnonzero(np.abs(u - approximate) <= margin)
    for i in unsure.tolist():
        heads[i] = Uniform(int(words[i]), 64, bits).below(number(i))
    return heads


def tail_index(
    words: Words,
    scale: float,
    offset: float,
    tail: Callable[[int], Enclosure],
    bits: Bits,
    *,
    length: int = 64,
) -> Ints:
    """floor(scale (offset - ln U)): the inverse of the tail k -> exp(offset - k / scale).

    ``tail(k)`` is the exact tail, ``scale`` at most 2^30, ``offset`` between 0 and 1. Of each word only the
    first ``length`` bits (64, or 63) belong to U; the caller may use the last one for something else.
    """
    x = np.multiply(words, _TO_UNIT)
    x += 2.0**-80  # no logarithm of zero; less than the unknown bits
    np.log(x, out=x)
    x *= -scale
    x += scale * offset
    floor = np.floor(x)
    result = floor.astype(np.int64)
    # The unknown bits, the logarithm, the offset and five roundings move x by less than
    # scale (2^-49 + 2^-48 (|ln U| + offset)), which is below scale 2^-42 because |ln U| < 45.
    x -= floor
    x -= 0.5
    np.abs(x, out=x)
    unsure = np.flatnonzero((x >= 0.5 - scale * 2.0**-42) | (words < _LONG))
    if not unsure.size:
        return result
    # The same with the margin of each entry: short words know less, common ones much more.
    short = words[unsure].astype(np.float64)
    size = 44.5 - np.log(np.maximum(short, 1.0))  # at least |ln U|
    margin = scale * (2.0**-49 + 2.0**-48 * (size + offset) + 2.0 ** (65 - length) / np.maximum(short, 1.0))
    for i in unsure[(x[unsure] >= 0.5 - margin) | (short < 2.0**20)].tolist():
        uniform = Uniform(int(words[i]) >> (64 - length), length, bits)
        result[i] = uniform.index(tail, int(result[i]))
    return result
