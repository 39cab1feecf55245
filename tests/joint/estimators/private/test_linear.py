"""A private regression keeps its promise for every row, and its intervals hold."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from flou import Categories, Integers, Interval, Schema
from flou.bits import SeededBits
from flou.errors import InvalidParameter
from flou.guarantee import ZCDP, ApproxDP, PureDP
from flou.joint.estimators.fit import Provenance
from flou.joint.estimators.party_rows import PartyRows
from flou.joint.estimators.private.linear import PrivateLinearRegression
from flou.joint.estimators.program import Opened, program_of
from joint.estimators.private.noised import run, words
from joint.estimators.summed import parts, pooled

SCHEMA = {"y": Interval(-9, 11), "x": Interval(-3, 3), "g": Categories(["a", "b"]), "k": Integers(0, 3)}
FORMULAS = ["y ~ x", "y ~ x + C(g)", "y ~ x - 1", "y ~ x:k + C(k)"]
APPROX = {"epsilon": 1, "delta": 1e-6, "noise": "discrete-gaussian"}


def made(rows, seed=1, sizes=(1, 2)):
    """Parties, the last of which gets most rows."""
    rng = np.random.default_rng(seed)
    x, g, k = rng.normal(size=rows).clip(-3, 3), rng.choice(["a", "b"], rows), rng.integers(0, 4, rows)
    y = 1 + 0.7 * x + 0.5 * (g == "b") + rng.normal(size=rows)
    return parts({"y": y, "x": x, "g": g, "k": k.astype(float)}, [part * rows // 6 for part in sizes])


def test_without_noise_it_is_least_squares():
    """The sums of three parties, without noise, give the coefficients and errors of the pooled rows."""
    program = PrivateLinearRegression("y ~ x + C(g)", SCHEMA, honest=3, **APPROX)
    tables = made(6000)
    fit, opened = run(program, tables)
    rows = pooled(tables)
    X = np.column_stack([np.ones(6000), rows["x"], rows["g"] == "b"])
    b, rest, *_ = np.linalg.lstsq(X, rows["y"])
    assert fit.names == ("Intercept", "x", "C(g)[T.b]")
    np.testing.assert_allclose(fit.params, b, atol=1e-4)
    assert fit.scale == pytest.approx(rest[0] / 5997, rel=0.3)  # what fitting the noise would take is given back
    assert fit.nobs == 6000
    assert len(opened) == 1


@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.parametrize("relation", ["add-remove", "substitute"])
@pytest.mark.parametrize("norm", [None, 1.1])
def test_rows_at_every_corner_move_the_words_as_claimed(formula, relation, norm):
    """Rows at and beyond all bounds, missing, and of unknown categories, in the very words that a party sends."""
    program = PrivateLinearRegression(formula, SCHEMA, honest=2, rho=0.1, relation=relation, norm=norm)
    values = itertools.product(
        [-20.0, -9, 1, 5.5, 11, np.nan], [-7.0, -3, 0, 2, 3, np.inf, np.nan], ["a", "b", "zz"], [-1.0, 0, 1, 3, 2.4]
    )
    few = list(values)[:: 1 if relation == "add-remove" else 5]
    added = [words(program, {"y": [y], "x": [x], "g": np.array([g]), "k": [k]}) for y, x, g, k in few]
    claim = program.gram.sensitivity(relation)
    unit = program.gram.unit
    scaled = np.array([[float(word) / unit**2 for word in row] for row in added])
    moved = scaled[:, None, :] - (scaled[None] if relation == "substitute" else 0)
    assert np.abs(moved).sum(axis=2).max() <= claim.l1 / unit**2 * (1 + 1e-9)
    assert (moved**2).sum(axis=2).max() <= claim.l2_squared / unit**4 * (1 + 1e-9)
    if norm is None and relation == "add-remove" and formula == "y ~ x":
        assert (moved**2).sum(axis=2).max() == pytest.approx(claim.l2_squared / unit**4)


def test_words_of_tables_add_up_row_by_row():
    """The words of a table are the sums of those of its rows, strange ones included: no row changes another."""
    rng = np.random.default_rng(7)
    strange = np.array(["1", "-3", "2.75", "a", "b", "nan", "inf", "-1e999", "", "true"])
    rows = {name: rng.choice(strange, 60) for name in SCHEMA}
    for formula in FORMULAS:
        program = PrivateLinearRegression(formula, SCHEMA, honest=2, epsilon=1)
        alone = [words(program, {name: values[i : i + 1] for name, values in rows.items()}) for i in range(60)]
        assert words(program, rows).tolist() == sum(alone).tolist()
        assert any(part.any() for part in alone)
        assert not all(part.any() for part in alone)


@pytest.mark.parametrize(
    ("cost", "guarantee"),
    [
        ({"epsilon": 1}, PureDP(1)),
        ({"epsilon": 1, "relation": "substitute"}, PureDP(1, relation="substitute")),
        (APPROX, None),
        ({"rho": 0.1, "noise": "skellam"}, None),
    ],
)
def test_the_guarantee_is_that_of_the_noise(cost, guarantee):
    """Pure where it is Pólya noise; else the rho of the shares, covered by what was asked for."""
    program = PrivateLinearRegression("y ~ x", SCHEMA, honest=3, **cost)
    if guarantee is not None:
        assert program.guarantee == guarantee
        return
    claim = program.gram.sensitivity("add-remove")
    assert program.guarantee == ZCDP(program.share.rho(claim.l2_squared, claim.words))
    budget = ZCDP(0.1) if "rho" in cost else ApproxDP(1, 1e-6)
    assert budget.covers(program.guarantee)
    assert program.next([]).noise == program.share
    assert program.scalars == 6


@pytest.mark.parametrize("cost", [{"epsilon": 1}, APPROX, {"rho": 0.02, "noise": "skellam"}])
def test_errors_contain_the_noise_of_all_parties(cost):
    """Five shares where three were counted on: the variance of the words that is told is five shares'."""
    program = PrivateLinearRegression("y ~ x", SCHEMA, honest=3, **cost)
    ask = program.next([])
    tables = made(30_000)
    exact = sum(words(program, table) for table in tables)
    draws = ask.noise.law.sample((400, ask.length, 5), bits=SeededBits(5)).sum(axis=2)
    told = program.share.total(5) / program.gram.unit**4
    assert np.var(draws / program.gram.unit**2) == pytest.approx(told, rel=0.15)
    fits = [program.result([Opened(ask, tuple(map(int, exact)), ("p",) * parties)]) for parties in (3, 5)]
    np.testing.assert_allclose(fits[1].noise / fits[0].noise, 5 / 3, rtol=1e-6)


def covered(program, make, truth, runs, parties_seed):
    held = naive = total = 0
    for seed in range(runs):
        fit, _ = run(program, make(seed), SeededBits(f"{parties_seed} {seed}"))
        ends, off = fit.conf_int(), np.abs(fit.params - truth)
        held += int(np.sum((ends[:, 0] <= truth) & (truth <= ends[:, 1])))
        naive += int(np.sum(off <= 1.96 * np.sqrt(np.diag(fit.sampling))))
        total += len(truth)
    return held / total, naive / total


def test_intervals_cover_and_naive_ones_do_not():
    """About 95 % over 60 runs of three parties; without the noise in the errors, less than 70 %."""
    program = PrivateLinearRegression("y ~ x + C(g)", SCHEMA, honest=2, **APPROX)
    held, naive = covered(program, lambda seed: made(20_000, seed + 100), np.array([1, 0.7, 0.5]), 60, "linear")
    assert 0.9 <= held <= 0.99
    assert naive < 0.7


def test_noise_that_drowns_everything_is_told():
    """Ten rows: infinite intervals and a note, and no exception."""
    program = PrivateLinearRegression("y ~ x + C(g)", SCHEMA, honest=3, epsilon=0.01)
    for seed in range(5):
        fit, _ = run(program, made(12, seed), SeededBits(seed))
        assert fit.drowned
        assert np.all(np.isinf(fit.conf_int()))
        assert np.all(fit.pvalues == 1)
        assert np.all(np.isfinite(fit.params))
        assert "drowns" in fit.summary()
    nothing = {name: np.array([]) for name in SCHEMA}
    assert run(program, [nothing, nothing, nothing], SeededBits(1))[0].drowned


def test_a_norm_makes_the_noise_smaller():
    """Clipping at the usual length of a row leaves the coefficients and shrinks their errors."""
    tables = made(40_000)
    plain = run(PrivateLinearRegression("y ~ x", SCHEMA, honest=3, **APPROX), tables)[0]
    clipped = run(PrivateLinearRegression("y ~ x", SCHEMA, honest=3, norm=1.3, **APPROX), tables)[0]
    assert np.all(np.diag(clipped.noise) < 0.7 * np.diag(plain.noise))
    assert np.all(np.abs(clipped.params - plain.params) < 3 * clipped.bse)
    assert clipped.nobs < plain.nobs
    assert "weigh less" in clipped.summary()


def test_without_an_intercept_nothing_is_centred():
    """The line goes through the origin, and the rows are counted by a word of their own."""
    program = PrivateLinearRegression("y ~ x - 1", SCHEMA, honest=3, **APPROX)
    tables = made(9000)
    fit, opened = run(program, tables)
    rows = pooled(tables)
    assert fit.params == pytest.approx(np.linalg.lstsq(rows["x"][:, None], rows["y"])[0], abs=1e-3)
    assert (fit.names, fit.nobs, len(opened[0].sums)) == (("x",), 9000, 4)


def test_the_result_reads_like_a_regression():
    """Statistics, predictions, tables and the guarantee."""
    program = PrivateLinearRegression("y ~ x + C(g)", SCHEMA, honest=3, **APPROX)
    fit, _ = run(program, made(60_000, sizes=(1, 1, 1)), SeededBits(4))
    np.testing.assert_allclose(fit.tvalues, fit.params / fit.bse)
    assert np.all((fit.noise_share > 0) & (fit.noise_share < 1))
    narrow, wide = fit.conf_int(0.5), fit.conf_int(0.99)
    assert np.all(wide[:, 0] < narrow[:, 0])
    frame = {"x": np.array([0.0, 1.0, np.nan]), "g": np.array(["a", "b", "a"])}
    expected = [fit.params[0], fit.params.sum(), np.nan]
    np.testing.assert_allclose(fit.predict(frame), expected)
    assert set(fit.to_dict()) == set(fit.names) == set(fit.to_frame().index)
    told = fit.with_provenance(Provenance(("a", "b", "c"), 1, 10, "00", program.guarantee)).summary()
    for text in ("ZCDP(rho=0.0243", "3 of 4 parties", "noise", "(noisy)", "Transcript", "C(g)[T.b]"):
        assert text in told
    assert repr(fit) == fit.summary()
    assert "<table>" in fit._repr_html_()


def test_plans_carry_it():
    """Terms make the same program again, from another module or a file."""
    for more in (APPROX, {"epsilon": 0.1, "norm": 1.7}, {"rho": 0.3, "noise": "skellam", "relation": "substitute"}):
        program = PrivateLinearRegression("y ~ x + C(g)", Schema(SCHEMA), honest=5, **more)
        again = program_of("private ols", program.terms())
        assert again.terms() == program.terms()
        assert again.next([]) == program.next([])
        assert again.guarantee == program.guarantee
        kept = {key: value for key, value in program.terms().items() if value is not None}  # as a plan file has it
        assert program_of("private ols", kept).next([]) == program.next([])


@pytest.mark.parametrize(
    "change",
    [
        {"honest": 0},
        {"honest": None},
        {"norm": 0},
        {"norm": "big"},
        {"norm": float("inf")},
        {"epsilon": -1},
        {"noise": "laplace"},
        {"relation": "both"},
        {"schema": None},
        {"formula": "y ~ q"},
        {"formula": 3},
        {"extra": 1},
    ],
)
def test_plans_that_cannot_be_kept_are_refused(change):
    """Someone else may have written the terms."""
    terms = PrivateLinearRegression("y ~ x", SCHEMA, honest=3, **APPROX).terms()
    with pytest.raises((InvalidParameter, TypeError)):
        program_of("private ols", {**terms, **change})


def test_a_party_file_with_texts_is_read_row_by_row(tmp_path):
    """One cell that is no number leaves out its own row, in a file as well."""
    path = tmp_path / "rows.csv"
    body = "".join(f"{x},{x / 2}\n" for x in (0.5, 1.0, 1.5))
    program = PrivateLinearRegression("y ~ x", SCHEMA, honest=2, epsilon=1)
    path.write_text("y,x\n" + body)
    clean = program.words(program.next([]), PartyRows(path, program.reading()))
    path.write_text("y,x\n" + body + "oops,1\n")
    assert program.words(program.next([]), PartyRows(path, program.reading())) == clean
