"""Private histograms: one row moves one count, and intervals hold the counts of the rows."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from flou import Boolean, Categories, Integers, Interval
from flou.bits import SeededBits
from flou.errors import InvalidParameter
from flou.guarantee import ZCDP, PureDP
from flou.joint.estimators.distribution.distribution import Histogram
from flou.joint.estimators.party_rows import PartyRows
from flou.joint.estimators.private.histogram import PrivateHistogram, _projected
from flou.joint.estimators.program import program_of
from joint.estimators.private.noised import farthest, run, words
from joint.estimators.summed import parts

EDGES = [-1.0, 0.0, 1.0, 2.5]
CELLS = ["-7", "-1", "-0.5", "0", "1", "2.5", "3", "nan", "inf", "-inf", "abc", "", "true", "u", "v"]


@pytest.mark.parametrize("bins", [{"edges": EDGES}, {"categories": ["u", "v"]}, {"categories": [0, 1, 3]}])
@pytest.mark.parametrize("relation", ["add-remove", "substitute"])
def test_one_row_moves_the_counts_as_claimed(bins, relation):
    """All values, among all pairs of others, strange ones included; the claim is attained."""
    program = PrivateHistogram("x", honest=2, epsilon=1, relation=relation, **bins)
    alone = [words(program, {"x": np.array([cell])}) for cell in CELLS]
    claim = program.sensitivity
    assert farthest(alone, relation) == (claim.l1, claim.l2_squared)
    for i, j, k in itertools.combinations(range(len(CELLS)), 3):  # no row changes how another is counted
        together = words(program, {"x": np.array([CELLS[i], CELLS[j], CELLS[k]])})
        assert together.tolist() == (alone[i] + alone[j] + alone[k]).tolist()


def test_without_noise_the_counts_are_the_plain_ones():
    """For rows that the plain histogram accepts."""
    tables = parts({"x": np.random.default_rng(1).normal(size=500)}, [100, 200])
    fit, _ = run(PrivateHistogram("x", edges=EDGES, honest=3, epsilon=1), tables)
    exact = Histogram("x", edges=EDGES)
    parties = [exact.words(exact.next([]), PartyRows(table, exact.reading())) for table in tables]
    plain = [sum(each) for each in zip(*parties, strict=True)]
    assert [fit.opened.below, *fit.counts, fit.opened.above] == plain
    assert fit.n == 500
    np.testing.assert_allclose(fit.shares, np.array(plain[1:-1]) / 500)


@pytest.mark.parametrize(
    ("cost", "expected"),
    [
        ({"epsilon": 0.5}, PureDP(0.5)),
        ({"epsilon": 0.5, "relation": "substitute"}, PureDP(0.5, relation="substitute")),
        ({"epsilon": 0.5, "delta": 1e-6}, PureDP(0.5)),
        ({"rho": 0.02}, None),
    ],
)
def test_the_guarantee(cost, expected):
    """A pure epsilon where Pólya noise is taken; else the rho of the shares."""
    program = PrivateHistogram("x", edges=EDGES, honest=3, **cost)
    if expected is None:
        assert program.guarantee == ZCDP(program.share.rho(1, 5))
        assert ZCDP(0.02).covers(program.guarantee)
    else:
        assert program.guarantee == expected
        assert program.share.parameter == (4 if "relation" in cost else 2)


@pytest.mark.parametrize("cost", [{"epsilon": 0.2}, {"rho": 0.02}, {"rho": 0.02, "noise": "skellam"}])
def test_intervals_hold_the_counts(cost):
    """In about 95 % of cases, for four parties of which three were counted on; narrower ones do not."""
    x = np.random.default_rng(2).normal(size=2000)
    tables, true = parts({"x": x}, [300, 300, 700]), np.histogram(x, np.linspace(-2, 2, 11))[0]
    program = PrivateHistogram("x", edges=np.linspace(-2, 2, 11), honest=3, **cost)
    bits, held, narrow = SeededBits(3), [], []
    for _ in range(60):
        fit, _ = run(program, tables, bits)
        for level, found in ((0.95, held), (0.8, narrow)):
            ends = fit.conf_int(level)
            found += ((ends[:, 0] <= true) & (true <= ends[:, 1])).tolist()
    assert 0.92 < np.mean(held) < 0.985
    assert np.mean(narrow) < 0.9
    assert fit.standard_error == pytest.approx(np.sqrt(program.share.total(4)))


def test_counts_below_zero_are_moved_on_request():
    """The closest counts of at least 0 with the same sum, in whole numbers."""
    tables = [{"x": np.array([0.5] * 30)}] * 3
    fit, _ = run(PrivateHistogram("x", edges=np.linspace(-1, 1, 41), honest=3, epsilon=0.2), tables, SeededBits(4))
    assert min(fit.counts) < 0
    assert fit.conf_int().min() == 0
    moved = fit.nonnegative()
    assert min(moved.counts) >= 0
    assert moved.n == max(fit.n, 0)
    true = np.histogram(np.full(90, 0.5), np.linspace(-1, 1, 41))[0]
    assert np.sum((np.array(moved.counts) - true) ** 2) < np.sum((np.array(fit.counts) - true) ** 2)


@pytest.mark.parametrize(
    ("noisy", "expected"),
    [([5, -2, 3], [4, 0, 2]), ([-1, -5], [0, 0]), ([10], [10]), ([0, 0], [0, 0]), ([7, 7, -1, -13], [0, 0, 0, 0])],
)
def test_projections_of_small_tables(noisy, expected):
    """By hand."""
    assert _projected(noisy) == expected


@pytest.mark.parametrize("seed", range(20))
def test_no_other_table_is_closer(seed):
    """Against all tables with the same sum, up to the rounding."""
    rng = np.random.default_rng(seed)
    noisy = rng.integers(-4, 7, 3).tolist()
    total = max(sum(noisy), 0)
    found = _projected(noisy)
    assert sum(found) == total
    tables = [t for t in itertools.product(range(total + 1), repeat=3) if sum(t) == total]
    best = min(sum((a - b) ** 2 for a, b in zip(table, noisy, strict=True)) for table in tables)
    assert sum((a - b) ** 2 for a, b in zip(found, noisy, strict=True)) <= best + 1


@pytest.mark.parametrize("domain", [Interval(0, 4), Integers(1, 3), Boolean(), Categories(["u", "v"])])
def test_plans_carry_it(domain):
    """What the schema says of the column is written out, and makes the same program again."""
    program = PrivateHistogram("x", honest=3, rho=0.1, schema={"x": domain})
    again = program_of("private histogram", program.terms())
    assert again.terms() == program.terms()
    assert again.next([]) == program.next([])
    assert again.guarantee == program.guarantee
    fit, _ = run(program, [{"x": np.array(["u"])}] * 3, SeededBits(1))
    for text in ("ZCDP(rho=0.0", "Std. Error", "(noisy)", "all 3 parties"):
        assert text in fit.summary()
    assert "does not hold" in run(program, [{"x": np.array(["u"])}] * 2, SeededBits(1))[0].summary()


@pytest.mark.parametrize("change", [{"honest": 0}, {"edges": [1]}, {"edges": None}, {"epsilon": None}, {"bins": 3}])
def test_plans_that_cannot_be_kept_are_refused(change):
    """Someone else may have written the terms."""
    terms = PrivateHistogram("x", honest=3, epsilon=1, edges=EDGES).terms()
    with pytest.raises((InvalidParameter, TypeError)):
        program_of("private histogram", {**terms, **change})
