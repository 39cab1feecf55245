"""QExp and inverse sensitivity: private for every pair of neighbours, tight, and exact."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flou.bits import SeededBits
from flou.errors import InvalidParameter
from flou.laws.piecewise import PiecewiseConstant
from flou.mechanisms.quantiles import (
    CellCounts,
    GridInverseSensitivity,
    HistogramMethod,
    PermuteAndFlipQuantile,
    QExp,
    RecExp,
    SmoothInverseSensitivity,
    UnboundedQuantile,
)
from flou.mechanisms.quantiles.targets import FARTHEST, Target
from mechanisms.quantiles.tiny import FAR, PROBABILITIES, RELATIONS, as_counts, follows, in_memory, pairs
from privacy.exhaustive import loss

SMALL = {relation: pairs(relation, range(6), 3) for relation in RELATIONS}
FEW = {relation: pairs(relation, (0, 3, 5), 5) for relation in RELATIONS}
LONG = {relation: pairs(relation, (0, 1, FAR - 2, FAR - 1), 4) for relation in RELATIONS}
KINDS = [QExp, GridInverseSensitivity, SmoothInverseSensitivity]


def measured(mechanism, some, cells, law=None) -> float:
    # on a long grid all cells in the middle are empty, and as likely as one of them
    outcomes = range(6) if cells == 6 else [0, 1, 2, FAR // 2, FAR - 3, FAR - 2, FAR - 1]
    return loss(law or mechanism.law, lambda table: in_memory(table, cells), some, lambda _: outcomes)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("p", PROBABILITIES, ids=str)
def test_loss_is_at_most_epsilon_and_reaches_it(kind, relation, p):
    """All neighbours on six cells, up to five records; on a long grid the loss comes close to the claim."""
    mechanism = kind(p, epsilon=1, relation=relation)
    assert measured(mechanism, SMALL[relation], 6) <= 1 + 1e-9
    assert measured(mechanism, FEW[relation], 6) <= 1 + 1e-9
    worst = measured(mechanism, LONG[relation], FAR)
    assert worst <= 1 + 1e-9
    if p != Fraction(1, 10):  # which takes more than ten records to be tight
        assert worst >= 0.9


@pytest.mark.parametrize("kind", [QExp, GridInverseSensitivity])
@pytest.mark.parametrize(("relation", "most"), [("substitute", 2), ("add-remove", Fraction(4, 3))])
def test_the_printed_exponent_is_refused(kind, relation, most):
    """With exp(-epsilon rank distance) the loss of a 2/3-quantile reaches 2 epsilon, or 2 max(p, 1 - p) epsilon."""
    mechanism = kind(Fraction(2, 3), epsilon=1, relation=relation)

    def printed(records):
        law = mechanism.law(records)
        return PiecewiseConstant(law.piece.exponents, law.lengths, rate=Fraction(1, 3))  # epsilon / unit

    found = measured(mechanism, LONG[relation], FAR, law=printed)
    assert found > 1.1
    if kind is QExp:
        assert 0.95 * most <= found <= most + 1e-9


@pytest.mark.parametrize("kind", KINDS)
def test_half_of_the_noise_is_refused(kind):
    """The check sees a mechanism that spends twice what it says, under either relation."""
    for relation in RELATIONS:
        assert measured(kind(0.5, epsilon=2, relation=relation), LONG[relation], FAR) > 1.3


@pytest.mark.parametrize("kind", KINDS)
def test_the_claim_is_for_the_stated_relation(kind):
    """What is calibrated for add/remove overspends when a record is replaced."""
    assert measured(kind(0.5, epsilon=1), LONG["substitute"], FAR) > 1.5


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("summary", [in_memory, as_counts])
def test_samples_follow_the_law(kind, summary):
    """Draws from arrays and counts follow the law, and refuse that of another epsilon."""
    table = (0, 2, 2, 2, 2, 3, 7, 8, 8, 11)
    records, mechanism = summary(table, 12), kind(0.3, epsilon=1, relation="substitute")
    bits = SeededBits(f"single {kind} {summary.__name__}")
    draws = np.concatenate([mechanism.sample(records, bits=bits) for _ in range(2500)])
    assert follows(draws, mechanism.law(records).pmf(np.arange(12)))
    assert not follows(draws, kind(0.3, epsilon=2, relation="substitute").law(records).pmf(np.arange(12)))


def test_a_cell_that_holds_the_quantile_is_certain_for_inverse_sensitivity_only():
    """With 80 of 100 records in one cell inverse sensitivity finds it; QExp, which counts up to the cell, need not."""
    table = (0,) * 10 + (500,) * 80 + (999,) * 10
    at = [kind(0.5, epsilon=1).law(in_memory(table, 1000)).pmf(500) for kind in (GridInverseSensitivity, QExp)]
    assert at[0] > 0.999
    assert at[1] < 0.01


class CutOff(GridInverseSensitivity):
    """Scores that end at 0, as those of Asi and Duchi do."""

    def score(self, target, lt, le):
        return np.maximum(super().score(target, lt, le), 0)


class TwiceAsDeep(GridInverseSensitivity):
    """Scores that fall too fast below 0."""

    def score(self, target, lt, le):
        scores = super().score(target, lt, le)
        return np.where(scores < 0, 2 * scores, scores)


@settings(deadline=None)
@given(
    st.lists(st.integers(0, 5), max_size=12),
    st.sampled_from([*PROBABILITIES, Fraction(2, 3)]),
    st.sampled_from(RELATIONS),
    st.sampled_from([GridInverseSensitivity, PermuteAndFlipQuantile]),
)
def test_scores_below_zero_make_only_the_cell_of_the_quantile_likelier(table, p, relation, kind):
    """No other cell is likelier than with scores cut off at 0; the cell is, when the quantile lies inside of it."""
    cut = type("Cut", (CutOff, kind), {})
    records, cells = in_memory(tuple(table), 6), np.arange(6)
    ours, theirs = (one(p, epsilon=2, relation=relation).law(records).pmf(cells) for one in (kind, cut))
    inside = [sum(x < c for x in table) < p * len(table) < sum(x <= c for x in table) for c in range(6)]
    assert np.all(ours[~np.array(inside)] <= theirs[~np.array(inside)] * (1 + 1e-9))
    assert np.all(ours[inside] >= theirs[inside] * (1 - 1e-9))


@pytest.mark.parametrize("relation", RELATIONS)
def test_scores_that_fall_twice_as_fast_below_zero_are_refused(relation):
    """The check sees a score that moves by two for one record where the quantile lies inside of a cell."""
    assert measured(TwiceAsDeep(0.5, epsilon=1, relation=relation), FEW[relation], 6) > 1.1


@pytest.mark.parametrize("kind", [GridInverseSensitivity, PermuteAndFlipQuantile])
def test_samples_refuse_scores_that_are_cut_off(kind):
    """Draws on ties follow the law with scores below 0, and not the one without."""
    records = as_counts((0,) + (2,) * 6 + (3,) * 3, 5)
    mechanism, cut = (one(0.5, epsilon=1, relation="substitute") for one in (kind, type("Cut", (CutOff, kind), {})))
    bits = SeededBits(f"signed {kind}")
    draws = np.concatenate([mechanism.sample(records, bits=bits) for _ in range(4000)])
    assert follows(draws, mechanism.law(records).pmf(np.arange(5)))
    assert not follows(draws, cut.law(records).pmf(np.arange(5)))


def test_one_quantile_is_asked_for():
    """Two different probabilities are refused at the door, the same one twice is not."""
    with pytest.raises(InvalidParameter, match="one quantile"):
        QExp([0.25, 0.75], epsilon=1)
    assert QExp([0.5, 0.5], epsilon=1).sample(in_memory((3,), 4)).shape == (2,)


@pytest.mark.parametrize("probabilities", [[], [1.5], [-0.1], "half", None, [float("nan")], [0.5] * 10_001])
def test_other_probabilities_are_refused(probabilities):
    """Between 1 and 10000 numbers from 0 to 1."""
    with pytest.raises(InvalidParameter):
        QExp(probabilities, epsilon=1)


def test_probabilities_come_as_numbers_lists_and_arrays():
    """All of them mean the same, and floats mean their decimals."""
    asked = [0.1, [0.1], (Fraction(1, 10),), np.float64(0.1), np.array(0.1), np.array([0.1]), iter([0.1])]
    assert {QExp(p, epsilon=1).probabilities for p in asked} == {(Fraction(1, 10),)}


def test_mechanisms_are_readable_values():
    """They compare by value and print as a call, short however many probabilities there are."""
    assert QExp(0.5, epsilon=1) == QExp([0.5], epsilon=1) != QExp(0.5, epsilon=2)
    assert SmoothInverseSensitivity(0.5, epsilon=1) != SmoothInverseSensitivity(0.5, epsilon=1, radius=2)
    assert repr(QExp(0.5, epsilon=1)) == "QExp([0.5], epsilon=1, relation='add-remove')"
    assert isinstance(hash(QExp(0.5, epsilon=1)), int)
    assert len(repr(QExp([0.5] * 1000, epsilon=1))) < 200


def test_far_is_far_and_no_farther():
    """Distances are exact up to 10^9 ranks; what is cut off moves by at most what a record moves the target."""
    for p in (Fraction(1, 2), Fraction(999_999_999, 10**9), Fraction(123_456_789, 10**9), Fraction(1)):
        for rows in (7, 10**9, 10**10, 2**40, 2**53):
            target = Target(p, rows)
            counts = [c for c in (0, 1, rows // 3, rows - 1, rows, target.rank, target.rank - 1) if 0 <= c <= rows]
            exact = [max(-FARTHEST, min(p.numerator * rows - c * p.denominator, FARTHEST)) for c in counts]
            assert target.beyond(np.array(counts, dtype=np.int64)).tolist() == exact
            apart = [c * p.denominator - p.numerator * rows for c in counts]  # whole, however far
            assert target.ahead(np.array(counts, dtype=np.int64)).tolist() == apart
            more = Target(p, rows + 1)  # a record comes, below or not
            for count, before in zip(counts, exact, strict=True):
                kept, moved = more.beyond(np.array([count, count + 1], dtype=np.int64)).tolist()
                assert 0 <= kept - before <= p.numerator
                assert 0 <= before - moved <= p.denominator - p.numerator


@pytest.mark.parametrize("kind", [*KINDS, PermuteAndFlipQuantile])
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("p", PROBABILITIES, ids=str)
def test_what_is_cut_off_costs_no_more(kind, relation, p, monkeypatch):
    """All neighbours on six cells, where scores are cut off after a rank and a half already."""
    monkeypatch.setattr("flou.mechanisms.quantiles.targets.FARTHEST", p.denominator * 3 // 2)
    mechanism = kind(p, epsilon=1, relation=relation)
    whole = measured(mechanism, SMALL[relation], 6)
    assert whole <= 1 + 1e-9
    assert whole > 0.1  # something is still told


@pytest.mark.parametrize("relation", RELATIONS)
def test_scores_that_wrap_around_are_refused(relation, monkeypatch):
    """The same check sees it, if what is too far counted as near, as it does where products leave 64 bits."""
    cut = Target.beyond
    monkeypatch.setattr(Target, "beyond", lambda self, counts: cut(self, counts) % 3)
    assert measured(QExp(Fraction(1), epsilon=1, relation=relation), SMALL[relation], 6) > 1.2


@pytest.mark.parametrize(
    "method", [QExp, GridInverseSensitivity, PermuteAndFlipQuantile, RecExp, HistogramMethod, UnboundedQuantile]
)
def test_more_records_than_products_can_hold(method):
    """Nobody refuses a table by its size: of 2^40 records in three cells the fine quantile is in the last."""
    rows = 2**40
    records = CellCounts([0, 1, 2], [rows // 4, rows // 2, rows // 4], cells=4)
    found = {int(method(Fraction(999_999_999, 10**9), epsilon=1).sample(records)[0]) for _ in range(5)}
    assert found <= {2, 3}
