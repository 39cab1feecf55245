"""Linear regression with differential privacy for every row, over the rows of several parties.

Rounds     one
Opened     the k (k + 1)/2 sums of products of k columns, the regressors with their intercept and the response, each
           with the noise of all parties; without an intercept also the number of rows
Guarantee  of the noise of ``honest`` parties on words that one row moves as far as ``gram.py`` says
Error      ``gram.py``: standard errors contain the noise of all parties that took part
Clamped    values are moved into their bounds, and coefficients are those of the clamped columns; ``bounded_design.py``
           says which rows are left out. With ``norm`` R, rows that are longer than R, in units in which bounds are -1
           and 1 (the intercept is 1), are shrunk, the intercept with them: they weigh less, by the square. The noise
           is then smaller by a factor of up to k/R^2, but a response that decides on weights bends the coefficients:
           choose R so that few rows are longer
Numerics   exact integers until the noise is in
Source     Dwork and others (2006); Wang (2018)
Proof      docs/explanation/proofs/joint-noise.md
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from flou.arrays import Floats
from flou.domain import Schema
from flou.errors import InvalidParameter
from flou.joint.estimators.party_rows import PartyRows
from flou.joint.estimators.private.bounded_design import BoundedDesign, UnitScale
from flou.joint.estimators.private.gram import FINEST, GramWords, OpenedGram
from flou.joint.estimators.private.privacy import TERMS, PrivacyTerms, PrivateProgram, WordSensitivity
from flou.joint.estimators.private.private_fit import PrivateCoefficients
from flou.joint.estimators.program import Ask, Opened
from flou.joint.estimators.summary_table import decimal
from flou.parameters import Number, Relation, is_number, shown

__all__ = ["PrivateLinearFit", "PrivateLinearRegression"]


COARSEST = 4  # bits of the grid
SHRUNK = "Rows longer than norm={:g} weigh less, and are counted by their weight."


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class PrivateLinearFit(PrivateCoefficients):
    """Coefficients of a linear regression, and their errors, the noise included."""

    scale: float  # the variance of the errors

    title: ClassVar[str] = "Private OLS Regression Results"

    def predict(self, frame: Any) -> Floats:
        """The response that the coefficients expect for these rows; not a number where a value is missing."""
        return self._linear(frame)

    def _facts(self) -> list[tuple[str, str]]:
        return [("Scale", decimal(self.scale, 4))]


class PrivateLinearRegression(PrivateProgram):
    """Least squares from one noisy Gram matrix over all parties."""

    estimator = "private ols"
    _required, _optional = ("formula", "schema", "honest"), (*TERMS[1:], "norm")

    def __init__(
        self,
        formula: str,
        schema: Schema | Mapping[str, Any] | None = None,
        *,
        honest: int,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        norm: Number | None = None,
        noise: str = "auto",
        relation: Relation = "add-remove",
    ) -> None:
        """``honest`` parties are taken to add their noise and to keep it to themselves."""
        self.design = BoundedDesign(formula, schema)
        self.privacy = PrivacyTerms.of(
            honest=honest, epsilon=epsilon, delta=delta, rho=rho, noise=noise, relation=relation
        )
        self.norm = None if norm is None else _norm(norm)
        self.scale = UnitScale.of(self.design, with_response=True)
        size, counted = len(self.design.names) + 1, not self.design.has_intercept
        self.gram, self.share = self.privacy.finest(
            lambda grid: GramWords.of(size, grid, self.norm, counted), range(FINEST, COARSEST, -1)
        )

    @property
    def columns(self) -> tuple[str, ...]:
        return self.design.columns

    @property
    def scalars(self) -> int:
        return self.gram.length

    @property
    def sensitivity(self) -> WordSensitivity:
        return self.gram.sensitivity(self.privacy.relation)

    def next(self, opened: Sequence[Opened]) -> Ask | None:
        return None if opened else Ask("gram", self.gram.length, self.gram.limit, {}, self.share)

    def words(self, ask: Ask, rows: PartyRows) -> list[int]:  # noqa: ARG002  there is one question
        return self.gram.sums(self._unit_rows(self.design.clamped(batch)) for batch in rows.batches(self.columns))

    def _unit_rows(self, values: Floats) -> Floats:
        X, y = values[:, :-1], values[:, -1]
        return np.column_stack([self.scale.regressors(X), self.scale.response(y)])

    def result(self, opened: Sequence[Opened]) -> PrivateLinearFit:
        last = opened[-1]
        matrix, counted = self.gram.matrix(last.sums)
        variance = self.share.total(len(last.parties)) / self.gram.unit**4
        noisy = OpenedGram(matrix, float(matrix[0, 0]) if counted is None else counted, variance)
        return PrivateLinearFit(
            design=self.design,
            names=self.design.names,
            params=self.scale.params(noisy.coefficients),
            sampling=self.scale.covariance(noisy.sampling),
            noise=self.scale.covariance(noisy.noise_covariance),
            nobs=round(noisy.rows),
            drowned=noisy.drowned,
            guarantee=self.guarantee,
            share=self.share,
            parties=len(last.parties),
            scale=noisy.residual_variance * self.scale.response_half**2,
            notes=() if self.norm is None else (SHRUNK.format(self.norm),),
        )

    def terms(self) -> dict[str, Any]:
        norm = None if self.norm is None else float(self.norm)
        return {**self.design.terms(), **self.privacy.to_dict(), "norm": norm}


def _norm(value: Any) -> float:
    if not is_number(value) or not 2.0**-4 <= value <= 2.0**10:
        raise InvalidParameter(
            f"norm must be a number from 1/16 to 1024, got {shown(value)}.",
            "Rows longer than it, in units in which the bounds are -1 and 1, are shrunk to it.",
            "Pass for example norm=1.5, or leave it out.",
        )
    return float(value)
