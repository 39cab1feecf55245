"""The experiment of document 002 once more: how well is the outcome learned, against epsilon?

The document sanitises every cell, with the same epsilon for each of nine columns, and measures on sanitised rows. Here
the mechanisms keep their bounds and their epsilon, the total is told, and both measures are: on sanitised rows and
labels as in the document, and on clean ones. Next to it, classifiers that learn from reports. What is wrong with the
printed mechanisms follows in closed form.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

import numpy as np

from flou.bits import Bits, SeededBits
from flou.domain import Schema
from flou.local.learning.classifier import Classifier
from flou.local.learning.naive_bayes import NaiveBayes
from flou.local.learning.utility import UtilityLine, utility
from flou.reproduce.diabetes import LABEL, SCHEMA, WIDE, Columns, Diabetes, clean_scores, split

__all__ = ["EPSILONS", "TOTALS", "curves", "experiment", "faults", "learned_over_splits"]

EPSILONS = (0.01, 0.1, 1, 2, 3, 5, 10)  # of each column, as in the document
TOTALS = (0.5, 1, 2, 3, 4.5, 9)  # of a whole row
SANITISED = ("laplace", "staircase", "window")
CLAIMED = 4.5
BINS = (3, 4, 6, 8)


def curves(diabetes: Diabetes, repeats: int, bits: Bits) -> tuple[UtilityLine, list[UtilityLine]]:
    """Without privacy, and for every method and epsilon; epsilon is that of a whole row."""
    learn, tried = (_some(diabetes.public, rows) for rows in split(len(diabetes.columns[LABEL])))
    totals = [round(len(SCHEMA) * epsilon, 10) for epsilon in EPSILONS]
    found: list[UtilityLine] = []
    for methods, epsilons, times in (
        (SANITISED, totals, repeats),
        (("reports",), TOTALS, repeats),
        (("pairs",), TOTALS, max(1, repeats // 3)),
    ):
        report = utility(
            learn, tried, SCHEMA, label=LABEL, epsilons=epsilons, methods=methods, repeats=times, bits=bits
        )
        found += report.lines
    return report.clean, found


def learned_over_splits(
    diabetes: Diabetes, splits: int, bits: Bits, *, epsilon: float = CLAIMED, bins: int = 4, schema: Schema = SCHEMA
) -> dict[str, float]:
    """Naive Bayes from reports against naive Bayes without privacy, each time on other rows."""
    features = {name: domain for name, domain in schema.columns.items() if name != LABEL}
    learner: Classifier = NaiveBayes(features, schema[LABEL], epsilon=epsilon, bins=bins)  # type: ignore[arg-type]
    clean, private = [], []
    for seed in range(splits):
        learn, tried = (_some(diabetes.public, rows) for rows in split(len(diabetes.columns[LABEL]), seed))
        learner.fit(learn, learn[LABEL], bits=bits)
        private.append(learner.score(tried, tried[LABEL]))
        clean.append(clean_scores(_decoded(diabetes.public, schema), seed)[0])
    loss = np.subtract(clean, private)
    return {
        "epsilon": epsilon,
        "bins": bins,
        "splits": splits,
        "clean": float(np.mean(clean)),
        "clean_sd": float(np.std(clean)),
        "private": float(np.mean(private)),
        "private_sd": float(np.std(private)),
        "loss": float(loss.mean()),
        "loss_sd": float(loss.std()),
    }


def faults(diabetes: Diabetes, epsilon: float = 1.0) -> dict[str, float]:
    """What the printed mechanisms do, in closed form.

    ``outside``: the share of values that leave the bounds, because the loop returns its first draw; ``staircase``: the
    true epsilon of a column whose staircase noise is drawn again until it is inside; ``total``: what a person pays.
    """
    shares = []
    for name, values in diabetes.printed.items():
        if name != LABEL:
            low, high = values.min(), values.max()
            rate = epsilon / (high - low)
            shares.append(np.mean(np.exp(-(values - low) * rate) + np.exp(-(high - values) * rate)) / 2)
    return {
        "epsilon": epsilon,
        "outside": float(np.mean(shares)),
        "staircase": epsilon + math.log(2 - math.exp(-epsilon / 2)),
        "total": len(SCHEMA) * epsilon,
        "perfect_on_noised_labels": 1 / (1 + math.exp(-epsilon)),
    }


def experiment(diabetes: Diabetes, repeats: int, splits: int, seed: str = "document 002") -> dict[str, Any]:
    """Everything, as plain values; the same seed gives the same numbers."""
    bits = SeededBits(seed)
    clean, lines = curves(diabetes, repeats, bits)
    printed = clean_scores(diabetes.printed)
    plain = {name: value for name, value in asdict(clean).items() if name not in ("epsilon", "repeats")}
    return {
        "real": diabetes.real,
        "printed": {"accuracy": printed[0], "f1": printed[1]},
        "clean": plain,
        "lines": [asdict(line) for line in lines],
        "majority": _majority(diabetes),
        "splits": [learned_over_splits(diabetes, splits, bits, bins=bins) for bins in BINS],
        "wide": learned_over_splits(diabetes, splits, bits, schema=WIDE),
        "faults": faults(diabetes),
    }


def _majority(diabetes: Diabetes) -> float:
    """The accuracy of always saying no, on the document's split."""
    _, tried = split(len(diabetes.columns[LABEL]))
    return float(np.mean(diabetes.columns[LABEL][tried] == 0))


def _some(columns: Columns, rows: Any) -> Columns:
    return {name: values[rows] for name, values in columns.items()}


def _decoded(columns: Columns, schema: Schema) -> Columns:
    """As the schema sees it: within public bounds, missing values as their public value."""
    return {
        name: domain.decode(domain.encode(columns[name])).astype(np.float64) for name, domain in schema.columns.items()
    }
