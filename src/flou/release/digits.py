"""How many digits of a released number are worth reading: those that its interval does not blur.

A number is written to the place that is between a tenth and a hundredth of the interval's width. Ends of intervals are
rounded outwards, so that what is shown never promises more than what holds. Whole numbers stay whole.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal, localcontext
from typing import Any

import numpy as np

__all__ = ["last_place", "place_of", "rounded_to", "written"]

DOWN, NEAREST, UP = ROUND_FLOOR, ROUND_HALF_EVEN, ROUND_CEILING
FINEST = -15
HUGE = "1e18"  # from here on an exponent is easier to read than zeros
LONGEST = 12  # digits that somebody writes down
SMALL = -6  # finer places are written with an exponent, where the number is small too


def place_of(width: float) -> int | None:
    """The power of ten to round to, for an interval of this width; None where it has none or no end."""
    if not math.isfinite(width) or width <= 0:
        return None
    return max(math.floor(math.log10(width)) - 1, FINEST)


def last_place(*numbers: float) -> int | None:
    """The power of ten at which the last of all digits of some numbers stands; None where they are no decimals."""
    digits = [Decimal(repr(float(x))).normalize().as_tuple() for x in numbers if x]
    if any(len(one.digits) > LONGEST for one in digits):
        return None
    return min((one.exponent for one in digits if isinstance(one.exponent, int)), default=0)


def rounded_to(value: Any, place: int | None, rounding: str = NEAREST) -> Decimal:
    """A finite number rounded to a power of ten; to six digits where there is no place.

    A double is the shortest decimal that is read as it: 12.35 stays 12.35 when it is rounded up to hundredths, although
    the double is a little more.
    """
    with localcontext(Context(prec=700)):  # room for the largest double, written out
        exact = Decimal(repr(float(value))) if isinstance(value, float) else Decimal(value)
        if place is None:
            place = exact.adjusted() - 5 if exact else 0
        return exact.quantize(Decimal(1).scaleb(place), rounding) + 0  # minus zero is zero


def written(value: Any, place: int | None, rounding: str = NEAREST) -> str:
    """A number as people write it; texts and truth values are themselves."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if not math.isfinite(value):
        return "unknown" if math.isnan(value) else "no limit"
    if isinstance(value, int):
        return f"{value:,}"
    number = rounded_to(value, place, rounding)
    if place is not None and place < SMALL and abs(number) < Decimal("0.001"):  # more zeros than digits
        return f"{number:.{number.adjusted() - place}e}" if number else "0"
    if abs(number) >= Decimal(HUGE):
        return f"{number:.{5 if place is None else max(number.adjusted() - place, 0)}e}"
    return f"{number:,f}"
