"""Codes and conditions in DuckDB's SQL, row by row, equal to ``encode`` for every row.

Doubles are written as quoted text, because DuckDB reads 0.3 as a decimal and rounds it twice on the way to a double. A
cast rounds in DuckDB: codes are floored first, then cast, and casts that a value could break are TRY_CASTs.

Codes of intervals stay doubles, and are measured from the middle of their grid, where the two ends of the grid are one:
times a number that makes everything beyond them infinite, they are finite or not. DuckDB decides that faster than it
compares with both ends, and compares only in batches that have such a row.

Parquet files state the smallest and the largest value of a column, without NaN. DuckDB relies on them: where all other
values are below 50, it takes ``x < 50`` as true, also for NaN, so that the code of a row would depend on other rows.
It even takes isnan(x) as false. Columns of doubles are therefore read as CASE WHEN isnan(x) THEN NaN ELSE x END, which
can be NaN by its own words: in conditions on the spot, and for codes in a projection of their own (``read``). It also
works out what the smallest and the largest quotient would be, but not whether it is finite: only the cells of intervals
that are not are compared, in the same words.
"""

from __future__ import annotations

import math
import sys

import numpy as np

from flou.domain import Domain
from flou.domain.lookup import Lookup, Truth
from flou.domain.rule import Cells, Rule, Wholes
from flou.summaries.condition import FUNCTIONS, Both, Comparison, Condition, Either, Negation, fitted
from flou.summaries.edges import ends
from flou.summaries.moments import Spread

__all__ = ["ColumnSQL", "clipped_sql", "condition_sql", "floored_sql", "literal", "middle", "quoted", "squared_sql"]

_BITS = {"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "BIGINT": 64, "HUGEINT": 128}
_WHOLE = {name: (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for name, bits in _BITS.items()} | {
    f"U{name}": (0, 2**bits - 1) for name, bits in _BITS.items()
}
_INTEGER_TEXT = r"'\s*[+-]?[0-9]{1,37}\s*'"
_REAL = {"DOUBLE", "FLOAT"}
_SIGNS = {sign: sign for sign in FUNCTIONS} | {"==": "=", "!=": "<>"}
EXACT = 2**53  # up to here every whole number is a double
LISTED = 32  # values of a list that is searched from its beginning; longer ones have a hash table


class ColumnSQL:
    """One column: its type, and the SQL that reads it as what a domain asks for.

    ``as_text`` says that the column is the text of a file, to be read as what its domain says.
    """

    def __init__(self, name: str, kind: str, as_text: bool) -> None:
        self.name = quoted(name)
        self.kind = kind.split("(")[0]
        self.as_text = as_text
        digits = [int(part) for part in kind.split("(")[1].strip(")").split(",")] if self.kind == "DECIMAL" else [0, 0]
        self._wide = digits[0] > 15
        self._fraction = self.kind == "DECIMAL" and digits[0] == digits[1]  # all below 1, which the type cannot hold

    def read(self) -> str:
        """The column as codes are computed from it, unless they are computed from a ``cell``."""
        return f"{self._number()} AS {self.name}" if self.kind in _REAL else self.name

    def present(self) -> str:
        """Whether a row holds anything: neither NULL nor NaN."""
        number = self._number() if self.kind in _REAL else None
        return f"{self.name} IS NOT NULL" if number is None else f"{number} <= {_double(math.inf)}"

    def cell(self, domain: Domain | Rule, centred: bool = True) -> str | None:
        """The cell of each row from the ``middle``, or from 0, not clipped to the cells that there are; if any.

        It is computed in the steps of ``domain/rule.py``, none of which depends on how the engine rounds.
        """
        number, rule = self.number_read(), domain.rule
        if not isinstance(rule, Cells) or rule.size == 1 or number is None:
            return None
        units = rule.units
        assert units is not None
        place = f"(CASE WHEN abs({number}) < 1 THEN FLOOR({number}) ELSE {number} END)" if units.near_zero else number
        place = f"({place} - {_double(units.origin)})" if units.origin else place
        whole = f"(FLOOR({place} * {_double(units.scale)}) - {_double(units.start)})"
        return f"FLOOR({whole} / {_double(units.width)})" + (f" - {_double(middle(rule))}" if centred else "")

    def number_read(self) -> str | None:
        """The number of each row that was ``read``, a DOUBLE that may be NULL or NaN; None where there are none."""
        return self.name if self.kind in _REAL else self._number()

    def number(self) -> str:
        """The same where truth values are numbers, and NULL where there are none."""
        truth = f"CASE WHEN {self.name} THEN {_double(1)} WHEN NOT {self.name} THEN {_double(0)} END"
        return truth if self.kind == "BOOLEAN" else self.number_read() or "NULL::DOUBLE"

    def code(self, domain: Domain | Rule, cell: str | None = None) -> str:
        """The code of each row that was ``read``, or whose ``cell`` was: a whole number that is never NULL."""
        rule = domain.rule
        missing = rule.missing_code
        if self.kind == "BOOLEAN":
            no, yes = rule.encode(np.array([False, True])).tolist()
            return f"CASE WHEN {self.name} THEN {yes} WHEN NOT {self.name} THEN {no} ELSE {missing} END"
        if isinstance(rule, Lookup):
            place = self._place(rule)
            return self._looked_up(rule) if place is None else self.coded(rule, place)
        if isinstance(rule, Truth):
            return self._truth(missing)
        if isinstance(rule, Cells):
            return str(missing) if cell is None else f"({clipped_sql(cell, rule)} + {_double(middle(rule))})"
        assert isinstance(rule, Wholes)
        whole = self._whole()
        if whole is not None and not self.as_text:
            return _wholes(whole, rule, str(missing))
        number = self.number_read()
        if number is None or rule.size == 1:
            return str(missing)
        if whole is not None and max(abs(rule.lower), abs(rule.upper)) >= EXACT:
            return _wholes(whole, rule, _floored(number, rule))
        return _floored(number, rule)

    def key(self, domain: Domain | Rule, cell: str | None = None) -> str:
        """What rows are grouped by: their code in few bits, or their place in a list, which ``coded`` makes a code.

        DuckDB looks up places once for every entry of a dictionary of texts, and then groups by these entries, as long
        as only functions that cannot fail are applied to the column.
        """
        kind = next(name for name in ("UTINYINT", "USMALLINT", "INTEGER") if domain.size - 1 <= _WHOLE[name][1])
        return self._place(domain) or f"CAST({self.code(domain, cell)} AS {kind})"

    def coded(self, domain: Domain | Rule, key: str) -> str:
        """The code that a key stands for; two keys can stand for the same, where one of the categories is "missing"."""
        if self._place(domain) is None:
            return key
        return f"CASE {key} WHEN 0 THEN {domain.missing_code} ELSE {key} - 1 END"

    def _place(self, domain: Domain | Rule) -> str | None:
        """From 1, the place of a row in a list of values of one type, 0 where it has none; None where types differ."""
        rule = domain.rule
        if not isinstance(rule, Lookup):
            return None
        numbers = rule.whole and not self.as_text and self.kind != "DECIMAL"
        sought = self.text if rule.texts else self._whole() if numbers else None
        if sought is None:
            return None
        # texts by their bytes, whatever the collation of the column
        wanted = f"encode({sought})" if rule.texts else sought
        values = ", ".join(map(_blob if rule.texts else str, map(str, rule.values)))
        if len(rule.values) <= LISTED:
            return f"greatest(list_position([{values}], {wanted}), 0)"
        value, code = (f'{self.name[:-1]} {part}"' for part in ("listed", "code"))  # names that no column has
        table = f"SELECT unnest([{values}]) AS {value}, unnest(range({len(rule.values)})) AS {code}"
        return f"coalesce(CAST((SELECT {code} FROM ({table}) WHERE {value} = {wanted}) AS INTEGER) + 1, 0)"

    def _number(self) -> str | None:
        """The column as a DOUBLE that may be NULL, or None where it holds no numbers at all."""
        if self.as_text:
            return f"TRY_CAST({self.name} AS DOUBLE)"
        if self.kind in _REAL:
            return _nan_by_its_words(self.name)
        if self._wide or self.kind in {"HUGEINT", "UHUGEINT"}:  # whose own cast to a double rounds twice
            return f"CAST(CAST({self.name} AS VARCHAR) AS DOUBLE)"
        return f"CAST({self.name} AS DOUBLE)" if self.kind in {*_WHOLE, "DECIMAL"} else None

    def _whole(self) -> str | None:
        """The column as exact whole numbers that may be NULL, or None where it holds something else."""
        if self.as_text:
            return (
                f"(CASE WHEN regexp_full_match({self.name}, {_INTEGER_TEXT}) THEN TRY_CAST({self.name} AS HUGEINT) END)"
            )
        if self.kind == "UHUGEINT":  # beyond every bound, and HUGEINT ends half way
            return f"CAST(LEAST({self.name}, CAST({2**64} AS UHUGEINT)) AS HUGEINT)"
        if self.kind == "DECIMAL":
            return f"CAST(FLOOR({self.name}) AS HUGEINT)"
        if self.kind in _WHOLE:
            return f"CAST({self.name} AS {'HUGEINT' if self.kind in {'UBIGINT', 'HUGEINT'} else 'BIGINT'})"
        return None

    def _truth(self, otherwise: int) -> str:
        if self.as_text:
            word = f"lower(trim({self.name}))"
            one, zero = (
                f"{word} = '{truth}' OR {self._number()} = {bit}" for truth, bit in (("true", 1), ("false", 0))
            )
            return f"CASE WHEN {one} THEN 1 WHEN {zero} THEN 0 ELSE {otherwise} END"
        if self._number() is None:
            return str(otherwise)
        one = "" if self._fraction else f"WHEN {self.name} = 1 THEN 1 "
        return f"CASE {one}WHEN {self.name} = 0 THEN 0 ELSE {otherwise} END"

    def _looked_up(self, rule: Lookup) -> str:
        found = ((code, self._equals(value)) for code, value in enumerate(rule.values))
        cases = [f"WHEN {test} THEN {code}" for code, test in found if test is not None]
        return f"CASE {' '.join(cases)} ELSE {rule.missing_code} END" if cases else str(rule.missing_code)

    def _equals(self, value: str | int | bool) -> str | None:
        """Whether a row is this category; None where no row can be."""
        if isinstance(value, bool):
            return f"lower(trim({self.name})) = '{str(value).lower()}'" if self.as_text else None
        if isinstance(value, str):
            if self.kind == "BLOB":
                return f"{self.name} = {_blob(value)}"
            return f"{self.text} = {literal(value)}" if self.text else None
        whole, number = self._whole(), self._number()
        if whole is not None and not self.as_text:
            fraction = f" AND {self.name} = trunc({self.name})" if self.kind == "DECIMAL" else ""
            return f"{whole} = {value}{fraction}"
        exact = number is not None and int(float(value)) == value
        tests = [f"{number} = {_double(value)}"] if exact else ["false"] if self.as_text else []
        if self.as_text and abs(value) >= EXACT:
            tests.insert(0, f"{whole} = {value}")
        return f"COALESCE({', '.join(tests)})" if tests else None

    @property
    def text(self) -> str | None:
        """The column as text, or None where it holds something else."""
        if self.kind == "ENUM":
            return f"CAST({self.name} AS VARCHAR)"
        return self.name if self.kind == "VARCHAR" else None

    def comparison(self, comparison: Comparison) -> str:
        """Whether the comparison holds for each row; never NULL."""
        constant = comparison.constant
        if isinstance(constant, str):
            test = f"{self.text} {_SIGNS[comparison.operator]} {literal(constant)}"
            return f"COALESCE({test}, false)" if self.text else "false"
        if self.kind == "BOOLEAN" or (self.as_text and isinstance(constant, bool)):
            no, yes = (str(FUNCTIONS[comparison.operator](truth, constant)).lower() for truth in (0, 1))
            read = self._truth(-1) if self.as_text else f"CAST({self.name} AS INTEGER)"
            return f"CASE {read} WHEN 1 THEN {yes} WHEN 0 THEN {no} ELSE false END"
        number = self._number()
        if self.kind in _WHOLE:
            return f"COALESCE({_compared(self.name, comparison, _WHOLE[self.kind])}, false)"
        if number is None:
            return "false"
        tests = [_compared(number, comparison, None), "false"]
        if self.as_text and abs(constant) >= EXACT:
            tests.insert(0, _compared(str(self._whole()), comparison, _WHOLE["HUGEINT"]))
        return f"COALESCE({', '.join(tests)})"


def condition_sql(condition: Condition, columns: dict[str, ColumnSQL]) -> str:
    """A condition whose columns are known to exist."""
    if isinstance(condition, Both | Either):
        word = "AND" if isinstance(condition, Both) else "OR"
        return f"({condition_sql(condition.left, columns)} {word} {condition_sql(condition.right, columns)})"
    if isinstance(condition, Negation):
        return f"(NOT {condition_sql(condition.condition, columns)})"
    assert isinstance(condition, Comparison)
    return columns[condition.column].comparison(condition)


def _compared(x: str, comparison: Comparison, whole: tuple[int, int] | None) -> str:
    """An exact comparison of numbers; NULL where there is no number, and false for NaN."""
    stated = fitted(comparison, whole)
    present = "" if whole else f" AND {x} <= {_double(math.inf)}"
    if isinstance(stated, bool):
        return f"(CASE WHEN {x} IS NOT NULL THEN {str(stated).lower()}{present} END)"
    return f"({x} {_SIGNS[stated[0]]} {stated[1] if whole else _double(stated[1])}{present})"


def _nan_by_its_words(x: str) -> str:
    return f"(CASE WHEN isnan({x}) THEN {_double(math.nan)} ELSE {x} END)"


def middle(domain: Domain | Rule) -> float:
    """The middle of the codes of a grid: whole, or a half."""
    return domain.rule.last / 2


def clipped_sql(cell: str, domain: Domain | Rule) -> str:
    """A cell between the ends of its grid, as a DOUBLE from the ``middle``."""
    end = middle(domain)
    # the next cell is 1 further, and at most 2^31 from the middle: a quarter beyond the end is far from rounding
    beyond = _double(sys.float_info.max / max(end + 0.25, 1.0))
    first, last, zero, most, missing = map(_double, (-end, end, 0, math.inf, domain.missing_code - end))
    stray = _nan_by_its_words(cell)
    outside = f"CASE WHEN {stray} < {zero} THEN {first} WHEN {stray} <= {most} THEN {last} ELSE {missing} END"
    return f"CASE WHEN isfinite({cell} * {beyond}) THEN {cell} ELSE {outside} END"


def _floored(x: str, rule: Wholes) -> str:
    """floor(x) - lower between the ends of the grid."""
    first, last = map(_double, ends(rule))
    inside = f"CAST(TRY_CAST(FLOOR({x}) AS BIGINT) - {rule.lower} AS INTEGER)"
    return (
        f"CASE WHEN {x} >= {first} AND {x} < {last} THEN {inside} WHEN {x} < {first} THEN 0 "
        f"WHEN {x} <= {_double(math.inf)} THEN {rule.last} ELSE {rule.missing_code} END"
    )


def _wholes(x: str, rule: Wholes, otherwise: str) -> str:
    return (
        f"CASE WHEN {x} BETWEEN {rule.lower} AND {rule.upper} THEN CAST({x} - {rule.lower} AS INTEGER) "
        f"WHEN {x} < {rule.lower} THEN 0 WHEN {x} > {rule.upper} THEN {rule.last} ELSE {otherwise} END"
    )


def squared_sql(cell: str, spread: Spread) -> str:
    """The largest ``Spread`` minus that of a cell, which counts from the ``middle``: a whole DOUBLE."""
    apart = middle(spread.grid) - spread.middle
    place = f"({cell} + {_double(apart)})" if apart else cell
    return f"FLOOR({place} * {place} * {_double(spread.scale)} + {_double(0.5)})"


def floored_sql(x: str, unit: float) -> str:
    """The largest multiple of a power of two up to x, a DOUBLE."""
    return f"(FLOOR({x} * {_double(1 / unit)}) * {_double(unit)})"


def quoted(name: str) -> str:
    """The name of a column in quotes, whatever its characters."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text in quotes, whatever its characters."""
    return "'" + text.replace("'", "''") + "'"


def _double(number: float) -> str:
    return f"'{float(number)!r}'::DOUBLE"


def _blob(text: str) -> str:
    return "'" + "".join(f"\\x{byte:02X}" for byte in text.encode()) + "'::BLOB"
