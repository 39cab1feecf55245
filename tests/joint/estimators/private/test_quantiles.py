"""Private quantiles: one row moves one count a level, answers are in order, and intervals hold."""

from __future__ import annotations

import numpy as np
import pytest

from flou import Boolean, Categories, Integers, Interval
from flou.bits import SeededBits
from flou.errors import InvalidParameter
from flou.guarantee import ZCDP, PureDP
from flou.joint.estimators.private.quantiles import PrivateQuantiles
from flou.joint.estimators.program import program_of
from joint.estimators.private.noised import farthest, run, words
from joint.estimators.summed import parts

P = (0.02, 0.25, 0.5, 0.9)


@pytest.mark.parametrize("relation", ["add-remove", "substitute"])
@pytest.mark.parametrize(("cells", "branching"), [(8, 2), (9, 3), (7, 4), (4, 4)])
def test_one_row_moves_the_counts_as_claimed(cells, branching, relation):
    """Values in every cell, outside, missing and strange; the claim is attained."""
    program = PrivateQuantiles("x", P, (0, 1), honest=2, epsilon=1, cells=cells, branching=branching, relation=relation)
    values = [*(str(x) for x in np.linspace(-0.2, 1.2, 60)), "nan", "inf", "-inf", "abc", "true", ""]
    alone = [words(program, {"x": np.array([value])}) for value in values]
    claim = program.sensitivity
    assert farthest(alone, relation) == (claim.l1, claim.l2_squared)
    assert words(program, {"x": np.array(values)}).tolist() == sum(alone).tolist()
    assert claim.words == len(alone[0]) == program.scalars


@pytest.mark.parametrize(
    ("cost", "expected"),
    [({"epsilon": 0.5}, PureDP(0.5)), ({"epsilon": 0.5, "delta": 1e-9}, PureDP(0.5)), ({"rho": 0.02}, None)],
)
def test_the_guarantee(cost, expected):
    """All levels together spend what was asked for."""
    program = PrivateQuantiles("x", P, (0, 1), honest=3, **cost)
    assert program.tree.height == 3
    if expected is None:
        assert program.guarantee == ZCDP(program.share.rho(3, program.scalars))
        assert ZCDP(0.02).covers(program.guarantee)
    else:
        assert program.guarantee == expected
        assert program.share.parameter == 6


def test_without_noise_quantiles_are_right_to_a_cell():
    """Those of the pooled rows, values beyond the bounds moved into them."""
    x = np.random.default_rng(1).gamma(2, size=3001)
    fit, opened = run(PrivateQuantiles("x", P, (0, 8), honest=3, epsilon=1), parts({"x": x}, [500, 900]))
    exact = np.quantile(np.minimum(x, 8), P, method="inverted_cdf")
    np.testing.assert_allclose(fit.values, exact, atol=8 / 4096 * 1.5)
    assert fit.n == 3001
    assert len(opened) == 1
    ends = fit.conf_int()
    assert np.all((ends[:, 0] <= exact) & (exact <= ends[:, 1]))


@pytest.mark.parametrize("cost", [{"epsilon": 1}, {"rho": 0.05}, {"rho": 0.05, "noise": "skellam"}])
def test_intervals_hold_the_quantiles_of_the_rows(cost):
    """In at least 93 % of cases, not much wider than needed; at a level of 50 % much less often."""
    x = np.random.default_rng(2).gamma(2, size=4000)
    exact, tables = np.quantile(x, P, method="inverted_cdf"), parts({"x": x}, [500, 900, 100])
    program = PrivateQuantiles("x", P, (0, 20), honest=3, cells=4096, **cost)
    bits, held, half, widths = SeededBits(4), [], [], []
    for _ in range(60):
        fit, _ = run(program, tables, bits)
        for level, found in ((0.95, held), (0.5, half)):
            ends = fit.conf_int(level)
            found += ((ends[:, 0] <= exact) & (exact <= ends[:, 1])).tolist()
        widths += (fit.conf_int()[:, 1] - fit.conf_int()[:, 0]).tolist()
        assert np.all(np.diff(fit.values) >= 0)
    assert np.mean(held) > 0.93
    assert np.mean(half) < 0.85
    assert np.median(widths) < 2


def test_answers_follow_the_order_of_the_probabilities():
    """Given in any order and repeated, even where noise is all there is."""
    program = PrivateQuantiles("x", (0.9, 0.1, 0.5, 0.5), (0, 1), honest=3, epsilon=0.01)
    fit, _ = run(program, [{"x": np.array([0.5])}] * 3, SeededBits(5))
    assert fit.probabilities == (0.9, 0.1, 0.5, 0.5)
    assert fit.values[1] <= fit.values[2] == fit.values[3] <= fit.values[0]
    assert np.all((fit.values >= 0) & (fit.values <= 1))
    assert np.all(fit.conf_int()[:, 0] <= fit.conf_int()[:, 1])
    nothing, _ = run(program, [{"x": np.array([])}] * 3)
    assert np.all(np.isfinite(nothing.values))
    np.testing.assert_array_equal(nothing.conf_int(), [[0, 1]] * 4)


def test_whole_numbers_are_their_own_cells():
    """The answer is one of them, and the interval's ends are."""
    x = np.random.default_rng(6).integers(0, 6, 3000)
    program = PrivateQuantiles("x", (0, 0.5, 1), honest=3, epsilon=1, schema={"x": Integers(0, 5)})
    fit, _ = run(program, parts({"x": x.astype(float)}, [1000, 1000]), SeededBits(7))
    assert fit.values.tolist() == [0, np.quantile(x, 0.5, method="inverted_cdf"), 5]
    assert np.all(fit.conf_int() == np.round(fit.conf_int()))


@pytest.mark.parametrize(
    ("domain", "cells", "whole"),
    [
        (Interval(0, 4), 4096, False),
        (Interval(0, 4, cells=100), 100, False),
        (Integers(1, 9), 9, True),
        (Integers(0, 10**6), 4096, False),
        (Boolean(), 2, True),
    ],
)
def test_plans_carry_it(domain, cells, whole):
    """What the schema says is written out, and makes the same program again."""
    program = PrivateQuantiles("x", P, honest=3, rho=0.1, schema={"x": domain})
    assert (program.domain.size, program.whole) == (cells, whole)
    terms = {key: value for key, value in program.terms().items() if value is not None}
    again = program_of("private quantiles", terms)
    assert again.terms() == program.terms()
    assert again.next([]) == program.next([])
    fit, _ = run(program, [{"x": np.array([1.0, 2.0])}] * 3, SeededBits(1))
    for text in ("ZCDP(rho=0.0", "Cells", "(noisy)", "0.25"):
        assert text in fit.summary()


@pytest.mark.parametrize(
    "change",
    [
        {"honest": 0},
        {"bounds": [1, 0]},
        {"bounds": None},
        {"probabilities": [2]},
        {"probabilities": []},
        {"cells": 1},
        {"cells": 2**20},
        {"branching": 1},
        {"whole": True, "bounds": [0.5, 3]},
        {"whole": True, "bounds": [0, 10**6]},
        {"rho": 1},
        {"level": 0.9},
    ],
)
def test_plans_that_cannot_be_kept_are_refused(change):
    """Someone else may have written the terms."""
    terms = PrivateQuantiles("x", P, (0, 1), honest=3, epsilon=1).terms()
    with pytest.raises((InvalidParameter, TypeError)):
        program_of("private quantiles", {**terms, **change})


def test_categories_have_no_quantiles():
    """By the name of the column."""
    with pytest.raises(InvalidParameter, match="no order"):
        PrivateQuantiles("x", P, honest=3, epsilon=1, schema={"x": Categories(["a"])})
