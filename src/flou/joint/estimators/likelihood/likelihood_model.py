"""Likelihoods that a plan may name: functions of rows and parameters, the same at every party.

Functions do not travel: running code that someone sends is no way to keep rows confidential. A plan carries a name and
the SHA-256 of the source of the functions, and every party has registered the same source under this name beforehand.
What the functions call is not part of their source, so they are best written without helpers. Poisson and probit
regression and normal errors come with flou, with exact derivatives.

A function gets a batch and the parameters theta. With a formula, batch["y"] is the response and batch["X"] the matrix,
in public coordinates that make its columns comparable: the likelihood must depend on it through X @ beta only, the
coefficients beta being the first of theta. Without a formula the batch holds the columns. Functions return

    loglike   an array of n log-likelihoods; -inf or NaN where theta is outside of what the model allows
    score     an array n x d of derivatives
    hessian   an array n x d x d of second derivatives, or their sum over the rows, d x d
"""

from __future__ import annotations

import hashlib
import inspect
import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from flou.arrays import Floats
from flou.errors import InvalidParameter
from flou.parameters import checked_text, shown

__all__ = ["LikelihoodModel", "model_of", "register_model"]

RowFunction: TypeAlias = Callable[[Mapping[str, NDArray[Any]], Floats], Floats]
Start: TypeAlias = Callable[[float, float], Sequence[float]]  # mean and deviation of y -> intercept, extra parameters


@dataclass(frozen=True)
class LikelihoodModel:
    """A log-likelihood of single rows and what is known of its derivatives."""

    name: str
    loglike: RowFunction
    score: RowFunction | None
    hessian: RowFunction | None
    extra: tuple[str, ...]  # parameters besides the coefficients of a formula
    start: Start | None
    fingerprint: str

    def values(self, batch: Mapping[str, NDArray[Any]], theta: Floats, rows: int) -> Floats:
        return self._shaped("loglike", self.loglike(batch, theta), ((rows,),))

    def scores(self, batch: Mapping[str, NDArray[Any]], theta: Floats, rows: int) -> Floats:
        assert self.score is not None
        return self._shaped("score", self.score(batch, theta), ((rows, len(theta)),))

    def curvature(self, batch: Mapping[str, NDArray[Any]], theta: Floats, rows: int) -> Floats:
        """The sum of second derivatives."""
        assert self.hessian is not None
        square = (len(theta), len(theta))
        found = self._shaped("hessian", self.hessian(batch, theta), (square, (rows, *square)))
        return found.sum(axis=0) if found.ndim == 3 else found

    def _shaped(self, function: str, found: Any, shapes: tuple[tuple[int, ...], ...]) -> Floats:
        array = np.asarray(found, dtype=np.float64)
        if array.shape not in shapes:
            raise InvalidParameter(
                f"The function {function} of the model {self.name!r} returns an array of shape {array.shape}.",
                f"For these rows and parameters it must be {' or '.join(map(str, shapes))}.",
                "Correct the function, at every party.",
            )
        return array


MODELS: dict[str, LikelihoodModel] = {}


def register_model(
    name: str,
    loglike: RowFunction,
    score: RowFunction | None = None,
    hessian: RowFunction | None = None,
    *,
    extra: Sequence[str] = (),
    start: Start | None = None,
) -> LikelihoodModel:
    """Make a likelihood known under a name; another one of the same name is replaced."""
    functions = {"loglike": loglike, "score": score, "hessian": hessian, "start": start}
    words = [checked_text("name", name), *(checked_text("extra", word) for word in extra)]
    digest = hashlib.sha256(b"flou.joint.likelihood_model")
    for text in [*words, *(f"{role}:{_source(name, function)}" for role, function in functions.items())]:
        digest.update(len(text.encode()).to_bytes(8, "big") + text.encode())
    model = LikelihoodModel(name, loglike, score, hessian, tuple(extra), start, digest.hexdigest())
    MODELS[name] = model
    return model


def model_of(name: Any, fingerprint: Any = None) -> LikelihoodModel:
    """The model of this name, and of this source if a fingerprint is given."""
    if not isinstance(name, str) or name not in MODELS:
        raise InvalidParameter(
            f"No likelihood is registered under the name {shown(name)}.",
            "A plan names a model and carries no code, so every party needs the same one.",
            f"Call register_model, or use one of {', '.join(map(repr, sorted(MODELS)))}.",
        )
    if fingerprint is not None and fingerprint != MODELS[name].fingerprint:
        raise InvalidParameter(
            f"The likelihood {name!r} that is registered here is not the one of the plan.",
            "The SHA-256 of its source differs, so the parties would compute different sums.",
            "Register the source that was agreed on.",
        )
    return MODELS[name]


def _source(name: str, function: Callable[..., Any] | None) -> str:
    if function is None:
        return ""
    try:
        return textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError):
        raise InvalidParameter(
            f"The source of a function of the model {name!r} cannot be read.",
            "Parties compare the source of the model to be sure that they compute the same sums.",
            "Write the function in a file and import it from there.",
        ) from None


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
