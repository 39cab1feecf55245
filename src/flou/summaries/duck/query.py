"""One SQL query for all requests of a call: names of codes and sums, limbs of sums, and grouping sets.

Codes and their products are whole DOUBLEs. In groups they are averaged, because DuckDB does that about twice as fast as
it sums doubles, or integers. Codes of intervals are summed as they are read, from the middle of their grid: that is a
whole number or a half, and n times the middle is added at the end. Their spread is 2^16 less a rounded square, and is
summed as that square.

Sums are exact. A value is cut into limbs, whole multiples of a power of two, its unit; let L be the largest size of
them, in units. All partial sums of n limbs, in any order and on any number of threads, are whole numbers of units of
size at most n L, and whole numbers up to 2^53 are doubles: if n L < 2^53, no addition rounds. An average is S / n but
for a rounding, or two if the engine multiplies with 1 / n, and its product with n has one more: of S < 2^50 that is
less than 2^50 (3 2^-53 + 2^-104) < 1/2, so that the nearest whole number is S.

Few limbs are fast. Up to 26 bits are tried as one: the codes of a mean have 26 bits in units of a half, and one limb
holds 2^27 rows, or 2^24 rows of each group. The counts that come with the sums say whether that was so. Otherwise the
pass is repeated with limbs of 16 or 8 bits, and whichever pass is taken, the integers are the same.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flou.domain.rule import Cells
from flou.summaries.duck.sql import EXACT, ColumnSQL, clipped_sql, floored_sql, middle, squared_sql
from flou.summaries.moments import LARGEST_SPREAD, Spread
from flou.summaries.request import Code, Counts, Request, Term, keys_of
from flou.summaries.rows import free

__all__ = ["LIMBS", "Query"]

LIMBS = (26, 16, 8)  # bits of the parts of a sum, at most
SUMMED, AVERAGED = 2**53, 2**50  # below this sums are exact, and are found again from their averages


class Query:
    """The names of codes and sums, and the grouping sets, of requests that are asked together."""

    def __init__(self, requests: Sequence[Request], columns: dict[str, ColumnSQL], bits: int) -> None:
        self._columns, self._bits = columns, bits
        self.codes: dict[tuple[Code, str], str] = {}  # the names of codes, and of keys
        self.sums: dict[tuple[int, frozenset[Code]], list[tuple[str, int]]] = {}  # of limbs, and their shifts
        self._largest = 0  # of all limbs, in their units
        averages: list[str] = []
        groupings = dict.fromkeys(frozenset(self._name(code, "k") for code in keys_of(request)) for request in requests)
        keys = {name: code for (code, _), name in self.codes.items()}
        self.keys = list(keys)
        added = "avg" if keys else "sum"
        for term in (term for r in requests if not isinstance(r, Counts) for term in r.terms):
            if term and _product(term) not in self.sums:
                limbs = self._limbs(term)
                names = [f"s{len(averages) + i}" for i in range(len(limbs))]
                averages += [f"coalesce({added}({limb}), 0) AS {n}" for n, (limb, _) in zip(names, limbs, strict=True)]
                self.sums[_product(term)] = [(n, shift) for n, (_, shift) in zip(names, limbs, strict=True)]
        codes = [f"{columns[c.column].coded(c.domain, key)} AS {key}_code" for key, c in keys.items()]
        outputs = [*codes, "count(*) AS n", *averages]
        sets = ", ".join(f"({', '.join(sorted(grouping))})" for grouping in groupings)
        if len(groupings) > 1:
            outputs.append(f"CAST(grouping({', '.join(keys)}) AS BIGINT) AS mark")
            sets = f"GROUPING SETS ({sets})"
        self.aggregation = (", ".join(outputs), sets if keys else "")

    def exact(self, rows: int) -> bool:
        """Whether sums over this number of rows are exact, in the largest group."""
        return rows * self._largest < (AVERAGED if self.keys else SUMMED)

    def _name(self, code: Code, kind: str) -> str:
        return self.codes.setdefault((code, kind), f"{kind}{len(self.codes)}")

    @cached_property
    def _cells(self) -> dict[Code, tuple[str, str]]:
        """For codes that are clipped cells: how a cell is read, and its name."""
        read = {code: self._columns[code.column].cell(code.domain) for code, _ in self.codes}
        names = (free(f"flou_{i}", self._columns) for i in itertools.count())
        return {code: (cell, next(names)) for code, cell in read.items() if cell is not None}

    @property
    def reads(self) -> list[str]:
        """The cells, and the columns of other codes."""
        columns = dict.fromkeys(code.column for code, _ in self.codes if code not in self._cells)
        cells = (f"{cell} AS {name}" for cell, name in self._cells.values())
        return [*cells, *(self._columns[column].read() for column in columns)]

    @property
    def projected(self) -> list[str]:
        """The codes and keys of each row."""
        return [f"{self._made(code, kind)} AS {name}" for (code, kind), name in self.codes.items()]

    def _made(self, code: Code, kind: str) -> str:
        column, domain, cell = self._columns[code.column], code.domain, self._cells.get(code, ("", None))[1]
        if kind == "k":
            return column.key(domain, cell)
        if not isinstance(code.rule, Cells):
            return column.code(domain)
        return clipped_sql(cell, domain) if cell else f"({column.code(domain)} - {middle(domain)})"

    def _value(self, code: Code) -> str:
        """A code as a DOUBLE; the codes of an interval count from the middle of its grid."""
        return f"CAST({self._name(code, 'c')} AS DOUBLE)"

    def _whole(self, code: Code) -> str:
        """A code as a DOUBLE, from 0."""
        rule = code.rule
        if isinstance(rule, Spread):
            return f"({LARGEST_SPREAD} - {squared_sql(self._value(Code(code.column, rule.grid)), rule)})"
        return f"({self._value(code)} + {middle(rule)})" if isinstance(rule, Cells) else self._value(code)

    def _limbs(self, term: Term) -> list[tuple[str, int]]:
        """A product of codes as limbs: whole multiples of powers of two, at most 2^bits each, and these powers."""
        sizes = [code.domain.size - 1 for code in term]
        if len(term) == 1:
            rule = term[0].rule
            if isinstance(rule, Spread):
                return self._cut(squared_sql(self._value(Code(term[0].column, rule.grid)), rule), LARGEST_SPREAD, 0)
            return self._cut(self._value(term[0]), sizes[0], -1 if isinstance(rule, Cells) else 0)
        value, other = map(self._whole, term)
        if math.prod(sizes) < EXACT:
            return self._cut(f"({value} * {other})", math.prod(sizes), 0)
        upper = floored_sql(value, 1 << 16)  # products with either part of a code have less than 53 bits
        low = self._cut(f"(({value} - {upper}) * {other})", sizes[1] << 16, 0)
        return [*low, *self._cut(f"({upper} * {other})", (sizes[0] >> 16) * sizes[1], 16)]

    def _cut(self, value: str, largest: int, shift: int) -> list[tuple[str, int]]:
        """Up to ``largest`` units of 2^shift, either way, in as few limbs of equal width as ``bits`` allows."""
        width = max(largest - 1, 1).bit_length()  # 2^width of them make one limb
        count = -(-width // self._bits)
        width = -(-width // count)
        limbs = []
        for _ in range(count - 1):
            upper = floored_sql(value, 2.0 ** (shift + width))
            limbs.append((f"{value} - {upper}", shift))
            self._largest = max(self._largest, 1 << width)
            value, shift, largest = upper, shift + width, (largest >> width) + 1
        self._largest = max(self._largest, largest)
        return [*limbs, (value, shift)]

    def placed(self, request: Request, found: dict[str, NDArray[Any]]) -> NDArray[Any]:
        """The part of the common answer that belongs to one request, as a dense array."""
        grouping = [self._name(code, "k") for code in keys_of(request)]
        rows: Any = slice(None)
        if "mark" in found:  # bit i of the mark, from the right, is 1 when that key is summed over
            last = len(self.keys) - 1
            rows = found["mark"] == sum((key not in grouping) << (last - i) for i, key in enumerate(self.keys))
        cells = tuple(found[f"{key}_code"][rows].astype(np.int64) for key in grouping)
        result = np.zeros(request.shape, dtype=np.int64 if isinstance(request, Counts) else object)
        numbers = found["n"][rows]
        if isinstance(request, Counts):
            np.add.at(result, cells, numbers)
            return result
        for i, term in enumerate(request.terms):
            values = self._sum(term, {name: found[name][rows] for name in found}) if term else numbers.astype(object)
            np.add.at(result[..., i], cells, values if cells else values[0])
        return result

    def _sum(self, term: Term, found: dict[str, NDArray[Any]]) -> NDArray[Any]:
        """The exact sum of a term in each group, from its limbs."""
        limbs = ((found[name] / 2.0**shift, shift) for name, shift in self.sums[_product(term)])
        wholes = ((np.rint(limb * found["n"]) if self.keys else limb, shift) for limb, shift in limbs)
        halves = sum(whole.astype(np.int64).astype(object) * 2 ** (shift + 1) for whole, shift in wholes)
        rule, rows = term[0].rule, found["n"].astype(object)
        if len(term) == 1 and isinstance(rule, Spread):
            return np.asarray(LARGEST_SPREAD * rows - halves // 2)
        centred = len(term) == 1 and isinstance(rule, Cells)
        return np.asarray((halves + rows * round(2 * middle(rule)) if centred else halves) // 2)


def _product(term: Term) -> tuple[int, frozenset[Code]]:
    """What identifies a product, whatever the order of its factors."""
    return len(term), frozenset(term)
