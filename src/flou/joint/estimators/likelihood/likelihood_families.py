"""Likelihoods that come with flou: Poisson and probit regression, and normal errors, with exact derivatives."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from flou.arrays import Floats
from flou.joint.estimators.likelihood.likelihood_model import register_model

__all__: list[str] = []

Rows: TypeAlias = Mapping[str, NDArray[Any]]

# y counts events whose expected number is exp(X beta).


def poisson_loglike(batch: Rows, theta: Floats) -> Floats:
    from scipy.special import gammaln

    y, eta = batch["y"], batch["X"] @ theta
    return np.where(y >= 0, y * eta - np.exp(eta) - gammaln(np.abs(y) + 1), -np.inf)


def poisson_score(batch: Rows, theta: Floats) -> Floats:
    X = batch["X"]
    score: Floats = (batch["y"] - np.exp(X @ theta))[:, None] * X
    return score


def poisson_hessian(batch: Rows, theta: Floats) -> Floats:
    X = batch["X"]
    hessian: Floats = -(np.exp(X @ theta)[:, None] * X).T @ X
    return hessian


def poisson_start(mean: float, deviation: float) -> Sequence[float]:  # noqa: ARG001
    return (math.log(mean),)


# y is 1 with the probability that a standard normal number is below X beta.


def probit_loglike(batch: Rows, theta: Floats) -> Floats:
    from scipy.special import log_ndtr

    y = batch["y"]
    return np.where((y == 0) | (y == 1), log_ndtr((2 * y - 1) * (batch["X"] @ theta)), -np.inf)


def probit_score(batch: Rows, theta: Floats) -> Floats:
    from scipy.special import log_ndtr

    X, sign = batch["X"], 2 * batch["y"] - 1
    eta = X @ theta
    mills = sign * np.exp(-eta * eta / 2 - log_ndtr(sign * eta)) / math.sqrt(2 * math.pi)
    score: Floats = mills[:, None] * X
    return score


def probit_hessian(batch: Rows, theta: Floats) -> Floats:
    from scipy.special import log_ndtr

    X, sign = batch["X"], 2 * batch["y"] - 1
    eta = X @ theta
    mills = sign * np.exp(-eta * eta / 2 - log_ndtr(sign * eta)) / math.sqrt(2 * math.pi)
    hessian: Floats = -((mills * (mills + eta))[:, None] * X).T @ X
    return hessian


def probit_start(mean: float, deviation: float) -> Sequence[float]:  # noqa: ARG001
    from scipy.special import ndtri

    return (float(ndtri(mean)),)


# y is X beta plus a normal error of deviation exp(log_sigma).


def gaussian_loglike(batch: Rows, theta: Floats) -> Floats:
    left = (batch["y"] - batch["X"] @ theta[:-1]) * math.exp(-theta[-1])
    loglike: Floats = -left * left / 2 - theta[-1] - math.log(2 * math.pi) / 2
    return loglike


def gaussian_score(batch: Rows, theta: Floats) -> Floats:
    X, scale = batch["X"], math.exp(-theta[-1])
    left = (batch["y"] - X @ theta[:-1]) * scale
    return np.column_stack([(left * scale)[:, None] * X, left * left - 1])


def gaussian_hessian(batch: Rows, theta: Floats) -> Floats:
    X, scale = batch["X"], math.exp(-theta[-1])
    left = (batch["y"] - X @ theta[:-1]) * scale
    cross = -2 * scale * (X.T @ left)
    return np.block([[-scale * scale * (X.T @ X), cross[:, None]], [cross[None, :], np.array([[-2 * (left @ left)]])]])


def gaussian_start(mean: float, deviation: float) -> Sequence[float]:
    return (mean, math.log(deviation))


register_model("poisson", poisson_loglike, poisson_score, poisson_hessian, start=poisson_start)
register_model("probit", probit_loglike, probit_score, probit_hessian, start=probit_start)
register_model(
    "linear-gaussian",
    gaussian_loglike,
    gaussian_score,
    gaussian_hessian,
    extra=("log_sigma",),
    start=gaussian_start,
)
