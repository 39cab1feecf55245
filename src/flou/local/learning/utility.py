"""What privacy costs a classifier: accuracy, f1 and area under the curve against epsilon, for several ways to learn.

reports      ``NaiveBayes`` from reports about the label and one feature of each person
pairs        ``LinearDiscriminant`` from reports about the label and two features
window, laplace, staircase
             plain Gaussian naive Bayes on rows that were sanitised by this method, all columns sharing epsilon
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flou.arrays import Floats, Ints
from flou.bits import SYSTEM, Bits
from flou.domain import Schema
from flou.errors import InvalidParameter
from flou.local.categories.grr import GRR
from flou.local.learning.classifier import Classifier
from flou.local.learning.linear_discriminant import LinearDiscriminant
from flou.local.learning.naive_bayes import GaussianModel, NaiveBayes
from flou.local.tables.sanitiser import METHODS as SANITISED
from flou.local.tables.sanitiser import Codes, Sanitiser
from flou.parameters import Number, choice, integer
from flou.summaries import rows_of
from flou.summaries.request import Code

__all__ = ["MEASURES", "Utility", "UtilityLine", "accuracy", "area_under_curve", "f1", "utility"]


LEARNERS: dict[str, type[Classifier]] = {"reports": NaiveBayes, "pairs": LinearDiscriminant}
METHODS = (*LEARNERS, *SANITISED)
MEASURES = ("accuracy", "noised", "f1", "auc")


@dataclass(frozen=True)
class UtilityLine:
    """Means and standard deviations over ``repeats`` draws of the noise, on the same rows."""

    method: str
    epsilon: float  # of a whole row; infinite without privacy
    repeats: int
    accuracy: float  # on clean test rows
    accuracy_sd: float
    noised: float  # on sanitised test rows and labels; for reports, against labels randomised with all of epsilon
    noised_sd: float
    f1: float
    f1_sd: float
    auc: float
    auc_sd: float


@dataclass(frozen=True)
class Utility:
    """``clean``: plain Gaussian naive Bayes without privacy; ``lines``: each method at each epsilon."""

    clean: UtilityLine
    lines: tuple[UtilityLine, ...]

    def __repr__(self) -> str:
        head = f"{'method':10} {'epsilon':>8} {'accuracy':>15} {'noised labels':>15} {'f1':>15} {'auc':>15}"
        return "\n".join([head, *map(_row, (self.clean, *self.lines))])

    def curve(self, method: str, measure: str = "accuracy") -> tuple[Floats, Floats, Floats]:
        """What a plot needs: epsilons, means and standard deviations of a method."""
        choice("method", method, tuple(dict.fromkeys(line.method for line in self.lines)))
        choice("measure", measure, MEASURES)
        mine = sorted((line for line in self.lines if line.method == method), key=lambda line: line.epsilon)
        found = [(line.epsilon, getattr(line, measure), getattr(line, f"{measure}_sd")) for line in mine]
        epsilons, means, deviations = np.array(found).T
        return epsilons, means, deviations

    def to_dict(self) -> dict[str, Any]:
        """All numbers as plain values."""
        clean = {name: value for name, value in asdict(self.clean).items() if name not in ("epsilon", "repeats")}
        return {"clean": clean, "lines": [asdict(line) for line in self.lines]}


def utility(
    train: Any,
    test: Any,
    schema: Any,
    *,
    label: str,
    epsilons: Sequence[Number],
    methods: Sequence[str] = METHODS,
    repeats: int = 30,
    bins: int = 4,
    bits: Bits = SYSTEM,
) -> Utility:
    """Learn from ``train`` by several methods and test on ``test``; both are tables with the columns of the schema.

    The result is not private: it is computed from the rows as they are. Use it on a table that may be looked at, to
    choose a method for tables that may not.
    """
    known = Schema.of(schema)
    known[label]
    for method in methods:
        choice("methods", method, METHODS)
    integer("repeats", repeats, 1, 10**6)
    if len(known) < 2 or known[label].size < 2:
        raise InvalidParameter(
            "The schema must have a label with at least two codes, and at least one other column.",
            "A classifier predicts the label from the other columns.",
            "Add columns to the schema.",
        )
    learn, tried = _codes(train, known), _codes(test, known)
    every = partial(_line, repeats=repeats)
    lines = []
    for method in methods:
        for epsilon in epsilons:
            if method in SANITISED:
                sanitiser = Sanitiser(known, epsilon=epsilon, method=method)  # type: ignore[arg-type]
                once: Callable[[], list[float]] = partial(_on_rows, sanitiser, label, learn, tried, bits)
            else:
                features = {name: domain for name, domain in known.columns.items() if name != label}
                learner = LEARNERS[method](features, known[label], epsilon=epsilon, bins=bins)  # type: ignore[arg-type]
                once = partial(_on_reports, learner, known, label, learn, tried, bits)
            lines.append(every(method, float(epsilon), [once() for _ in range(repeats)]))
    clean = _measured(known, label, learn, tried, tried)
    return Utility(_line("clean", math.inf, [clean], repeats=1), tuple(lines))


def _codes(table: Any, schema: Schema) -> Codes:
    batches = list(rows_of(table).codes([Code(name, domain) for name, domain in schema.columns.items()]))
    return {name: np.concatenate([batch[i] for batch in batches]) for i, name in enumerate(schema)}


def _numbers(schema: Schema, label: str, codes: Codes) -> Floats:
    """The features as numbers; categories as their codes."""
    columns = []
    for name, domain in schema.columns.items():
        if name != label:
            values = domain.decode(codes[name])
            columns.append((codes[name] if values.dtype.kind == "O" else values).astype(np.float64))
    return np.stack(columns, axis=1)


def _measured(schema: Schema, label: str, learn: Codes, clean: Codes, noised: Codes) -> list[float]:
    """Plain Gaussian naive Bayes on these rows."""
    classes = schema[label].size
    model = GaussianModel.fitted(_numbers(schema, label, learn), learn[label], classes)
    return _scored(model.scores, schema, label, clean, (_numbers(schema, label, noised), noised[label]))


def _on_rows(sanitiser: Sanitiser, label: str, learn: Codes, tried: Codes, bits: Bits) -> list[float]:
    noised = [sanitiser.sample(codes, bits=bits) for codes in (learn, tried)]
    return _measured(sanitiser.schema, label, noised[0], tried, noised[1])


def _on_reports(learner: Classifier, schema: Schema, label: str, learn: Codes, tried: Codes, bits: Bits) -> list[float]:
    rows = np.stack([codes for name, codes in learn.items() if name != label], axis=1)
    reports = learner.survey.randomise(learner.questions.answers(rows, learn[label]), bits=bits)
    learner.fit_reports(reports)
    noised = GRR(schema[label], epsilon=learner.epsilon).sample(tried[label], bits=bits)
    return _scored(learner.log_scores, schema, label, tried, (_numbers(schema, label, tried), noised))


def _scored(
    scores: Callable[[Floats], Floats], schema: Schema, label: str, clean: Codes, noised: tuple[Floats, NDArray[Any]]
) -> list[float]:
    """The four measures."""
    found, truth, classes = scores(_numbers(schema, label, clean)), clean[label], schema[label].size
    predicted = found.argmax(axis=1)
    area = area_under_curve(truth, found[:, 1] - found[:, 0]) if classes == 2 else math.nan
    seen = accuracy(noised[1], scores(noised[0]).argmax(axis=1))
    return [accuracy(truth, predicted), seen, f1(truth, predicted, classes), area]


def _line(method: str, epsilon: float, found: list[list[float]], *, repeats: int) -> UtilityLine:
    means, deviations = np.mean(found, axis=0), np.std(found, axis=0)
    pairs = (float(value) for pair in zip(means, deviations, strict=True) for value in pair)
    return UtilityLine(method, epsilon, repeats, *pairs)


def _row(line: UtilityLine) -> str:
    cells = [f"{getattr(line, name):.3f} ± {getattr(line, f'{name}_sd'):.3f}" for name in MEASURES]
    epsilon = "" if math.isinf(line.epsilon) else f"{line.epsilon:g}"
    return f"{line.method:10} {epsilon:>8} " + " ".join(f"{cell:>15}" for cell in cells)


def accuracy(truth: Ints, predicted: Ints) -> float:
    """The share of rows whose label is predicted correctly."""
    return float(np.mean(truth == predicted))


def f1(truth: Ints, predicted: Ints, classes: int = 2) -> float:
    """2 hits / (2 hits + misses + false alarms) of class 1; of more than two classes, the average over all."""
    wanted = [1] if classes == 2 else range(classes)
    found = []
    for code in wanted:
        hits = np.sum((truth == code) & (predicted == code))
        total = np.sum(truth == code) + np.sum(predicted == code)
        found.append(2 * float(hits) / float(total) if total else 0.0)
    return float(np.mean(found))


def area_under_curve(truth: Ints, scores: Floats) -> float:
    """P[a row of class 1 has a higher score than one of class 0], ties counted half; NaN if a class is missing."""
    positive, negative = scores[truth == 1], np.sort(scores[truth == 0])
    if not positive.size or not negative.size:
        return float("nan")
    below = np.searchsorted(negative, positive, side="left")
    upto = np.searchsorted(negative, positive, side="right")
    return float(np.mean(below + upto) / (2 * negative.size))
