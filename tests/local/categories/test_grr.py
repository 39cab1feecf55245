"""GRR: its loss outcome by outcome, its estimate without bias, its intervals, its aggregates."""

from __future__ import annotations

import math

import numpy as np
import pytest

from flou.bits import SeededBits
from flou.errors import InvalidData, InvalidParameter
from flou.local import GRR, Aggregate


@pytest.mark.parametrize("epsilon", [0.5, 1, 3])
@pytest.mark.parametrize("k", [2, 3, 16])
def test_the_loss_is_exactly_epsilon(k, epsilon):
    oracle = GRR(k, epsilon=epsilon)
    laws = np.array([oracle.law(x).pmf(np.arange(k)) for x in range(k)])
    worst = max(np.log(a / b).max() for a in laws for b in laws)
    assert worst == pytest.approx(epsilon, rel=1e-12)


@pytest.mark.parametrize("k", [2, 16])
def test_the_estimate_has_no_bias_exactly(k):
    oracle = GRR(k, epsilon=1)
    for x in range(k):
        expected = (oracle.law(x).pmf(np.arange(k)) - oracle.q) / (oracle.p - oracle.q)
        assert np.allclose(expected, np.arange(k) == x, atol=1e-12)


def test_reports_of_strangers_are_refused_and_nothing_is_counted():
    aggregate = GRR(4, epsilon=1).aggregate([0, 1, 2, 3])
    for bad in ([4], [-1], [0.5], [[1]], ["a"], 3):
        with pytest.raises(InvalidData, match="Each report"):
            aggregate.add(bad)
    assert aggregate.people == 4
    assert aggregate.add([]).people == 4


def test_aggregates_add_up_in_any_order_and_travel_as_bytes():
    oracle = GRR(["a", "b", "c"], epsilon=1)
    reports = oracle.randomise(["a", "b", "b", "c", "nobody", None] * 50, bits=SeededBits(1))
    whole = oracle.aggregate(reports)
    parts = [oracle.aggregate(part) for part in np.array_split(reports, 7)]
    merged = oracle.aggregate()
    for part in parts[::-1]:
        merged.merge(Aggregate.from_bytes(oracle, part.to_bytes()))
    assert merged == whole
    assert merged.people == 300
    for other in (GRR(["a", "b", "c"], epsilon=2), GRR(["a", "b", "d"], epsilon=1), GRR(3, epsilon=1)):
        with pytest.raises(InvalidData, match="another question"):
            other.aggregate().merge(whole)
        with pytest.raises(InvalidData, match="another question"):
            Aggregate.from_bytes(other, whole.to_bytes())
    for broken in (b"", whole.to_bytes()[:-1], b"flou aggregate 1\n{}\n", b"x" + whole.to_bytes()):
        with pytest.raises(InvalidData, match="not an aggregate"):
            Aggregate.from_bytes(oracle, broken)


def test_no_reports_say_nothing():
    release = GRR(4, epsilon=1).aggregate().estimate()
    assert np.array_equal(release.value, [0.25] * 4)
    assert np.array_equal(release.interval()[1], np.ones(4))


def test_the_release_tells_what_a_respondent_paid():
    release = GRR(["yes", "no"], epsilon=math.log(3)).estimate([0, 1, 1])
    assert release.labels == ("yes", "no")
    assert release.certificate["trust"]["model"] == "local"
    assert release.certificate["loss"]["epsilon"] == pytest.approx(math.log(3))
    with pytest.raises(InvalidParameter):
        GRR(1, epsilon=1)
    with pytest.raises(InvalidParameter):
        GRR(4, epsilon=0)
