"""Public parameters, checked at the door and turned into exact numbers.

A float stands for the shortest decimal that prints it: ``0.1`` is one tenth, not
0.1000000000000000055. Every parameter therefore is an exact rational number from the start, budgets
add up the way people expect (0.1 + 0.2 is 0.3), and samplers can be exact for the very number that
the guarantee states.
"""

from __future__ import annotations

import dataclasses
import math
import numbers
import operator
from collections.abc import Collection
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from flou.errors import InvalidParameter

__all__ = [
    "LARGEST",
    "RELATIONS",
    "Number",
    "Relation",
    "checked_text",
    "choice",
    "described",
    "exact",
    "integer",
    "is_number",
    "number",
    "open_probability",
    "plain",
    "probability",
    "rounded_up",
    "shown",
]

Number: TypeAlias = int | float | Fraction | Decimal
Relation: TypeAlias = Literal["add-remove", "substitute"]

RELATIONS: tuple[Relation, ...] = ("add-remove", "substitute")

# What each privacy parameter may be. The bounds are far outside any use and keep all arithmetic finite.
SMALLEST, LARGEST = Fraction(1, 10**15), Fraction(10**4)
LIMITS: dict[str, tuple[Fraction, Fraction]] = {
    "epsilon": (SMALLEST, LARGEST),
    "rho": (SMALLEST**2, LARGEST**2),
    "delta": (Fraction(1, 10**60), Fraction(999_999, 10**6)),
    "sensitivity": (Fraction(1, 2**40), Fraction(2**56)),
    "scale": (Fraction(1, 2**40), Fraction(2**50)),
    "sigma": (Fraction(1, 2**40), Fraction(2**48)),
    "sigma_squared": (Fraction(1, 2**80), Fraction(2**96)),
    "error": (Fraction(1, 10**12), Fraction(10**18)),
}

LONGEST = 5_000  # powers of ten of a decimal: a larger one is not a parameter, and its fraction would fill the memory

WHY: dict[str, str] = {
    "epsilon": "At zero the answer could not depend on the data at all, and an infinite value would protect nothing.",
    "rho": "At zero the answer could not depend on the data at all, and an infinite value would protect nothing.",
    "delta": "It is the probability with which the guarantee may fail, so it lies strictly between 0 and 1.",
    "sensitivity": "It is how far one person can move the answer, and the noise is proportional to it.",
    "scale": "It is the width of the noise, and a law needs a positive and finite one.",
    "sigma": "It is the width of the noise, and a law needs a positive and finite one.",
    "sigma_squared": "It is the square of the width of the noise, and a law needs a positive and finite one.",
    "error": "It is half the width of an interval, and however many people take part, it never reaches zero.",
}

EXAMPLE: dict[str, str] = {
    "epsilon": "epsilon=0.5",
    "rho": "rho=0.1",
    "delta": "delta=1e-6",
    "sensitivity": "sensitivity=1",
    "scale": "scale=2",
    "sigma": "sigma=2",
    "sigma_squared": "sigma_squared=4",
    "error": "error=0.02",
}


def exact(value: Number) -> Fraction:
    """The rational number that a parameter stands for; a float is read as its shortest decimal."""
    if isinstance(value, numbers.Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, Decimal):
        return Fraction(value)
    return Fraction(repr(float(value)))


def rounded_up(value: Fraction) -> float:
    """The least float that stands for at least ``value`` (see :func:`exact`)."""
    candidate = float(value)
    while exact(candidate) < value:
        candidate = math.nextafter(candidate, math.inf)
    return candidate


def shown(value: Any) -> str:
    """A public parameter as an error message quotes it: short, whatever was passed."""
    if isinstance(value, Decimal):
        return f"{value:.20g}" if value.is_finite() else str(value)
    if isinstance(value, int | Fraction) and not -(10**40) < value < 10**40:
        return "a huge number"
    if isinstance(value, Fraction):
        value = value.numerator if value.denominator == 1 else float(value)
    text = repr(value) if isinstance(value, int | float | str) else f"a {type(value).__name__}"
    return text if len(text) <= 40 else f"{text[:30]}... ({len(text)} characters)"


def plain(value: float) -> int | float:
    """A number as people write it: whole numbers without a decimal point."""
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def described(value: Any, hide: Collection[str] = ()) -> str:
    """A frozen dataclass as the call that would make it, with fractions as decimals."""
    words = []
    for field in dataclasses.fields(value):
        if field.repr and field.name not in hide:
            part = getattr(value, field.name)
            if isinstance(part, Fraction):
                part = part.numerator if part.denominator == 1 else float(part)
            words.append(f"{field.name}={part!r}")
    return f"{type(value).__name__}({', '.join(words)})"


def is_number(value: Any) -> bool:
    """Whether a parameter is a finite real number; True and False are not numbers here."""
    if isinstance(value, Decimal):
        return value.is_finite() and abs(value.adjusted()) < LONGEST
    if type(value) is bool or not isinstance(value, numbers.Real):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer or fraction too large for a float: still a number
        return True


def number(name: str, value: Any) -> Fraction:
    """Check a positive parameter of a known name (``epsilon``, ``sensitivity``, ...) and make it exact."""
    smallest, largest = LIMITS[name]
    if not is_number(value) or value <= 0:
        raise InvalidParameter(
            f"{name} must be a positive number, got {shown(value)}.",
            WHY[name],
            f"Pass a positive number, for example {EXAMPLE[name]}.",
        )
    if not smallest <= exact(value) <= largest:
        raise InvalidParameter(
            f"{name} must lie between {float(smallest):.3g} and {float(largest):.6g}, got {shown(value)}.",
            WHY[name],
            f"Pass a number within these limits, for example {EXAMPLE[name]}.",
        )
    return exact(value)


def probability(name: str, value: Any) -> Fraction:
    """Check a probability, 0 and 1 included."""
    if not is_number(value) or not 0 <= value <= 1:
        raise InvalidParameter(
            f"{name} must be a probability, got {shown(value)}.",
            "Probabilities lie between 0 and 1.",
            f"Pass a number between 0 and 1, for example {name}=0.5.",
        )
    return exact(value)


def open_probability(name: str, value: Any) -> Fraction:
    """Check a probability strictly between 0 and 1."""
    result = probability(name, value)
    if not 0 < result < 1:
        raise InvalidParameter(
            f"{name} must lie strictly between 0 and 1, got {shown(value)}.",
            "At 0 or 1 the outcome is certain, and no finite amount of noise or data gives certainty.",
            f"Pass a number in between, for example {name}=0.95.",
        )
    return result


def integer(name: str, value: Any, smallest: int, largest: int) -> int:
    """Check a whole number between two bounds, both included."""
    try:
        whole = smallest - 1 if type(value) is bool else operator.index(value)
    except TypeError:
        whole = smallest - 1
    if not smallest <= whole <= largest:
        raise InvalidParameter(
            f"{name} must be a whole number from {smallest} to {largest}, got {shown(value)}.",
            "Fractions, truth values and numbers outside this range cannot be used here.",
            f"Pass a whole number from this range, for example {name}={smallest}.",
        )
    return whole


def choice(name: str, value: Any, options: Collection[str]) -> Any:
    """Check that a word is one of the options."""
    if not isinstance(value, str) or value not in options:
        words = ", ".join(repr(option) for option in options)
        raise InvalidParameter(
            f"{name} must be one of {words}, got {shown(value)}.",
            "Each word has a different meaning, and flou does not guess which one was meant.",
            f"Pass one of them, for example {name}={next(iter(options))!r}.",
        )
    return value


def checked_text(name: str, value: object, *, empty: bool = False) -> str:
    """Check a text that must pass unchanged through a file and through any engine."""
    if not isinstance(value, str) or not (value or empty) or any(map(_is_lost, value)):
        raise InvalidParameter(
            f"{name} must be a text without NUL and without half characters, got {shown(value)}.",
            "It is written into files and compared in databases, which could change these characters.",
            f"Pass an ordinary text, for example {name}='salaries'.",
        )
    return str.__str__(value)  # the text itself, even of a member of an Enum


def _is_lost(character: str) -> bool:
    return character == "\0" or "\ud800" <= character <= "\udfff"
