"""Variances: private for every pair of neighbours, and with intervals that hold what they promise.

Coverage: a true one of 94.5 % or more fails with probability below 1e-6 a case, and so does one of 98 % or less where
the upper limit applies; intervals of half the width are refused by the same check.
"""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
import pytest
from scipy.stats import binom

import flou
from flou import Boolean, Categories, Integers, Interval, Schema
from flou.bits import SeededBits
from flou.central import Price, StandardDeviation, Table, Variance
from flou.central.moments.bernstein import POWERS, UNIT, BernsteinGrid, BernsteinNoise, weights
from flou.central.moments.variance import NoisyVariance
from flou.central.question import PublicFacts
from flou.summaries.array.rows import ArrayRows
from flou.theory.tails import accepted_end, two_sided
from theory.noise_and_sampling import Spread

RELATIONS = ("add-remove", "substitute")
ALPHA = 1e-6


def schema(domain, relation, rows_per_unit=1):
    if rows_per_unit == 1:
        return Schema({"x": domain}, relation=relation)
    return Schema({"x": domain}, relation=relation, unit="u", max_rows_per_unit=rows_per_unit)


@pytest.mark.parametrize("shape", [(0, 1, 2), (0, 1, 7), (1, 2, 16), (1, 2, 2**12), (1, 2, 2**16)])
def test_every_cell_has_weights_that_add_up(shape):
    """A row contributes K in all, never less than 0, and close to the Bernstein polynomials."""
    table = weights(shape)
    assert table.min() >= 0
    assert np.array_equal(table.sum(axis=1), np.full(shape[2], UNIT))
    first, step, cells = shape
    t = (first + step * np.arange(cells)) / (2 * first + step * (cells - 1))
    for j in range(5):
        assert np.abs(table @ POWERS[j] / UNIT - t**j).max() < 5 / UNIT


@pytest.mark.parametrize("shape", [(0, 1, 2), (0, 1, 7), (1, 2, 64)])
def test_any_two_cells_are_at_most_twice_the_norm_apart(shape):
    """For every pair of cells the L1 distance is at most 2 K."""
    table = weights(shape)
    far = max(int(np.abs(table - line).sum(axis=1).max()) for line in table)
    assert 1.75 * UNIT < far <= 2 * UNIT


@pytest.mark.parametrize("domain", [Boolean(), Integers(0, 3)], ids=["boolean", "integers"])
@pytest.mark.parametrize("rows_per_unit", [1, 2])
@pytest.mark.parametrize("relation", RELATIONS)
def test_neighbours_are_within_the_declared_sensitivity(relation, rows_per_unit, domain):
    """All tables of three rows and all that one unit can do: the vectors move by the sensitivity, and by no more."""
    facts = PublicFacts(schema(domain, relation, rows_per_unit), None)
    grid = BernsteinGrid.of("x", domain)
    mechanism = BernsteinNoise(grid, Price.of(1), facts).mechanism
    declared = mechanism.sensitivity
    assert Variance("x", 1).prepare(facts).cost == facts.pure(1)

    def vector(codes):
        return np.array(grid.vector(np.bincount(np.array(codes, dtype=int), minlength=domain.size)))

    mine = [c for r in range(rows_per_unit + 1) for c in combinations_with_replacement(range(domain.size), r)]
    if relation == "add-remove":
        pairs = [(unit, ()) for unit in mine]
    elif rows_per_unit == 1:
        pairs = [(a, b) for a in mine for b in mine if len(a) == len(b)]
    else:
        pairs = [(a, b) for a in mine for b in mine]
    farthest = max(
        int(np.abs(vector(rest + a) - vector(rest + b)).sum())
        for rest in combinations_with_replacement(range(domain.size), 2)
        for a, b in pairs
    )
    assert farthest == declared  # so that any smaller one would be refused
    # the loss at a point beyond both vectors is the distance over the scale
    assert farthest / float(mechanism.noise.scale) == pytest.approx(1.0)


@pytest.mark.parametrize("relation", RELATIONS)
def test_the_declared_mechanism_is_the_one_that_is_used(relation):
    """The certificate names the sensitivity of all rows that a unit may have, and groups cost no more."""
    domain = Schema(
        {"x": Interval(0, 10), "g": Categories(["a", "b"])}, relation=relation, unit="u", max_rows_per_unit=3
    )
    rows = ArrayRows({"x": np.arange(10.0), "g": np.array(["a", "b"] * 5), "u": np.arange(10)})
    table = Table(rows, domain, None, bits=SeededBits(1))
    for release in (table.variance("x", epsilon=2), table.group_by("g").variance("x", epsilon=2)):
        factor = 3 if relation == "add-remove" else 6
        assert release.certificate["mechanism"]["sensitivity"] == factor * UNIT
        assert release.certificate["mechanism"]["scale"] == factor * UNIT / 2
        assert release.cost.epsilon == 2


LAWS = {
    "uniform": (lambda g, n: g.random(n), 1 / 12),
    "beta": (lambda g, n: g.beta(2, 5, n), 10 / 392),
    "two points": (lambda g, n: np.where(g.random(n) < 0.3, 0.9, 0.1), 0.64 * 0.21),
    "normal": (lambda g, n: np.clip(0.5 + 0.1 * g.standard_normal(n), 0, 1), 0.01),
}
CASES = [
    ("uniform", 100, 1, "add-remove", 100),
    ("beta", 100, 0.1, "add-remove", 100),
    ("two points", 1000, 0.1, "substitute", 100),
    ("normal", 1000, 0.1, "add-remove", 100),
    ("beta", 1000, 1, "substitute", 700),  # 0.98^700 is below 1e-6, so that too much caution would be seen
    ("normal", 10_000, 1, "add-remove", 100),
    ("beta", 1000, Price.of(rho=0.1), "add-remove", 100),
    ("two points", 300, Price.of(rho=0.05), "substitute", 100),
    ("uniform", 1000, Price.of(0.5, 0.3), "add-remove", 100),  # a delta at which Gaussian noise is the smaller one
]


def covered(law, n, epsilon, relation, runs, shrink=1.0, of=("data", "population")):
    draw, variance = LAWS[law]
    generator, bits = np.random.default_rng(5), SeededBits(f"{law} {n} {epsilon}")
    domain, hits = Interval(0, 1), dict.fromkeys(of, 0)
    for _ in range(runs):
        rows = n if relation == "substitute" else int(generator.poisson(n))
        x = draw(generator, rows)
        table = Table(ArrayRows({"x": x}), schema(domain, relation), None, bits=bits)
        facts, question = table._facts(), Variance("x", epsilon)
        draft = table._answered([question.prepare(facts)])[0]
        truths = {"data": x.var(ddof=1), "population": variance}
        for which in of:
            low, high = getattr(draft.uncertainty, which)(0.95)
            middle, half = (low + high) / 2, (high - low) / 2 * shrink
            hits[which] += middle - half <= truths[which] <= middle + half
    return hits


@pytest.mark.parametrize(("law", "n", "epsilon", "relation", "runs"), CASES)
def test_coverage(law, n, epsilon, relation, runs):
    """95 % intervals hold the variance of the data, and of the population, in at least 94.5 % of runs."""
    for hits in covered(law, n, epsilon, relation, runs, of=("data", "population")[: 2 if runs < 700 else 1]).values():
        assert binom.cdf(hits, runs, 0.945) > ALPHA
        if runs >= 700:
            assert binom.sf(hits - 1, runs, 0.98) > ALPHA


def test_half_the_width_is_refused():
    """The check is seen to refuse."""
    for hits in covered("uniform", 1000, 1, "add-remove", 100, shrink=0.5).values():
        assert binom.cdf(hits, 100, 0.945) <= ALPHA


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("x", [[], [3.0], [7.0] * 500, [0.0] * 500, [10.0] * 500, [np.nan] * 40, [1e308, -np.inf]])
def test_edges(x, relation):
    """No table is an exception, and every answer lies within its interval and what is possible."""
    values = np.array(x, dtype=float)
    truth = np.clip(np.nan_to_num(values, nan=5.0), 0, 10)
    for call, power in ((flou.variance, 2), (flou.std, 1)):
        release = call(values, bounds=(0, 10), epsilon=1, relation=relation)
        low, high = release.interval(1 - 1e-9)
        assert 0 <= low <= (truth.std(ddof=1) ** power if truth.size > 1 else 0) <= high
        assert 0 <= release.value <= (10 / np.sqrt(2)) ** power * (1 + 1e-9)
        assert 0 <= release.interval(of="population")[1] <= (5.001) ** power
        assert release.to_json()


def test_a_drowned_signal_gets_the_whole_range():
    """With two rows and a small epsilon nothing is known, and the interval says so."""
    release = flou.variance([1.0, 2.0], bounds=(0, 10), epsilon=0.01)
    low, high = release.interval()
    assert low < 1e-3
    assert high > 24


def test_groups_and_roots_agree():
    """A group's variance is answered like a table's, and a standard deviation is the root of a variance."""
    rows = {"x": np.arange(10_000) % 100, "g": np.array(["a", "b"])[np.arange(10_000) // 5000 % 2]}
    domains = {"x": Integers(0, 99), "g": Categories(["a", "b"], other=False, missing="a")}
    answers = []
    for question in (Variance("x", 100, "g"), StandardDeviation("x", 100, "g")):
        table = Table(ArrayRows(rows), Schema(domains), None, bits=SeededBits(3))
        answers.append(table.ask(question)[0])
    variance, root = answers
    assert variance.labels == ("a", "b")
    assert np.allclose(variance.value, 833.4, rtol=1e-3)
    assert np.allclose(root.value**2, variance.value)
    assert np.allclose(root.interval()[1] ** 2, variance.interval()[1])


def test_yes_and_no_has_two_coordinates():
    """For a Boolean column only the two ends get noise, and the answer is right."""
    x = np.arange(100_000) % 4 == 0
    release = flou.variance(x, domain=Boolean(), epsilon=10)
    assert BernsteinGrid.of("x", Boolean()).active == (0, 4)
    assert release.value == pytest.approx(x.var(ddof=1), abs=1e-4)


def test_categories_have_no_variance():
    """The refusal comes before anything is read."""
    with pytest.raises(flou.InvalidParameter, match="categories"):
        Variance("x", 1).prepare(PublicFacts(Schema({"x": Categories(["a"])}), None))


def test_tails_are_those_of_the_theory():
    """Many linear functions at once give what ``Spread`` gives one by one, equal scales included."""
    generator = np.random.default_rng(1)
    scales = generator.random((40, 5))
    scales[:10, 3] = scales[:10, 1]
    scales[5:15, 0] = 0.0
    tau = np.where(np.arange(40) % 2, generator.random(40), 0.0)
    seen = 3 * generator.standard_normal(40)
    expected = [2 * Spread(s.tolist(), t).above(abs(w)) for s, t, w in zip(scales, tau, seen, strict=True)]
    assert np.allclose(two_sided(scales, tau, seen), expected, atol=2e-3)
    assert two_sided(np.zeros((2, 5)), np.zeros(2), np.array([0.0, 1.0])).tolist() == [1.0, 0.0]


def test_the_end_of_an_accepted_set_is_found():
    """To a part in 10,000 of the way, outwards, and the start where nothing is accepted; one by one or together."""
    assert 0.7 <= accepted_end(lambda p: p <= 0.7, 0.2, 1.0) <= 0.70005
    assert 0.09999 <= accepted_end(lambda p: p >= 0.1, 0.2, 0.0) <= 0.1
    near = accepted_end(lambda p: p <= 0.2 + 1e-7, 0.2, 1.0)
    assert 1e-7 <= near - 0.2 <= 1.0002e-7
    edges = np.array([0.7, 0.3, 9.0, 0.0])
    many = accepted_end(lambda p: p <= edges[:, None], 0.2, np.array([1.0, 0.5, 2.0, 1.0]))
    assert np.allclose(many, [0.7, 0.3, 2.0, 0.2], atol=6e-5)
    assert accepted_end(lambda p: p < 0, 0.2, 1.0) == 0.2
    assert accepted_end(lambda p: p < 9, 0.2, 1.0) == 1.0


def test_known_rows_make_the_noise_smaller():
    """Under substitution the number of rows is public, and a constant in a linear function costs nothing."""
    grid = BernsteinGrid.of("x", Interval(0, 1))
    counts = np.bincount(np.arange(100) * 655, minlength=2**16)
    known, unknown = (
        NoisyVariance(BernsteinNoise(grid, Price.of(1), facts).release([counts], SeededBits(1))[0])
        for rows in (100, None)
        for facts in [PublicFacts(schema(Interval(0, 1), "substitute"), rows)]
    )
    assert known.rows == pytest.approx(100)
    assert known.interval(0.95, sampling=False)[1] < unknown.interval(0.95, sampling=False)[1]
