"""Distribution functions: private for every pair of neighbours, the same from every engine, and in bands that hold.

A true coverage of 94.5 % or more fails with probability below 1e-6 a case; bands that are far too narrow are refused.
"""

from __future__ import annotations

import warnings

import duckdb
import numpy as np
import polars as pl
import pytest
from scipy.stats import beta, binom

import flou
from flou import Boolean, Categories, Integers, Interval, Schema
from flou.bits import SeededBits
from flou.central import Ecdf
from flou.central.quantiles.ecdf import _shape
from flou.mechanisms.quantiles import Tree
from flou.mechanisms.quantiles.tree_consistency import prefix_variances, variances
from mechanisms.quantiles.tiny import RELATIONS, pairs
from privacy.exhaustive import loss, tables

LEVELS = 4  # possible values of the tiny column
GROUPS = ("a", "b")


def opened(values, domain=None, relation="add-remove", seed: object = 1, **more):
    schema = Schema({"x": Interval(0, 1) if domain is None else domain}, relation=relation, **more)
    return flou.open({"x": values}, schema=schema, bits=SeededBits(seed))


# Privacy


def tiny(records, relation):
    """A table whose records are codes 0..3, or 0..7 with the group in the higher bit."""
    codes = np.array(records, dtype=np.int64)
    columns = {"x": codes % LEVELS, "g": [GROUPS[code // LEVELS] for code in codes.tolist()]}
    domains = {"x": Integers(0, LEVELS - 1), "g": Categories(GROUPS, other=False, missing="a")}
    return flou.open(columns, schema=Schema(domains, relation=relation))


def noisy(records, relation, epsilon, grouped, cheaper):
    """The noise, and all counts that get it: those of the trees of all groups, as the question asks for them."""
    question, table = Ecdf("x", epsilon, by="g" if grouped else None), tiny(records, relation)
    facts = table._facts()
    grid = question.grid(facts)
    tree = question.tree(facts, grid)
    found = np.atleast_2d(table._rows.collect(question.prepare(facts).requests)[0])
    every = np.concatenate([tree.counts(grid.counted(row)) for row in found])
    return Tree(0.5, epsilon=cheaper * tree.epsilon, **_shaped(tree)).noise(grid.cells), every


def _shaped(tree):
    return {"branching": tree.branching, "height": tree.height, "relation": tree.relation}


def measured(relation, epsilon, grouped, cheaper=1):
    most, codes = 2 if grouped else 3, range(LEVELS * (2 if grouped else 1))
    known = {t: noisy(t, relation, epsilon, grouped, cheaper) for t in tables(codes, range(most + 1))}
    points = sorted({tuple(counts.tolist()) for _, counts in known.values()})
    return loss(lambda one: one[0].law(one[1]), known.get, pairs(relation, codes, most), lambda _: points)


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("epsilon", [0.3, 2])
def test_the_loss_is_epsilon(relation, epsilon, grouped):
    """sup log P/P' of all noisy counts, over all neighbours, is epsilon: no more, and no less."""
    assert measured(relation, epsilon, grouped) == pytest.approx(epsilon)


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("relation", RELATIONS)
def test_less_noise_is_refused(relation, grouped):
    """A tree that is paid for a third more than it may cost is seen by the same check."""
    assert measured(relation, 1, grouped, cheaper=4 / 3) > 1.3


@pytest.mark.parametrize("relation", RELATIONS)
def test_what_is_released_are_these_counts(relation):
    """Nothing else of the rows enters: the release is what the tree alone gives for the same bits."""
    values = np.random.default_rng(0).integers(0, 10, 50)
    table = opened(values, Integers(0, 9), relation, seed="same")
    release = table.ecdf("x", epsilon=1)
    question, facts = Ecdf("x", 1), table._facts()
    grid = question.grid(facts)
    records = grid.counted(np.bincount(values, minlength=10))
    tree = question.tree(facts, grid)
    alone = tree.distribution(records, SeededBits("same"))
    places = np.unique(alone.edges, return_index=True)[1][1:]
    assert release.value[:-1] == pytest.approx(alone.increasing[places[:-1]] / alone.total)
    assert release.cost == flou.PureDP(1, relation=relation)


def test_what_a_changed_row_costs():
    """A filter, groups and units of several rows each make the noise larger, by as much as they have to."""
    by_row = opened([0.5], relation="substitute")
    people = Schema({"x": Interval(0, 1)}, unit="who", max_rows_per_unit=3)
    capped = flou.open({"x": [0.5] * 8, "who": np.arange(8) // 4}, schema=people)

    def tree(table):
        question, facts = Ecdf("x", 6), table._facts()
        return question.tree(facts, question.grid(facts))

    assert (tree(by_row).relation, tree(by_row).epsilon) == ("substitute", 6)
    narrowed = by_row.where(flou.column("x") > 0)
    assert (tree(narrowed).relation, tree(narrowed).epsilon) == ("add-remove", 3)
    assert (tree(opened([0.5])).relation, tree(opened([0.5])).epsilon) == ("add-remove", 6)
    assert (tree(capped).relation, tree(capped).epsilon) == ("add-remove", 2)
    assert capped.ecdf("x", epsilon=1).value[-1] == 1


# The same everywhere


@pytest.mark.parametrize("relation", RELATIONS)
def test_every_engine_gives_the_same_release(relation, tmp_path):
    """Arrays, Polars, DuckDB, Parquet and CSV, all rows or by group: the same bits make the same numbers."""
    draw = np.random.default_rng(3)
    frame = pl.DataFrame({"x": [*draw.beta(2, 5, 996), None, float("nan"), -5.0, 1e9], "g": ["a", "b"] * 500})
    frame.write_parquet(tmp_path / "rows.parquet")
    frame.write_csv(tmp_path / "rows.csv")
    rows = frame.to_arrow()
    arrays = {"x": frame["x"].to_numpy(), "g": frame["g"].to_list()}
    sources = [arrays, frame, frame.lazy(), duckdb.sql("SELECT * FROM rows"), *sorted(tmp_path.iterdir())]
    domains = {"x": Interval(0, 1), "g": Categories(GROUPS)}
    found = []
    for source in sources:
        table = flou.open(source, schema=Schema(domains, relation=relation), bits=SeededBits(7))
        alone, grouped = table.ecdf("x", epsilon=1), table.group_by("g").ecdf("x", epsilon=1, points=20)
        bands = [one.interval(simultaneous=True, of="population") for one in (alone, grouped)]
        found.append([alone.to_json(), grouped.value.tolist(), [end.tolist() for band in bands for end in band]])
    assert rows.num_rows == 1000
    for other in found[1:]:
        assert other[1:] == found[0][1:]
    values = [flou.release.Certificate.from_json(one[0]) for one in found]
    assert len({str(one["value"]) + str(one["interval_95"]) for one in values}) == 1


def test_groups_are_answered_apart():
    """Each group has its own function; at one epsilon, because a row is in one of them."""
    draw = np.random.default_rng(4)
    rows = {"x": np.concatenate([draw.random(4000) / 2, 0.5 + draw.random(2000) / 2]), "g": ["a"] * 4000 + ["b"] * 2000}
    schema = {"x": Interval(0, 1), "g": Categories(GROUPS)}
    table = flou.open(rows, schema=schema, budget=1, bits=SeededBits(1))
    release = table.group_by("g").ecdf("x", points=4, epsilon=1)
    assert table.budget.spent.epsilon == 1
    assert release.labels[:5] == ("a: 0.25", "a: 0.5", "a: 0.75", "a: 1", "b: 0.25")
    assert release.title == "ecdf of x by g"
    assert np.allclose(release.value[:8], [0.5, 1, 1, 1, 0, 0, 0.5, 1], atol=0.05)
    assert release.at(0.25, group="a")[0] == pytest.approx(0.5, abs=0.05)
    assert release.at(0.75, group="b")[0] == pytest.approx(0.5, abs=0.05)
    for wrong in (None, "c"):
        with pytest.raises(flou.InvalidParameter, match="group must be"):
            release.at(0.5, group=wrong)


def test_groups_whose_keys_are_selected():
    """Rows of other keys are in no group; an empty selection is an empty answer."""
    rows = {"x": [0.2] * 400 + [0.8] * 300 + [0.5] * 2, "g": ["a"] * 400 + ["b"] * 300 + ["rare"] * 2}
    table = flou.open(rows, schema={"x": Interval(0, 1)}, bits=SeededBits(3))
    release = table.group_by("g", epsilon=1, delta=1e-6).ecdf("x", points=2, epsilon=5)
    assert release.labels == ("a: 0.5", "a: 1", "b: 0.5", "b: 1")
    assert np.allclose(release.value, [1, 1, 0, 1], atol=0.05)
    nobody = flou.open({"x": [0.2], "g": ["a"]}, schema={"x": Interval(0, 1)}).group_by("g", epsilon=1, delta=1e-6)
    assert nobody.ecdf("x", epsilon=1).value.size == 0


# Bands


def covered(relation, n, epsilon, runs, shrink=1.0, domain=None):
    """Hits at ten points, one by one and together, for the rows and for the law they are drawn from."""
    draw, whole = np.random.default_rng(3), domain is not None
    hits = {(of, all_): np.zeros(1 if all_ else 10, int) for of in ("data", "population") for all_ in (False, True)}
    for run in range(runs):
        size = n if relation == "substitute" else int(draw.poisson(n))
        x = draw.binomial(9, 0.3, size) if whole else draw.beta(2, 5, size)
        release = opened(x, domain, relation, f"ecdf {relation} {n} {epsilon} {run}").ecdf(
            "x", points=10, epsilon=epsilon
        )
        places = release.uncertainty.points
        rows = np.array([np.mean(x <= p if whole else x < p) for p in places])
        law = binom.cdf(places, 9, 0.3) if whole else beta.cdf(places, 2, 5)
        for (of, all_), hit in hits.items():
            low, high = release.interval(0.95, of=of, simultaneous=all_)
            if shrink < 1:
                low, high = (
                    release.value + shrink * (low - release.value),
                    release.value + shrink * (high - release.value),
                )
            truth = rows if of == "data" else law
            held = (low <= truth + 1e-9) & (truth <= high + 1e-9)
            hit += held.all() if all_ else held
    return hits


@pytest.mark.parametrize(
    ("relation", "n", "epsilon", "domain"),
    [
        ("add-remove", 1000, 1, None),
        ("substitute", 300, 1, None),
        ("add-remove", 200, 20, None),
        ("substitute", 500, 100, None),
        ("add-remove", 300, 3, Integers(0, 9)),
        ("substitute", 300, 0.5, Integers(0, 9)),
    ],
)
def test_coverage(relation, n, epsilon, domain):
    """Intervals at 95 % hold in at least 94.5 % of runs at each point, and bands at all points together."""
    for hit in covered(relation, n, epsilon, 80, domain=domain).values():
        assert binom.cdf(hit, 80, 0.945).min() > 1e-6


def test_a_third_of_the_width_is_refused():
    """The check is seen to refuse, one by one and together, for the rows and for the law."""
    for hit in covered("add-remove", 1000, 1, 60, shrink=0.3).values():
        assert binom.cdf(hit, 60, 0.945).min() <= 1e-6


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95, 0.99])
@pytest.mark.parametrize("relation", RELATIONS)
def test_intervals_are_in_order(relation, level):
    """The value is inside; the population's is no shorter, the band no narrower; and bands increase."""
    x = np.random.default_rng(1).beta(2, 5, 2000)
    release = opened(x, relation=relation).ecdf("x", epsilon=1)
    assert np.all(np.diff(release.value) >= 0)
    one, wide = release.interval(level), release.interval(level, of="population")
    band, wide_band = (release.interval(level, of=of, simultaneous=True) for of in ("data", "population"))
    for inner, outer in ((one, wide), (one, band), (band, wide_band)):
        assert np.mean(outer[1] - outer[0]) >= np.mean(inner[1] - inner[0])
    for low, high in (one, wide, band, wide_band):
        assert np.all((low >= 0) & (low <= release.value) & (release.value <= high) & (high <= 1))
    for low, high in (band, wide_band):
        assert np.all(np.diff(low) >= 0)
        assert np.all(np.diff(high) >= 0)


def test_the_error_of_a_ratio_is_that_of_the_noise():
    """C - F N has the variance V + (s - F)^2 V0: as the least-squares weights of a small tree say."""
    branching, height = 3, 2
    leaves = branching**height
    nodes = np.vstack([np.kron(np.eye(branching**k), np.ones(leaves // branching**k)) for k in (1, 2)])
    inverse = np.linalg.inv(nodes.T @ nodes)
    part, root = prefix_variances(branching, height, known_total=True), variances(branching, height)[0]
    for below in range(leaves + 1):
        for share in (0.0, 0.2, 0.7, 1.0):
            wanted = (np.arange(leaves) < below) - share
            weights = nodes @ inverse @ wanted
            assert np.max(np.abs(weights)) <= 1 + 1e-12  # no noise counts more than once
            stated = part[below] + (below / leaves - share) ** 2 * root
            assert weights @ weights == pytest.approx(stated, abs=1e-12)


# Any x


@pytest.mark.parametrize("relation", RELATIONS)
def test_between_two_edges_it_lies_between_their_values(relation):
    """At an edge the interval is that of the edge; inside a leaf it reaches from the one before to the one after."""
    release = opened(np.random.default_rng(2).beta(2, 5, 3000), relation=relation).ecdf("x", epsilon=1)
    share, low, high = release.at([0.25, 0.25003, 0.2501])
    shown = list(release.labels).index("0.25")
    assert (share[0], low[0], high[0]) == (release.value[shown], *(end[shown] for end in release.interval()))
    assert share[0] <= share[1] <= share[2]
    assert low[1] == low[0]
    assert high[1] == high[2]
    wide = release.at(0.25, 0.95, of="population")
    assert wide[1] < low[0] < high[0] < wide[2]
    assert release.at([-1, -np.inf])[0].tolist() == [0, 0]
    assert release.at([1, 2, np.inf])[1].tolist() == [1, 1, 1]
    with pytest.raises(flou.InvalidParameter, match="x must be a number"):
        release.at(float("nan"))


def test_whole_numbers_and_multiples_count_up_to_and_with():
    """Of possible values the share includes the value itself, and nothing happens between two of them."""
    ages = np.random.default_rng(0).integers(0, 100, 5000)
    release = opened(ages, Integers(0, 120)).ecdf("x", epsilon=50, points=200)
    assert release.labels[:3] == ("0", "1", "2")
    assert len(release.labels) == 121
    for age in (0, 18, 65, 99):
        assert release.at(age)[0] == pytest.approx(np.mean(ages <= age), abs=0.002)
        assert release.at(age + 0.7) == release.at(age)
    assert "up to and with" in release.note
    tenths = np.round(np.random.default_rng(0).random(5000), 1)
    release = flou.ecdf(tenths, bounds=(0, 1), granularity=0.1, epsilon=50)
    assert release.labels[:4] == ("0", "0.1", "0.2", "0.3")
    assert release.value == pytest.approx([np.mean(tenths <= k / 10 + 1e-9) for k in range(11)], abs=0.002)
    assert release.at(0.3)[0] == release.value[3]
    yes = flou.ecdf([True] * 700 + [False] * 300, domain=Boolean(), epsilon=20, relation="substitute")
    assert yes.labels == ("0", "1")
    assert yes.value == pytest.approx([0.3, 1], abs=0.005)
    large = opened(np.full(100, 500_000_000), Integers(0, 10**9)).ecdf("x", epsilon=50)
    assert large.at(499_000_000)[0] < 0.1 < 0.9 < large.at(500_200_000)[0]


def test_the_points_are_public_and_few():
    """As many as are asked for, on round edges; every second or third possible value; all, where these are few."""
    assert opened([0.5]).ecdf("x", epsilon=1).labels[:2] == ("0.01", "0.02")
    assert opened([0.5]).ecdf("x", points=7, epsilon=1).uncertainty.points == pytest.approx(
        np.arange(1, 8) / 7, abs=1e-4
    )
    every_other = opened([5], Integers(0, 120)).ecdf("x", epsilon=1)
    assert np.all(np.diff(every_other.uncertainty.points) == 2)
    assert every_other.labels[-1] == "120"
    assert len(opened([5], Integers(0, 9)).ecdf("x", epsilon=1).labels) == 10
    euros = opened([5], Interval(0, 300_000, granularity=1)).ecdf("x", epsilon=1)
    assert len(euros.labels) == 100
    far = opened([5], Interval(10**9, 10**9 + 100)).ecdf("x", epsilon=1)
    assert len(set(far.labels)) == 100


def test_the_tree_is_the_most_accurate_one():
    """Its shape follows from the number of possible values alone, and never has more leaves than it may."""
    assert _shape(2, 10**4) == (2, 1)
    assert _shape(10**6, 10**4) == (10, 4)
    for cells in (1, 3, 16, 121, 1000, 9999):
        branching, height = _shape(cells, 10**4)
        assert branching**height >= cells
        chosen = height**2 * prefix_variances(branching, height, known_total=False).mean()
        assert chosen <= prefix_variances(max(cells, 2), 1, known_total=False).mean() + 1e-9


# Nothing is an exception because of the data


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("epsilon", [0.01, 1, 1000])
@pytest.mark.parametrize("x", [[], [0.3], [0.7] * 300, [0.0] * 300, [1.0] * 300, [np.nan] * 40, [np.inf, -1e300]])
def test_edges(x, epsilon, relation):
    """Few rows, equal rows and no numbers at all are answered like any others."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for domain in (Interval(0, 1), Interval(0, 1, granularity=0.25), Integers(0, 5), Boolean(), Integers(3, 4)):
            release = opened(np.array(x, dtype=float), domain, relation).ecdf("x", epsilon=epsilon)
            assert release.value[-1] == 1
            assert np.all(np.diff(release.value) >= 0)
            for of in ("data", "population"):
                for all_ in (False, True):
                    low, high = release.interval(of=of, simultaneous=all_)
                    assert np.all((low >= 0) & (low <= release.value) & (release.value <= high) & (high <= 1))
            assert release.to_json()
            assert repr(release)


def test_without_rows_nothing_is_known():
    """The band is all there is, and the value is as if rows were spread evenly."""
    release = opened([], relation="substitute").ecdf("x", points=4, epsilon=1)
    assert release.value.tolist() == [0.25, 0.5, 0.75, 1]
    assert [end.tolist() for end in release.interval()] == [[0, 0, 0, 1], [1, 1, 1, 1]]


def test_refusals():
    """Categories have no order; points and epsilon are checked before anything is charged."""
    table = flou.open(
        {"x": [0.5], "c": ["a"]}, schema={"x": Interval(0, 1), "c": Categories(["a"])}, budget=1, bits=SeededBits(1)
    )
    for wrong in (
        lambda: table.ecdf("c", epsilon=1),
        lambda: table.group_by("c").ecdf("c", epsilon=1),
        lambda: table.ecdf("x", points=1, epsilon=1),
        lambda: table.ecdf("x", points=10**6, epsilon=1),
        lambda: table.ecdf("x", epsilon=0),
        lambda: table.ecdf("y", epsilon=1),
        lambda: flou.ecdf([1.0], epsilon=1),
        lambda: table.mean("x", epsilon=0.1).at(3),
    ):
        with pytest.raises(flou.InvalidParameter):
            wrong()
    with pytest.raises(flou.InvalidParameter, match="categories, which have no order"):
        table.ecdf("c", epsilon=1)
    assert table.budget.spent.epsilon == pytest.approx(0.1)


def test_deciles_and_quartiles_are_quantiles():
    """The methods ask for the lists of the same names, also by group."""
    table = opened(np.random.default_rng(0).random(4000))
    deciles, quartiles = table.deciles("x", epsilon=2), table.quartiles("x", epsilon=2)
    assert (len(deciles.value), len(quartiles.value)) == (9, 3)
    assert deciles.value == pytest.approx(np.arange(1, 10) / 10, abs=0.05)
    assert (deciles.title, quartiles.title) == ("deciles of x", "quartiles of x")
    rows = {"x": np.random.default_rng(0).random(4000), "g": ["a", "b"] * 2000}
    grouped = flou.open(rows, schema={"x": Interval(0, 1), "g": Categories(GROUPS, other=False, missing="a")})
    assert grouped.group_by("g").quartiles("x", epsilon=2).labels[0] == "a: 25 %"
    assert len(grouped.group_by("g").deciles("x", epsilon=2).value) == 18


def test_shares_are_shares_whatever_rounding_does():
    """A quotient of two equal sums may be a little more than 1."""
    for seed in range(100):
        bits = SeededBits(seed)
        release = flou.open({"x": np.array([3] * 40)}, schema={"x": flou.Integers(0, 120)}, bits=bits).ecdf(
            "x", epsilon=1
        )
        assert np.all(np.diff(release.value) >= 0)
        assert release.value.max() <= 1


@pytest.mark.parametrize(
    ("domain", "points", "shown"),
    [
        (Integers(0, 120), 100, [str(x) for x in range(0, 121, 2)]),
        (Interval(0, 200_000, granularity=100), 100, [str(x) for x in range(0, 200_001, 2500)]),
        (Interval(0, 100, granularity=0.01), 7, ["0", "20", "40", "60", "80", "100"]),
        (Integers(1, 1000), 5, ["1", "251", "501", "751", "1000"]),
        (Integers(1, 3), 2, ["1", "3"]),
        (Integers(1, 3), 3, ["1", "2", "3"]),
    ],
)
def test_points_that_are_shown_are_round(domain, points, shown):
    """In round steps from the lower bound, the upper one always, and no more than asked for."""
    assert flou.ecdf([2] * 10, domain=domain, points=points, epsilon=1).labels == tuple(shown)
