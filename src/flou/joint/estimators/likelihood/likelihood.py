"""The maximum of any likelihood over the rows of all parties, from functions that every party has registered.

Model      a name, and the SHA-256 of the source behind it (``likelihood_model.py``); with flou come "poisson", "probit"
           and "linear-gaussian"
Rounds     with a formula a first round opens n, sums and squares of regressors and response, which give public
           coordinates and a start. Then the walk of ``newton.py``, a point a round
Method     "newton" with the Hessian; where the model has none, of differences that each party makes of its own rows.
           "bhhh" with the products of scores instead: no second derivatives, but two to five times as many rounds
Opens      1 + 2 d numbers first (d coefficients, one of them the intercept), then 3 + p (p + 3)/2 a round for p
           parameters: how many parties are outside of what the model allows, n, the log-likelihood, its score and its
           information; once at the end p (p + 1)/2 more where ``covariance`` needs the products of scores
Errors     covariance="hessian" (inverse information), "opg" (inverse sum of products of scores, all there is with BHHH)
           or "sandwich"
Accuracy   with score and Hessian that of doubles; by differences about 1e-9 of the standard errors, and these to 1e-8
Parties    who leaves is missing from the next point on, and the walk goes on from there
Limits     a local maximum, the first one uphill from the start
Source     Berndt, Hall, Hall, Hausman (1974); White (1982)
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flou.arrays import Floats
from flou.domain.table import checked_table
from flou.errors import InvalidData, InvalidParameter
from flou.joint.estimators.coefficients import Asymptotic
from flou.joint.estimators.design.design import RegressionDesign
from flou.joint.estimators.likelihood.cholesky import Cholesky
from flou.joint.estimators.likelihood.coordinates import MOMENT_WORDS, Coordinates, RawMoments, moment_columns
from flou.joint.estimators.likelihood.likelihood_model import model_of
from flou.joint.estimators.likelihood.likelihood_point import WORDS, LikelihoodPoint, length, words
from flou.joint.estimators.likelihood.newton import Ascent, ascended
from flou.joint.estimators.party_rows import PartyRows
from flou.joint.estimators.program import Ask, Opened, Program
from flou.joint.estimators.summary_table import SummaryTable, decimal
from flou.parameters import checked_text, choice, integer, is_number, shown

__all__ = ["LikelihoodFit", "MaximumLikelihood"]


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class LikelihoodFit(Asymptotic):
    """Parameters, their covariance, and the likelihood."""

    model: str
    response: str
    method: str  # "newton" or "bhhh"
    cov_type: str

    def table(self) -> SummaryTable:
        left = [
            ("Dep. Variable", self.response),
            ("Model", self.model),
            ("Method", f"MLE ({self.method})"),
            ("converged", str(self.converged)),
            ("Covariance Type", self.cov_type),
        ]
        right = [
            ("No. Observations", str(self.nobs)),
            ("Df Residuals", str(self.df_resid)),
            ("Log-Likelihood", f"{self.llf:.5g}"),
            ("AIC", decimal(self.aic, 1)),
            ("BIC", decimal(self.bic, 1)),
        ]
        notes = [self.message] if self.message else []
        facts = self._provenance_facts(self.nobs)
        return SummaryTable("Maximum Likelihood Results", left, right, self.heads, self.lines(), facts, notes)


ROUNDS = 50
METHODS = {"newton": ("hessian", "opg", "sandwich"), "bhhh": ("opg",)}
TERMS = ("model", "source", "formula", "schema", "columns", "parameters", "start", "scales")
CHOICES = ("method", "covariance", "max_rounds")


class MaximumLikelihood(Program):
    """Parameters that make the rows of all parties most likely."""

    estimator, _required, _optional = "likelihood", TERMS[:1], TERMS[2:] + CHOICES

    def __init__(
        self,
        model: str,
        formula: str | None = None,
        schema: Any = None,
        *,
        columns: Sequence[str] = (),
        parameters: Sequence[str] = (),
        start: Sequence[float] | None = None,
        scales: Sequence[float] | None = None,
        method: str = "newton",
        covariance: str | None = None,
        max_rounds: int = ROUNDS,
    ) -> None:
        """A formula, or columns with named parameters and their start.

        ``scales`` says of which size the parameters are, within a few powers of ten (1 if not given); it matters for
        rounding and for differences. With a formula, ``start`` are the extra parameters of the model.
        """
        self.model = model_of(model)
        self.design = None if formula is None else RegressionDesign(formula, schema)
        if (self.design is None) == (not columns):
            raise InvalidParameter(
                "A likelihood needs a formula or columns, and not both.",
                "They define the input of the model's functions.",
                "Pass for example formula='y ~ x', or columns=['y'], parameters=['rate'] and start=[1.0].",
            )
        self._columns = tuple(checked_text("columns", name) for name in columns)
        named = self.model.extra if self.design is not None else parameters
        self.parameters = tuple(checked_text("parameters", name) for name in named)
        self.start = _numbers("start", start, len(self.parameters), needed=self.design is None)
        self.scales = _numbers("scales", scales, len(self.parameters), needed=False)
        self.method = choice("method", method, METHODS)
        possible = METHODS[self.method]
        self.covariance = choice("covariance", possible[0] if covariance is None else covariance, possible)
        self.max_rounds = integer("max_rounds", max_rounds, 2, 1000)
        self.moved = 0 if self.design is None else moment_columns(self.design)

    @property
    def columns(self) -> tuple[str, ...]:
        return self._columns if self.design is None else self.design.columns

    @property
    def _needs_products(self) -> bool:
        return bool(self.method == "newton" and self.covariance != "hessian")

    @property
    def scalars(self) -> int:
        size = len(self.parameters) + (0 if self.design is None else len(self.design.names))
        first = 0 if self.design is None else RawMoments.length(self.moved, full=False)
        return first + (self.max_rounds - (first > 0)) * length(size, self._needs_products)

    # Questions.

    def next(self, opened: Sequence[Opened]) -> Ask | None:
        if self.design is not None and not opened:
            return Ask("moments", RawMoments.length(self.moved, full=False), MOMENT_WORDS.limit)
        if len(opened) >= self.max_rounds:
            return None
        coordinates, start = self._begin(opened)
        if not np.all(np.isfinite(start)):
            return None
        found = self._walked(opened)
        if found is None:
            begun = any(past.ask.step == "point" for past in opened)
            return None if begun else self._point(coordinates, start, False)
        walked, best = found
        if walked.stuck or (walked.arrived and (best.products is not None or not self._needs_products)):
            return None
        return self._point(coordinates, walked.next, walked.arrived and self._needs_products)

    def _point(self, coordinates: Coordinates, there: Floats, products: bool) -> Ask:
        asked = {"theta": there.tolist(), "products": products, **coordinates.parameters()}
        return Ask("point", length(len(there), products), WORDS.limit, asked)

    def _begin(self, opened: Sequence[Opened]) -> tuple[Coordinates, Floats]:
        """The coordinates, and the first point in them."""
        if self.design is None:
            sizes = [-math.frexp(scale)[1] for scale in self.scales or [1.0] * len(self.parameters)]
            start = np.ldexp(np.array(self.start), np.array(sizes))
            return Coordinates((), tuple([0.0] * len(sizes)), tuple(sizes)), start
        moments = RawMoments.opened(self.moved, False, opened[0].sums)
        coordinates = Coordinates.of(moments, self.design)
        size, first = len(coordinates.kept), int(self.design.has_intercept)
        theta = np.zeros(size + len(self.parameters))
        if moments.n == 0:
            return coordinates, theta * math.nan
        if self.model.start is not None:
            mean = moments.mean(-1)
            last = moments.columns - 1
            spread = moments.about([mean] * moments.columns)[last, last] / moments.n
            try:
                intercept, *extra = self.model.start(float(mean), math.sqrt(spread))
            except (ValueError, OverflowError, ZeroDivisionError):  # the logarithm of 0
                return coordinates, theta * math.nan
            theta[:first] = intercept
            theta[size:] = extra
        if self.start is not None:
            theta[size:] = self.start
        return coordinates, np.rint(theta * 2.0**16) / 2.0**16  # the same on every machine

    def words(self, ask: Ask, rows: PartyRows) -> list[int]:
        if ask.step == "moments":
            assert self.design is not None
            return RawMoments.of_design(self.design, False, map(self.design.matrix, rows.batches(self.columns))).words()
        coordinates = Coordinates.from_parameters(ask.parameters)
        at, products = np.array(ask.parameters["theta"]), bool(ask.parameters["products"])
        slopes = np.ones(len(at)) if self.design is not None else np.ldexp(1.0, -np.array(coordinates.exponent))
        return words(self.model, self._batches(coordinates, rows), at, slopes, self.method == "bhhh", products)

    def _batches(self, coordinates: Coordinates, rows: PartyRows) -> Iterator[tuple[Mapping[str, NDArray[Any]], int]]:
        for batch in rows.batches(self.columns):
            n = len(batch[self.columns[0]])
            if n and self.design is None:
                yield batch, n
            elif n and self.design is not None:
                X, y = self.design.matrix(batch)
                yield {"X": coordinates.moved(X), "y": y}, n

    def _walked(self, opened: Sequence[Opened]) -> tuple[Ascent, LikelihoodPoint] | None:
        """How far the walk has come, and its best point; None before it has begun, or when it cannot."""
        found = [LikelihoodPoint.of(past) for past in opened if past.ask.step == "point"]
        if not found or not math.isfinite(found[0].point.value):
            return None
        walked = ascended([each.point for each in found], secant=self.method == "bhhh")
        return walked, next(each for each in found if each.point is walked.best)

    def result(self, opened: Sequence[Opened]) -> LikelihoodFit:
        coordinates, _ = self._begin(opened)
        found = self._walked(opened)
        if found is None:
            raise _undefined(self.model.name)
        walked, best = found
        names = self.parameters
        if self.design is not None:
            names = (*(self.design.names[j] for j in coordinates.kept), *names)
        finished = walked.arrived and (best.products is not None or not self._needs_products)
        return LikelihoodFit(
            model=self.model.name,
            response="" if self.design is None else self.design.response,
            method=self.method,
            cov_type=self.covariance,
            names=names,
            params=coordinates.params((walked.end if walked.arrived else walked.best.at).tolist()),
            cov_params=coordinates.covariance(self._covariance(best, names, finished)),
            nobs=best.n,
            llf=walked.value if walked.arrived else walked.best.value,
            converged=finished,
        )

    def _covariance(self, best: LikelihoodPoint, names: Sequence[str], finished: bool) -> Floats:
        information = best.point.information
        if not finished:
            return np.full(information.shape, math.nan)
        products = information if best.products is None else best.products
        inverted = products if self.covariance == "opg" else information
        factors = Cholesky.of(inverted)
        if factors is None:
            raise _unidentified(names[Cholesky.dependent(inverted) or 0])
        bread = factors.inverse()
        return bread @ products @ bread if self.covariance == "sandwich" else bread

    def terms(self) -> dict[str, Any]:
        design = {"formula": None, "schema": None} if self.design is None else self.design.terms()
        return {
            "model": self.model.name,
            "source": self.model.fingerprint,
            **design,
            "columns": list(self._columns),
            "parameters": [] if self.design is not None else list(self.parameters),
            "start": None if self.start is None else list(self.start),
            "scales": None if self.scales is None else list(self.scales),
            **{name: getattr(self, name) for name in CHOICES},
        }

    @classmethod
    def from_terms(cls, terms: Mapping[str, Any]) -> Program:
        given = checked_table("likelihood", terms, required=TERMS[:2], optional=cls._optional)
        model_of(given["model"], str(given.pop("source")))
        return super().from_terms(given)


def _numbers(name: str, values: Any, count: int, needed: bool) -> tuple[float, ...] | None:
    if values is None and not needed:
        return None
    listed = list(values) if isinstance(values, Sequence | np.ndarray) and not isinstance(values, str) else None
    positive = name == "scales"
    if listed is None or len(listed) != count or not all(is_number(x) and (x > 0 or not positive) for x in listed):
        raise InvalidParameter(
            f"{name} must be {count} {'positive ' * positive}numbers, got {shown(values)}.",
            "There is one for each parameter.",
            f"Pass for example {name}={[1.0] * count}.",
        )
    return tuple(float(value) for value in listed)


def _undefined(model: str) -> InvalidData:
    return InvalidData(
        f"The likelihood {model!r} is not defined at the start, or there are no rows.",
        "The search must start where every row has a positive likelihood.",
        "Check the response (constant, or of the wrong kind), or pass another start.",
    )


def _unidentified(name: str) -> InvalidData:
    return InvalidData(
        f"The likelihood does not determine the parameter {name!r}.",
        "Near its maximum it is flat in some direction, so the covariance does not exist.",
        "Leave out regressors that are combinations of others, or parameters without effect.",
    )
