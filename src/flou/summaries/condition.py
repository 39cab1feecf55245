"""Row-wise conditions: ``column("age") >= 18``, combined with ``&``, ``|`` and ``~``.

A condition is true or false for a row by what that row holds, and false where it holds nothing comparable (NULL,
NaN, a text next to a number): one row never changes what happens to another, so filtering costs no privacy.

Rule       whole numbers are compared exactly, however large; other numbers as doubles; truth values are 1 and 0;
           texts by their characters, where ``<`` follows the code points (on a database: its collation)
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from flou.errors import InvalidParameter
from flou.parameters import checked_text, shown

__all__ = [
    "FUNCTIONS",
    "Both",
    "Column",
    "Comparison",
    "Condition",
    "Either",
    "Negation",
    "checked",
    "column",
    "fitted",
]

Operator: TypeAlias = Literal["<", "<=", ">", ">=", "==", "!="]
Constant: TypeAlias = int | float | str | bool

FUNCTIONS = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


class Condition:
    """Something that is true or false for a row."""

    def __and__(self, other: Condition) -> Both:
        return Both(self, checked(other))

    def __or__(self, other: Condition) -> Either:
        return Either(self, checked(other))

    def __invert__(self) -> Negation:
        return Negation(self)

    def __bool__(self) -> bool:
        raise InvalidParameter(
            "A condition on rows is neither true nor false by itself.",
            "Python's 'and', 'or' and chained comparisons would silently drop half of it.",
            "Combine conditions with &, | and ~, each in parentheses.",
        )


@dataclass(frozen=True)
class Comparison(Condition):
    """A column compared with a constant."""

    column: str
    operator: Operator
    constant: Constant


@dataclass(frozen=True)
class Both(Condition):
    left: Condition
    right: Condition


@dataclass(frozen=True)
class Either(Condition):
    left: Condition
    right: Condition


@dataclass(frozen=True)
class Negation(Condition):
    """True where the condition is false, also for rows that hold nothing comparable."""

    condition: Condition


@dataclass(frozen=True, eq=False)
class Column:
    """A column, to be compared with a constant."""

    name: str

    __hash__ = None  # type: ignore[assignment]

    def _compare(self, operator: Operator, constant: Any) -> Comparison:
        if isinstance(constant, np.generic):
            constant = constant.item()
        if isinstance(constant, str):
            return Comparison(self.name, operator, checked_text("text", constant, empty=True))
        if not isinstance(constant, int | float) or constant != constant:
            raise InvalidParameter(
                f"Column {self.name!r} can be compared with a number, a text or a truth value, got {shown(constant)}.",
                "A condition looks at one row at a time, and at nothing else.",
                f"Write for example flou.column({self.name!r}) >= 18.",
            )
        return Comparison(self.name, operator, constant)

    def __lt__(self, constant: Any) -> Comparison:
        return self._compare("<", constant)

    def __le__(self, constant: Any) -> Comparison:
        return self._compare("<=", constant)

    def __gt__(self, constant: Any) -> Comparison:
        return self._compare(">", constant)

    def __ge__(self, constant: Any) -> Comparison:
        return self._compare(">=", constant)

    def __eq__(self, constant: object) -> Comparison:  # type: ignore[override]
        return self._compare("==", constant)

    def __ne__(self, constant: object) -> Comparison:  # type: ignore[override]
        return self._compare("!=", constant)


def column(name: str) -> Column:
    """A column of the table, for conditions: ``table.where(flou.column("age") >= 18)``."""
    return Column(checked_text("name", name))


def fitted(comparison: Comparison, whole: tuple[int, int] | None) -> tuple[Operator, int | float] | bool:
    """A comparison of numbers as a column of doubles, or of ``whole`` numbers in a range, can state it exactly.

    Engines round constants to the type of the column, or the column to the type of the constant. Here the constant
    moves to its neighbour among the values that the column can have; a truth value says that all numbers agree.
    """
    wanted = comparison.constant
    assert not isinstance(wanted, str)
    below, above = _doubles(wanted) if whole is None else _wholes(wanted, *whole)
    if below is not None and below == above:
        return comparison.operator, below
    if comparison.operator in ("<", "<="):
        return False if below is None else ("<=", below)
    if comparison.operator in (">", ">="):
        return False if above is None else (">=", above)
    return comparison.operator == "!="


def _doubles(wanted: float) -> tuple[float, float]:
    """The nearest doubles at or below and at or above a number."""
    try:
        near = float(wanted)
    except OverflowError:
        near = math.inf if wanted > 0 else -math.inf
    if near == wanted:
        return near, near
    return (near, math.nextafter(near, math.inf)) if near < wanted else (math.nextafter(near, -math.inf), near)


def _wholes(wanted: float, low: int, high: int) -> tuple[int | None, int | None]:
    """The nearest whole numbers from ``low`` to ``high`` at or below and at or above a number."""
    below = None if wanted < low else high if wanted >= high else math.floor(wanted)
    above = None if wanted > high else low if wanted <= low else math.ceil(wanted)
    return below, above


def named(condition: Condition) -> Iterator[str]:
    """The columns that a condition looks at."""
    if isinstance(condition, Both | Either):
        yield from (*named(condition.left), *named(condition.right))
    elif isinstance(condition, Negation):
        yield from named(condition.condition)
    else:
        comparison = checked(condition)
        assert isinstance(comparison, Comparison)
        yield comparison.column


def checked(condition: Any) -> Condition:
    """Refuse anything that is not a condition."""
    if not isinstance(condition, Condition):
        raise InvalidParameter(
            f"Rows are chosen by a condition on their columns, got {shown(condition)}.",
            "A plain value is the same for all rows.",
            'Write for example (flou.column("age") >= 18) & (flou.column("age") < 65).',
        )
    return condition
