"""Made-up people of two classes, with two features that tell them apart."""

from __future__ import annotations

import math

import numpy as np

import flou

FEATURES = {"x": flou.Interval(-4, 5), "z": flou.Integers(-40, 40)}


def two_classes(people: int, seed: int = 0, correlation: float = 0.0):
    """Normal features: x has means 0 and 1.5, z (in tens) -0.5 and 0.5; within a class they are correlated."""
    generator = np.random.default_rng(seed)
    label = generator.random(people) < 0.4
    first, second = generator.normal(size=(2, people))
    x = first + 1.5 * label
    z = np.rint(10 * (correlation * first + math.sqrt(1 - correlation**2) * second + label - 0.5))
    return np.stack([x, z], axis=1), label
