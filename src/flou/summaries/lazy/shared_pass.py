"""Which requests one pass over the rows answers, and how its groups become their answers.

A pass groups the rows by the keys of all its requests together, and counts the rows and sums all terms in each group.
The groups are then added up to those that a request asks for, which is exact: counts and limbs of sums are integers
that do not overflow, however many rows there are (``request.py``). Keys are the digits of one number, so that an engine
groups by one column of integers, and small grids of one column are one digit (``lazy/refinement.py``).

Groups stay few. Codes of one column are known from one value: put all values in order, and a code of a grid changes
once for each cell but the first, any other code at most twice for each number that it can be, where that begins and
where it ends. So all keys of one column together have at most two combinations more than they have changes, one for the
first value and one for what is missing, and keys of several columns at most the product of what each column has.

Requests share a pass if it has few numbers to add up, or no more than their own passes have together. Others do not:
from some ten thousand groups on, an engine takes longer to sum in each of them than to look at the rows again (measured
with Polars, DuckDB and PostgreSQL).
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from math import prod
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from flou.domain.rule import Rule
from flou.summaries.lazy.refinement import Refinement, merged, most_places
from flou.summaries.request import LIMB, Code, Counts, Request, Sums, Term, keys_of

__all__ = ["Digit", "Pass", "planned"]

Digit: TypeAlias = Code | Refinement
Found: TypeAlias = dict[str, NDArray[np.int64]]

MOST_CELLS = 1 << 17  # groups times columns
MOST_COLUMNS = 1 << 10  # PostgreSQL has room for 1664
LARGEST_NUMBER = 1 << 62
HALF_BITS = 16
HALF = 1 << HALF_BITS


def planned(requests: Sequence[Request]) -> list[tuple[Pass, list[int]]]:
    """Passes, few of them, and the places of the requests that each of them answers.

    The largest first, a request joins the pass whose groups it multiplies least; of equal ones, the smallest.
    """
    alone = [Pass().joined(request) for request in requests]
    plan: list[tuple[Pass, list[int]]] = []
    for i in sorted(range(len(requests)), key=lambda i: alone[i].groups, reverse=True):
        joined = [one.joined(requests[i]) for one, _ in plan]
        growth = {
            j: (both.groups / one.groups, both.groups)
            for j, (both, (one, _)) in enumerate(zip(joined, plan, strict=True))
            if both.fits(one, alone[i])
        }
        if growth:
            j = min(growth, key=growth.__getitem__)
            plan[j] = joined[j], [*plan[j][1], i]
        else:
            plan.append((alone[i], [i]))
    return plan


@dataclass(frozen=True)
class Pass:
    """The keys that rows are grouped by, and the terms that are summed in each group."""

    keys: tuple[Code, ...] = ()
    terms: tuple[Term, ...] = ()

    def joined(self, request: Request) -> Pass:
        """The same for one more request."""
        terms = (term for term in request.terms if term) if isinstance(request, Sums) else ()
        keys = dict.fromkeys((*self.keys, *keys_of(request)))
        return Pass(tuple(keys), tuple(dict.fromkeys((*self.terms, *terms))))

    @cached_property
    def groups(self) -> int:
        """The largest number of groups that can have rows."""
        columns: dict[str, list[Rule]] = {}
        for key in self.keys:
            columns.setdefault(key.column, []).append(key.rule)
        return prod(min(prod(r.size for r in some), sum(map(_changes, some)) + 2) for some in columns.values())

    @cached_property
    def columns(self) -> int:
        """The number of the group, its rows, and its sums."""
        return 2 + sum(len(_shifts(term)) for term in self.terms)

    @property
    def cells(self) -> int:
        return self.groups * self.columns

    def fits(self, one: Pass, other: Pass) -> bool:
        """Whether this should replace two passes that it joins."""
        largest = prod(keys[0].domain.size if len(keys) == 1 else most_places(keys) for keys in merged(self.keys))
        few = self.cells <= max(MOST_CELLS, one.cells + other.cells)
        return few and self.columns <= max(MOST_COLUMNS, one.columns) and largest <= LARGEST_NUMBER

    @cached_property
    def _digits(self) -> dict[Digit, tuple[Code, ...]]:
        """The digits of a group's number, from the last, and the keys that follow from each."""
        return {_digit(keys): keys for keys in merged(self.keys)}

    @property
    def codes(self) -> tuple[Digit, ...]:
        """What is computed for each row."""
        return (*self._digits, *(code for term in self.terms for code in term))

    def aggregated(self, frame: nw.LazyFrame[Any], names: dict[Digit, str]) -> nw.LazyFrame[Any]:
        """One row for each group, from a frame that has the codes under these names."""
        wanted = [nw.len().alias("flou_n")]
        for i, term in enumerate(self.terms):
            limbs = zip(_shifts(term), _limbs(term, names), strict=True)
            wanted += [limb.sum().alias(_sum_name(i, shift)) for shift, limb in limbs]
        if not self.keys:
            return frame.select(*wanted)
        digits, worth = [], 1
        for digit in self._digits:
            digits.append(nw.col(names[digit]) * nw.lit(worth, nw.Int64()))
            worth *= _size(digit)
        numbered = frame.with_columns(reduce(operator.add, digits).alias("flou_number"))
        return numbered.group_by("flou_number").agg(*wanted)

    def answers(self, requests: Sequence[Request], groups: nw.DataFrame[Any]) -> list[NDArray[Any]]:
        """What each request asks for, added up from the groups that the pass found."""
        names = [_sum_name(i, shift) for i, term in enumerate(self.terms) for shift in _shifts(term)]
        names += ["flou_n", *(("flou_number",) if self.keys else ())]
        found = {name: np.array([int(n or 0) for n in groups[name].to_list()], dtype=np.int64) for name in names}
        codes: dict[Code, NDArray[np.int64]] = {}
        rest = found.get("flou_number", np.zeros(0, dtype=np.int64))
        for digit, keys in self._digits.items():
            rest, last = np.divmod(rest, _size(digit))
            codes |= {key: _followed(key, digit, last) for key in keys}
        return [self._answer(request, found, codes) for request in requests]

    def _answer(self, request: Request, found: Found, codes: dict[Code, NDArray[np.int64]]) -> NDArray[Any]:
        keys = keys_of(request)
        shape = tuple(key.domain.size for key in keys)
        cells = np.zeros(len(found["flou_n"]), dtype=np.int64)
        if keys:
            cells = np.ravel_multi_index(tuple(codes[key] for key in keys), shape)

        def added(name: str) -> NDArray[np.int64]:
            total = np.zeros(prod(shape), dtype=np.int64)
            np.add.at(total, cells, found[name])
            return total.reshape(shape)

        if isinstance(request, Counts):
            return added("flou_n")
        result = np.zeros(request.shape, dtype=object)
        for j, term in enumerate(request.terms):
            i = self.terms.index(term) if term else 0
            parts = {_sum_name(i, shift): shift for shift in _shifts(term)} if term else {"flou_n": 0}
            for name, shift in parts.items():
                result[..., j] += added(name).astype(object) * (1 << shift)
        return result


def _changes(rule: Rule) -> int:
    return rule.size - 1 if rule.increasing else 2 * rule.size


def _digit(keys: tuple[Code, ...]) -> Digit:
    return keys[0] if len(keys) == 1 else Refinement(keys[0].column, tuple(key.rule for key in keys))


def _size(digit: Digit) -> int:
    return digit.size if isinstance(digit, Refinement) else digit.domain.size


def _followed(key: Code, digit: Digit, values: NDArray[np.int64]) -> NDArray[np.int64]:
    """The codes of a key, from the digits that stand for it."""
    return digit.cells(key.rule)[values] if isinstance(digit, Refinement) else values


def _sum_name(term: int, shift: int) -> str:
    return f"flou_s{term}_{shift}"


def _shifts(term: Term) -> tuple[int, ...]:
    """The bits by which the limbs of a term are shifted."""
    size = prod(code.domain.size for code in term)
    halves = (2 * HALF_BITS, HALF_BITS, 0) if size > 1 << 2 * LIMB else (0,)
    return halves if size <= 1 << LIMB else tuple(half + limb for half in halves for limb in (LIMB, 0))


def _limbs(term: Term, names: dict[Digit, str]) -> list[nw.Expr]:
    """A product of one or two codes as parts of at most 22 bits, as few as it needs.

    Engines may divide integers through doubles (Spark does), which is exact below 2^53 only: codes whose product has
    more than 44 bits are halved before they are multiplied, and these products, of 33 bits, once more before they are
    summed.
    """
    factors = [nw.col(names[code]) for code in term]
    size, unit = prod(code.domain.size for code in term), 1 << LIMB
    parts = [reduce(operator.mul, factors)]
    if size > unit**2:
        (a, b), (c, d) = ((x // HALF, x % HALF) for x in factors)
        parts = [a * c, a * d + b * c, b * d]
    return parts if size <= unit else [limb for x in parts for limb in (x // unit, x % unit)]
