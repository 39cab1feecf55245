"""Scores of predictions, and the report on what privacy costs a classifier."""

from __future__ import annotations

import math

import numpy as np
import pytest

import flou
from flou.bits import SeededBits
from flou.errors import InvalidParameter
from flou.local import utility
from flou.local.learning.utility import accuracy, area_under_curve, f1
from local.learning.two_classes import FEATURES, two_classes


def test_scores_by_hand():
    """Accuracy, f1 and area under the curve of a few rows, with ties."""
    truth, predicted = np.array([1, 1, 0, 0, 0]), np.array([1, 0, 1, 0, 0])
    assert accuracy(truth, predicted) == 0.6
    assert f1(truth, predicted) == 0.5
    assert f1(np.zeros(3, int), np.zeros(3, int)) == 0
    assert area_under_curve(truth, np.array([0.9, 0.5, 0.5, 0.4, 0.95])) == pytest.approx((2 + 1.5) / 6)
    assert math.isnan(area_under_curve(np.ones(2, int), np.ones(2)))


def test_the_utility_report():
    """Every method and epsilon has its line; more epsilon is better, and reports are better than rows."""
    schema = FEATURES | {"sick": flou.Boolean()}

    def table(people: int, seed: int) -> dict:
        rows, label = two_classes(people, seed)
        return {"x": rows[:, 0], "z": rows[:, 1], "sick": label}

    report = utility(
        table(2000, 0), table(500, 1), schema, label="sick", epsilons=[1, 6], repeats=5, bits=SeededBits(7)
    )
    assert [(line.method, line.epsilon) for line in report.lines] == [
        (method, epsilon) for method in ("reports", "pairs", "window", "laplace", "staircase") for epsilon in (1.0, 6.0)
    ]
    epsilons, means, _ = report.curve("reports")
    assert epsilons.tolist() == [1, 6]
    assert means[0] <= means[1] + 0.02
    assert means[1] == pytest.approx(report.clean.accuracy, abs=0.03)
    assert report.curve("window", "noised")[1][0] < report.curve("window")[1][0]
    assert len(repr(report).splitlines()) == 12
    assert report.to_dict()["clean"]["accuracy"] == report.clean.accuracy
    with pytest.raises(InvalidParameter, match="measure must be one of"):
        report.curve("window", "loss")
    with pytest.raises(InvalidParameter, match="methods must be one of"):
        utility(table(5, 0), table(5, 1), schema, label="sick", epsilons=[1], methods=["x"])
    with pytest.raises(InvalidParameter, match="no column 'ill'"):
        utility(table(5, 0), table(5, 1), schema, label="ill", epsilons=[1])
