"""How numbers are written: a released one with the digits that its interval does not blur, a cost exactly.

A released number is written to the place that is between a tenth and a hundredth of the interval's width. Ends of
intervals are rounded outwards, so that what is shown never promises more than what holds. Whole numbers stay whole.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np

from flou.guarantee import Guarantee
from flou.guarantee.words import rounded

__all__ = ["cost_column", "cost_line", "last_place", "place_of", "plain", "priced", "rounded_to", "written"]

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


def exact_text(value: Fraction) -> str:
    """An exact number as people write it: 0.25, 1/3; rounded up to three digits where it would be longer."""
    if value.denominator == 1:
        return str(value.numerator)
    decimal = f"{float(value):.6g}"
    if Fraction(decimal) == value:
        return decimal
    return f"{value.numerator}/{value.denominator}" if value.denominator < 1000 else rounded(value)


def priced(cost: Guarantee) -> str:
    """The parameters: ``epsilon = 0.5``."""
    pairs = zip(cost.parameters, cost._exact, strict=True)
    return ", ".join(f"{name} = {exact_text(value)}" for name, value in pairs)


def cost_column(costs: Sequence[Guarantee]) -> tuple[str, list[str]]:
    """The head and the cells of a column of costs; where all have one parameter, it is the head."""
    names = {cost.parameters for cost in costs}
    if len(names) == 1 and len(costs[0].parameters) == 1:
        return costs[0].parameters[0], [exact_text(cost._exact[0]) for cost in costs]
    return "cost", [priced(cost) for cost in costs]


def cost_line(cost: Guarantee) -> str:
    """The parameters, whom they protect, and what they mean."""
    unit = "row" if cost.unit == "row" else cost.unit
    return f"{priced(cost)} for each {unit} ({cost.relation}). {cost.in_words()}"


def plain(value: Any) -> Any:
    """Dictionaries, lists, texts and numbers, as JSON knows them; a number that is not finite is None."""
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)
