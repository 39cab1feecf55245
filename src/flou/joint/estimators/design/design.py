"""The matrix of a regression: what a formula makes of rows, as floats and as exact integers on a public grid.

Public     the columns of the matrix, their bounds, and the grid of each: all follow from the formula and the schema,
           never from rows, so they are the same at every party
Levels     of a category are the values that the schema declares, in their order; the first one is the reference
Bounds     by interval arithmetic from the schema; an undeclared column lies within 2^40, and what is computed from it
           within 2^80
Grid       whole numbers and categories have no fractional bits; declared columns have as many as make 60-bit codes, and
           at least 32; all others have 56
Contrasts  a category with levels a, b, c stands for three columns; without the first one where the columns of earlier
           terms (the intercept among them) already span what it would add. It is the rule of R and patsy, in the form
           that formulaic gives it: a term spans the set of its products with each category either reduced or left out;
           what earlier terms span is taken away; and what remains is put together again by
           (anything):(reduced) + (anything) = (anything):(full)
Refusals   see ``coded_columns.py``
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from flou.arrays import Floats
from flou.domain import Schema
from flou.errors import InvalidParameter
from flou.joint.estimators.design.coded_columns import CodedColumns, DesignColumn, made_column, public_levels
from flou.joint.estimators.design.expression import Expression
from flou.joint.estimators.design.formula import Factor, Formula
from flou.joint.estimators.party_rows import Batch, PartyRows, Reading
from flou.parameters import shown

__all__ = ["RegressionDesign", "checked_schema"]

MOST_COLUMNS = 1000


class RegressionDesign:
    """What a formula makes of rows that a schema describes."""

    def __init__(self, formula: str, schema: Schema | Mapping[str, Any] | None = None) -> None:
        self._formula = Formula.of(formula)
        self.schema = checked_schema(schema)
        response = self._formula.response
        if self._is_category(response):
            raise InvalidParameter(
                f"The response {shown(response.text)} is a category.",
                "A response is a number.",
                "Choose another response, or declare the column as a number or flou.Boolean.",
            )
        columns = self._made()
        if not columns:
            raise InvalidParameter(
                f"The formula {shown(formula)} has no regressors.",
                "There is nothing to estimate.",
                "Write for example 'wage ~ age', or 'wage ~ 1' for the mean.",
            )
        self._regressors = CodedColumns(columns, self.schema)
        last = made_column(response.text, (response.expression,), (), self.schema)
        self._all = CodedColumns((*columns, last), self.schema)

    @property
    def formula(self) -> str:
        return self._formula.text

    @property
    def response(self) -> str:
        """The name of the response."""
        return self._all.names[-1]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the matrix; the intercept, if there is one, is the first and called Intercept."""
        return self._regressors.names

    @property
    def has_intercept(self) -> bool:
        first = self._regressors.columns[0]
        return not first.numbers and not first.levels

    @property
    def indicators(self) -> tuple[bool, ...]:
        """Which columns are zero wherever a category is another one."""
        return tuple(bool(column.levels) for column in self._regressors.columns)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the rows that are read, the response's first."""
        return tuple(dict.fromkeys((*self._formula.response.expression.columns, *self.regressor_columns)))

    @property
    def regressor_columns(self) -> tuple[str, ...]:
        """The columns of the rows that the regressors need."""
        factors = [factor for term in self._formula.terms for factor in term]
        return tuple(dict.fromkeys(name for factor in factors for name in factor.expression.columns))

    def bounds(self) -> tuple[tuple[float, float], ...]:
        """The lower and upper bound of each column of the matrix."""
        return tuple((column.extent.lower, column.extent.upper) for column in self._regressors.columns)

    @property
    def response_bounds(self) -> tuple[float, float]:
        extent = self._all.columns[-1].extent
        return extent.lower, extent.upper

    @property
    def fraction_bits(self) -> tuple[int, ...]:
        """Of each column of :meth:`codes`, the response last: a code is the value times 2 to this power."""
        return self._all.fraction_bits

    @property
    def code_limits(self) -> tuple[int, ...]:
        """No code of a column is larger than this, the response last."""
        return self._all.code_limits

    @property
    def max_rows(self) -> int:
        """The largest number of rows that a party may have."""
        return self._all.max_rows

    def regressors(self, batch: Batch) -> Floats:
        """The matrix of the regressors alone."""
        return self._regressors.values(batch)

    def matrix(self, batch: Batch) -> tuple[Floats, Floats]:
        """The regressors, a column for each name, and the response."""
        whole = self._all.values(batch)
        return whole[:, :-1], whole[:, -1]

    def codes(self, batch: Batch) -> Floats:
        """The matrix with the response as its last column, as integers on the grid of each column, stored as floats."""
        return self._all.codes(batch)

    def predicted(self, kept: Sequence[int], params: Floats, frame: Any) -> Floats:
        """The regressors of one's own rows times the coefficients; not a number where a regressor is missing."""
        columns = self.regressor_columns
        if not columns:  # nothing but an intercept
            length = len(next(iter(frame.values()))) if isinstance(frame, Mapping) and frame else len(frame)
            return np.full(length, float(params[0]))
        numbered = {name: np.asarray(frame[name]) for name in columns}
        place = "row " * (1 + max(map(len, columns)))  # a name that no column has
        numbered[place] = np.arange(len(numbered[columns[0]]))
        made = np.full(len(numbered[place]), np.nan)
        for batch in PartyRows(numbered, Reading((*columns, place))).batches((*columns, place)):
            rows = batch[place].astype(np.int64)
            made[rows] = self.regressors({name: batch[name] for name in columns})[:, list(kept)] @ params
        return made

    def terms(self) -> dict[str, Any]:
        """What a plan says about the design."""
        return {"formula": self.formula, "schema": None if self.schema is None else self.schema.to_dict()}

    def _is_category(self, factor: Factor) -> bool:
        if factor.category or not factor.expression.is_column:
            return factor.category
        domain = None if self.schema is None else self.schema.columns.get(factor.expression.columns[0])
        return domain is not None and domain.numbers is None

    def _made(self) -> list[DesignColumn]:
        factors = {factor.text: factor for term in self._formula.terms for factor in term}
        texts = [[factor.text for factor in term] for term in self._formula.terms]
        made = []
        for products in _scoped_terms(texts, lambda text: self._is_category(factors[text])):
            for parts in products:
                choices = [self._choices(factors[text], reduced) for text, reduced in reversed(parts)]
                for chosen in itertools.product(*choices):  # the levels of the first factor change fastest
                    name = ":".join(label for label, _, _ in reversed(chosen)) or "Intercept"
                    numbers = tuple(number for _, number, _ in reversed(chosen) if number is not None)
                    levels = tuple(level for _, _, level in reversed(chosen) if level is not None)
                    made.append(made_column(name, numbers, levels, self.schema))
                    if len(made) > MOST_COLUMNS:
                        raise InvalidParameter(
                            f"The formula {shown(self.formula)} has more than {MOST_COLUMNS} regressors.",
                            "The sums of their products are added up in memory.",
                            "Use fewer categories or fewer interactions.",
                        )
        return made

    def _choices(self, factor: Factor, reduced: bool) -> list[tuple[str, Expression | None, tuple[str, int] | None]]:
        if not self._is_category(factor):
            return [(factor.text, factor.expression, None)]
        (name,) = factor.expression.columns
        mark = "T." if reduced else ""
        labels = [f"{factor.text}[{mark}{level}]" for level in public_levels(name, self.schema)]
        return [(label, None, (name, place)) for place, label in enumerate(labels) if place or not reduced]


def checked_schema(schema: Any) -> Schema | None:
    """A schema, a mapping of domains, or nothing at all."""
    return None if schema is None else Schema.of(schema)


Part: TypeAlias = tuple[str, bool]  # a factor's text, and whether its first category is left out
Scoped: TypeAlias = tuple[Part, ...]


def _scoped_terms(terms: Iterable[Sequence[str]], is_category: Callable[[str], bool]) -> list[list[Scoped]]:
    """For each term the products that stand for it."""
    spanned: set[frozenset[Part]] = set()
    result = []
    for term in terms:
        choices: list[tuple[Part | None, ...]] = [
            ((name, True), None) if is_category(name) else ((name, False),) for name in term
        ]
        products = [tuple(part for part in parts if part is not None) for parts in itertools.product(*choices)]
        fresh = [parts for parts in products if frozenset(parts) not in spanned]
        spanned.update(map(frozenset, fresh))
        result.append(_simplified(fresh))
    return result


def _simplified(products: Iterable[Scoped]) -> list[Scoped]:
    """The fewest products that span the same."""
    terms: list[Scoped] = []
    for parts in sorted(products, key=len):
        for known in terms:
            more = set(parts) - set(known)
            if len(parts) != len(known) + 1 or len(more) != 1:
                continue
            name, reduced = next(iter(more))
            if reduced:
                full: Scoped = tuple((name, False) if part == (name, True) else part for part in parts)
                terms = _simplified([term for term in terms if term != known] + [full])
                break
        else:
            terms.append(parts)
    return terms
