"""Two categorical answers in one report: the loss of the pair, cells, margins, and reports that are refused."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import flou
from flou.bits import SeededBits
from flou.errors import InvalidData, InvalidParameter
from flou.local import OUE, SUE, Aggregate, ContingencyTable, SubsetSelection
from flou.local.categories.support_uncertainty import MarginUncertainty, support_variances
from local.enumerated import ORACLES, all_reports, laws, told, worst_loss

METHODS = ("grr", "subset", "oue", "sue", "olh", "hadamard")
EXACT = ("grr", "subset", "oue", "sue")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("epsilon", [0.5, 2])
def test_both_answers_cost_epsilon_together(method, epsilon):
    """All pairs of a table of 2 x 3, all reports: the largest log-ratio is epsilon, and it is reached."""
    table = ContingencyTable(2, 3, epsilon=epsilon, method=method)
    assert table.shape == (2, 3)
    assert worst_loss(laws(table.oracle)) == pytest.approx(epsilon, rel=1e-12)
    assert table.guarantee.epsilon == epsilon


def test_two_reports_would_cost_twice():
    """The enumeration is seen to refuse one report for each answer with all of epsilon."""
    first = laws(flou.local.GRR(2, epsilon=1))
    assert worst_loss(np.array([np.kron(a, b) for a in first for b in first])) == pytest.approx(2)


def variances_by_enumeration(oracle, chosen) -> np.ndarray:
    """The variance of how many of the chosen categories a report supports, for each answer."""
    counts = [oracle.support(oracle.aggregate(one[None]))[chosen].sum() for one in all_reports(oracle)]
    probabilities, counts = laws(oracle), np.array(counts, dtype=float)
    return probabilities @ counts**2 - (probabilities @ counts) ** 2


def some_oracles():
    for epsilon in (0.5, 2):
        yield from (kind(k, epsilon=epsilon) for kind in ORACLES.values() for k in (4, 6))
        yield flou.local.Hadamard(9, epsilon=epsilon)
        yield from (SubsetSelection(6, epsilon=epsilon, omega=omega) for omega in (2, 3, 5))
        yield from (flou.local.OLH(9, epsilon=epsilon, g=g) for g in (2, 3, 5))


@pytest.mark.parametrize("oracle", list(some_oracles()), ids=told)
def test_variances_of_sums_of_support(oracle):
    """They are those of the enumerated law; for hashes and Hadamard rows they are never below them."""
    exact = isinstance(oracle, flou.local.GRR | SubsetSelection | OUE | SUE)
    for m in (2, 3):
        for start in range(0, oracle.k - m + 1, m):
            chosen = np.arange(start, start + m)
            found, wanted = support_variances(oracle, m), variances_by_enumeration(oracle, chosen)
            for x, variance in enumerate(wanted):
                claimed = found[int(x in chosen)]
                if exact:
                    assert claimed == pytest.approx(variance, rel=1e-9, abs=1e-12)
                else:
                    assert variance * (1 - 1e-9) <= claimed


def people(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    cells = generator.choice(12, count, p=SHARES.ravel())
    return cells // 4, cells % 4


SHARES = np.array([[0.3, 0.02, 0.05, 0.03], [0.1, 0.1, 0.05, 0.05], [0.0, 0.2, 0.05, 0.05]])


def margin_coverage(method, narrower=1.0) -> float:
    """How often 95 % intervals hold the population's margins; ``narrower`` divides the variances."""
    table, hits = ContingencyTable(3, 4, epsilon=1.5, method=method), []
    for run in range(100):
        reports = table.randomise(*people(1000, run), bits=SeededBits(run))
        for axis, release in enumerate(table.margins(reports).values()):
            known = release.uncertainty
            parts = (known.outside / narrower, known.inside / narrower)
            low, high = MarginUncertainty(known.shares, known.people, *parts).population(0.95)
            truth = SHARES.sum(axis=1 - axis)
            hits += ((low <= truth) & (truth <= high)).tolist()
    return float(np.mean(hits))


@pytest.mark.parametrize("method", EXACT)
def test_margins_are_covered(method):
    """In 100 collections the intervals of all margins hold as often as stated."""
    assert 0.92 < margin_coverage(method) < 0.98


def test_margins_by_a_bound_are_covered():
    """Where variances are bounded, intervals hold at least as often."""
    assert min(margin_coverage(method) for method in ("olh", "hadamard")) > 0.92


def test_too_narrow_margins_are_noticed():
    """With a third of the variance they are seen not to hold."""
    assert margin_coverage("grr", narrower=3.0) < 0.9


def test_respondents_margins_are_covered():
    table, hits = ContingencyTable(3, 4, epsilon=1.5), []
    for run in range(100):
        first, second = people(1000, run)
        low, high = table.margins(table.randomise(first, second, bits=SeededBits(run)))["columns"].interval()
        truth = np.bincount(second, minlength=4) / 1000
        hits += ((low <= truth) & (truth <= high)).tolist()
    assert 0.92 < np.mean(hits) < 0.985


def test_cells_and_margins_are_those_of_the_answers():
    """From many reports at a large epsilon the table comes out, row by row, with its labels."""
    table = ContingencyTable(["u", "v"], flou.Boolean(), epsilon=6, names=("letter", "yes"))
    answers = {"yes": [True, True, False, False] * 2000, "letter": ["u", "v", "v", "v"] * 2000}
    reports = table.randomise(answers, bits=SeededBits(1))
    release = table.estimate(reports)
    assert release.labels == ("u, False", "u, True", "v, False", "v, True")
    assert release.value == pytest.approx([0, 0.25, 0.5, 0.25], abs=0.02)
    margins = table.margins(reports)
    assert margins["letter"].labels == ("u", "v")
    assert margins["letter"].value == pytest.approx([0.25, 0.75], abs=0.02)
    assert margins["yes"].value == pytest.approx([0.5, 0.5], abs=0.02)
    raw = table.margins(reports, consistent="none")["yes"].value
    assert raw == pytest.approx(table.estimate(reports, consistent="none").value.reshape(2, 2).sum(axis=0))
    json.dumps(margins["yes"].to_dict())
    same = table.randomise(pd.DataFrame(answers), bits=SeededBits(1))
    assert np.array_equal(same, reports)
    assert np.array_equal(table.randomise(answers["letter"], answers["yes"], bits=SeededBits(1)), reports)


def test_aggregates_and_refusals():
    """Parts merge to the whole, tables of other categories do not, and what cannot be right is refused."""
    table = ContingencyTable(["a", "b"], ["x", "y", "z"], epsilon=1)
    reports = table.randomise(["a"] * 50 + ["b"] * 50, ["x", "y"] * 50, bits=SeededBits(1))
    whole = table.aggregate(reports)
    assert table.aggregate(reports[:30]).merge(table.aggregate(reports[30:])) == whole
    assert Aggregate.from_bytes(table.oracle, whole.to_bytes()) == whole
    assert np.array_equal(whole.estimate().value, table.estimate(whole).value)
    low, high = table.margins(table.aggregate())["rows"].interval()
    assert low.tolist() == [0, 0]
    assert high.tolist() == [1, 1]
    assert "epsilon=1" in repr(table)
    assert repr(table.oracle.domain).startswith("Pairs(")
    assert table.oracle.domain.missing_code == 0
    assert table.randomise({"rows": [], "columns": []}).size == 0
    with pytest.raises(InvalidData, match="another question"):
        whole.merge(ContingencyTable(["a", "b"], ["x", "y", "w"], epsilon=1).aggregate())
    with pytest.raises(InvalidData, match="the same length"):
        table.randomise(["a"], ["x", "y"])
    with pytest.raises(InvalidData, match="two columns"):
        table.oracle.randomise(["a"])
    with pytest.raises(InvalidParameter, match="consistent must be"):
        table.margins(reports, consistent="mle")
    for names in ("ab", ["a"], ["a", "a"]):
        with pytest.raises(InvalidParameter, match="two different names"):
            ContingencyTable(2, 2, epsilon=1, names=names)
    with pytest.raises(InvalidParameter):
        ContingencyTable(2, 2, epsilon=1, method="warner")
    with pytest.raises(InvalidParameter):
        ContingencyTable(1, 2, epsilon=1)
