"""Arithmetic with columns, as a formula may contain it, and nothing else.

A plan is written by someone else, so an expression is never given to Python: its syntax tree is compared with a short
list (columns, numbers, ``+ - * / **``, a few functions) and then interpreted here, twice. :meth:`Expression.values`
computes with rows. :meth:`Expression.extent` computes with public ranges and bounds whatever rows can give.
Functions that would look at all rows of a party (its mean, its knots) are not on the list: each party would see others.
"""

from __future__ import annotations

import ast
import math
import operator
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from flou.arrays import Floats
from flou.errors import InvalidParameter
from flou.parameters import shown

__all__ = ["EVERYTHING", "FUNCTIONS", "Expression", "Extent", "refused"]


LONGEST = 4000  # characters
DEEPEST = 40  # nested operations
POWER = 16  # the largest exponent
CONSTANT = 2.0**60  # the largest number in a formula
TINY = math.log(math.ulp(0.0))  # the logarithm of the smallest positive double

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "I": lambda x: x,
    "abs": np.abs,
    "exp": np.exp,
    "log": np.log,
    "log10": np.log10,
    "log1p": np.log1p,
    "log2": np.log2,
    "sqrt": np.sqrt,
}
OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: np.divide,
    ast.Pow: np.power,
}
LOGARITHMS = {"log": 1.0, "log10": math.log(10), "log2": math.log(2)}


def refused(what: str) -> InvalidParameter:
    """Why a formula is not computed."""
    return InvalidParameter(
        what,
        "A formula comes from someone else, so only what is harmless and means the same at every party is computed.",
        f"Use columns, numbers, + - * / **, C(column) and the functions {', '.join(FUNCTIONS)}.",
    )


@dataclass(frozen=True)
class Extent:
    """What is public about values: they lie between two bounds, and perhaps are whole numbers."""

    lower: float
    upper: float
    whole: bool = False
    declared: bool = True  # the bounds are someone's statement, not a default

    @property
    def size(self) -> float:
        return max(abs(self.lower), abs(self.upper))


EVERYTHING = Extent(-(2.0**40), 2.0**40, declared=False)


@dataclass(frozen=True)
class Expression:
    """An expression whose syntax tree has been checked."""

    text: str
    tree: ast.expr
    aliases: Mapping[str, str]  # names that stand for columns whose names are no identifiers

    @classmethod
    def of(cls, text: str) -> Expression:
        """Check an expression; columns with unusual names stand between backticks."""
        if len(text) > LONGEST:
            raise refused(f"An expression of {len(text)} characters is too long.")
        aliases: dict[str, str] = {}

        def alias(found: re.Match[str]) -> str:
            return aliases.setdefault(found[1], f"column_{len(aliases)}_")

        plain = re.sub("`([^`]+)`", alias, text)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # Python warns of what is refused below anyway
                tree = ast.parse(plain, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise refused(f"The expression {shown(text)} cannot be read.") from None
        _check(tree, text, DEEPEST)
        return cls(text, tree, {name: column for column, name in aliases.items()})

    @classmethod
    def column(cls, name: str) -> Expression:
        """The column of this name, whatever characters it has."""
        return cls(name, ast.Name("column_0_"), {"column_0_": name})

    @property
    def is_column(self) -> bool:
        """Whether it is a column and nothing else."""
        return isinstance(self.tree, ast.Name)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it reads, in their order."""
        return tuple(dict.fromkeys(self.aliases.get(name, name) for name in _names(self.tree)))

    def values(self, columns: Mapping[str, Floats]) -> Floats:
        """The value of every row; not a finite number where the arithmetic has no answer."""
        with np.errstate(all="ignore"):
            return np.asarray(self._value(self.tree, columns), dtype=np.float64)

    def _value(self, node: ast.expr, columns: Mapping[str, Floats]) -> Any:
        match node:
            case ast.Name(id=name):
                return columns[self.aliases.get(name, name)]
            case ast.Constant(value=float() | int() as number):
                return np.float64(number)
            case ast.UnaryOp(op=sign, operand=inner):
                value = self._value(inner, columns)
                return -value if isinstance(sign, ast.USub) else value
            case ast.BinOp(left=left, op=op, right=right):
                return _answered(OPERATORS[type(op)](self._value(left, columns), self._value(right, columns)))
            case ast.Call(func=function, args=[inner]):
                return _answered(FUNCTIONS[_name(function)](self._value(inner, columns)))
        raise AssertionError("the tree was checked")

    def extent(self, columns: Mapping[str, Extent]) -> Extent:
        """Bounds of the value, given those of the columns."""
        with np.errstate(all="ignore"):
            found = self._extent(self.tree, columns)
        return Extent(found.lower, found.upper, found.whole, all(columns[name].declared for name in self.columns))

    def _extent(self, node: ast.expr, columns: Mapping[str, Extent]) -> Extent:
        match node:
            case ast.Name(id=name):
                return columns[self.aliases.get(name, name)]
            case ast.Constant(value=float() | int() as number):
                return Extent(float(number), float(number), float(number).is_integer())
            case ast.UnaryOp(op=sign, operand=inner):
                a = self._extent(inner, columns)
                return Extent(-a.upper, -a.lower, a.whole) if isinstance(sign, ast.USub) else a
            case ast.BinOp(left=left, op=ast.Pow(), right=right):
                return _power(self._extent(left, columns), self._extent(right, columns).lower)
            case ast.BinOp(left=left, op=op, right=right):
                return _combined(type(op), self._extent(left, columns), self._extent(right, columns))
            case ast.Call(func=function, args=[inner]):
                return _applied(_name(function), self._extent(inner, columns))
        raise AssertionError("the tree was checked")


def _answered(values: Any) -> Any:
    """The same numbers, NaN where there is no finite one: 1 / log(0) is no 0, which bounds of a logarithm leave out."""
    return np.where(np.isfinite(values), values, np.nan)


def _names(node: ast.expr) -> list[str]:
    """The names of columns, from left to right."""
    match node:
        case ast.Name(id=name):
            return [name]
        case ast.UnaryOp(operand=inner) | ast.Call(args=[inner]):
            return _names(inner)
        case ast.BinOp(left=left, right=right):
            return _names(left) + _names(right)
    return []


def _name(function: ast.expr) -> str:
    """The name of a function: ``log``, or ``np.log`` as people write it; nothing is looked up."""
    match function:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id="np"), attr=name) if name != "I":
            return name
    return ""


def _check(node: ast.expr, text: str, depth: int) -> None:
    if depth == 0:
        raise refused(f"The expression {shown(text)} is nested too deeply.")
    inside: list[ast.expr]
    match node:
        case ast.Name():
            inside = []
        case ast.Constant(value=float() | int() as number) if type(number) is not bool and abs(number) <= CONSTANT:
            inside = []
        case ast.UnaryOp(op=ast.UAdd() | ast.USub(), operand=inner):
            inside = [inner]
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            if not _is_exponent(right):
                raise refused(f"An exponent in {shown(text)} is not a number between -{POWER} and {POWER}.")
            inside = [left]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            inside = [left, right]
        case ast.Call(func=function, args=[inner], keywords=[]) if _name(function) in FUNCTIONS:
            inside = [inner]
        case _:
            raise refused(f"The expression {shown(text)} contains something that is not allowed in a formula.")
    for part in inside:
        _check(part, text, depth - 1)


def _is_exponent(node: ast.expr) -> bool:
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return _is_exponent(inner) and isinstance(inner, ast.Constant)
        case ast.Constant(value=float() | int() as number):
            return not isinstance(number, bool) and abs(number) <= POWER
    return False


def _hull(values: list[Any], whole: bool) -> Extent:
    """The smallest interval around values; where one of them has no answer, everything is possible."""
    numbers = [float(value) for value in values]
    if any(map(math.isnan, numbers)):
        return Extent(-math.inf, math.inf, whole)
    return Extent(min(numbers), max(numbers), whole)


def _combined(op: type[ast.operator], a: Extent, b: Extent) -> Extent:
    if op is ast.Div:
        if b.lower <= 0 <= b.upper:
            return Extent(-math.inf, math.inf)
        return _hull([np.divide(x, y) for x in (a.lower, a.upper) for y in (b.lower, b.upper)], whole=False)
    function = OPERATORS[op]
    # An endpoint may be infinite; infinity times zero has no answer, and the hull then is everything.
    ends = [function(np.float64(x), np.float64(y)) for x in (a.lower, a.upper) for y in (b.lower, b.upper)]
    return _hull(ends, a.whole and b.whole)


def _power(a: Extent, exponent: float) -> Extent:
    whole = exponent.is_integer()
    if exponent < 0 and a.lower <= 0 <= a.upper:
        return Extent(-math.inf, math.inf)
    lower = a.lower if whole else max(a.lower, 0.0)  # a root of a negative number has no answer
    upper = a.upper if whole else max(a.upper, 0.0)
    ends = [np.power(np.float64(end), exponent) for end in (lower, upper)]
    if whole and exponent > 0 and exponent % 2 == 0 and lower < 0 < upper:
        ends.append(np.float64(0))
    return _hull(ends, a.whole and whole and exponent >= 0)


def _applied(name: str, a: Extent) -> Extent:
    if name in ("I", "abs"):
        if name == "I":
            return a
        inside = a.lower <= 0 <= a.upper
        return Extent(0.0 if inside else min(abs(a.lower), abs(a.upper)), a.size, a.whole)
    if name in LOGARITHMS:
        ends = [math.log(x) if x > 0 else TINY for x in (a.lower, a.upper)]
        return _hull([end / LOGARITHMS[name] for end in ends], whole=False)
    if name == "log1p":
        return _hull([math.log1p(x) if x > -1 else math.log(2.0**-53) for x in (a.lower, a.upper)], whole=False)
    if name == "sqrt":
        return _hull([math.sqrt(max(x, 0.0)) for x in (a.lower, a.upper)], whole=False)
    return _hull([np.exp(np.float64(x)) for x in (a.lower, a.upper)], whole=False)
