"""Joint results are plain values: no party's rows, keys or messages can be reached from them."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import flou
from flou import joint
from privacy.reachable import in_bytes, sightings, strangers

CANARIES = ("canary", 117.170011720001)
SCHEMA = {
    "age": flou.Integers(0, 120),
    "smoker": flou.Categories(["no", "yes"], other=False, missing="no"),
    "pressure": flou.Interval(50, 250),
    "high": flou.Boolean(),
}


def patients(seed: int) -> dict:
    """Made-up people; a canary is among their numbers, and in a column that nobody asks about."""
    draw = np.random.default_rng(seed)
    age, smoker = draw.integers(20, 80, 60), draw.choice(["no", "yes"], 60)
    pressure = 100 + age / 2 + 5 * (smoker == "yes") + draw.normal(0, 3, 60)
    pressure[7] = CANARIES[1]
    visits = draw.poisson(2, 60).astype(float)
    return {
        "age": age.astype(float),
        "smoker": smoker.astype(object),
        "pressure": pressure,
        "high": (pressure > 125).astype(float),
        "visits": visits,
        "name": np.full(60, "canary", dtype=object),
    }


PROGRAMS = {
    "linear": lambda: joint.LinearRegression("pressure ~ age + smoker", SCHEMA),
    "robust": lambda: joint.LinearRegression("pressure ~ age + smoker", SCHEMA, covariance="HC3"),
    "logistic": lambda: joint.LogisticRegression("high ~ age + smoker", SCHEMA),
    "likelihood": lambda: joint.MaximumLikelihood("poisson", "visits ~ age"),
    "moments": lambda: joint.Moments(["age", "pressure"]),
    "histogram": lambda: joint.Histogram("pressure", edges=[50, 100, 150, 250]),
    "ecdf": lambda: joint.Ecdf("pressure", at=[90, 120]),
    "quantiles": lambda: joint.Quantiles("age", bounds=(0, 120), granularity=1, level=0.95),
    "private histogram": lambda: joint.PrivateHistogram("age", bounds=(0, 120), bins=4, epsilon=1, honest=3),
    "private linear": lambda: joint.PrivateLinearRegression("pressure ~ age", SCHEMA, honest=3, epsilon=5),
    "private logistic": lambda: joint.PrivateLogisticRegression("high ~ age", SCHEMA, honest=3, rho=5),
    "private quantiles": lambda: joint.PrivateQuantiles("pressure", bounds=(50, 250), honest=3, epsilon=2),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_fits_are_plain(name):
    """A fit comes back from a pickle as it was, and leads to no rows, parties or engines."""
    fit = joint.simulate([patients(seed) for seed in range(3)], PROGRAMS[name]())
    again = pickle.loads(pickle.dumps(fit))
    for form in (fit, copy.deepcopy(fit), again):
        assert not strangers(form)
        assert not sightings(form, CANARIES)
    assert not in_bytes(pickle.dumps(fit), CANARIES)
    assert again.summary() == fit.summary()
    assert again.provenance == fit.provenance
