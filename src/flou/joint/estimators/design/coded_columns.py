"""The columns of a regression's matrix: what each is computed from, as floats and as exact integers on public grids.

Public     what the columns are, their bounds and their grids; nothing is read from rows, so all is the same everywhere
Refusals   rows outside the bounds, unknown categories, and results that are no finite number (a logarithm of zero)
           are refused by the name of their column; a value is never quoted and never moved
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flou.arrays import Floats
from flou.domain import Categories, Schema
from flou.errors import InvalidData, InvalidParameter
from flou.joint.estimators.design.expression import EVERYTHING, Expression, Extent
from flou.joint.estimators.party_rows import Batch
from flou.parameters import shown

__all__ = ["CodedColumns", "DesignColumn", "level_places", "made_column", "product_extent", "public_levels"]

LARGEST = 2.0**80
BITS = 60  # of a code, where bounds are declared
LEAST_FRACTION = 32
DEFAULT_FRACTION = 56
SLACK = 1 + 2.0**-40  # functions such as exp may round beyond the value at a bound


@dataclass(frozen=True)
class DesignColumn:
    """A column of the matrix: a product of numbers and of indicators of categories."""

    name: str
    numbers: tuple[Expression, ...]
    levels: tuple[tuple[str, int], ...]  # a category and the place of its level
    extent: Extent

    @property
    def fraction_bits(self) -> int:
        """A code is the value times 2 to this power."""
        if self.extent.whole:
            return 0
        if not self.extent.declared or self.extent.size >= LARGEST:
            return DEFAULT_FRACTION
        return max(BITS - math.frexp(self.extent.size)[1], LEAST_FRACTION)

    @property
    def largest(self) -> float:
        """No value is larger than this."""
        return self.extent.size * SLACK

    @property
    def code_limit(self) -> int:
        """No code is larger than this."""
        return math.ceil(Fraction(self.largest) * (1 << self.fraction_bits))


def product_extent(extents: Iterable[Extent], *, with_zero: bool) -> Extent:
    """Bounds of a product, nowhere beyond 2^80; indicators of categories also make it zero."""
    lower = upper = 1.0
    whole = declared = True
    for factor in extents:
        ends = [a * b for a in (lower, upper) for b in (factor.lower, factor.upper)]
        if any(map(math.isnan, ends)):  # nothing times everything
            ends = [-LARGEST, LARGEST]
        lower, upper = (min(max(end, -LARGEST), LARGEST) for end in (min(ends), max(ends)))
        whole, declared = whole and factor.whole, declared and factor.declared
    if with_zero:
        lower, upper = min(lower, 0.0), max(upper, 0.0)
    return Extent(lower, upper, whole, declared)


MOST_LEVELS = 1000


class CodedColumns:
    """Some columns of a matrix, over the rows that a schema describes."""

    def __init__(self, columns: Sequence[DesignColumn], schema: Schema | None) -> None:
        self.columns = tuple(columns)
        self.schema = schema

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @cached_property
    def fraction_bits(self) -> tuple[int, ...]:
        """A code is the value times 2 to this power."""
        return tuple(column.fraction_bits for column in self.columns)

    @cached_property
    def code_limits(self) -> tuple[int, ...]:
        """No code of a column is larger than this."""
        return tuple(column.code_limit for column in self.columns)

    @property
    def max_rows(self) -> int:
        """The largest number of rows that a party may have."""
        return 2**40 if self.schema is None else self.schema.max_rows

    def values(self, batch: Batch) -> Floats:
        """The columns as floats."""
        expressions = {number.text: number for column in self.columns for number in column.numbers}
        raw = {
            name: _numbers(batch, name, _extent(name, self.schema))
            for number in expressions.values()
            for name in number.columns
        }
        values = {text: number.values(raw) for text, number in expressions.items()}
        categories = dict.fromkeys(name for column in self.columns for name, _ in column.levels)
        places = {name: level_places(batch, name, self.schema) for name in categories}
        rows = len(next(iter(batch.values()))) if batch else 0
        filled = np.ones((rows, len(self.columns)), order="F")
        for j, column in enumerate(self.columns):
            product = filled[:, j]
            with np.errstate(all="ignore"):
                for number in column.numbers:
                    product *= values[number.text]
                for name, place in column.levels:
                    product *= places[name] == place
            if not np.all(np.abs(product) <= column.largest):  # also where it is no number
                raise _outside(column.name)
        return filled

    def codes(self, batch: Batch) -> Floats:
        """The columns as integers on their grids.

        They are whole numbers, stored as floats because they may have 136 bits; none has more than 53 that matter, so
        nothing is lost.
        """
        codes: Floats = np.rint(np.ldexp(self.values(batch), np.array(self.fraction_bits, dtype=np.int64)))
        return codes


def made_column(
    name: str, numbers: tuple[Expression, ...], levels: tuple[tuple[str, int], ...], schema: Schema | None
) -> DesignColumn:
    """A product of numbers and indicators of categories, with the bounds that follow from the schema."""
    extents = [number.extent({column: _extent(column, schema) for column in number.columns}) for number in numbers]
    return DesignColumn(name, numbers, levels, product_extent(extents, with_zero=bool(levels)))


def public_levels(name: str, schema: Schema | None) -> tuple[Any, ...]:
    """The declared categories of a column."""
    domain = schema.columns.get(name) if schema is not None else None
    if domain is not None and domain.discrete and (not domain.measured or domain.size <= MOST_LEVELS):
        return domain.levels
    raise InvalidParameter(
        f"The column {shown(name)} is used as a category without declared levels.",
        "The levels must be the same at every party, and reading them from rows would reveal them.",
        f"Declare them in the schema, for example {name}=flou.Categories(['north', 'south']).",
    )


def level_places(batch: Batch, name: str, schema: Schema | None) -> NDArray[np.int64]:
    """The place of each row's category among the declared ones."""
    levels, values = public_levels(name, schema), batch[name]
    if values.dtype.kind == "f":  # truth values have become numbers
        levels = tuple(int(level) if isinstance(level, bool) else level for level in levels)
    places = Categories(levels).encode(values)  # with a code more, for everything else
    if np.any(places == len(levels)):
        raise InvalidData(
            f"The column {shown(name)} has values that are not among its declared categories.",
            "The categories are part of the plan, and no row may be counted as something that it is not.",
            "Recode these rows, leave them out, or agree on a plan that declares more categories.",
        )
    return places


def _extent(name: str, schema: Schema | None) -> Extent:
    domain = schema.columns.get(name) if schema is not None else None
    if domain is None:
        return EVERYTHING
    if domain.numbers is None:
        raise InvalidParameter(
            f"The column {shown(name)} is declared as {domain.kind} and used as a number.",
            f"{domain.kind.capitalize()} have no arithmetic.",
            f"Write C({name}) in a formula, or declare it as flou.Interval or flou.Integers.",
        )
    return Extent(*domain.numbers.bounds, domain.numbers.whole)


def _numbers(batch: Batch, name: str, extent: Extent) -> Floats:
    values = batch[name]
    if values.dtype.kind != "f":
        raise InvalidData(
            f"The column {shown(name)} does not hold numbers.",
            "The plan computes with it.",
            "Convert it, or agree on a plan that declares its categories.",
        )
    inside = (values >= extent.lower) & (values <= extent.upper)
    if extent.whole:
        inside &= values == np.floor(values)
    if not np.all(inside):
        raise _outside(name)
    return np.asarray(values, dtype=np.float64)


def _outside(name: str) -> InvalidData:
    return InvalidData(
        f"The column {shown(name)} has values outside its bounds, or without a finite value.",
        "Everyone has agreed on the bounds, and moving a value would silently change the answer.",
        "Correct these rows, leave them out, or agree on a plan with wider bounds.",
    )
