"""HistogramMethod: what it costs on every pair of neighbours, that it follows its law, and where it stops."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from flou.bits import SeededBits
from flou.errors import InvalidParameter
from flou.mechanisms.quantiles import CellCounts, SortedRecords
from flou.mechanisms.quantiles import histogram_method as module
from flou.mechanisms.quantiles.histogram_method import HistogramMethod, rates
from flou.mechanisms.quantiles.targets import Target
from mechanisms.quantiles.tiny import PROBABILITIES, RELATIONS, as_counts, follows, in_memory, pairs
from privacy.exhaustive import loss

DECILES = [Fraction(i, 10) for i in range(1, 10)]


def measured(mechanism: HistogramMethod, cells: int = 5, most: int = 4) -> float:
    return loss(
        mechanism.law,
        lambda table: in_memory(table, cells),
        pairs(mechanism.relation, range(cells), most),
        lambda law: list(law.outcomes()),
    )


# Privacy


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("p", [*PROBABILITIES, Fraction(9, 10)], ids=str)
@pytest.mark.parametrize("bins", [3, 5])
def test_loss_is_at_most_epsilon(relation, p, bins):
    """sup log P(cell)/P'(cell) <= epsilon over all neighbours, and epsilon itself for probabilities near 0 and 1."""
    found = measured(HistogramMethod(p, epsilon=1, bins=bins, relation=relation))
    assert 0.4 < found <= 1 + 1e-9
    if relation == "add-remove" and min(p, 1 - p) <= Fraction(1, 10):
        assert found > 0.9


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("epsilon", [0.1, 3])
def test_loss_of_two_quantiles(relation, epsilon):
    """Two walks share epsilon, and sorting costs nothing."""
    mechanism = HistogramMethod([0.2, 0.6], epsilon=epsilon, bins=3, relation=relation)
    assert measured(mechanism, 3, 3) <= epsilon * (1 + 1e-9)


@pytest.mark.parametrize("p", [Fraction(1, 100), Fraction(1, 4)], ids=str)
def test_counts_that_are_cut_off_would_cost_more(p, monkeypatch):
    """Why queries are whole numbers of any size: a late one that is cut off does not rise with those before it."""

    def loss_of(first: int, last: int) -> float:
        (walk,) = HistogramMethod(p, epsilon=1, bins=12).walks
        below = [np.array([0, *[start] * 11, start + last]) for start in (first, first + 1)]
        laws = [walk.search.law(walk.queries(counts)) for counts in below]
        chances = [[law.pmf(stop) for law in laws] for stop in [(), *((i,) for i in range(12))]]
        return max(abs(math.log(a / b)) for a, b in chances if min(a, b) > 1e-250)

    sizes = [(first, last) for first in (1, 4, 5, 6, 7, 10) for last in (1, 5, 40)]
    assert max(loss_of(*size) for size in sizes) <= 1 + 1e-9
    monkeypatch.setattr("flou.mechanisms.quantiles.targets.FARTHEST", 6 * p.denominator)
    monkeypatch.setattr(Target, "ahead", lambda self, counts: -self.beyond(counts))
    assert max(loss_of(*size) for size in sizes) > 1.2


def all_for_both(p, epsilon, relation):
    del p, relation
    return epsilon, epsilon


def in_one_direction(p, epsilon, relation):
    """As if f_i - p n moved in one direction for all bins, also under add/remove."""
    del relation
    moved = max(p, 1 - p)
    return epsilon / (2 * moved), epsilon / (2 * moved)


@pytest.mark.parametrize(
    ("wrong", "relation"),
    [(all_for_both, "substitute"), (all_for_both, "add-remove"), (in_one_direction, "add-remove")],
)
def test_faults_are_refused(monkeypatch, wrong, relation):
    """The same check sees noise that is too small."""
    monkeypatch.setattr(module, "rates", wrong)
    assert measured(HistogramMethod(0.5, epsilon=1, bins=5, relation=relation)) > 1.1


@pytest.mark.parametrize("p", [Fraction(i, 40) for i in range(21)], ids=str)
def test_the_two_conditions_hold_and_one_is_reached(p):
    """p u + v and (1 - p) u are at most epsilon (add/remove), and u + v is epsilon (substitution)."""
    u, v = rates(p, Fraction(1, 3), "add-remove")
    assert max(p * u + v, (1 - p) * u) == Fraction(1, 3)
    assert u > 0 < v
    assert sum(rates(p, Fraction(1, 3), "substitute")) == Fraction(1, 3)


# The law


@pytest.mark.parametrize("p", [0, 0.2, 0.5, 0.9, 1])
@pytest.mark.parametrize("relation", RELATIONS)
def test_samples_follow_the_law(p, relation):
    """Releases follow the law, from arrays and from counts; another law is refused."""
    table = (0, 1, 1, 3, 4, 6)
    mechanism = HistogramMethod(p, epsilon=1, bins=4, relation=relation)
    law = mechanism.law(in_memory(table, 7))
    other = HistogramMethod(p, epsilon=9, bins=4, relation=relation).law(in_memory(table, 7))
    assert math.isclose(sum(map(law.pmf, law.outcomes())), 1, rel_tol=1e-9)
    for records in (in_memory(table, 7), as_counts(table, 7)):
        bits = SeededBits(f"histogram {p} {relation}")
        draws = [int(mechanism.sample(records, bits=bits)[0]) for _ in range(700)]
        assert follows(draws, [law.pmf((c,)) for c in range(7)])
        assert not follows(draws, [other.pmf((c,)) for c in range(7)])


def test_two_answers_follow_their_law():
    """Two walks, in order."""
    mechanism, records = HistogramMethod([0.3, 0.6], epsilon=2, bins=3), in_memory((0, 1, 1, 2, 2), 3)
    law = mechanism.law(records)
    outcomes, bits = list(law.outcomes()), SeededBits("two walks")
    assert all(a <= b for a, b in outcomes)
    draws = [outcomes.index(tuple(mechanism.sample(records, bits=bits).tolist())) for _ in range(2000)]
    assert follows(draws, [law.pmf(o) for o in outcomes])


def test_noise_in_portions_changes_nothing(monkeypatch):
    """A walk of many bins draws its noise a portion at a time; the law is that of one by one."""
    monkeypatch.setattr(module, "BEGIN", 1)
    mechanism, records = HistogramMethod(0.5, epsilon=1, bins=7), in_memory((0, 2, 3, 6), 7)
    bits, law = SeededBits("portions"), mechanism.law(records)
    draws = [int(mechanism.sample(records, bits=bits)[0]) for _ in range(2000)]
    assert follows(draws, [law.pmf((c,)) for c in range(7)])


def test_a_law_that_cannot_be_listed_is_refused():
    """The way out is said."""
    with pytest.raises(InvalidParameter, match="too many outcomes"):
        HistogramMethod(DECILES, epsilon=1, bins=5).law(in_memory((0, 1), 5))


# Where it stops


def test_the_answer_is_the_middle_of_a_bin_or_the_end_of_the_walk():
    """With all but no noise: the bin that holds the quantile, and the far end where there is none."""
    records = SortedRecords(np.arange(0, 1000), cells=1000)
    found = HistogramMethod([0.25, 0.5, 0.75], epsilon=1000, bins=10).sample(records, bits=SeededBits("stop"))
    assert found.tolist() == [249, 449, 749]
    nobody = SortedRecords(np.zeros(0, dtype=np.int64), cells=1000)
    assert HistogramMethod(0, epsilon=1000, bins=10).sample(nobody, bits=SeededBits(1)).tolist() == [999]
    assert HistogramMethod(1, epsilon=1000, bins=10).sample(nobody, bits=SeededBits(1)).tolist() == [0]
    assert HistogramMethod([0, 1], epsilon=1000, bins=1000).sample(records, bits=SeededBits(1)).tolist() == [0, 999]


@pytest.mark.parametrize(
    "codes", [[], [3], [3, 700], [500] * 2000, [0] * 2000, [999] * 2000], ids=lambda codes: f"{len(codes)} records"
)
@pytest.mark.parametrize("relation", RELATIONS)
def test_every_table_has_an_answer(codes, relation):
    """Any table, any list of probabilities, any number of bins: cells of the grid, increasing with the probability."""
    records = SortedRecords(np.array(codes, dtype=np.int64), cells=1000)
    for p in ([0.5], [0, 1], [0.5, 0.5, 0.1], DECILES, [Fraction(i, 999) for i in range(1000)]):
        for bins in (1, 50, 4096):
            found = HistogramMethod(p, epsilon=1, bins=bins, relation=relation).sample(records, bits=SeededBits("edge"))
            in_order = found[np.argsort(np.array(p, dtype=float), kind="stable")]
            assert np.all(np.diff(in_order) >= 0)
            assert 0 <= in_order[0] <= in_order[-1] < 1000


@pytest.mark.parametrize(("relation", "most"), [("add-remove", 40), ("substitute", 70)])
def test_errors_in_ranks(relation, most):
    """Nine deciles of 20000 records in 1024 bins, epsilon 1."""
    codes = np.sort(np.random.default_rng(3).integers(0, 2**32, 20_000))
    mechanism, bits = HistogramMethod(DECILES, epsilon=1, bins=1024, relation=relation), SeededBits("ranks")
    counts = CellCounts(*np.unique(codes, return_counts=True), cells=2**32)
    found = np.array([mechanism.sample(counts, bits=bits) for _ in range(20)])
    off = np.abs(np.searchsorted(codes, found) - 2000 * np.arange(1, 10))
    assert 2 < off.mean() < most


def test_bins_are_checked():
    """At least one, at most 2^20."""
    for bins in (0, 2**20 + 1, 1.5, True):
        with pytest.raises(InvalidParameter, match="bins"):
            HistogramMethod(0.5, epsilon=1, bins=bins)
