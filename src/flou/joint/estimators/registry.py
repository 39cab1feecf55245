"""Which statistics a plan may name. A module is imported when its statistic is first named."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, TypeVar

from flou.joint.estimators.program import Program
from flou.parameters import choice

__all__ = ["ESTIMATORS", "program_of", "program_type", "registered"]

P = TypeVar("P", bound=Program)

HERE = "flou.joint.estimators"
ESTIMATORS = {  # where each lives
    "vector sum": f"{HERE}.distribution.vector_sum",
    "moments": f"{HERE}.linear.moments",
    "ols": f"{HERE}.linear.linear",
    "logit": f"{HERE}.likelihood.logistic",
    "likelihood": f"{HERE}.likelihood.likelihood",
    "histogram": f"{HERE}.distribution.distribution",
    "ecdf": f"{HERE}.distribution.distribution",
    "quantiles": f"{HERE}.distribution.quantiles",
    "private ols": f"{HERE}.private.linear",
    "private logit": f"{HERE}.private.logistic",
    "private histogram": f"{HERE}.private.histogram",
    "private quantiles": f"{HERE}.private.quantiles",
}
_known: dict[str, type[Program]] = {}


def registered(program: type[P]) -> type[P]:
    """Make a statistic known under its name in plans."""
    _known[program.estimator] = program
    ESTIMATORS.setdefault(program.estimator, program.__module__)
    return program


def program_type(estimator: str) -> type[Program]:
    """The class of a statistic."""
    choice("estimator", estimator, ESTIMATORS)
    if estimator not in _known:
        import_module(ESTIMATORS[estimator])
    return _known[estimator]


def program_of(estimator: str, terms: Mapping[str, Any]) -> Program:
    """The statistic that a plan describes."""
    return program_type(estimator).from_terms(terms)
