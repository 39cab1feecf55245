"""A private logistic regression keeps its promise over all rounds, and its intervals hold."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from flou import Boolean, Categories, Integers, Interval
from flou.bits import SeededBits
from flou.errors import InvalidParameter
from flou.guarantee import ApproxDP, PureDP
from flou.joint.estimators.party_rows import PartyRows
from flou.joint.estimators.private.logistic import FREE, LogisticWords, PrivateLogisticRegression, probabilities
from flou.joint.estimators.program import Ask, program_of
from joint.estimators.private.noised import farthest, run
from joint.estimators.summed import parts, pooled

SCHEMA = {"y": Boolean(), "x": Interval(-3, 3), "w": Interval(-3, 3), "g": Categories(["a", "b"])}
APPROX = {"epsilon": 1, "delta": 1e-6}
TRUTH = np.array([-0.5, 0.8, -0.4, 0.0])
FORMULA = "y ~ x + w + C(g)"


def made(rows, seed=1, truth=TRUTH):
    rng = np.random.default_rng(seed)
    x, w, g = *rng.normal(size=(2, rows)).clip(-3, 3), rng.choice(["a", "b"], rows)
    eta = truth[0] + truth[1] * x + truth[2] * w + truth[3] * (g == "b")
    y = rng.random(rows) < 1 / (1 + np.exp(-eta))
    return parts({"y": y, "x": x, "w": w, "g": g}, [rows // 6, rows // 3])


def test_without_noise_it_is_the_maximum_of_the_likelihood():
    """Six rounds from 0 end where statsmodels ends, with its errors."""
    from statsmodels.api import Logit

    tables = made(8000)
    rows = pooled(tables)
    X = np.column_stack([np.ones(8000), rows["x"], rows["w"], rows["g"] == "b"])
    reference = Logit(rows["y"].astype(float), X).fit(disp=False)
    program = PrivateLogisticRegression(FORMULA, SCHEMA, honest=3, **APPROX)
    fit, opened = run(program, tables)
    assert len(opened) == 6
    np.testing.assert_allclose(fit.params, reference.params, atol=1e-4)
    np.testing.assert_allclose(np.sqrt(np.diag(fit.sampling)), reference.bse, rtol=1e-3)
    assert fit.nobs == 8000
    assert fit.settled


@pytest.mark.parametrize("rounds", [1, 2, 3, 6])
@pytest.mark.parametrize("cost", [APPROX, {"epsilon": 2}, {"rho": 0.1, "noise": "skellam", "relation": "substitute"}])
def test_the_guarantee_adds_up_over_the_rounds(cost, rounds):
    """The sum over the very noise that is asked for, covered by the budget and hardly below it."""
    program = PrivateLogisticRegression(FORMULA, SCHEMA, honest=3, rounds=rounds, **cost)
    _, opened = run(program, made(600), SeededBits(1))
    relation = cost.get("relation", "add-remove")
    spent = Fraction(0)
    for past, (words, share) in zip(opened, program._questions, strict=True):
        assert past.ask.noise == share
        moved = words.sensitivity(relation)
        pure = share.kind == "polya"
        spent += share.epsilon(moved.l1) if pure else share.rho(moved.l2_squared, len(past.sums))
    if "rho" not in cost and "delta" not in cost:
        assert program.guarantee == PureDP(spent) == PureDP(2)
        return
    assert program.guarantee.exact_rho == spent
    assert program.guarantee.relation == relation
    if "delta" in cost:
        assert ApproxDP(1, 1e-6).covers(program.guarantee)
        assert not ApproxDP(0.999, 1e-6).covers(program.guarantee)
    else:
        assert Fraction(99, 1000) < spent <= Fraction(1, 10)


def test_intervals_cover():
    """About 95 % over 40 runs; with the noise left out of the errors, clearly less."""
    program = PrivateLogisticRegression(FORMULA, SCHEMA, honest=2, epsilon=0.5, delta=1e-6)
    held = naive = 0
    for seed in range(40):
        fit, _ = run(program, made(12_000, 200 + seed), SeededBits(f"logistic {seed}"))
        off = np.abs(fit.params - TRUTH)
        held += np.sum(off <= 1.96 * fit.bse)
        naive += np.sum(off <= 1.96 * np.sqrt(np.diag(fit.sampling)))
        assert not fit.drowned
    assert 0.9 <= held / 160 <= 0.99
    assert naive / 160 < 0.85


def test_noise_of_all_parties_is_in_the_errors():
    """Three shares where two were counted on."""
    program = PrivateLogisticRegression(FORMULA, SCHEMA, honest=2, **APPROX)
    words, share = program._questions[-1]
    fit, opened = run(program, made(30_000))
    point = program._point(5, opened[-1])
    assert point.score_noise == pytest.approx(share.total(3) / words.unit**2)
    assert point.score_noise == pytest.approx(1.5 * float(share.parameter) / words.unit**2, rel=1e-6)
    plain = point.inverse @ point.inverse * point.score_noise
    np.testing.assert_allclose(fit.noise, program.scale.covariance(plain), rtol=0.05)


@pytest.mark.parametrize("response", [0.0, 1.0])
def test_rows_with_one_response_end_somewhere(response):
    """Separated rows have no maximum: coefficients stay bounded, the errors say so, and nothing is raised."""
    rows = parts({"y": np.full(3000, response), "x": np.linspace(-3, 3, 3000)}, [1000, 1000])
    fit, _ = run(PrivateLogisticRegression("y ~ x", SCHEMA, honest=3, **APPROX), rows, SeededBits(1))
    assert np.all(np.isfinite(fit.params))
    assert np.abs(fit.params).max() <= 40
    assert fit.drowned or not fit.settled


def test_hardly_any_rows_drown():
    """Infinite intervals and a note; no rows at all are no exception either."""
    program = PrivateLogisticRegression("y ~ x", SCHEMA, honest=3, epsilon=0.1)
    for rows in (0, 30):
        fit, _ = run(program, [{name: table[name] for name in ("y", "x")} for table in made(rows)], SeededBits(rows))
        assert fit.drowned
        assert np.all(np.isinf(fit.bse))
        assert "drowns" in fit.summary()


def test_a_party_that_leaves_is_missing_from_then_on():
    """The fit is that of the parties of the last round, and its noise is theirs."""
    tables = made(24_000)
    program = PrivateLogisticRegression(FORMULA, SCHEMA, honest=2, **APPROX)
    fit, opened = run(program, tables, leave={5: [0]})
    alone, _ = run(program, tables[1:])
    assert fit.parties == 2 == len(opened[-1].parties)
    np.testing.assert_allclose(fit.params, alone.params, atol=2e-3)
    assert fit.nobs == sum(len(table["y"]) for table in tables[1:])


def test_responses_are_read_as_the_nearer_one():
    """Numbers, texts and truth values; nothing is refused because of a value."""
    program = PrivateLogisticRegression("y ~ x", {"y": Integers(0, 1), "x": Interval(-3, 3)}, honest=2, epsilon=1)
    ask = program.next([])
    strange = np.array(["1", "true", "7", "0", "-4", "False", "what", "nan", ""])
    x = np.full(9, "1.5")
    plain = {"y": np.array([1, 1, 1, 0, 0, 0.0]), "x": np.full(6, 1.5)}
    expected = program.words(ask, PartyRows(plain, program.reading()))
    assert program.words(ask, PartyRows({"y": strange, "x": x}, program.reading())) == expected


@pytest.mark.parametrize("domain", [Interval(0, 2), Integers(0, 2), Interval(-1, 1)])
def test_other_responses_are_refused_at_once(domain):
    """The bounds must be 0 and 1."""
    with pytest.raises(InvalidParameter, match="bounds 0 and 1"):
        PrivateLogisticRegression("y ~ x", {**SCHEMA, "y": domain}, honest=3, epsilon=1)


def test_plans_carry_it():
    """Terms make the same program; questions of a round are recognised by their noise."""
    for more in (APPROX, {"epsilon": 1, "rounds": 2}, {"rho": 0.3, "noise": "skellam", "relation": "substitute"}):
        program = PrivateLogisticRegression(FORMULA, SCHEMA, honest=4, **more)
        again = program_of("private logit", program.terms())
        assert again.terms() == program.terms()
        assert again.next([]) == program.next([])
        assert again.guarantee == program.guarantee
        assert again.scalars == program.scalars
    ask = program.next([])
    wrong = Ask(ask.step, ask.length, ask.limit, ask.parameters, None)
    with pytest.raises(InvalidParameter):
        program.words(wrong, PartyRows(made(60)[0], program.reading()))


@pytest.mark.parametrize(
    "change",
    [{"rounds": 0}, {"rounds": 1.5}, {"honest": -1}, {"schema": None}, {"delta": None, "epsilon": None}, {"norm": 1}],
)
def test_plans_that_cannot_be_kept_are_refused(change):
    """Someone else may have written the terms."""
    terms = PrivateLogisticRegression(FORMULA, SCHEMA, honest=3, **APPROX).terms()
    with pytest.raises((InvalidParameter, TypeError)):
        program_of("private logit", {**terms, **change})


def test_the_result_reads_like_a_regression():
    """Predicted probabilities, the table, and the guarantee."""
    program = PrivateLogisticRegression("y ~ x", SCHEMA, honest=3, **APPROX)
    tables = [{name: table[name] for name in ("y", "x")} for table in made(30_000)]
    fit, _ = run(program, tables, SeededBits(2))
    eta = fit.params[0] + fit.params[1] * np.array([0.0, 2.0])
    np.testing.assert_allclose(fit.predict({"x": np.array([0.0, 2.0])}), 1 / (1 + np.exp(-eta)), atol=1e-7)
    for text in ("ZCDP(rho=0.0243", "all 3 parties", "Private Logit", "(noisy)", "%"):
        assert text in fit.summary()


GOLDEN = (1 + 5**0.5) / 2


def every_row(words, b):
    """What all rows of a coarse grid add, for both responses."""
    z = np.array(list(itertools.product([-1.0, -0.6, 0.0, 0.5, 1.0], repeat=words.size)))
    return [words.sums([(row[None, :], np.array([y]))], b) for row in z for y in (0.0, 1.0)]


@pytest.mark.parametrize("relation", ["add-remove", "substitute"])
@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize("pure", [False, True])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_no_row_moves_the_words_farther_than_claimed(size, pure, counted, relation):
    """At points near and far from 0, and at absurd ones, in the norm that the noise is made for."""
    words = LogisticWords(size, 12, pure, counted)
    claim = words.sensitivity(relation)
    rng = np.random.default_rng(size)
    found = []
    for scale in (0, 0.5, 1, 2, 4, 1e300):
        b = (rng.normal(size=size) * scale).tolist()
        found.append(farthest(every_row(words, b), relation))
    l1, l2_squared = np.max(found, axis=0)
    assert l1 <= claim.l1
    assert l2_squared <= claim.l2_squared
    reached = l1 / claim.l1 if pure else l2_squared / claim.l2_squared
    if relation == "add-remove":
        assert reached > 0.95
    elif size == 3:  # two rows that are both all wrong, and differ in all but one regressor
        assert reached > 0.6


@pytest.mark.parametrize("size", [1, 4, 9])
def test_the_information_is_free_and_no_more_of_it_would_be(size):
    """Over all errors q the squared norm stays below p; with a weight a tenth larger it does not."""
    q = np.linspace(0, 1, 10001)

    def largest(weight):
        return np.max(size * q**2 + weight**2 * (size**2 + size) / 2 * q**2 * (1 - q) ** 2)

    weight = LogisticWords(size, 12, False, False).weight
    assert largest(weight) <= size * (1 + 1e-12)
    assert largest(weight * 1.1) > size * 1.001
    assert float(FREE) < GOLDEN**5 < float(FREE) + 1e-3


@pytest.mark.parametrize("size", [1, 4, 9])
def test_the_pure_weight_costs_an_eighth(size):
    """Over all errors q the L1 norm stays below 9/8 p; with a weight a tenth larger it does not."""
    q = np.linspace(0, 1, 10001)

    def largest(weight):
        return np.max(size * q + weight * (size**2 + size) / 2 * q * (1 - q))

    weight = LogisticWords(size, 12, True, False).weight
    assert largest(weight) <= 9 / 8 * size * (1 + 1e-12)
    assert largest(weight * 1.1) > 9 / 8 * size


def test_each_row_is_the_same_wherever_it_stands():
    """Shuffled, cut and repeated rows add up to the same integers."""
    rng = np.random.default_rng(1)
    z, y = rng.uniform(-1, 1, (1003, 3)), rng.integers(0, 2, 1003).astype(float)
    words, b = LogisticWords(3, 24, False, True), [0.3, -1.7, 0.01]
    alone = [words.sums([(z[i : i + 1], y[i : i + 1])], b) for i in range(len(y))]
    total = [sum(column) for column in zip(*alone, strict=True)]
    order = rng.permutation(len(y))
    assert words.sums([(z, y)], b) == total
    assert words.sums([(z[order], y[order])], b) == total
    assert words.sums([(z[:501], y[:501]), (z[501:], y[501:])], b) == total


def test_sums_are_the_derivatives_of_the_likelihood():
    """Opened without noise, they are the score, the information and the number of rows."""
    rng = np.random.default_rng(2)
    z, y, b = rng.uniform(-1, 1, (2000, 3)), rng.integers(0, 2, 2000).astype(float), np.array([0.5, -1, 2])
    words = LogisticWords(3, 24, False, True)
    score, information, rows = words.opened(words.sums([(z, y)], b.tolist()))
    pi = 1 / (1 + np.exp(-z @ b))
    np.testing.assert_allclose(score, z.T @ (y - pi), atol=1e-3)
    np.testing.assert_allclose(information, (z * (pi * (1 - pi))[:, None]).T @ z, atol=1e-3)
    assert rows == 2000


def test_the_table_of_probabilities_is_close_and_stays_between_0_and_1():
    """Within 2e-8 of the function, everywhere, at infinity as well."""
    eta = np.concatenate([np.linspace(-45, 45, 200_001), [-1e308, 1e308, -np.inf, np.inf]])
    with np.errstate(over="ignore"):
        exact = 1 / (1 + np.exp(-eta))
    found = probabilities(eta)
    assert np.max(np.abs(found - exact)) < 2e-8
    assert found.min() >= 0
    assert found.max() <= 1
