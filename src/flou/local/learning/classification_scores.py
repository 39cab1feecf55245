"""How good predictions are: accuracy, f1 and the area under the curve, as everybody computes them."""

from __future__ import annotations

import numpy as np

from flou.arrays import Floats, Ints

__all__ = ["accuracy", "area_under_curve", "f1"]


def accuracy(truth: Ints, predicted: Ints) -> float:
    """The share of rows that are predicted."""
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
    """P[a row of class 1 has a higher score than one of class 0], ties counted half; NaN without one of the classes."""
    positive, negative = scores[truth == 1], np.sort(scores[truth == 0])
    if not positive.size or not negative.size:
        return float("nan")
    below = np.searchsorted(negative, positive, side="left")
    upto = np.searchsorted(negative, positive, side="right")
    return float(np.mean(below + upto) / (2 * negative.size))
