"""Classifiers that learn from reports: each person randomises features and label together, for epsilon in total.

Respondents run ``randomise`` on their own row and send the reports; anyone runs ``fit_reports``. For experiments
on a table ``fit`` does both. The methods are those that scikit-learn expects, which need not be installed.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from importlib import import_module
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from flou.arrays import Floats
from flou.bits import SYSTEM, Bits
from flou.domain import Domain, Numbers
from flou.errors import InvalidData
from flou.guarantee import PureDP
from flou.local.learning.labelled_bins import Joint, LabelledBins, column_of
from flou.local.survey.collection import Collection
from flou.local.survey.survey import Reports, Survey
from flou.parameters import Number, number

__all__ = ["Classifier"]


class Classifier(ABC):
    """``features`` and ``label`` are public domains; ``epsilon`` is what a person pays for features and label."""

    together: ClassVar[int] = 1  # how many features a question is about
    _estimator_type = "classifier"  # as older versions of scikit-learn ask for it

    def __init__(
        self,
        features: Mapping[str, Numbers],
        label: Domain,
        *,
        epsilon: Number,
        bins: int = 4,
    ) -> None:
        self.features = features
        self.label = label
        self.epsilon = epsilon
        self.bins = bins
        number("epsilon", epsilon)
        self.questions = LabelledBins(features, label, bins, self.together)

    def __repr__(self) -> str:
        fitted = "fitted" if hasattr(self, "people_") else "not fitted"
        return f"{type(self).__name__}({', '.join(self.features)}; epsilon={float(self.epsilon):g}; {fitted})"

    @cached_property
    def survey(self) -> Survey:
        """What respondents and collectors share."""
        return self.questions.survey(Fraction(number("epsilon", self.epsilon)))

    @property
    def guarantee(self) -> PureDP:
        """What a person pays for all features and the label together."""
        return self.survey.guarantee

    # On the respondents' side

    def randomise(self, X: Any, y: Any, *, bits: Bits = SYSTEM) -> Reports:
        """The reports of one person or of many: rows of features, and their labels."""
        codes, labels = self.questions.encoded(X), self.label.encode(column_of(y))
        if len(codes) != len(labels):
            raise InvalidData(
                "There must be as many labels as rows.",
                "A person randomises features and label together.",
                "Pass X and y of the same length.",
            )
        return self.survey.randomise(self.questions.answers(codes, labels), bits=bits)

    # By anyone

    def fit_reports(self, reports: Reports | Collection) -> Classifier:
        """Learn from reports, or from a collection of them; rows are not needed."""
        collection = reports if isinstance(reports, Collection) else Collection(self.survey).add(reports)
        if collection.survey.fingerprint != self.survey.fingerprint:
            raise InvalidData(
                "These reports were made for another classifier.",
                "Reports have another meaning with other features, labels, bins or another epsilon.",
                "Randomise and learn with the same parameters.",
            )
        joints = list(self.questions.joints(collection))
        if not joints:
            raise InvalidData(
                "There are no reports to learn from.",
                "Means and variances are estimated from them.",
                "Collect reports first.",
            )
        self.people_ = collection.reports
        self.classes_ = np.array(self.label.decode(np.arange(self.label.size)).tolist())
        self.n_features_in_ = len(self.features)
        self._learn(joints)
        return self

    @abstractmethod
    def _learn(self, joints: list[Joint]) -> None:
        """Estimate the model."""

    @abstractmethod
    def log_scores(self, numbers: Floats) -> Floats:
        """The logarithm of prior times density, a column for each class."""

    def fit(self, X: Any, y: Any, *, bits: Bits = SYSTEM) -> Classifier:
        """Randomise every row, forget the rows, and learn from the reports."""
        return self.fit_reports(self.randomise(X, y, bits=bits))

    def predict_proba(self, X: Any) -> Floats:
        """The probability of each class, in the order of ``classes_``."""
        if not hasattr(self, "people_"):
            raise InvalidData(
                "This classifier has not learned yet.",
                "Its means and variances come from reports.",
                "Call fit_reports(reports) first, or fit(X, y) on plain rows.",
            )
        scores = self.log_scores(self.questions.numbers(X))
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        found: Floats = weights / weights.sum(axis=1, keepdims=True)
        return found

    def predict(self, X: Any) -> NDArray[Any]:
        """The most likely class of each row."""
        likely = self.predict_proba(X).argmax(axis=1)
        found: NDArray[Any] = self.classes_[likely]
        return found

    def score(self, X: Any, y: Any) -> float:
        """The share of rows whose label is predicted correctly."""
        wanted = self.label.encode(column_of(y))
        return float(np.mean(self.predict_proba(X).argmax(axis=1) == wanted))

    # What scikit-learn asks for

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The arguments of the constructor."""
        del deep
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def set_params(self, **params: Any) -> Classifier:
        """The same classifier with other arguments, not fitted."""
        fresh = type(self)(**{**self.get_params(), **params})
        vars(self).clear()
        vars(self).update(vars(fresh))
        return self

    def __sklearn_tags__(self) -> Any:
        tags = import_module("sklearn.utils")  # only scikit-learn itself calls this
        return tags.Tags(
            estimator_type="classifier",
            target_tags=tags.TargetTags(required=True),
            classifier_tags=tags.ClassifierTags(),
            input_tags=tags.InputTags(allow_nan=True),
        )
