"""Estimates from reports are plain public values, and so is all that a collector keeps."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import flou
from flou import local
from flou.bits import SeededBits
from privacy.reachable import in_bytes, sightings, strangers

PEOPLE = 200
CANARY = 17.170011720001
NUMBERS = np.append(np.random.default_rng(1).uniform(10, 90, PEOPLE), CANARY)
WORDS = np.append(np.random.default_rng(2).choice(["a", "b", "c"], PEOPLE), "canary")
CATEGORIES, INTERVAL = flou.Categories(["a", "b", "c"]), flou.Interval(0, 100)
OF_WORDS = (local.GRR, local.OLH, local.OUE, local.SUE, local.Hadamard, local.SubsetSelection)
OF_NUMBERS = (
    *(local.BoundedLaplace, local.BoundedStaircase, local.ClampedWindow, local.Designed, local.Duchi, local.Hybrid),
    *(local.Piecewise, local.SquareWave),
)


def said(release):
    return [release.interval(level, of=of) for level in (0.5, 0.99) for of in ("data", "population")], release.to_json()


def plain(thing):
    """That it holds nothing but public values, and comes back from a pickle."""
    again = pickle.loads(pickle.dumps(thing))
    for form in (thing, copy.deepcopy(thing), again):
        assert not strangers(form)
        assert not sightings(form, (CANARY, "canary"))
    assert not in_bytes(pickle.dumps(thing), (CANARY, "canary"))
    return again


@pytest.mark.parametrize(
    ("kind", "domain", "answers"),
    [(kind, CATEGORIES, WORDS) for kind in OF_WORDS]
    + [(kind, INTERVAL, NUMBERS) for kind in OF_NUMBERS]
    + [(local.Warner, flou.Boolean(), NUMBERS > 50)],
)
def test_estimates_are_plain(kind, domain, answers):
    """An estimate comes back from a pickle as it was, and neither it nor the aggregate knows an answer."""
    randomiser = kind(domain, epsilon=1)
    aggregate = randomiser.aggregate(randomiser.randomise(answers, bits=SeededBits(1)))
    assert plain(aggregate) == aggregate
    plain(randomiser)
    for name in ("estimate", "histogram", "mean"):
        if hasattr(randomiser, name):
            release = getattr(randomiser, name)(aggregate)
            again = plain(release)
            assert again == release
            np.testing.assert_equal(said(again), said(release))


def test_results_of_several_questions_are_plain():
    """Tables of two questions, correlations, learned classes and sanitised tables know no answer either."""
    contingency = local.ContingencyTable(CATEGORIES, flou.Boolean(), epsilon=1)
    reports = contingency.randomise(WORDS, NUMBERS > 50, bits=SeededBits(1))
    plain(contingency.estimate(reports))
    plain(contingency.margins(reports))
    correlation = local.Correlation(*[flou.Interval(0, 100, cells=50)] * 2, epsilon=1)
    plain(correlation.estimate(correlation.randomise(np.stack([NUMBERS, NUMBERS], axis=1), bits=SeededBits(1))))
    sanitised = local.sanitise({"x": NUMBERS, "w": WORDS}, {"x": INTERVAL, "w": CATEGORIES}, epsilon=1)
    plain(sanitised)
