"""Row-wise conditions: ``column("age") >= 18``, combined with ``&``, ``|`` and ``~``.

A condition is true or false for a row by what that row holds, and false where it holds nothing comparable (NULL,
NaN): one row never changes what happens to another, so filtering costs no privacy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from flou.errors import InvalidParameter
from flou.parameters import shown

__all__ = ["Both", "Column", "Comparison", "Condition", "Either", "Negation", "column"]

Operator: TypeAlias = Literal["<", "<=", ">", ">=", "==", "!="]
Constant: TypeAlias = int | float | str | bool


class Condition:
    """Something that holds for a row, or does not."""

    def __and__(self, other: Condition) -> Both:
        return Both(self, _condition(other))

    def __or__(self, other: Condition) -> Either:
        return Either(self, _condition(other))

    def __invert__(self) -> Negation:
        return Negation(self)

    def __bool__(self) -> bool:
        raise InvalidParameter(
            "A condition on rows is neither true nor false by itself.",
            "Python's 'and', 'or' and chained comparisons would drop half of it without a word.",
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
    """True where the condition is false, rows that hold nothing comparable included."""

    condition: Condition


@dataclass(frozen=True, eq=False)
class Column:
    """A column, to be compared with a constant."""

    name: str

    __hash__ = None  # type: ignore[assignment]

    def _compare(self, operator: Operator, constant: Any) -> Comparison:
        if not isinstance(constant, int | float | str) or constant != constant:
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
    return Column(name)


def _condition(other: Any) -> Condition:
    if not isinstance(other, Condition):
        raise InvalidParameter(
            f"A condition can only be combined with another condition, got {shown(other)}.",
            "A plain value does not look at a row.",
            'Write for example (flou.column("age") >= 18) & (flou.column("age") < 65).',
        )
    return other
