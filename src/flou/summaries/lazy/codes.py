"""Codes and conditions as narwhals expressions, row by row, equal to ``encode`` for every row.

Engines evaluate more than the branch that is taken: what a value could break (a cast, a division) only ever sees
values between the ends of the grid. Constants keep to the type of the column, because engines would otherwise turn both
sides into doubles, where 2^53 + 1 is 2^53.

Limits     decimals are read as doubles, so that whole numbers beyond 2^53 are exact in columns of integers only
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np

from flou.domain import Domain
from flou.domain.lookup import Lookup, Truth
from flou.domain.rule import Cells, Rule, Wholes
from flou.summaries.condition import FUNCTIONS, Both, Comparison, Condition, Either, Negation, fitted
from flou.summaries.edges import ends
from flou.summaries.keys import LARGEST
from flou.summaries.moments import LARGEST_SPREAD, Spread

__all__ = ["ColumnExpression", "condition_expression", "place"]

_BITS = {nw.Int8: 8, nw.Int16: 16, nw.Int32: 32, nw.Int64: 64, nw.Int128: 128}
_UNSIGNED_BITS = {nw.UInt8: 8, nw.UInt16: 16, nw.UInt32: 32, nw.UInt64: 64}
LONGEST, DECIMAL = 300, r"^-?([0-9]+(\.[0-9]*)?|NaN|Infinity)$"  # digits of a decimal that a double can hold
NESTED = 32  # tests in one another: engines recurse into expressions


class ColumnExpression:
    """One column: its type, and the expressions that read it as what a domain asks for."""

    def __init__(self, name: str, kind: Any, *, any_size: bool = False) -> None:
        self._column = nw.col(name)
        self._any_size = any_size  # whether decimals may have any number of digits, as those of PostgreSQL
        self.kind = kind
        self._whole: tuple[int, int] | None = None
        for sizes, low in ((_BITS, -1), (_UNSIGNED_BITS, 0)):
            for whole, bits in sizes.items():
                if kind == whole:
                    self._whole = low * 2 ** (bits - 1), 2 ** (bits + low) - 1

    def code(self, domain: Domain | Rule) -> nw.Expr:
        """The code of each row, an Int64 that is never NULL."""
        rule = domain.rule
        missing = rule.missing_code
        if isinstance(rule, Spread):
            cell = self.code(rule.grid).cast(nw.Float64())
            middle = cell - nw.lit(rule.middle)
            square = (middle * middle * nw.lit(rule.scale) + nw.lit(0.5)).floor()
            return nw.lit(LARGEST_SPREAD, nw.Int64()) - square.cast(nw.Int64())
        if self.kind == nw.Boolean:
            no, yes = rule.encode(np.array([False, True])).tolist()
            return _chosen([(self._column, yes), (~self._column, no)], missing)
        if isinstance(rule, Lookup):
            return self._looked_up(rule)
        number = self._number()
        if number is None or rule.size == 1:
            return _code(missing)
        if isinstance(rule, Truth):
            one, zero = (self._same(answer) for answer in (1, 0))
            return _chosen([(one, 1), (zero, 0)], missing)
        if isinstance(rule, Wholes) and self._whole is not None:
            return self._wholes(rule)
        assert isinstance(rule, Cells | Wholes)
        return _grid(number, rule)

    def number(self) -> nw.Expr:
        """The column as a Float64, which is NULL or NaN where a row holds no number."""
        if self.kind == nw.Boolean:
            no = nw.when(~self._column).then(nw.lit(0.0))
            return nw.when(self._column).then(nw.lit(1.0)).otherwise(no)
        number = self._number()
        return nw.lit(math.nan) if number is None else number

    def _number(self) -> nw.Expr | None:
        """The column as a Float64 that may be NULL, or None where it holds no numbers at all."""
        if not self.kind.is_numeric():
            return None
        if self.kind.is_decimal():  # the text of a decimal is read exactly, its own cast may round twice
            text = self._column.cast(nw.String())
            return _read(text) if self._any_size else text.cast(nw.Float64())
        number = self._column.cast(nw.Float64())
        if not self.kind.is_float():
            return number
        # DuckDB believes Parquet's statistics, which leave NaN out, unless an expression speaks of NaN (duck/sql.py)
        return nw.when(number.is_nan()).then(nw.lit(math.nan)).otherwise(number)

    def present(self) -> nw.Expr:
        """Whether a row holds anything: neither NULL nor NaN."""
        number = self._number() if self.kind.is_float() else None
        return ~self._column.is_null() if number is None else _holds(number <= nw.lit(math.inf))

    def _wholes(self, rule: Wholes) -> nw.Expr:
        assert self._whole is not None
        low, high = max(rule.lower, self._whole[0]), min(rule.upper, self._whole[1])
        if low > high:  # all numbers lie on one side of the bounds
            code = 0 if rule.lower > self._whole[1] else rule.last
            return _chosen([(~self._column.is_null(), code)], rule.missing_code)
        bottom, top = nw.lit(low, self.kind), nw.lit(high, self.kind)
        inside = nw.when((self._column >= bottom) & (self._column <= top)).then(self._column).otherwise(bottom)
        code_inside = inside.cast(nw.Int64()) - nw.lit(rule.lower, nw.Int64())
        below, above = _code(low - rule.lower), _code(high - rule.lower)
        rest = nw.when(self._column > top).then(above).otherwise(_code(rule.missing_code))
        rest = nw.when(self._column <= top).then(code_inside).otherwise(rest)
        return nw.when(self._column < bottom).then(below).otherwise(rest)

    def _same(self, value: str | int | bool) -> nw.Expr | None:
        """Whether a row is this category; None where no row can be."""
        if isinstance(value, bool):
            return None
        if isinstance(value, str):
            return None if self._text() is None else self._text() == nw.lit(value)
        if self._whole is not None:
            low, high = self._whole
            return self._column == nw.lit(value, self.kind) if low <= value <= high else None
        number = self._number()
        return number == nw.lit(float(value)) if number is not None and int(float(value)) == value else None

    def _looked_up(self, rule: Lookup) -> nw.Expr:
        """Blocks of tests, of which at most one succeeds: the others add nothing."""
        cases = [(test, code) for code, test in enumerate(map(self._same, rule.values)) if test is not None]
        missing = rule.missing_code
        blocks = [
            _chosen([(test, code - missing) for test, code in cases[start : start + NESTED]], 0)
            for start in range(0, len(cases), NESTED)
        ]
        found = _code(missing)
        for block in blocks:
            found = found + block
        return found

    def _text(self) -> Any:
        """The column as text, or None where it holds something else."""
        if self.kind in (nw.Categorical, nw.Enum):
            return self._column.cast(nw.String())
        return self._column if self.kind == nw.String else None

    def key(self) -> nw.Expr | None:
        """The key of each row (``keys.py``), or NULL; None where no row has one."""
        if self._text() is not None or self._whole is not None or self.kind == nw.Boolean:
            return self._column if self._text() is None else self._text()
        number = self._number()
        if number is None:
            return None
        most = nw.lit(float(LARGEST))
        whole = (number >= -most) & (number <= most) & (number == number.floor())
        inside = nw.when(whole).then(number).otherwise(nw.lit(0.0))
        return nw.when(whole).then(inside.cast(nw.Int64()))

    def _never(self) -> nw.Expr:
        """False for every row; a constant would give a single row."""
        return self._column.is_null() & ~self._column.is_null()

    def comparison(self, comparison: Comparison) -> nw.Expr:
        """Whether the comparison holds for each row; never NULL."""
        function, constant = FUNCTIONS[comparison.operator], comparison.constant
        if isinstance(constant, str):
            text = self._text()
            return self._never() if text is None else _holds(function(text, nw.lit(constant)))
        if self.kind == nw.Boolean:
            no, yes = (function(truth, constant) for truth in (0, 1))
            held = [test for test, wanted in ((self._column, yes), (~self._column, no)) if wanted]
            return _holds(*held) if held else self._never()
        number = self._column if self._whole is not None else self._number()
        if number is None:
            return self._never()
        stated = fitted(comparison, self._whole)
        present = ~number.is_null() if self._whole is not None else number <= nw.lit(math.inf)
        if isinstance(stated, bool):
            return _holds(present) if stated else self._never()
        kind = self.kind if self._whole is not None else nw.Float64()
        return _holds(FUNCTIONS[stated[0]](number, nw.lit(stated[1], kind)) & present)


def condition_expression(condition: Condition, columns: dict[str, ColumnExpression]) -> nw.Expr:
    """A condition whose columns are known to exist."""
    if isinstance(condition, Both):
        return condition_expression(condition.left, columns) & condition_expression(condition.right, columns)
    if isinstance(condition, Either):
        return condition_expression(condition.left, columns) | condition_expression(condition.right, columns)
    if isinstance(condition, Negation):
        return ~condition_expression(condition.condition, columns)
    assert isinstance(condition, Comparison)
    return columns[condition.column].comparison(condition)


def _read(text: nw.Expr) -> nw.Expr:
    """The text of a decimal of any size as a Float64: databases stop at one that is too large or too small for it.

    More digits than LONGEST change nothing but the rounding; without a point among them, the number is beyond all
    doubles. What is not a decimal, such as an amount of money, is NULL.
    """
    head = text.str.slice(0, LONGEST)
    number = nw.when(head.str.contains(DECIMAL)).then(head).cast(nw.Float64())
    huge = (text.str.len_chars() > nw.lit(LONGEST)) & ~head.str.contains(".", literal=True)
    beyond = nw.when(head.str.starts_with("-")).then(nw.lit(-math.inf)).otherwise(nw.lit(math.inf))
    return nw.when(huge).then(beyond).otherwise(number)


def _grid(x: nw.Expr, rule: Cells | Wholes) -> nw.Expr:
    """The code between the ends of a grid, in steps whose results do not depend on how an engine rounds."""
    first, last = (nw.lit(end) for end in ends(rule))
    inside = nw.when((x >= first) & (x < last)).then(x).otherwise(first)
    if isinstance(rule, Cells):
        code = _cell(inside, rule).cast(nw.Int64())
    else:
        code = inside.floor().cast(nw.Int64()) - nw.lit(rule.lower, nw.Int64())
    rest = nw.when(x <= nw.lit(math.inf)).then(_code(rule.last)).otherwise(_code(rule.missing_code))
    rest = nw.when(x < last).then(code).otherwise(rest)
    return nw.when(x < first).then(_code(0)).otherwise(rest)


def _cell(x: nw.Expr, rule: Cells) -> nw.Expr:
    """The rule of ``domain/rule.py``."""
    units = rule.units
    assert units is not None
    if units.near_zero:
        x = nw.when((x > nw.lit(-1.0)) & (x < nw.lit(1.0))).then(x.floor().cast(nw.Float64())).otherwise(x)
    places = x - nw.lit(units.origin) if units.origin else x
    whole = (places * nw.lit(units.scale)).floor().cast(nw.Float64())
    return ((whole - nw.lit(units.start)) / nw.lit(units.width)).floor()


def place(x: nw.Expr, cuts: Sequence[float]) -> nw.Expr:
    """The place of a number in a refinement (``lazy/refinement.py``), by halving."""

    def reached(some: Sequence[float], before: int) -> nw.Expr:
        if not some:
            return _code(before)
        half = len(some) // 2
        above = reached(some[half + 1 :], before + half + 1)
        return nw.when(x < nw.lit(some[half])).then(reached(some[:half], before)).otherwise(above)

    return nw.when(x <= nw.lit(math.inf)).then(reached(cuts, 0)).otherwise(_code(len(cuts) + 1))


def _code(code: int) -> nw.Expr:
    return nw.lit(code, nw.Int64())


def _chosen(cases: list[tuple[Any, int]], otherwise: int) -> nw.Expr:
    """The number of the first test that holds; a test that is NULL does not."""
    found = _code(otherwise)
    for test, code in reversed(cases):
        if test is not None:
            found = nw.when(test).then(_code(code)).otherwise(found)
    return found


def _holds(*tests: nw.Expr) -> nw.Expr:
    held = nw.lit(False)
    for test in tests:
        held = nw.when(test).then(nw.lit(True)).otherwise(held)
    return held
