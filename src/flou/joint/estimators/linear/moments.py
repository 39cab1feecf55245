"""Means, variances, covariances and correlations of the rows of several parties, in one round.

Opened    the number of rows, the sums, and the sums of products of the columns: (p + 1)(p + 2)/2 numbers
Numerics  exact integers; every result is the exact rational number, rounded once
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import stdtrit

from flou.arrays import Floats
from flou.domain import Schema
from flou.errors import InvalidData, InvalidParameter
from flou.joint.estimators.design.coded_columns import CodedColumns, made_column
from flou.joint.estimators.design.design import checked_schema
from flou.joint.estimators.design.expression import Expression
from flou.joint.estimators.fit import TabledFit
from flou.joint.estimators.linear.exact_gram import Matrix, exact_gram, from_upper, upper_triangle
from flou.joint.estimators.party_rows import PartyRows
from flou.joint.estimators.program import Ask, Opened, Program
from flou.joint.estimators.summary_table import SummaryTable, decimal
from flou.parameters import Number, checked_text, open_probability, shown

__all__ = ["Moments", "MomentsFit"]


class Moments(Program):
    """The first two moments of some columns, over the rows that are complete in all of them."""

    estimator, _required, _optional = "moments", ("columns",), ("schema",)

    def __init__(self, columns: Sequence[str], schema: Schema | Mapping[str, Any] | None = None) -> None:
        if isinstance(columns, str) or not isinstance(columns, Sequence) or not columns:
            raise InvalidParameter(
                f"columns must be a list of at least one name, got {shown(columns)}.",
                "Moments are those of columns.",
                "Pass for example columns=['age', 'wage'].",
            )
        names = tuple(dict.fromkeys(checked_text("columns", name) for name in columns))
        self.schema = checked_schema(schema)
        made = [made_column(name, (Expression.column(name),), (), self.schema) for name in names]
        self._coded = CodedColumns(made, self.schema)

    @property
    def columns(self) -> tuple[str, ...]:
        return self._coded.names

    @property
    def scalars(self) -> int:
        return (len(self.columns) + 1) * (len(self.columns) + 2) // 2

    def next(self, opened: Sequence[Opened]) -> Ask | None:
        largest = max(self._coded.code_limits) ** 2 * self._coded.max_rows
        return None if opened else Ask("gram", self.scalars, max(largest, self._coded.max_rows))

    def words(self, ask: Ask, rows: PartyRows) -> Sequence[int]:  # noqa: ARG002  there is one question only
        def codes() -> Iterator[Floats]:
            for batch in rows.batches(self.columns):
                made = self._coded.codes(batch)
                yield np.column_stack([np.ones(len(made)), made])

        return upper_triangle(exact_gram(codes(), [1, *self._coded.code_limits]))

    def result(self, opened: Sequence[Opened]) -> MomentsFit:
        matrix = from_upper(opened[-1].sums, len(self.columns) + 1)
        if matrix[0][0] == 0:
            raise InvalidData(
                "No party has a row that is complete in all columns.",
                "Moments need at least one row.",
                "Check the names of the columns and the filters of the plan.",
            )
        return MomentsFit(names=self.columns, bits=self._coded.fraction_bits, matrix=matrix)

    def terms(self) -> dict[str, Any]:
        return {"columns": list(self.columns), "schema": None if self.schema is None else self.schema.to_dict()}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MomentsFit(TabledFit):
    """Means, variances and correlations; arrays have the order of ``names``."""

    names: tuple[str, ...]
    bits: tuple[int, ...]
    matrix: Matrix  # sums of products of the codes, after a constant

    @property
    def nobs(self) -> int:
        return self.matrix[0][0]

    @cached_property
    def means(self) -> Floats:
        sums = zip(self.matrix[0][1:], self.bits, strict=True)
        return np.array([float(Fraction(total, self.nobs << bits)) for total, bits in sums])

    @cached_property
    def _around(self) -> list[list[int]]:
        """n times the sums of products around the means."""
        n, first = self.nobs, self.matrix[0]
        places = range(1, len(first))
        return [[n * self.matrix[i][j] - first[i] * first[j] for j in places] for i in places]

    @cached_property
    def covariance(self) -> Floats:
        """With n - 1 below the line; not a number for a single row."""
        below = self.nobs * (self.nobs - 1)
        if not below:
            return np.full((len(self.names), len(self.names)), math.nan)
        return np.array(
            [
                [float(Fraction(entry, below << (a + b))) for entry, b in zip(row, self.bits, strict=True)]
                for row, a in zip(self._around, self.bits, strict=True)
            ]
        )

    @property
    def variances(self) -> Floats:
        return np.diag(self.covariance).copy()

    @property
    def std(self) -> Floats:
        """Standard deviations of the rows."""
        return np.sqrt(self.variances)

    @property
    def bse(self) -> Floats:
        """Standard errors of the means."""
        return self.std / math.sqrt(self.nobs)

    @cached_property
    def correlation(self) -> Floats:
        """Not a number where a column is the same in all rows."""
        lengths = [math.isqrt(row[j] << 128) for j, row in enumerate(self._around)]  # the root times 2^64
        return np.array(
            [
                [(entry << 128) / (a * b) if a and b else math.nan for entry, b in zip(row, lengths, strict=True)]
                for row, a in zip(self._around, lengths, strict=True)
            ]
        ).clip(-1.0, 1.0)

    def conf_int(self, level: Number = 0.95) -> Floats:
        """An interval for each mean, by Student's law; its two ends are the columns."""
        reach = stdtrit(self.nobs - 1, (1 + float(open_probability("level", level))) / 2) * self.bse
        return np.column_stack([self.means - reach, self.means + reach])

    def to_dict(self) -> dict[str, dict[str, float]]:
        """For each column its mean, error, deviation and interval."""
        heads = ("mean", "std err", "std dev", "lower", "upper")
        columns = np.column_stack([self.means, self.bse, self.std, self.conf_int()])
        rows = zip(self.names, columns, strict=True)
        return {name: dict(zip(heads, map(float, row), strict=True)) for name, row in rows}

    def table(self) -> SummaryTable:
        rows = [
            [
                name,
                decimal(values["mean"], 4),
                *(decimal(values[head]) for head in ("std err", "std dev", "lower", "upper")),
            ]
            for name, values in self.to_dict().items()
        ]
        heads = ("mean", "std err", "std dev", "[0.025", "0.975]")
        facts = self._provenance_facts(self.nobs)
        return SummaryTable("Moments", [("No. Observations", str(self.nobs))], [], heads, rows, facts)
