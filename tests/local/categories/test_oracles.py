"""The entry that chooses an oracle: the least variance, and why."""

from __future__ import annotations

import pytest

from flou.errors import InvalidParameter
from flou.local import GRR, OLH, SubsetSelection, Warner, compare, frequencies


@pytest.mark.parametrize("k", [2, 3, 5, 16, 128, 1000])
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1, 3, 8])
def test_the_least_variance_is_chosen(k, epsilon):
    """No other oracle has less, and the reason names it and the others."""
    oracle = frequencies(k, epsilon=epsilon)
    ranked = compare(k, epsilon=epsilon)
    assert type(ranked[0].oracle) is type(oracle)
    assert all(oracle.variance(1 / k) <= one.variance * (1 + 1e-9) for one in ranked)
    assert oracle.variance(1 / k) == pytest.approx(SubsetSelection(k, epsilon=epsilon).variance(1 / k))
    assert oracle.reason.startswith(ranked[0].method)
    assert all(one.method in oracle.reason for one in ranked)


def test_the_numbers_of_the_literature():
    """n times the variance at k = 128, on average over the categories."""
    found = {one.method: one.variance for one in compare(128, epsilon=1)}
    wanted = {"subset": 3.62, "oue": 3.69, "hadamard": 4.68, "grr": 44.2}
    assert {method: found[method] for method in wanted} == pytest.approx(wanted, rel=3e-3)
    found = {one.method: one.variance for one in compare(128, epsilon=3)}
    wanted = {"subset": 0.209, "oue": 0.228, "grr": 0.453, "hadamard": 1.21}
    assert {method: found[method] for method in wanted} == pytest.approx(wanted, rel=3e-3)


def test_of_equal_ones_the_shortest_report_is_taken():
    """Two categories: Warner; few for the epsilon: GRR, as subset selection of one; long reports: local hashing."""
    assert isinstance(frequencies(2, epsilon=1), Warner)
    assert isinstance(frequencies(4, epsilon=2), GRR)
    assert isinstance(frequencies(128, epsilon=1), SubsetSelection)
    assert isinstance(frequencies(128, epsilon=1, report_bits=64), OLH)
    assert isinstance(frequencies(100_000, epsilon=1), OLH)


def test_a_method_can_be_named():
    """Each by its word; warner needs two categories, and unknown words are refused."""
    for one in compare(["a", "b"], epsilon=1):
        oracle = frequencies(["a", "b"], epsilon=1, method=one.method)
        assert type(oracle) is type(one.oracle)
        assert oracle.reason == f"{one.method}, as asked"
    assert len(compare(2, epsilon=1)) == 7
    assert len(compare(3, epsilon=1)) == 6
    for wrong in ({"method": "warner"}, {"method": "rappor"}, {"epsilon": 0}, {"report_bits": 3}):
        with pytest.raises(InvalidParameter):
            frequencies(3, **{"epsilon": 1, **wrong})
