"""Statistics between organisations: everyone learns the sums, and nobody shows a row.

simulate            several parties on one laptop
Plan, Policy        what is agreed, and what one party allows
LinearRegression... statistics, as programs over sums: what a plan computes
verified            the result of a transcript, checked from the first signature to the last sum
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flou.joint.agreement.identity import Identity, Roster
    from flou.joint.agreement.plan import Plan
    from flou.joint.agreement.policy import Policy
    from flou.joint.estimators.distribution.distribution import Ecdf, EcdfFit, Histogram, HistogramFit
    from flou.joint.estimators.distribution.quantiles import Quantiles, QuantilesFit
    from flou.joint.estimators.distribution.vector_sum import VectorSum, VectorSumFit
    from flou.joint.estimators.fit import Fit, Provenance
    from flou.joint.estimators.likelihood.likelihood import LikelihoodFit, MaximumLikelihood
    from flou.joint.estimators.likelihood.likelihood_model import register_model
    from flou.joint.estimators.likelihood.logistic import LogisticRegression
    from flou.joint.estimators.likelihood.logistic_fit import LogisticFit
    from flou.joint.estimators.linear.linear import LinearRegression
    from flou.joint.estimators.linear.linear_fit import LinearFit
    from flou.joint.estimators.linear.moments import Moments, MomentsFit
    from flou.joint.estimators.linear.penalised import PenalisedFit
    from flou.joint.estimators.private.histogram import PrivateHistogram, PrivateHistogramFit
    from flou.joint.estimators.private.linear import PrivateLinearFit, PrivateLinearRegression
    from flou.joint.estimators.private.logistic import PrivateLogisticFit, PrivateLogisticRegression
    from flou.joint.estimators.private.quantiles import PrivateQuantiles, PrivateQuantilesFit
    from flou.joint.session.transcript import verified
    from flou.joint.simulation import simulate

_PLACES = {
    "agreement.identity": ("Identity", "Roster"),
    "agreement.plan": ("Plan",),
    "agreement.policy": ("Policy",),
    "estimators.distribution.distribution": ("Ecdf", "EcdfFit", "Histogram", "HistogramFit"),
    "estimators.fit": ("Fit", "Provenance"),
    "estimators.likelihood.likelihood": ("LikelihoodFit", "MaximumLikelihood"),
    "estimators.likelihood.likelihood_model": ("register_model",),
    "estimators.linear.linear": ("LinearRegression",),
    "estimators.linear.linear_fit": ("LinearFit",),
    "estimators.likelihood.logistic": ("LogisticRegression",),
    "estimators.likelihood.logistic_fit": ("LogisticFit",),
    "estimators.linear.moments": ("Moments", "MomentsFit"),
    "estimators.linear.penalised": ("PenalisedFit",),
    "estimators.private.histogram": ("PrivateHistogram", "PrivateHistogramFit"),
    "estimators.private.linear": ("PrivateLinearFit", "PrivateLinearRegression"),
    "estimators.private.logistic": ("PrivateLogisticFit", "PrivateLogisticRegression"),
    "estimators.private.quantiles": ("PrivateQuantiles", "PrivateQuantilesFit"),
    "estimators.distribution.quantiles": ("Quantiles", "QuantilesFit"),
    "estimators.distribution.vector_sum": ("VectorSum", "VectorSumFit"),
    "session.transcript": ("verified",),
    "simulation": ("simulate",),
}
_NAMES = {name: place for place, names in _PLACES.items() for name in names}

__all__ = [
    "Ecdf",
    "EcdfFit",
    "Fit",
    "Histogram",
    "HistogramFit",
    "Identity",
    "LikelihoodFit",
    "LinearFit",
    "LinearRegression",
    "LogisticFit",
    "LogisticRegression",
    "MaximumLikelihood",
    "Moments",
    "MomentsFit",
    "PenalisedFit",
    "Plan",
    "Policy",
    "PrivateHistogram",
    "PrivateHistogramFit",
    "PrivateLinearFit",
    "PrivateLinearRegression",
    "PrivateLogisticFit",
    "PrivateLogisticRegression",
    "PrivateQuantiles",
    "PrivateQuantilesFit",
    "Provenance",
    "Quantiles",
    "QuantilesFit",
    "Roster",
    "VectorSum",
    "VectorSumFit",
    "register_model",
    "simulate",
    "verified",
]


def __getattr__(name: str) -> Any:
    """A name is imported when it is first used: a party that computes a sum does not wait for statistics."""
    if name not in _NAMES:
        raise AttributeError(f"module 'flou.joint' has no attribute {name!r}")
    return getattr(import_module(f"flou.joint.{_NAMES[name]}"), name)
